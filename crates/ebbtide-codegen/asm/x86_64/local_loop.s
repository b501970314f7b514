	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$64, %rsp
	movq	%rsi, %rbx
	movq	(%rdi), %rdx
	movq	16(%rdi), %rax
	leaq	-64(%rdx), %rcx
	cmpq	%rax, %rcx
	jb	.LBB16_1
	testq	%rbx, %rbx
	je	.LBB16_8
.LBB16_3:
	movq	8(%rdi), %rcx
	andq	$-16, %rdx
	xorl	%r15d, %r15d
	leaq	56(%rsp), %r12
	leaq	8(%rsp), %r14
	movq	_ZN7ebbtide3raw4growE@GOTPCREL(%rip), %r13
.LBB16_4:
	leaq	-8(%rdx), %rsi
	cmpq	%rax, %rsi
	jb	.LBB16_6
	movq	%r15, (%rsi)
	movq	%rsi, %rdx
.LBB16_7:
	incq	%r15
	movq	%rdx, 8(%rsp)
	#APP
	#NO_APP
	movq	%rsi, %rdx
	cmpq	%r15, %rbx
	jne	.LBB16_4
	jmp	.LBB16_8
.LBB16_6:
	movq	%r15, 56(%rsp)
	#APP
	#NO_APP
	movq	%rdx, 24(%rsp)
	movq	%rcx, 32(%rsp)
	movq	%rax, 40(%rsp)
	movq	%r12, 8(%rsp)
	movq	$8, 16(%rsp)
	movw	$3, 48(%rsp)
	movq	%r14, %rdi
	callq	*%r13
	movq	8(%rsp), %rdx
	movq	24(%rsp), %rsi
	movq	32(%rsp), %rcx
	movq	40(%rsp), %rax
	#APP
	#NO_APP
	jmp	.LBB16_7
.LBB16_1:
	movq	8(%rdi), %rcx
	movq	%rdx, 8(%rsp)
	movq	%rcx, 16(%rsp)
	movq	%rax, 24(%rsp)
	leaq	8(%rsp), %rax
	movq	%rdi, %r14
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw16leave_full_chunkE@GOTPCREL(%rip)
	movq	%r14, %rdi
	movq	8(%rsp), %rdx
	movq	%rdx, (%r14)
	movups	16(%rsp), %xmm0
	movups	%xmm0, 8(%r14)
	testq	%rbx, %rbx
	jne	.LBB16_3
.LBB16_8:
	addq	$64, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	retq
