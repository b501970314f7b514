	pushq	%rbx
	subq	$64, %rsp
	movq	(%rdi), %rcx
	movq	16(%rdi), %rax
	andq	$-16, %rcx
	cmpq	%rax, %rcx
	jb	.LBB6_2
	movq	8(%rdi), %rdx
	addq	$48, %rdi
	movq	%rdi, 24(%rdx)
	leaq	-8(%rcx), %rdi
	subq	%rax, %rdi
	jb	.LBB6_5
.LBB6_4:
	leaq	(%rax,%rdi), %rcx
	movq	%rsi, (%rax,%rdi)
.LBB6_6:
	movq	%rcx, 8(%rsp)
	leaq	8(%rsp), %rax
	#APP
	#NO_APP
	movq	8(%rsp), %rax
	movq	(%rax), %rax
	addq	$64, %rsp
	popq	%rbx
	retq
.LBB6_2:
	leaq	8(%rsp), %rax
	movq	%rdi, %rcx
	movq	%rax, %rdi
	movq	%rsi, %rbx
	movq	%rcx, %rsi
	callq	*_ZN7ebbtide5arena14Arena$LT$B$GT$11open_slowlyE@GOTPCREL(%rip)
	movq	%rbx, %rsi
	movq	8(%rsp), %rcx
	movq	16(%rsp), %rdx
	movq	24(%rsp), %rax
	leaq	-8(%rcx), %rdi
	subq	%rax, %rdi
	jae	.LBB6_4
.LBB6_5:
	#APP
	#NO_APP
	movq	%rcx, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rax, 24(%rsp)
	movq	$0, 32(%rsp)
	movq	$8, 40(%rsp)
	movq	$8, 48(%rsp)
	movb	$0, 56(%rsp)
	leaq	8(%rsp), %rdi
	movq	%rsi, %rbx
	callq	*_ZN7ebbtide3raw4growE@GOTPCREL(%rip)
	movq	32(%rsp), %rcx
	movq	%rbx, (%rcx)
	jmp	.LBB6_6
