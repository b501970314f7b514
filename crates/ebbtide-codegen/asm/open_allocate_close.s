	pushq	%r14
	pushq	%rbx
	subq	$56, %rsp
	movq	24(%rdi), %rax
	testq	%rax, %rax
	je	.LBB11_1
	leaq	48(%rdi), %rdx
	movq	32(%rdi), %rdi
	leaq	-8(%rax), %rcx
	cmpq	%rdi, %rcx
	jb	.LBB11_5
.LBB11_4:
	movq	%rsi, (%rcx)
.LBB11_6:
	movq	%rcx, (%rsp)
	movq	%rsp, %rax
	#APP
	#NO_APP
	movq	(%rsp), %rax
	movq	(%rax), %rax
	addq	$56, %rsp
	popq	%rbx
	popq	%r14
	retq
.LBB11_1:
	movq	%rdi, %rbx
	movq	%rsi, %r14
	callq	*_ZN7ebbtide5arena14Arena$LT$B$GT$11open_slowlyE@GOTPCREL(%rip)
	movq	%rbx, %rdi
	movq	%r14, %rsi
	movq	32(%rdi), %rdi
	leaq	-8(%rax), %rcx
	cmpq	%rdi, %rcx
	jae	.LBB11_4
.LBB11_5:
	#APP
	#NO_APP
	movq	%rax, (%rsp)
	movq	%rdx, 8(%rsp)
	movq	%rdi, 16(%rsp)
	movq	$0, 24(%rsp)
	movq	$8, 32(%rsp)
	movq	$8, 40(%rsp)
	movb	$0, 48(%rsp)
	movq	%rsp, %rdi
	movq	%rsi, %rbx
	callq	*_ZN7ebbtide3raw4growE@GOTPCREL(%rip)
	movq	24(%rsp), %rcx
	movq	%rbx, (%rcx)
	jmp	.LBB11_6
