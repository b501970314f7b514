	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$56, %rsp
	movq	(%rdi), %rax
	movq	16(%rdi), %rbx
	subq	%rdx, %rax
	movq	%rax, %rcx
	subq	%rbx, %rcx
	js	.LBB8_2
	movq	%rax, (%rdi)
	addq	%rcx, %rbx
	cmpq	$32, %rdx
	jbe	.LBB8_6
.LBB8_13:
	movq	%rbx, %rdi
	movq	%rdx, %r14
	callq	*memcpy@GOTPCREL(%rip)
	movq	%r14, %rdx
	jmp	.LBB8_12
.LBB8_2:
	movq	%rsi, 16(%rsp)
	#MEMBARRIER
	movq	(%rdi), %r14
	movq	8(%rdi), %r15
	movq	16(%rdi), %r12
	movq	%rdi, %rbp
	movq	%r12, (%rdi)
	movl	$0, (%rsp)
	leaq	24(%rsp), %rdi
	movl	$1, %r9d
	movq	%r14, %rsi
	movq	%rdx, %r8
	movq	%r12, %rdx
	movq	%r15, %rcx
	movq	%r8, %r13
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	24(%rsp), %rbx
	testq	%rbx, %rbx
	je	.LBB8_3
	movq	32(%rsp), %rax
	movq	%rax, (%rbp)
	movups	40(%rsp), %xmm0
	movups	%xmm0, 8(%rbp)
	movq	%r13, %rdx
	movq	16(%rsp), %rsi
	cmpq	$32, %rdx
	ja	.LBB8_13
.LBB8_6:
	cmpq	$15, %rdx
	jbe	.LBB8_7
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rbx)
	movups	-16(%rsi,%rdx), %xmm0
	movups	%xmm0, -16(%rbx,%rdx)
	jmp	.LBB8_12
.LBB8_7:
	cmpq	$7, %rdx
	jbe	.LBB8_8
	movq	(%rsi), %rax
	movq	%rax, (%rbx)
	movq	-8(%rsi,%rdx), %rax
	movq	%rax, -8(%rbx,%rdx)
	jmp	.LBB8_12
.LBB8_8:
	cmpq	$3, %rdx
	jbe	.LBB8_9
	movl	(%rsi), %eax
	movl	%eax, (%rbx)
	movl	-4(%rsi,%rdx), %eax
	movl	%eax, -4(%rbx,%rdx)
	jmp	.LBB8_12
.LBB8_9:
	cmpq	$1, %rdx
	jbe	.LBB8_10
	movzwl	(%rsi), %eax
	movw	%ax, (%rbx)
	movzwl	-2(%rsi,%rdx), %eax
	movw	%ax, -2(%rbx,%rdx)
	jmp	.LBB8_12
.LBB8_10:
	jne	.LBB8_12
	movzbl	(%rsi), %eax
	movb	%al, (%rbx)
	jmp	.LBB8_12
.LBB8_3:
	movq	%r14, (%rbp)
	movq	%r15, 8(%rbp)
	movq	%r12, 16(%rbp)
	xorl	%ebx, %ebx
	movq	%r13, %rdx
.LBB8_12:
	movq	%rbx, %rax
	addq	$56, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	retq
