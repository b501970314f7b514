	pushq	%r15
	pushq	%r14
	pushq	%rbx
	subq	$64, %rsp
	movq	(%rdi), %r8
	movq	16(%rdi), %rax
	subq	%rdx, %r8
	movq	%r8, %rcx
	subq	%rax, %rcx
	js	.LBB204_2
	movq	%r8, (%rdi)
	addq	%rcx, %rax
	cmpq	$8, %rdx
	jae	.LBB204_6
.LBB204_16:
	cmpq	$3, %rdx
	jbe	.LBB204_17
	movl	(%rsi), %ecx
	movl	%ecx, (%rax)
	movl	-4(%rsi,%rdx), %ecx
	movl	%ecx, -4(%rax,%rdx)
	jmp	.LBB204_20
.LBB204_17:
	cmpq	$1, %rdx
	jbe	.LBB204_18
	movzwl	(%rsi), %ecx
	movw	%cx, (%rax)
	movzwl	-2(%rsi,%rdx), %ecx
	movw	%cx, -2(%rax,%rdx)
	jmp	.LBB204_20
.LBB204_18:
	testq	%rdx, %rdx
	je	.LBB204_20
	movzbl	(%rsi), %ecx
	movb	%cl, (%rax)
	jmp	.LBB204_20
.LBB204_2:
	movq	%rsi, %rbx
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, (%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 8(%rsp)
	xorps	%xmm0, %xmm0
	movups	%xmm0, 24(%rsp)
	movq	%rdx, %r14
	movq	%rdx, 40(%rsp)
	movq	$1, 48(%rsp)
	movb	$0, 56(%rsp)
	movq	%rax, (%rdi)
	movq	%rsp, %rax
	movq	%rdi, %r15
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	(%rsp), %rcx
	movq	24(%rsp), %rax
	movq	%rcx, (%r15)
	movups	8(%rsp), %xmm0
	movups	%xmm0, 8(%r15)
	#APP
	#NO_APP
	testq	%rax, %rax
	je	.LBB204_3
	movq	(%r15), %rcx
	subq	16(%r15), %rcx
	movq	%r14, %rdx
	movq	%rbx, %rsi
	cmpq	$8, %rdx
	jb	.LBB204_16
.LBB204_6:
	cmpq	$17, %rdx
	jae	.LBB204_7
	movq	(%rsi), %rcx
	movq	%rcx, (%rax)
	movq	-8(%rsi,%rdx), %rcx
	movq	%rcx, -8(%rax,%rdx)
	jmp	.LBB204_20
.LBB204_7:
	cmpq	$33, %rdx
	jae	.LBB204_8
	prefetcht0	-1024(%rax)
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rax)
	movups	-16(%rsi,%rdx), %xmm0
	movups	%xmm0, -16(%rax,%rdx)
	jmp	.LBB204_20
.LBB204_8:
	cmpq	$262144, %rcx
	jae	.LBB204_9
	cmpq	$65, %rdx
	jae	.LBB204_13
	jmp	.LBB204_14
.LBB204_9:
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
	jb	.LBB204_14
	addq	$64, %rcx
	movl	$64, %r8d
.LBB204_11:
	prefetcht0	-64(%rcx,%r8)
	prefetcht0	(%rcx,%r8)
	subq	$-128, %r8
	cmpq	%rdi, %r8
	jb	.LBB204_11
.LBB204_13:
	movq	%rax, %rdi
	movq	%rdx, %rbx
	movq	%rax, %r14
	callq	*memcpy@GOTPCREL(%rip)
	movq	%r14, %rax
	movq	%rbx, %rdx
	jmp	.LBB204_20
.LBB204_14:
	movups	(%rsi), %xmm0
	movups	16(%rsi), %xmm1
	movups	%xmm1, 16(%rax)
	movups	%xmm0, (%rax)
	movups	-32(%rsi,%rdx), %xmm0
	movups	-16(%rsi,%rdx), %xmm1
	movups	%xmm1, -16(%rax,%rdx)
	movups	%xmm0, -32(%rax,%rdx)
	jmp	.LBB204_20
.LBB204_3:
	xorl	%eax, %eax
	movq	%r14, %rdx
.LBB204_20:
	addq	$64, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	retq
