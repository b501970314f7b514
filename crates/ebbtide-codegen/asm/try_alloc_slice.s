	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$40, %rsp
	movabsq	$1152921504606846972, %r12
	leaq	3(%r12), %rax
	cmpq	%rax, %rsi
	jbe	.LBB7_2
	xorl	%eax, %eax
	jmp	.LBB7_15
.LBB7_2:
	movq	%rsi, %rdx
	leaq	(,%rsi,8), %r8
	movq	(%rdi), %rcx
	movq	16(%rdi), %rax
	subq	%r8, %rcx
	andq	$-8, %rcx
	movq	%rcx, %rsi
	subq	%rax, %rsi
	js	.LBB7_4
	movq	%rcx, (%rdi)
	addq	%rsi, %rax
	testq	%rdx, %rdx
	je	.LBB7_8
.LBB7_9:
	cmpq	$4, %rdx
	jae	.LBB7_12
	xorl	%r12d, %r12d
	jmp	.LBB7_11
.LBB7_12:
	andq	%rdx, %r12
	movdqa	.LCPI7_0(%rip), %xmm0
	xorl	%ecx, %ecx
	movdqa	.LCPI7_1(%rip), %xmm1
	movdqa	.LCPI7_2(%rip), %xmm2
.LBB7_13:
	movdqa	%xmm0, %xmm3
	paddq	%xmm1, %xmm3
	movdqu	%xmm0, (%rax,%rcx,8)
	movdqu	%xmm3, 16(%rax,%rcx,8)
	addq	$4, %rcx
	paddq	%xmm2, %xmm0
	cmpq	%rcx, %r12
	jne	.LBB7_13
	jmp	.LBB7_14
.LBB7_4:
	movq	%rdx, %r13
	#MEMBARRIER
	movq	(%rdi), %rbx
	movq	8(%rdi), %r14
	movq	16(%rdi), %r15
	movq	%rdi, %rbp
	movq	%r15, (%rdi)
	movl	$0, (%rsp)
	leaq	8(%rsp), %rdi
	movl	$8, %r9d
	movq	%rbx, %rsi
	movq	%r15, %rdx
	movq	%r14, %rcx
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	8(%rsp), %rax
	testq	%rax, %rax
	je	.LBB7_5
	movq	16(%rsp), %rcx
	andq	$-8, %rcx
	movq	%rcx, (%rbp)
	movdqu	24(%rsp), %xmm0
	movdqu	%xmm0, 8(%rbp)
	movq	%r13, %rdx
	testq	%rdx, %rdx
	jne	.LBB7_9
.LBB7_8:
	xorl	%edx, %edx
	jmp	.LBB7_15
.LBB7_5:
	movq	%rbx, (%rbp)
	movq	%r14, 8(%rbp)
	movq	%r15, 16(%rbp)
	xorl	%eax, %eax
	jmp	.LBB7_15
.LBB7_11:
	movq	%r12, (%rax,%r12,8)
	incq	%r12
.LBB7_14:
	cmpq	%r12, %rdx
	jne	.LBB7_11
.LBB7_15:
	addq	$40, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	retq
