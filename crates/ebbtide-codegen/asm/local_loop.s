	pushq	%r15
	pushq	%r14
	pushq	%r12
	pushq	%rbx
	subq	$88, %rsp
	movq	%rsi, %rbx
	movq	(%rdi), %rdx
	movq	8(%rdi), %rax
	movq	16(%rdi), %rcx
	leaq	-64(%rdx), %rsi
	cmpq	%rcx, %rsi
	jb	.LBB5_2
	andq	$-16, %rdx
	testq	%rbx, %rbx
	je	.LBB5_9
.LBB5_4:
	xorl	%r15d, %r15d
	leaq	8(%rsp), %r14
	movq	_ZN7ebbtide3raw4growE@GOTPCREL(%rip), %r12
.LBB5_5:
	leaq	-8(%rdx), %rsi
	cmpq	%rcx, %rsi
	jb	.LBB5_7
	movq	%r15, (%rsi)
	movq	%rsi, %rdx
.LBB5_8:
	incq	%r15
	movq	%rdx, 8(%rsp)
	#APP
	#NO_APP
	movq	%rsi, %rdx
	cmpq	%r15, %rbx
	jne	.LBB5_5
	jmp	.LBB5_9
.LBB5_7:
	#APP
	#NO_APP
	movq	%rdx, 8(%rsp)
	movq	%rax, 16(%rsp)
	movq	%rcx, 24(%rsp)
	movq	$0, 32(%rsp)
	movq	$8, 40(%rsp)
	movq	$8, 48(%rsp)
	movb	$0, 56(%rsp)
	movq	%r14, %rdi
	callq	*%r12
	movq	8(%rsp), %rsi
	movq	16(%rsp), %rax
	movq	24(%rsp), %rcx
	movq	32(%rsp), %rdx
	andq	$-8, %rsi
	movq	%r15, (%rdx)
	jmp	.LBB5_8
.LBB5_2:
	movq	%rdx, 64(%rsp)
	movq	%rax, 72(%rsp)
	movq	%rcx, 80(%rsp)
	leaq	8(%rsp), %rax
	leaq	64(%rsp), %rsi
	movq	%rdi, %r14
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw7move_onE@GOTPCREL(%rip)
	movq	8(%rsp), %rdx
	movq	16(%rsp), %rax
	movq	24(%rsp), %rcx
	movq	64(%rsp), %rsi
	movq	%rsi, (%r14)
	movups	72(%rsp), %xmm0
	movups	%xmm0, 8(%r14)
	testq	%rbx, %rbx
	jne	.LBB5_4
.LBB5_9:
	addq	$88, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	retq
