	movq	(%rdi), %rax
	decq	%rax
	cmpq	16(%rdi), %rax
	jb	.LBB29_2
	movb	%sil, (%rax)
	movq	%rax, (%rdi)
	retq
.LBB29_2:
	pushq	%rbx
	subq	$64, %rsp
	movb	%sil, 15(%rsp)
	#APP
	#NO_APP
	movq	8(%rdi), %rax
	#APP
	#NO_APP
	movq	(%rdi), %rcx
	movq	16(%rdi), %rdx
	movq	%rcx, 32(%rsp)
	movq	%rax, 40(%rsp)
	movq	%rdx, 48(%rsp)
	leaq	15(%rsp), %rax
	movq	%rax, 16(%rsp)
	movq	$1, 24(%rsp)
	movw	$0, 56(%rsp)
	movq	%rdx, (%rdi)
	leaq	16(%rsp), %rax
	movq	%rdi, %rbx
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw10alloc_slowE@GOTPCREL(%rip)
	movq	16(%rsp), %rax
	movq	32(%rsp), %rcx
	movq	%rcx, (%rbx)
	movq	48(%rsp), %rcx
	movq	%rcx, 16(%rbx)
	#APP
	#NO_APP
	movq	40(%rsp), %rcx
	movq	%rcx, 8(%rbx)
	#APP
	#NO_APP
	addq	$64, %rsp
	popq	%rbx
	retq
