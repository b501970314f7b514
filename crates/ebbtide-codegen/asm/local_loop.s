	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$64, %rsp
	movq	%rsi, %rbx
	movq	(%rdi), %r15
	movq	16(%rdi), %rax
	andq	$-16, %r15
	cmpq	%rax, %r15
	jb	.LBB5_1
	testq	%rbx, %rbx
	je	.LBB5_8
.LBB5_3:
	movq	8(%rdi), %rcx
	xorl	%r12d, %r12d
	leaq	8(%rsp), %r14
	movq	_ZN7ebbtide3raw4growE@GOTPCREL(%rip), %r13
.LBB5_4:
	leaq	-8(%r15), %rdx
	cmpq	%rax, %rdx
	jb	.LBB5_6
	movq	%r12, (%rdx)
	movq	%rdx, %rsi
.LBB5_7:
	incq	%r12
	movq	%rsi, 8(%rsp)
	#APP
	#NO_APP
	movq	%rdx, %r15
	cmpq	%r12, %rbx
	jne	.LBB5_4
	jmp	.LBB5_8
.LBB5_6:
	#APP
	#NO_APP
	movq	%r15, 8(%rsp)
	movq	%rcx, 16(%rsp)
	movq	%rax, 24(%rsp)
	movq	$0, 32(%rsp)
	movq	$8, 40(%rsp)
	movq	$8, 48(%rsp)
	movb	$0, 56(%rsp)
	movq	%r14, %rdi
	callq	*%r13
	movq	8(%rsp), %rdx
	movq	16(%rsp), %rcx
	movq	24(%rsp), %rax
	movq	32(%rsp), %rsi
	andq	$-8, %rdx
	movq	%r12, (%rsi)
	jmp	.LBB5_7
.LBB5_1:
	movq	%rdi, %r14
	movq	%rax, %rdi
	movq	%r15, %rsi
	callq	*_ZN7ebbtide3raw7loweredE@GOTPCREL(%rip)
	movq	%r14, %rdi
	testq	%rbx, %rbx
	jne	.LBB5_3
.LBB5_8:
	addq	$64, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	retq
