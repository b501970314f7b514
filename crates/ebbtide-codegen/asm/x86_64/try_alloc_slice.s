	pushq	%r15
	pushq	%r14
	pushq	%r12
	pushq	%rbx
	subq	$56, %rsp
	movabsq	$1152921504606846972, %rbx
	leaq	3(%rbx), %rax
	cmpq	%rax, %rsi
	jbe	.LBB209_2
.LBB209_1:
	xorl	%eax, %eax
	jmp	.LBB209_19
.LBB209_2:
	movq	%rsi, %rdx
	leaq	(,%rsi,8), %rsi
	movq	(%rdi), %rax
	andq	$-8, %rax
	movq	%rax, %rcx
	subq	16(%rdi), %rcx
	cmpq	%rsi, %rcx
	jl	.LBB209_6
	subq	%rsi, %rax
	movq	%rax, (%rdi)
	movq	_ZN7ebbtide8prefetch9processor5LEASTE@GOTPCREL(%rip), %rcx
	movq	(%rcx), %rcx
	cmpq	%rcx, %rsi
	jb	.LBB209_11
	cmpq	$128, %rdx
	jae	.LBB209_5
	movq	8(%rdi), %rcx
	movq	8(%rcx), %rcx
	subq	%rax, %rcx
	cmpq	$262144, %rcx
	jb	.LBB209_11
	prefetcht0	-4096(%rax)
	movq	%rax, %rcx
	addq	$-4032, %rcx
	movl	$64, %edi
.LBB209_10:
	prefetcht0	-64(%rcx,%rdi)
	prefetcht0	(%rcx,%rdi)
	subq	$-128, %rdi
	cmpq	%rsi, %rdi
	jb	.LBB209_10
.LBB209_11:
	testq	%rdx, %rdx
	je	.LBB209_12
	cmpq	$4, %rdx
	jae	.LBB209_16
	xorl	%ebx, %ebx
	jmp	.LBB209_15
.LBB209_12:
	xorl	%edx, %edx
	jmp	.LBB209_19
.LBB209_16:
	andq	%rdx, %rbx
	movdqa	.LCPI209_0(%rip), %xmm0
	xorl	%ecx, %ecx
	movdqa	.LCPI209_1(%rip), %xmm1
	movdqa	.LCPI209_2(%rip), %xmm2
.LBB209_17:
	movdqa	%xmm0, %xmm3
	paddq	%xmm1, %xmm3
	movdqu	%xmm0, (%rax,%rcx,8)
	movdqu	%xmm3, 16(%rax,%rcx,8)
	addq	$4, %rcx
	paddq	%xmm2, %xmm0
	cmpq	%rcx, %rbx
	jne	.LBB209_17
	jmp	.LBB209_18
.LBB209_6:
	movq	%rdx, %r14
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, 24(%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 32(%rsp)
	movq	$0, 8(%rsp)
	movq	%rsi, 16(%rsp)
	movw	$3, 48(%rsp)
	movq	%rax, (%rdi)
	leaq	8(%rsp), %rax
	movq	%rdi, %r15
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	8(%rsp), %rax
	movq	24(%rsp), %rcx
	movq	%rcx, (%r15)
	movdqu	32(%rsp), %xmm0
	movdqu	%xmm0, 8(%r15)
	#APP
	#NO_APP
	testq	%rax, %rax
	je	.LBB209_1
	movq	%r14, %rdx
	jmp	.LBB209_11
.LBB209_5:
	movq	%rax, 8(%rsp)
	leaq	8(%rsp), %rax
	#APP
	#NO_APP
	movq	8(%rsp), %r15
	addq	%rsi, %r15
	movq	16(%rdi), %rax
	movq	%rdx, %r14
	movl	$8, %edx
	movq	%rdi, %r12
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw12lowest_blockE@GOTPCREL(%rip)
	movq	%rdx, %rcx
	movq	%r14, %rdx
	movq	%r15, (%r12)
	movq	%rcx, 16(%r12)
	jmp	.LBB209_11
.LBB209_15:
	movq	%rbx, (%rax,%rbx,8)
	incq	%rbx
.LBB209_18:
	cmpq	%rbx, %rdx
	jne	.LBB209_15
.LBB209_19:
	addq	$56, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	retq
