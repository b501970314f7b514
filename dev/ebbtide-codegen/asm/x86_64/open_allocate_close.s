	pushq	%r14
	pushq	%rbx
	subq	$56, %rsp
	movq	32(%rdi), %rdx
	movq	80(%rdx), %rax
	testq	%rax, %rax
	je	.LBB240_1
	movq	24(%rdi), %rdi
	leaq	-8(%rax), %rcx
	cmpq	%rdi, %rcx
	jb	.LBB240_4
.LBB240_3:
	movq	%rsi, (%rcx)
.LBB240_5:
	movq	%rcx, 8(%rsp)
	leaq	8(%rsp), %rax
	#APP
	#NO_APP
	movq	8(%rsp), %rax
	movq	(%rax), %rax
	addq	$56, %rsp
	popq	%rbx
	popq	%r14
	retq
.LBB240_1:
	movq	%rdi, %rbx
	movq	%rsi, %r14
	callq	*_ZN7ebbtide5arena14Arena$LT$B$GT$11open_slowlyE@GOTPCREL(%rip)
	movq	%rbx, %rdi
	movq	%r14, %rsi
	movq	24(%rdi), %rdi
	leaq	-8(%rax), %rcx
	cmpq	%rdi, %rcx
	jae	.LBB240_3
.LBB240_4:
	movq	%rsi, (%rsp)
	#APP
	#NO_APP
	#APP
	#NO_APP
	movq	%rax, 24(%rsp)
	movq	%rdx, 32(%rsp)
	movq	%rdi, 40(%rsp)
	movq	%rsp, %rax
	movq	%rax, 8(%rsp)
	movq	$8, 16(%rsp)
	movw	$3, 48(%rsp)
	leaq	8(%rsp), %rdi
	callq	*_ZN7ebbtide3raw10alloc_slowE@GOTPCREL(%rip)
	movq	8(%rsp), %rcx
	#APP
	#NO_APP
	#APP
	#NO_APP
	jmp	.LBB240_5
