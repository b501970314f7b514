	pushq	%r15
	pushq	%r14
	pushq	%r12
	pushq	%rbx
	subq	$40, %rsp
	movq	%rsi, %rbx
	movq	(%rdi), %rsi
	movq	16(%rdi), %rdx
	andq	$-16, %rsi
	cmpq	%rdx, %rsi
	jb	.LBB5_1
	testq	%rbx, %rbx
	je	.LBB5_8
.LBB5_3:
	movq	8(%rdi), %rcx
	xorl	%r15d, %r15d
	leaq	8(%rsp), %r14
	movq	_ZN7ebbtide3raw4growE@GOTPCREL(%rip), %r12
.LBB5_4:
	leaq	-8(%rsi), %rax
	cmpq	%rdx, %rax
	jb	.LBB5_6
	movq	%r15, (%rax)
	movq	%rax, %rsi
.LBB5_7:
	incq	%r15
	movq	%rsi, 8(%rsp)
	#APP
	#NO_APP
	movq	%rax, %rsi
	cmpq	%r15, %rbx
	jne	.LBB5_4
	jmp	.LBB5_8
.LBB5_6:
	#MEMBARRIER
	movl	$0, (%rsp)
	movl	$8, %r8d
	movl	$8, %r9d
	movq	%r14, %rdi
	callq	*%r12
	movq	8(%rsp), %rsi
	movq	16(%rsp), %rax
	andq	$-8, %rax
	movq	24(%rsp), %rcx
	movq	32(%rsp), %rdx
	movq	%r15, (%rsi)
	jmp	.LBB5_7
.LBB5_1:
	movq	%rdi, %r15
	movq	%rdx, %rdi
	movq	%rsi, %r14
	callq	*_ZN7ebbtide3raw7loweredE@GOTPCREL(%rip)
	movq	%r15, %rdi
	movq	%r14, %rsi
	movq	%rax, %rdx
	testq	%rbx, %rbx
	jne	.LBB5_3
.LBB5_8:
	addq	$40, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	retq
