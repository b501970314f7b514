	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$48, %rsp
	movq	(%rdi), %rax
	andq	$-8, %rax
	addq	$-8, %rax
	cmpq	16(%rdi), %rax
	jb	.LBB9_2
	movq	%rax, (%rdi)
	movq	%rsi, (%rax)
.LBB9_5:
	addq	$48, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	retq
.LBB9_2:
	movq	%rsi, %r12
	#MEMBARRIER
	movq	(%rdi), %rbx
	movq	8(%rdi), %r14
	movq	16(%rdi), %r15
	movq	%rdi, %r13
	movq	%r15, (%rdi)
	movl	$0, (%rsp)
	leaq	16(%rsp), %rdi
	movl	$8, %r8d
	movl	$8, %r9d
	movq	%rbx, %rsi
	movq	%r15, %rdx
	movq	%r14, %rcx
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	16(%rsp), %rax
	testq	%rax, %rax
	je	.LBB9_3
	movq	24(%rsp), %rcx
	andq	$-8, %rcx
	movq	%rcx, (%r13)
	movups	32(%rsp), %xmm0
	movups	%xmm0, 8(%r13)
	movq	%r12, (%rax)
	jmp	.LBB9_5
.LBB9_3:
	movq	%rbx, (%r13)
	movq	%r14, 8(%r13)
	movq	%r15, 16(%r13)
	xorl	%eax, %eax
	jmp	.LBB9_5
