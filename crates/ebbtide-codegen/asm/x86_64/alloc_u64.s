	movq	(%rdi), %rax
	andq	$-8, %rax
	addq	$-8, %rax
	cmpq	16(%rdi), %rax
	jb	.LBB16_2
	movq	%rsi, (%rax)
	movq	%rax, (%rdi)
	retq
.LBB16_2:
	pushq	%rbx
	subq	$64, %rsp
	movq	%rsi, 8(%rsp)
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, 32(%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 40(%rsp)
	leaq	8(%rsp), %rcx
	movq	%rcx, 16(%rsp)
	movq	$8, 24(%rsp)
	movw	$3, 56(%rsp)
	movq	%rax, (%rdi)
	leaq	16(%rsp), %rax
	movq	%rdi, %rbx
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw10alloc_slowE@GOTPCREL(%rip)
	movq	16(%rsp), %rax
	movq	32(%rsp), %rcx
	movq	%rcx, (%rbx)
	movups	40(%rsp), %xmm0
	movups	%xmm0, 8(%rbx)
	#APP
	#NO_APP
	addq	$64, %rsp
	popq	%rbx
	retq
