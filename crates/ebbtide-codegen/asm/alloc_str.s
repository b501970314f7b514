	pushq	%r15
	pushq	%r14
	pushq	%rbx
	subq	$48, %rsp
	movq	(%rdi), %rax
	movq	16(%rdi), %rbx
	subq	%rdx, %rax
	movq	%rax, %rcx
	subq	%rbx, %rcx
	js	.LBB1_2
	addq	%rcx, %rbx
	movq	%rax, (%rdi)
	cmpq	$32, %rdx
	jbe	.LBB1_4
.LBB1_11:
	movq	%rbx, %rdi
	movq	%rdx, %r14
	callq	*memcpy@GOTPCREL(%rip)
	movq	%r14, %rdx
	jmp	.LBB1_10
.LBB1_2:
	#MEMBARRIER
	movq	(%rdi), %rax
	movq	8(%rdi), %rcx
	movq	16(%rdi), %r8
	movq	%r8, (%rdi)
	movl	$0, (%rsp)
	leaq	16(%rsp), %r10
	movl	$1, %r9d
	movq	%rdi, %r14
	movq	%r10, %rdi
	movq	%rsi, %r15
	movq	%rax, %rsi
	movq	%rdx, %rbx
	movq	%r8, %rdx
	movq	%rbx, %r8
	callq	*_ZN7ebbtide3raw4growE@GOTPCREL(%rip)
	movq	%r14, %rdi
	movq	%r15, %rsi
	movq	%rbx, %rdx
	movq	24(%rsp), %rax
	movups	32(%rsp), %xmm0
	movups	%xmm0, 8(%r14)
	movq	16(%rsp), %rbx
	movq	%rax, (%rdi)
	cmpq	$32, %rdx
	ja	.LBB1_11
.LBB1_4:
	cmpq	$15, %rdx
	jbe	.LBB1_5
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rbx)
	movups	-16(%rsi,%rdx), %xmm0
	movups	%xmm0, -16(%rbx,%rdx)
	jmp	.LBB1_10
.LBB1_5:
	cmpq	$7, %rdx
	jbe	.LBB1_6
	movq	(%rsi), %rax
	movq	%rax, (%rbx)
	movq	-8(%rsi,%rdx), %rax
	movq	%rax, -8(%rbx,%rdx)
	jmp	.LBB1_10
.LBB1_6:
	cmpq	$3, %rdx
	jbe	.LBB1_7
	movl	(%rsi), %eax
	movl	%eax, (%rbx)
	movl	-4(%rsi,%rdx), %eax
	movl	%eax, -4(%rbx,%rdx)
	jmp	.LBB1_10
.LBB1_7:
	cmpq	$1, %rdx
	jbe	.LBB1_8
	movzwl	(%rsi), %eax
	movw	%ax, (%rbx)
	movzwl	-2(%rsi,%rdx), %eax
	movw	%ax, -2(%rbx,%rdx)
	jmp	.LBB1_10
.LBB1_8:
	jne	.LBB1_10
	movzbl	(%rsi), %eax
	movb	%al, (%rbx)
.LBB1_10:
	movq	%rbx, %rax
	addq	$48, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	retq
