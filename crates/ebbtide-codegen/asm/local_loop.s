	pushq	%r15
	pushq	%r14
	pushq	%r12
	pushq	%rbx
	subq	$56, %rsp
	movq	%rsi, %rbx
	movq	(%rdi), %rdx
	movq	16(%rdi), %rax
	leaq	-64(%rdx), %rcx
	cmpq	%rax, %rcx
	jb	.LBB10_1
	testq	%rbx, %rbx
	je	.LBB10_8
.LBB10_3:
	movq	8(%rdi), %rcx
	andq	$-16, %rdx
	xorl	%r15d, %r15d
	movq	%rsp, %r14
	movq	_ZN7ebbtide3raw4growE@GOTPCREL(%rip), %r12
.LBB10_4:
	leaq	-8(%rdx), %rsi
	cmpq	%rax, %rsi
	jb	.LBB10_6
	movq	%r15, (%rsi)
	movq	%rsi, %rdx
.LBB10_7:
	incq	%r15
	movq	%rdx, (%rsp)
	#APP
	#NO_APP
	movq	%rsi, %rdx
	cmpq	%r15, %rbx
	jne	.LBB10_4
	jmp	.LBB10_8
.LBB10_6:
	#APP
	#NO_APP
	movq	%rdx, (%rsp)
	movq	%rcx, 8(%rsp)
	movq	%rax, 16(%rsp)
	movq	$0, 24(%rsp)
	movq	$8, 32(%rsp)
	movq	$8, 40(%rsp)
	movb	$0, 48(%rsp)
	movq	%r14, %rdi
	callq	*%r12
	movq	(%rsp), %rsi
	movq	8(%rsp), %rcx
	movq	16(%rsp), %rax
	movq	24(%rsp), %rdx
	andq	$-8, %rsi
	movq	%r15, (%rdx)
	jmp	.LBB10_7
.LBB10_1:
	movq	8(%rdi), %rcx
	movq	%rdx, (%rsp)
	movq	%rcx, 8(%rsp)
	movq	%rax, 16(%rsp)
	movq	%rsp, %rax
	movq	%rdi, %r14
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw7move_onE@GOTPCREL(%rip)
	movq	%r14, %rdi
	movq	(%rsp), %rdx
	movq	%rdx, (%r14)
	movups	8(%rsp), %xmm0
	movups	%xmm0, 8(%r14)
	testq	%rbx, %rbx
	jne	.LBB10_3
.LBB10_8:
	addq	$56, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	retq
