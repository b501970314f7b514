	movq	(%rdi), %rax
	andq	$-8, %rax
	addq	$-24, %rax
	cmpq	16(%rdi), %rax
	jb	.LBB2_2
	movq	%rax, (%rdi)
	movq	16(%rsi), %rcx
	movq	%rcx, 16(%rax)
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rax)
	retq
.LBB2_2:
	pushq	%r14
	pushq	%rbx
	subq	$40, %rsp
	#MEMBARRIER
	movq	(%rdi), %rax
	movq	8(%rdi), %rcx
	movq	16(%rdi), %rdx
	movq	%rdx, (%rdi)
	movl	$0, (%rsp)
	leaq	8(%rsp), %r10
	movl	$24, %r8d
	movl	$8, %r9d
	movq	%rdi, %rbx
	movq	%r10, %rdi
	movq	%rsi, %r14
	movq	%rax, %rsi
	callq	*_ZN7ebbtide3raw4growE@GOTPCREL(%rip)
	movq	16(%rsp), %rax
	andq	$-8, %rax
	movq	%rax, (%rbx)
	movups	24(%rsp), %xmm0
	movups	%xmm0, 8(%rbx)
	movq	8(%rsp), %rax
	movq	16(%r14), %rcx
	movq	%rcx, 16(%rax)
	movups	(%r14), %xmm0
	movups	%xmm0, (%rax)
	addq	$40, %rsp
	popq	%rbx
	popq	%r14
	retq
