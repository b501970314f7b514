	movq	(%rdi), %rax
	andq	$-8, %rax
	addq	$-24, %rax
	cmpq	16(%rdi), %rax
	jb	.LBB6_2
	movq	%rax, (%rdi)
	prefetcht0	-1024(%rax)
	movq	16(%rsi), %rcx
	movq	%rcx, 16(%rax)
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rax)
	retq
.LBB6_2:
	pushq	%r14
	pushq	%rbx
	subq	$56, %rsp
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, (%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 8(%rsp)
	movq	$0, 24(%rsp)
	movq	$24, 32(%rsp)
	movq	$8, 40(%rsp)
	movb	$0, 48(%rsp)
	movq	%rax, (%rdi)
	movq	%rsp, %rax
	movq	%rdi, %rbx
	movq	%rax, %rdi
	movq	%rsi, %r14
	callq	*_ZN7ebbtide3raw4growE@GOTPCREL(%rip)
	movq	(%rsp), %rcx
	movq	24(%rsp), %rax
	movups	8(%rsp), %xmm0
	movups	%xmm0, 8(%rbx)
	andq	$-8, %rcx
	movq	%rcx, (%rbx)
	movq	16(%r14), %rcx
	movq	%rcx, 16(%rax)
	movups	(%r14), %xmm0
	movups	%xmm0, (%rax)
	addq	$56, %rsp
	popq	%rbx
	popq	%r14
	retq
