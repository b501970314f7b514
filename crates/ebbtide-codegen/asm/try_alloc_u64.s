	pushq	%r14
	pushq	%rbx
	subq	$56, %rsp
	movq	(%rdi), %rax
	andq	$-8, %rax
	addq	$-8, %rax
	cmpq	16(%rdi), %rax
	jb	.LBB14_2
	movq	%rax, (%rdi)
	movq	%rsi, (%rax)
	addq	$56, %rsp
	popq	%rbx
	popq	%r14
	retq
.LBB14_2:
	movq	%rsi, %rbx
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, (%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 8(%rsp)
	movq	$0, 24(%rsp)
	movq	$8, 32(%rsp)
	movq	$8, 40(%rsp)
	movb	$0, 48(%rsp)
	movq	%rax, (%rdi)
	movq	%rsp, %rax
	movq	%rdi, %r14
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	(%rsp), %rdx
	movq	24(%rsp), %rax
	movq	%rdx, (%r14)
	movups	8(%rsp), %xmm0
	movups	%xmm0, 8(%r14)
	testq	%rax, %rax
	je	.LBB14_3
	andq	$-8, %rdx
	movq	%rdx, (%r14)
	movq	%rbx, (%rax)
	addq	$56, %rsp
	popq	%rbx
	popq	%r14
	retq
.LBB14_3:
	xorl	%eax, %eax
	addq	$56, %rsp
	popq	%rbx
	popq	%r14
	retq
