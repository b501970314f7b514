	pushq	%r15
	pushq	%r14
	pushq	%r12
	pushq	%rbx
	subq	$56, %rsp
	movabsq	$1152921504606846972, %rbx
	leaq	3(%rbx), %rax
	cmpq	%rax, %rsi
	jbe	.LBB243_2
.LBB243_1:
	xorl	%eax, %eax
	jmp	.LBB243_19
.LBB243_2:
	movq	%rsi, %rdx
	leaq	(,%rsi,8), %r14
	movq	(%rdi), %rax
	andq	$-8, %rax
	movq	%rax, %rcx
	subq	16(%rdi), %rcx
	cmpq	%r14, %rcx
	jl	.LBB243_4
	subq	%r14, %rax
	movq	%rax, (%rdi)
	movq	_ZN7ebbtide8prefetch9processor5LEASTE@GOTPCREL(%rip), %rcx
	movq	(%rcx), %rcx
	cmpq	%rcx, %r14
	jb	.LBB243_14
.LBB243_7:
	movq	8(%rdi), %rcx
	movq	8(%rcx), %rcx
	subq	%rax, %rcx
	cmpq	$262144, %rcx
	jb	.LBB243_14
	prefetcht0	-4096(%rax)
	leaq	-9(%rdx), %rcx
	cmpq	$2039, %rcx
	ja	.LBB243_14
	leaq	-4032(%rax), %rcx
	movl	$64, %esi
.LBB243_10:
	prefetcht0	-64(%rcx,%rsi)
	prefetcht0	(%rcx,%rsi)
	subq	$-128, %rsi
	cmpq	%rsi, %r14
	ja	.LBB243_10
	jmp	.LBB243_11
.LBB243_4:
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
	je	.LBB243_1
	movq	%r12, %rdi
	movq	%r15, %rdx
	movq	_ZN7ebbtide8prefetch9processor5LEASTE@GOTPCREL(%rip), %rcx
	movq	(%rcx), %rcx
	cmpq	%rcx, %r14
	jae	.LBB243_7
.LBB243_14:
	testq	%rdx, %rdx
	je	.LBB243_15
.LBB243_11:
	cmpq	$4, %rdx
	jae	.LBB243_16
	xorl	%ebx, %ebx
	jmp	.LBB243_13
.LBB243_16:
	andq	%rdx, %rbx
	movdqa	.LCPI243_0(%rip), %xmm0
	xorl	%ecx, %ecx
	movdqa	.LCPI243_1(%rip), %xmm1
	movdqa	.LCPI243_2(%rip), %xmm2
.LBB243_17:
	movdqa	%xmm0, %xmm3
	paddq	%xmm1, %xmm3
	movdqu	%xmm0, (%rax,%rcx,8)
	movdqu	%xmm3, 16(%rax,%rcx,8)
	addq	$4, %rcx
	paddq	%xmm2, %xmm0
	cmpq	%rcx, %rbx
	jne	.LBB243_17
	jmp	.LBB243_18
.LBB243_15:
	xorl	%edx, %edx
	jmp	.LBB243_19
.LBB243_13:
	movq	%rbx, (%rax,%rbx,8)
	incq	%rbx
.LBB243_18:
	cmpq	%rbx, %rdx
	jne	.LBB243_13
.LBB243_19:
	addq	$56, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	retq
