	pushq	%r15
	pushq	%r14
	pushq	%r12
	pushq	%rbx
	subq	$56, %rsp
	movabsq	$1152921504606846972, %rbx
	leaq	3(%rbx), %rax
	cmpq	%rax, %rsi
	jbe	.LBB12_2
.LBB12_1:
	xorl	%eax, %eax
	jmp	.LBB12_18
.LBB12_2:
	movq	%rsi, %rdx
	leaq	(,%rsi,8), %r14
	movq	(%rdi), %rsi
	movq	16(%rdi), %rax
	subq	%r14, %rsi
	andq	$-8, %rsi
	movq	%rsi, %rcx
	subq	%rax, %rcx
	js	.LBB12_4
	movq	%rsi, (%rdi)
	addq	%rcx, %rax
	cmpq	$262144, %rcx
	jb	.LBB12_13
.LBB12_7:
	cmpq	$1025, %r14
	movl	$1024, %ecx
	cmovaeq	%r14, %rcx
	cmpq	$4096, %rcx
	movl	$4096, %esi
	cmovbq	%rcx, %rsi
	movq	%rax, %rcx
	subq	%rsi, %rcx
	prefetcht0	(%rcx)
	cmpq	$16384, %r14
	movl	$16384, %esi
	cmovbq	%r14, %rsi
	cmpq	$9, %rdx
	jb	.LBB12_13
	addq	$64, %rcx
	movl	$64, %edi
.LBB12_9:
	prefetcht0	-64(%rcx,%rdi)
	prefetcht0	(%rcx,%rdi)
	subq	$-128, %rdi
	cmpq	%rsi, %rdi
	jb	.LBB12_9
	jmp	.LBB12_10
.LBB12_4:
	movq	%rdx, %r15
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, (%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 8(%rsp)
	movq	$0, 24(%rsp)
	movq	%r14, 32(%rsp)
	movq	$8, 40(%rsp)
	movb	$0, 48(%rsp)
	movq	%rax, (%rdi)
	movq	%rsp, %rax
	movq	%rdi, %r12
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	(%rsp), %rcx
	movq	24(%rsp), %rax
	movq	%rcx, (%r12)
	movq	16(%rsp), %rsi
	movdqu	8(%rsp), %xmm0
	movdqu	%xmm0, 8(%r12)
	testq	%rax, %rax
	je	.LBB12_1
	andq	$-8, %rcx
	movq	%rcx, (%r12)
	subq	%rsi, %rcx
	movq	%r15, %rdx
	cmpq	$262144, %rcx
	jae	.LBB12_7
.LBB12_13:
	testq	%rdx, %rdx
	je	.LBB12_14
.LBB12_10:
	cmpq	$4, %rdx
	jae	.LBB12_15
	xorl	%ebx, %ebx
	jmp	.LBB12_12
.LBB12_15:
	andq	%rdx, %rbx
	movdqa	.LCPI12_0(%rip), %xmm0
	xorl	%ecx, %ecx
	movdqa	.LCPI12_1(%rip), %xmm1
	movdqa	.LCPI12_2(%rip), %xmm2
.LBB12_16:
	movdqa	%xmm0, %xmm3
	paddq	%xmm1, %xmm3
	movdqu	%xmm0, (%rax,%rcx,8)
	movdqu	%xmm3, 16(%rax,%rcx,8)
	addq	$4, %rcx
	paddq	%xmm2, %xmm0
	cmpq	%rcx, %rbx
	jne	.LBB12_16
	jmp	.LBB12_17
.LBB12_14:
	xorl	%edx, %edx
	jmp	.LBB12_18
.LBB12_12:
	movq	%rbx, (%rax,%rbx,8)
	incq	%rbx
.LBB12_17:
	cmpq	%rbx, %rdx
	jne	.LBB12_12
.LBB12_18:
	addq	$56, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	retq
