	pushq	%r15
	pushq	%r14
	pushq	%r12
	pushq	%rbx
	subq	$40, %rsp
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
	movq	%rsi, %r14
	#MEMBARRIER
	movq	(%rdi), %rsi
	movq	8(%rdi), %rcx
	movq	%rdi, %r15
	movq	16(%rdi), %rax
	movl	$0, (%rsp)
	leaq	8(%rsp), %rdi
	movl	$1, %r9d
	movq	%rdx, %r8
	movq	%rax, %rdx
	movq	%r8, %r12
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	8(%rsp), %rbx
	testq	%rbx, %rbx
	je	.LBB8_3
	movq	16(%rsp), %rax
	movq	%rax, (%r15)
	movups	24(%rsp), %xmm0
	movups	%xmm0, 8(%r15)
	movq	%r12, %rdx
	movq	%r14, %rsi
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
	xorl	%ebx, %ebx
	movq	%r12, %rdx
.LBB8_12:
	movq	%rbx, %rax
	addq	$40, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	retq
