	pushq	%r15
	pushq	%r14
	pushq	%r12
	pushq	%rbx
	subq	$56, %rsp
	movabsq	$1152921504606846972, %rbx
	leaq	3(%rbx), %rax
	cmpq	%rax, %rsi
	jbe	.LBB219_2
.LBB219_1:
	xorl	%eax, %eax
	jmp	.LBB219_19
.LBB219_2:
	movq	%rsi, %rdx
	leaq	(,%rsi,8), %r14
	movq	(%rdi), %rax
	andq	$-8, %rax
	movq	%rax, %rcx
	subq	16(%rdi), %rcx
	cmpq	%r14, %rcx
	jl	.LBB219_4
	subq	%r14, %rax
	movq	%rax, (%rdi)
	movq	_ZN7ebbtide8prefetch9processor5LEASTE@GOTPCREL(%rip), %rcx
	movq	(%rcx), %rcx
	cmpq	%rcx, %r14
	jb	.LBB219_14
.LBB219_7:
	movq	8(%rdi), %rcx
	movq	8(%rcx), %rcx
	subq	%rax, %rcx
	cmpq	$262144, %rcx
	jb	.LBB219_14
	prefetcht0	-4096(%rax)
	leaq	-9(%rdx), %rcx
	cmpq	$2039, %rcx
	ja	.LBB219_14
	leaq	-4032(%rax), %rcx
	movl	$64, %esi
.LBB219_10:
	prefetcht0	-64(%rcx,%rsi)
	prefetcht0	(%rcx,%rsi)
	subq	$-128, %rsi
	cmpq	%rsi, %r14
	ja	.LBB219_10
	jmp	.LBB219_11
.LBB219_4:
	movq	%rdx, %r15
	#APP
	#NO_APP
	movq	8(%rdi), %rax
	#APP
	#NO_APP
	movq	(%rdi), %rcx
	movq	16(%rdi), %rdx
	movq	%rcx, 24(%rsp)
	movq	%rax, 32(%rsp)
	movq	%rdx, 40(%rsp)
	movq	$0, 8(%rsp)
	movq	%r14, 16(%rsp)
	movw	$3, 48(%rsp)
	movq	%rdx, (%rdi)
	leaq	8(%rsp), %rax
	movq	%rdi, %r12
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw14try_alloc_slowE@GOTPCREL(%rip)
	movq	8(%rsp), %rax
	movq	24(%rsp), %rcx
	movq	%rcx, (%r12)
	movq	40(%rsp), %rcx
	movq	%rcx, 16(%r12)
	#APP
	#NO_APP
	movq	32(%rsp), %rcx
	movq	%rcx, 8(%r12)
	#APP
	#NO_APP
	testq	%rax, %rax
	je	.LBB219_1
	movq	%r12, %rdi
	movq	%r15, %rdx
	movq	_ZN7ebbtide8prefetch9processor5LEASTE@GOTPCREL(%rip), %rcx
	movq	(%rcx), %rcx
	cmpq	%rcx, %r14
	jae	.LBB219_7
.LBB219_14:
	testq	%rdx, %rdx
	je	.LBB219_15
.LBB219_11:
	cmpq	$4, %rdx
	jae	.LBB219_16
	xorl	%ebx, %ebx
	jmp	.LBB219_13
.LBB219_16:
	andq	%rdx, %rbx
	movdqa	.LCPI219_0(%rip), %xmm0
	xorl	%ecx, %ecx
	movdqa	.LCPI219_1(%rip), %xmm1
	movdqa	.LCPI219_2(%rip), %xmm2
.LBB219_17:
	movdqa	%xmm0, %xmm3
	paddq	%xmm1, %xmm3
	movdqu	%xmm0, (%rax,%rcx,8)
	movdqu	%xmm3, 16(%rax,%rcx,8)
	addq	$4, %rcx
	paddq	%xmm2, %xmm0
	cmpq	%rcx, %rbx
	jne	.LBB219_17
	jmp	.LBB219_18
.LBB219_15:
	xorl	%edx, %edx
	jmp	.LBB219_19
.LBB219_13:
	movq	%rbx, (%rax,%rbx,8)
	incq	%rbx
.LBB219_18:
	cmpq	%rbx, %rdx
	jne	.LBB219_13
.LBB219_19:
	addq	$56, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	retq
