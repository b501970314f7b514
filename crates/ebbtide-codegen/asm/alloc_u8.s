	movq	(%rdi), %rax
	decq	%rax
	cmpq	16(%rdi), %rax
	jb	.LBB4_2
	movq	%rax, (%rdi)
	movb	%sil, (%rax)
	retq
.LBB4_2:
	pushq	%rbp
	pushq	%rbx
	subq	$40, %rsp
	#MEMBARRIER
	movq	(%rdi), %rax
	movq	8(%rdi), %rcx
	movq	16(%rdi), %rdx
	movq	%rdx, (%rdi)
	movl	$0, (%rsp)
	leaq	8(%rsp), %r10
	movl	$1, %r8d
	movl	$1, %r9d
	movq	%rdi, %rbx
	movq	%r10, %rdi
	movl	%esi, %ebp
	movq	%rax, %rsi
	callq	*_ZN7ebbtide3raw4growE@GOTPCREL(%rip)
	movq	16(%rsp), %rax
	movq	%rax, (%rbx)
	movups	24(%rsp), %xmm0
	movups	%xmm0, 8(%rbx)
	movq	8(%rsp), %rax
	movb	%bpl, (%rax)
	addq	$40, %rsp
	popq	%rbx
	popq	%rbp
	retq
