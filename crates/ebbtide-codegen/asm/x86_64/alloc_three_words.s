	movq	(%rdi), %rax
	andq	$-8, %rax
	addq	$-24, %rax
	cmpq	16(%rdi), %rax
	jb	.LBB8_2
	movq	16(%rsi), %rcx
	movq	%rcx, 16(%rax)
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rax)
	movq	%rax, (%rdi)
	retq
.LBB8_2:
	pushq	%rbx
	subq	$96, %rsp
	movq	16(%rsi), %rax
	movq	%rax, 80(%rsp)
	movups	(%rsi), %xmm0
	movaps	%xmm0, 64(%rsp)
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, (%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 8(%rsp)
	movq	$0, 24(%rsp)
	leaq	64(%rsp), %rcx
	movq	%rcx, 32(%rsp)
	movq	$24, 40(%rsp)
	movq	$8, 48(%rsp)
	movb	$0, 56(%rsp)
	movq	%rax, (%rdi)
	movq	%rsp, %rax
	movq	%rdi, %rbx
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw4growE@GOTPCREL(%rip)
	movq	(%rsp), %rcx
	movq	24(%rsp), %rax
	movq	%rcx, (%rbx)
	movups	8(%rsp), %xmm0
	movups	%xmm0, 8(%rbx)
	#APP
	#NO_APP
	addq	$96, %rsp
	popq	%rbx
	retq
