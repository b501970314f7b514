	pushq	%r15
	pushq	%r14
	pushq	%rbx
	subq	$64, %rsp
	movabsq	$1152921504606846972, %rbx
	leaq	3(%rbx), %rax
	cmpq	%rax, %rsi
	jbe	.LBB7_2
.LBB7_1:
	xorl	%eax, %eax
	jmp	.LBB7_14
.LBB7_2:
	movq	%rsi, %rdx
	leaq	(,%rsi,8), %rcx
	movq	(%rdi), %rsi
	movq	16(%rdi), %rax
	subq	%rcx, %rsi
	andq	$-8, %rsi
	movq	%rsi, %r8
	subq	%rax, %r8
	js	.LBB7_4
	movq	%rsi, (%rdi)
	addq	%r8, %rax
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
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, 8(%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 16(%rsp)
	movq	$0, 32(%rsp)
	movq	%rcx, 40(%rsp)
	movq	$8, 48(%rsp)
	movb	$0, 56(%rsp)
	movq	%rax, (%rdi)
	leaq	8(%rsp), %rax
	movq	%rdi, %r15
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	8(%rsp), %rdx
	movq	32(%rsp), %rax
	movq	%rdx, (%r15)
	movdqu	16(%rsp), %xmm0
	movdqu	%xmm0, 8(%r15)
	testq	%rax, %rax
	je	.LBB7_1
	andq	$-8, %rdx
	movq	%rdx, (%r15)
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
	addq	$64, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	retq
