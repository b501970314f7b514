	pushq	%r15
	pushq	%r14
	pushq	%rbx
	subq	$64, %rsp
	movq	(%rdi), %rax
	movq	16(%rdi), %rbx
	subq	%rdx, %rax
	movq	%rax, %rcx
	subq	%rbx, %rcx
	js	.LBB207_18
	movq	%rax, (%rdi)
	addq	%rcx, %rbx
	cmpq	$64, %rdx
	jbe	.LBB207_2
	movq	_ZN7ebbtide8prefetch9processor5LEASTE@GOTPCREL(%rip), %rcx
	movq	(%rcx), %rcx
	cmpq	%rcx, %rdx
	jb	.LBB207_12
	movq	8(%rdi), %rcx
	movq	8(%rcx), %rcx
	subq	%rax, %rcx
	cmpq	$262144, %rcx
	jb	.LBB207_12
	movq	%rbx, %rdi
	movq	%rsi, %r14
	movq	%rdx, %rsi
	movq	%rdx, %r15
	callq	*_ZN7ebbtide8prefetch10below_copy4callE@GOTPCREL(%rip)
	movq	%r14, %rsi
	movq	%r15, %rdx
.LBB207_12:
	movq	%rbx, %rdi
	movq	%rdx, %r14
	callq	*memcpy@GOTPCREL(%rip)
	movq	%r14, %rdx
	jmp	.LBB207_19
.LBB207_2:
	cmpq	$32, %rdx
	jbe	.LBB207_3
	movups	(%rsi), %xmm0
	movups	16(%rsi), %xmm1
	movups	%xmm1, 16(%rbx)
	movups	%xmm0, (%rbx)
	movups	-32(%rsi,%rdx), %xmm0
	movups	-16(%rsi,%rdx), %xmm1
	movups	%xmm1, -16(%rbx,%rdx)
	movups	%xmm0, -32(%rbx,%rdx)
	jmp	.LBB207_19
.LBB207_3:
	cmpq	$16, %rdx
	jbe	.LBB207_4
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rbx)
	movups	-16(%rsi,%rdx), %xmm0
	movups	%xmm0, -16(%rbx,%rdx)
	jmp	.LBB207_19
.LBB207_4:
	cmpq	$7, %rdx
	jbe	.LBB207_5
	movq	(%rsi), %rax
	movq	%rax, (%rbx)
	movq	-8(%rsi,%rdx), %rax
	movq	%rax, -8(%rbx,%rdx)
	jmp	.LBB207_19
.LBB207_5:
	cmpq	$3, %rdx
	jbe	.LBB207_6
	movl	(%rsi), %eax
	movl	%eax, (%rbx)
	movl	-4(%rsi,%rdx), %eax
	movl	%eax, -4(%rbx,%rdx)
	jmp	.LBB207_19
.LBB207_18:
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, (%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 8(%rsp)
	movq	$0, 24(%rsp)
	movq	%rsi, 32(%rsp)
	movq	%rdx, 40(%rsp)
	movq	$1, 48(%rsp)
	movb	$0, 56(%rsp)
	movq	%rax, (%rdi)
	movq	%rsp, %rax
	movq	%rdi, %r14
	movq	%rax, %rdi
	movq	%rdx, %rbx
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	%rbx, %rdx
	movq	(%rsp), %rax
	movq	24(%rsp), %rbx
	movq	%rax, (%r14)
	movups	8(%rsp), %xmm0
	movups	%xmm0, 8(%r14)
	#APP
	#NO_APP
	jmp	.LBB207_19
.LBB207_6:
	cmpq	$1, %rdx
	jbe	.LBB207_7
	movzwl	(%rsi), %eax
	movw	%ax, (%rbx)
	movzwl	-2(%rsi,%rdx), %eax
	movw	%ax, -2(%rbx,%rdx)
	jmp	.LBB207_19
.LBB207_7:
	testq	%rdx, %rdx
	je	.LBB207_19
	movzbl	(%rsi), %eax
	movb	%al, (%rbx)
.LBB207_19:
	movq	%rbx, %rax
	addq	$64, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	retq
