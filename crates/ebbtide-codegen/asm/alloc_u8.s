	movq	(%rdi), %rax
	decq	%rax
	cmpq	16(%rdi), %rax
	jb	.LBB8_2
	movq	%rax, (%rdi)
	movb	%sil, (%rax)
	retq
.LBB8_2:
	pushq	%rbp
	pushq	%rbx
	subq	$56, %rsp
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, (%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 8(%rsp)
	movq	$0, 24(%rsp)
	movq	$1, 32(%rsp)
	movq	$1, 40(%rsp)
	movb	$0, 48(%rsp)
	movq	%rax, (%rdi)
	movq	%rsp, %rax
	movq	%rdi, %rbx
	movq	%rax, %rdi
	movl	%esi, %ebp
	callq	*_ZN7ebbtide3raw4growE@GOTPCREL(%rip)
	movq	(%rsp), %rcx
	movq	24(%rsp), %rax
	movups	8(%rsp), %xmm0
	movups	%xmm0, 8(%rbx)
	movq	%rcx, (%rbx)
	movb	%bpl, (%rax)
	addq	$56, %rsp
	popq	%rbx
	popq	%rbp
	retq
