	movq	(%rdi), %rax
	andq	$-8, %rax
	addq	$-24, %rax
	cmpq	16(%rdi), %rax
	jb	.LBB27_2
	movq	16(%rsi), %rcx
	movq	%rcx, 16(%rax)
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rax)
	movq	%rax, (%rdi)
	retq
.LBB27_2:
	pushq	%rbx
	subq	$80, %rsp
	movq	16(%rsi), %rax
	movq	%rax, 64(%rsp)
	movups	(%rsi), %xmm0
	movaps	%xmm0, 48(%rsp)
	#APP
	#NO_APP
	movq	8(%rdi), %rax
	#APP
	#NO_APP
	movq	(%rdi), %rcx
	movq	16(%rdi), %rdx
	movq	%rcx, 16(%rsp)
	movq	%rax, 24(%rsp)
	movq	%rdx, 32(%rsp)
	leaq	48(%rsp), %rax
	movq	%rax, (%rsp)
	movq	$24, 8(%rsp)
	movw	$3, 40(%rsp)
	movq	%rdx, (%rdi)
	movq	%rsp, %rax
	movq	%rdi, %rbx
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw10alloc_slowE@GOTPCREL(%rip)
	movq	(%rsp), %rax
	movq	16(%rsp), %rcx
	movq	%rcx, (%rbx)
	movq	32(%rsp), %rcx
	movq	%rcx, 16(%rbx)
	#APP
	#NO_APP
	movq	24(%rsp), %rcx
	movq	%rcx, 8(%rbx)
	#APP
	#NO_APP
	addq	$80, %rsp
	popq	%rbx
	retq
