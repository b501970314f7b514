	movq	_ZN14ebbtide_global6memory5range6BOUNDSE@GOTPCREL(%rip), %rcx
	movq	(%rcx), %rdx
	addq	%rdi, %rdx
	movq	8(%rcx), %rax
	cmpq	%rax, %rdx
	jae	.LBB15_6
	movq	_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@GOTTPOFF(%rip), %rax
	movq	16(%rcx), %rcx
	movq	%rdx, %r8
	shrq	$8, %r8
	andq	$-256, %r8
	movq	(%rcx,%r8), %r9
	cmpq	%fs:32(%rax), %r9
	jne	.LBB15_7
	addq	%r8, %rcx
	movzwl	%di, %r8d
	cmpl	24(%rcx), %r8d
	jb	.LBB15_7
	cmpq	%fs:24(%rax), %rsi
	jae	_ZN14ebbtide_global6scoped11free_listedE
	decl	16(%rcx)
	addq	$7, %rsi
	andq	$-8, %rsi
	addq	%rsi, %rdi
	movq	%fs:(%rax), %rcx
	cmpq	%rcx, %rdi
	jne	.LBB15_5
	subq	%rsi, %rcx
	movq	%rcx, %fs:(%rax)
	retq
.LBB15_6:
	jmpq	*free@GOTPCREL(%rip)
.LBB15_5:
	addq	%rsi, %fs:48(%rax)
	retq
.LBB15_7:
	jmpq	*_ZN14ebbtide_global6scoped14free_elsewhereE@GOTPCREL(%rip)
