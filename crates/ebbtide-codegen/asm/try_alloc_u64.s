	pushq	%r14
	pushq	%rbx
	subq	$40, %rsp
	movq	(%rdi), %rax
	andq	$-8, %rax
	addq	$-8, %rax
	cmpq	16(%rdi), %rax
	jb	.LBB9_2
	movq	%rax, (%rdi)
	movq	%rsi, (%rax)
	addq	$40, %rsp
	popq	%rbx
	popq	%r14
	retq
.LBB9_2:
	movq	%rsi, %rbx
	#MEMBARRIER
	movq	(%rdi), %rsi
	movq	8(%rdi), %rcx
	movq	%rdi, %r14
	movq	16(%rdi), %rdx
	movl	$0, (%rsp)
	leaq	8(%rsp), %rdi
	movl	$8, %r8d
	movl	$8, %r9d
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	8(%rsp), %rax
	testq	%rax, %rax
	je	.LBB9_3
	movq	16(%rsp), %rcx
	andq	$-8, %rcx
	movq	%rcx, (%r14)
	movups	24(%rsp), %xmm0
	movups	%xmm0, 8(%r14)
	movq	%rbx, (%rax)
	addq	$40, %rsp
	popq	%rbx
	popq	%r14
	retq
.LBB9_3:
	xorl	%eax, %eax
	addq	$40, %rsp
	popq	%rbx
	popq	%r14
	retq
