	pushq	%r15
	pushq	%r14
	pushq	%rbx
	subq	$64, %rsp
	movq	(%rdi), %r8
	movq	16(%rdi), %rax
	subq	%rdx, %r8
	movq	%r8, %rcx
	subq	%rax, %rcx
	js	.LBB5_2
	movq	%r8, (%rdi)
	addq	%rcx, %rax
	cmpq	$8, %rdx
	jae	.LBB5_4
.LBB5_14:
	cmpq	$3, %rdx
	jbe	.LBB5_15
	movl	(%rsi), %ecx
	movl	%ecx, (%rax)
	movl	-4(%rsi,%rdx), %ecx
	movl	%ecx, -4(%rax,%rdx)
	jmp	.LBB5_18
.LBB5_15:
	cmpq	$1, %rdx
	jbe	.LBB5_16
	movzwl	(%rsi), %ecx
	movw	%cx, (%rax)
	movzwl	-2(%rsi,%rdx), %ecx
	movw	%cx, -2(%rax,%rdx)
	jmp	.LBB5_18
.LBB5_16:
	testq	%rdx, %rdx
	je	.LBB5_18
	movzbl	(%rsi), %ecx
	movb	%cl, (%rax)
	jmp	.LBB5_18
.LBB5_2:
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, (%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 8(%rsp)
	xorps	%xmm0, %xmm0
	movups	%xmm0, 24(%rsp)
	movq	%rdx, 40(%rsp)
	movq	$1, 48(%rsp)
	movb	$0, 56(%rsp)
	movq	%rax, (%rdi)
	movq	%rsp, %rax
	movq	%rdi, %r15
	movq	%rax, %rdi
	movq	%rdx, %rbx
	movq	%rsi, %r14
	callq	*_ZN7ebbtide3raw4growE@GOTPCREL(%rip)
	movq	%r14, %rsi
	movq	%rbx, %rdx
	movq	(%rsp), %rcx
	movq	24(%rsp), %rax
	movq	%rcx, (%r15)
	movups	8(%rsp), %xmm0
	movups	%xmm0, 8(%r15)
	#APP
	#NO_APP
	movq	(%r15), %rcx
	subq	16(%r15), %rcx
	cmpq	$8, %rdx
	jb	.LBB5_14
.LBB5_4:
	cmpq	$17, %rdx
	jae	.LBB5_5
	movq	(%rsi), %rcx
	movq	%rcx, (%rax)
	movq	-8(%rsi,%rdx), %rcx
	movq	%rcx, -8(%rax,%rdx)
	jmp	.LBB5_18
.LBB5_5:
	cmpq	$33, %rdx
	jae	.LBB5_6
	prefetcht0	-1024(%rax)
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rax)
	movups	-16(%rsi,%rdx), %xmm0
	movups	%xmm0, -16(%rax,%rdx)
	jmp	.LBB5_18
.LBB5_6:
	cmpq	$262144, %rcx
	jae	.LBB5_7
	cmpq	$65, %rdx
	jae	.LBB5_11
	jmp	.LBB5_12
.LBB5_7:
	cmpq	$1025, %rdx
	movl	$1024, %ecx
	cmovaeq	%rdx, %rcx
	cmpq	$4096, %rcx
	movl	$4096, %edi
	cmovbq	%rcx, %rdi
	movq	%rax, %rcx
	subq	%rdi, %rcx
	prefetcht0	(%rcx)
	cmpq	$16384, %rdx
	movl	$16384, %edi
	cmovbq	%rdx, %rdi
	cmpq	$65, %rdx
	jb	.LBB5_12
	addq	$64, %rcx
	movl	$64, %r8d
.LBB5_9:
	prefetcht0	-64(%rcx,%r8)
	prefetcht0	(%rcx,%r8)
	subq	$-128, %r8
	cmpq	%rdi, %r8
	jb	.LBB5_9
.LBB5_11:
	movq	%rax, %rdi
	movq	%rdx, %rbx
	movq	%rax, %r14
	callq	*memcpy@GOTPCREL(%rip)
	movq	%r14, %rax
	movq	%rbx, %rdx
	jmp	.LBB5_18
.LBB5_12:
	movups	(%rsi), %xmm0
	movups	16(%rsi), %xmm1
	movups	%xmm1, 16(%rax)
	movups	%xmm0, (%rax)
	movups	-32(%rsi,%rdx), %xmm0
	movups	-16(%rsi,%rdx), %xmm1
	movups	%xmm1, -16(%rax,%rdx)
	movups	%xmm0, -32(%rax,%rdx)
.LBB5_18:
	addq	$64, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	retq
