	movq	(%rdi), %rax
	andq	$-8, %rax
	addq	$-8, %rax
	cmpq	16(%rdi), %rax
	jb	.LBB28_2
	movq	%rsi, (%rax)
	movq	%rax, (%rdi)
	retq
.LBB28_2:
	pushq	%rbx
	subq	$64, %rsp
	movq	%rsi, 8(%rsp)
	#APP
	#NO_APP
	movq	8(%rdi), %rax
	#APP
	#NO_APP
	movq	(%rdi), %rcx
	movq	16(%rdi), %rdx
	movq	%rcx, 32(%rsp)
	movq	%rax, 40(%rsp)
	movq	%rdx, 48(%rsp)
	leaq	8(%rsp), %rax
	movq	%rax, 16(%rsp)
	movq	$8, 24(%rsp)
	movw	$3, 56(%rsp)
	movq	%rdx, (%rdi)
	leaq	16(%rsp), %rax
	movq	%rdi, %rbx
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw10alloc_slowE@GOTPCREL(%rip)
	movq	16(%rsp), %rax
	movq	32(%rsp), %rcx
	movq	%rcx, (%rbx)
	movq	48(%rsp), %rcx
	movq	%rcx, 16(%rbx)
	#APP
	#NO_APP
	movq	40(%rsp), %rcx
	movq	%rcx, 8(%rbx)
	#APP
	#NO_APP
	addq	$64, %rsp
	popq	%rbx
	retq
