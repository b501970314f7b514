	movq	_ZN14ebbtide_global6region5RANGEE@GOTPCREL(%rip), %rcx
	movq	(%rcx), %rdx
	addq	%rdi, %rdx
	movq	8(%rcx), %rax
	cmpq	%rax, %rdx
	jae	.LBB13_8
	movq	_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@GOTTPOFF(%rip), %rax
	movq	16(%rcx), %rcx
	movq	%rdx, %r8
	shrq	$8, %r8
	andq	$-256, %r8
	movq	(%rcx,%r8), %r9
	cmpq	%fs:32(%rax), %r9
	jne	.LBB13_7
	addq	%r8, %rcx
	movzwl	%di, %r8d
	cmpl	28(%rcx), %r8d
	jb	.LBB13_7
	cmpq	%fs:24(%rax), %rsi
	jae	.LBB13_7
	decl	16(%rcx)
	addq	$7, %rsi
	andq	$-8, %rsi
	addq	%rsi, %rdi
	movq	%fs:(%rax), %rcx
	cmpq	%rcx, %rdi
	jne	.LBB13_6
	subq	%rsi, %rcx
	movq	%rcx, %fs:(%rax)
.LBB13_6:
	retq
.LBB13_8:
	jmpq	*free@GOTPCREL(%rip)
.LBB13_7:
	jmpq	*_ZN14ebbtide_global6thread9free_slowE@GOTPCREL(%rip)
