	movq	_ZN14ebbtide_global6memory5range6BOUNDSE@GOTPCREL(%rip), %rcx
	movq	(%rcx), %rdx
	addq	%rdi, %rdx
	movq	8(%rcx), %rax
	cmpq	%rax, %rdx
	jae	.LBB13_5
	movq	_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@GOTTPOFF(%rip), %rax
	movq	16(%rcx), %rcx
	movq	%rdx, %r8
	shrq	$8, %r8
	andq	$-256, %r8
	movq	(%rcx,%r8), %r9
	cmpq	%fs:24(%rax), %r9
	jne	.LBB13_6
	addq	%r8, %rcx
	movzwl	%di, %r8d
	cmpl	24(%rcx), %r8d
	jb	.LBB13_6
	decl	16(%rcx)
	addq	$7, %rsi
	andq	$-8, %rsi
	addq	%rsi, %rdi
	movq	%fs:(%rax), %rcx
	cmpq	%rcx, %rdi
	jne	.LBB13_4
	subq	%rsi, %rcx
	movq	%rcx, %fs:(%rax)
	retq
.LBB13_5:
	jmpq	*free@GOTPCREL(%rip)
.LBB13_4:
	addq	%rsi, %fs:40(%rax)
	retq
.LBB13_6:
	jmpq	*_ZN14ebbtide_global6scoped14free_elsewhereE@GOTPCREL(%rip)
