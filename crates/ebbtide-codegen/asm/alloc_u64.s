	movq	(%rdi), %rax
	andq	$-8, %rax
	addq	$-8, %rax
	cmpq	16(%rdi), %rax
	jb	.LBB7_2
	movq	%rax, (%rdi)
	movq	%rsi, (%rax)
	retq
.LBB7_2:
	pushq	%r14
	pushq	%rbx
	subq	$56, %rsp
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
	movq	%rdi, %rbx
	movq	%rax, %rdi
	movq	%rsi, %r14
	callq	*_ZN7ebbtide3raw4growE@GOTPCREL(%rip)
	movq	(%rsp), %rcx
	movq	24(%rsp), %rax
	movups	8(%rsp), %xmm0
	movups	%xmm0, 8(%rbx)
	andq	$-8, %rcx
	movq	%rcx, (%rbx)
	movq	%r14, (%rax)
	addq	$56, %rsp
	popq	%rbx
	popq	%r14
	retq
