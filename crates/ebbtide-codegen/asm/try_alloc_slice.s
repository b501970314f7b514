	pushq	%r15
	pushq	%r14
	pushq	%rbx
	subq	$48, %rsp
	movabsq	$1152921504606846972, %rbx
	leaq	3(%rbx), %rax
	cmpq	%rax, %rsi
	jbe	.LBB7_2
.LBB7_1:
	xorl	%eax, %eax
	jmp	.LBB7_14
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
	je	.LBB7_7
.LBB7_8:
	cmpq	$4, %rdx
	jae	.LBB7_11
	xorl	%ebx, %ebx
	jmp	.LBB7_10
.LBB7_11:
	andq	%rdx, %rbx
	movdqa	.LCPI7_0(%rip), %xmm0
	xorl	%ecx, %ecx
	movdqa	.LCPI7_1(%rip), %xmm1
	movdqa	.LCPI7_2(%rip), %xmm2
.LBB7_12:
	movdqa	%xmm0, %xmm3
	paddq	%xmm1, %xmm3
	movdqu	%xmm0, (%rax,%rcx,8)
	movdqu	%xmm3, 16(%rax,%rcx,8)
	addq	$4, %rcx
	paddq	%xmm2, %xmm0
	cmpq	%rcx, %rbx
	jne	.LBB7_12
	jmp	.LBB7_13
.LBB7_4:
	movq	%rdx, %r14
	#MEMBARRIER
	movq	(%rdi), %rsi
	movq	8(%rdi), %rcx
	movq	%rdi, %r15
	movq	16(%rdi), %rdx
	movl	$0, (%rsp)
	leaq	16(%rsp), %rdi
	movl	$8, %r9d
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	16(%rsp), %rax
	testq	%rax, %rax
	je	.LBB7_1
	movq	24(%rsp), %rcx
	andq	$-8, %rcx
	movq	%rcx, (%r15)
	movdqu	32(%rsp), %xmm0
	movdqu	%xmm0, 8(%r15)
	movq	%r14, %rdx
	testq	%rdx, %rdx
	jne	.LBB7_8
.LBB7_7:
	xorl	%edx, %edx
	jmp	.LBB7_14
.LBB7_10:
	movq	%rbx, (%rax,%rbx,8)
	incq	%rbx
.LBB7_13:
	cmpq	%rbx, %rdx
	jne	.LBB7_10
.LBB7_14:
	addq	$48, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	retq
