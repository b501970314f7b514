	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$64, %rsp
	movq	%rsi, %rbx
	movq	(%rdi), %rax
	movq	16(%rdi), %rdx
	leaq	-64(%rax), %rcx
	cmpq	%rdx, %rcx
	jb	.LBB34_2
	movq	8(%rdi), %rcx
	testq	%rbx, %rbx
	je	.LBB34_9
.LBB34_4:
	andq	$-16, %rax
	xorl	%r15d, %r15d
	leaq	56(%rsp), %r12
	leaq	8(%rsp), %r14
	movq	_ZN7ebbtide3raw10alloc_slowE@GOTPCREL(%rip), %r13
.LBB34_5:
	leaq	-8(%rax), %rsi
	cmpq	%rdx, %rsi
	jb	.LBB34_7
	movq	%r15, (%rsi)
	movq	%rsi, %rax
.LBB34_8:
	incq	%r15
	movq	%rax, 8(%rsp)
	#APP
	#NO_APP
	movq	%rsi, %rax
	cmpq	%r15, %rbx
	jne	.LBB34_5
	jmp	.LBB34_9
.LBB34_7:
	movq	%r15, 56(%rsp)
	#APP
	#NO_APP
	#APP
	#NO_APP
	movq	%rax, 24(%rsp)
	movq	%rcx, 32(%rsp)
	movq	%rdx, 40(%rsp)
	movq	%r12, 8(%rsp)
	movq	$8, 16(%rsp)
	movw	$3, 48(%rsp)
	movq	%r14, %rdi
	callq	*%r13
	movq	8(%rsp), %rax
	movq	24(%rsp), %rsi
	movq	40(%rsp), %rdx
	#APP
	#NO_APP
	movq	32(%rsp), %rcx
	#APP
	#NO_APP
	jmp	.LBB34_8
.LBB34_2:
	movq	8(%rdi), %rcx
	movq	%rax, 8(%rsp)
	movq	%rcx, 16(%rsp)
	movq	%rdx, 24(%rsp)
	leaq	8(%rsp), %rax
	movq	%rdi, %r14
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw16leave_full_chunkE@GOTPCREL(%rip)
	movq	8(%rsp), %rcx
	movq	%rcx, (%r14)
	movups	16(%rsp), %xmm0
	movq	16(%rsp), %rcx
	movups	%xmm0, 8(%r14)
	testq	%rbx, %rbx
	jne	.LBB34_4
.LBB34_9:
	addq	$64, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	retq
