	pushq	%r15
	pushq	%r14
	pushq	%rbx
	subq	$32, %rsp
	movl	8(%rdi), %ebx
	movl	12(%rdi), %eax
	cmpl	%eax, %ebx
	jne	.LBB238_1
	movl	$4294967295, %ecx
	cmpq	%rcx, %rbx
	je	.LBB238_9
	movq	(%rdi), %rcx
	movq	%rcx, 8(%rsp)
	movq	%rbx, 16(%rsp)
	movq	%rax, 24(%rsp)
	testq	%rbx, %rbx
	jne	.LBB238_6
	movq	(%rsi), %rcx
	movq	16(%rsi), %rax
	addq	$7, %rax
	andq	$-8, %rax
	subq	%rax, %rcx
	cmpq	$33, %rcx
	jl	.LBB238_6
	leaq	32(%rax), %rcx
	movq	%rcx, 16(%rsi)
	movl	$4, %ecx
.LBB238_7:
	movq	%rax, (%rdi)
	movl	$4294967295, %esi
	cmpq	%rsi, %rcx
	cmovbq	%rcx, %rsi
	movl	%esi, 12(%rdi)
	jmp	.LBB238_8
.LBB238_1:
	movq	(%rdi), %rax
.LBB238_8:
	movq	%rdx, (%rax,%rbx,8)
	leal	1(%rbx), %eax
	movl	%eax, 8(%rdi)
	addq	$32, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	retq
.LBB238_6:
	leaq	1(%rbx), %r8
	leaq	8(%rsp), %rax
	movq	%rdx, %r14
	movl	$8, %edx
	movl	$8, %ecx
	movq	%rdi, %r15
	movq	%rsi, %rdi
	movq	%rax, %rsi
	xorl	%r9d, %r9d
	callq	*_ZN7ebbtide6vector6memory11grow_sharedE@GOTPCREL(%rip)
	movq	%r15, %rdi
	movq	%rdx, %rcx
	movq	%r14, %rdx
	jmp	.LBB238_7
.LBB238_9:
	leaq	.Lanon..1(%rip), %rdi
	callq	*_ZN69_$LT$core..convert..Infallible$u20$as$u20$ebbtide..error..Failure$GT$9too_largeE@GOTPCREL(%rip)
