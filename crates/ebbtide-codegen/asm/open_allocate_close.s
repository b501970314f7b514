	pushq	%rbx
	subq	$48, %rsp
	movq	88(%rdi), %rax
	movq	104(%rdi), %rdx
	andq	$-16, %rax
	cmpq	%rdx, %rax
	jb	.LBB6_2
	movq	96(%rdi), %rcx
	movq	%rdi, 24(%rcx)
	leaq	-8(%rax), %rdi
	subq	%rdx, %rdi
	jb	.LBB6_5
.LBB6_4:
	leaq	(%rdx,%rdi), %rax
	movq	%rsi, (%rdx,%rdi)
.LBB6_6:
	movq	%rax, 16(%rsp)
	leaq	16(%rsp), %rax
	#APP
	#NO_APP
	movq	16(%rsp), %rax
	movq	(%rax), %rax
	addq	$48, %rsp
	popq	%rbx
	retq
.LBB6_2:
	leaq	16(%rsp), %rax
	movq	%rdi, %rcx
	movq	%rax, %rdi
	movq	%rsi, %rbx
	movq	%rcx, %rsi
	callq	*_ZN7ebbtide5arena14Arena$LT$B$GT$11open_slowlyE@GOTPCREL(%rip)
	movq	%rbx, %rsi
	movq	16(%rsp), %rax
	movq	24(%rsp), %rcx
	movq	32(%rsp), %rdx
	leaq	-8(%rax), %rdi
	subq	%rdx, %rdi
	jae	.LBB6_4
.LBB6_5:
	#MEMBARRIER
	movl	$0, (%rsp)
	leaq	16(%rsp), %rdi
	movl	$8, %r8d
	movl	$8, %r9d
	movq	%rsi, %rbx
	movq	%rax, %rsi
	callq	*_ZN7ebbtide3raw4growE@GOTPCREL(%rip)
	movq	16(%rsp), %rax
	movq	%rbx, (%rax)
	jmp	.LBB6_6
