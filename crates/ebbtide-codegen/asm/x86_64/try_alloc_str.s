	pushq	%r15
	pushq	%r14
	pushq	%rbx
	subq	$64, %rsp
	movq	%rdx, %rbx
	movq	(%rdi), %rcx
	movq	16(%rdi), %r14
	subq	%rdx, %rcx
	movq	%rcx, %rax
	subq	%r14, %rax
	js	.LBB204_13
	movq	%rcx, (%rdi)
	addq	%rax, %r14
	cmpq	$64, %rbx
	jbe	.LBB204_2
	movq	_ZN7ebbtide8prefetch9processor5LEASTE@GOTPCREL(%rip), %rcx
	movq	(%rcx), %rcx
	cmpq	$262144, %rax
	jb	.LBB204_12
	cmpq	%rcx, %rbx
	jb	.LBB204_12
	movq	%r14, %rdi
	movq	%rsi, %r15
	movq	%rbx, %rsi
	callq	*_ZN7ebbtide8prefetch10below_copy4callE@GOTPCREL(%rip)
	movq	%r15, %rsi
.LBB204_12:
	movq	%r14, %rdi
	movq	%rbx, %rdx
	callq	*memcpy@GOTPCREL(%rip)
	jmp	.LBB204_14
.LBB204_2:
	cmpq	$32, %rbx
	jbe	.LBB204_3
	movups	(%rsi), %xmm0
	movups	16(%rsi), %xmm1
	movups	%xmm1, 16(%r14)
	movups	%xmm0, (%r14)
	movups	-32(%rsi,%rbx), %xmm0
	movups	-16(%rsi,%rbx), %xmm1
	movups	%xmm1, -16(%r14,%rbx)
	movups	%xmm0, -32(%r14,%rbx)
	jmp	.LBB204_14
.LBB204_3:
	cmpq	$16, %rbx
	jbe	.LBB204_4
	movups	(%rsi), %xmm0
	movups	%xmm0, (%r14)
	movups	-16(%rsi,%rbx), %xmm0
	movups	%xmm0, -16(%r14,%rbx)
	jmp	.LBB204_14
.LBB204_4:
	cmpq	$7, %rbx
	jbe	.LBB204_5
	movq	(%rsi), %rax
	movq	%rax, (%r14)
	movq	-8(%rsi,%rbx), %rax
	movq	%rax, -8(%r14,%rbx)
	jmp	.LBB204_14
.LBB204_5:
	cmpq	$3, %rbx
	jbe	.LBB204_6
	movl	(%rsi), %eax
	movl	%eax, (%r14)
	movl	-4(%rsi,%rbx), %eax
	movl	%eax, -4(%r14,%rbx)
	jmp	.LBB204_14
.LBB204_13:
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, (%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 8(%rsp)
	movq	$0, 24(%rsp)
	movq	%rsi, 32(%rsp)
	movq	%rbx, 40(%rsp)
	movq	$1, 48(%rsp)
	movb	$0, 56(%rsp)
	movq	%rax, (%rdi)
	movq	%rsp, %rax
	movq	%rdi, %r15
	movq	%rax, %rdi
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	(%rsp), %rax
	movq	24(%rsp), %r14
	movq	%rax, (%r15)
	movups	8(%rsp), %xmm0
	movups	%xmm0, 8(%r15)
	#APP
	#NO_APP
	jmp	.LBB204_14
.LBB204_6:
	cmpq	$1, %rbx
	jbe	.LBB204_7
	movzwl	(%rsi), %eax
	movw	%ax, (%r14)
	movzwl	-2(%rsi,%rbx), %eax
	movw	%ax, -2(%r14,%rbx)
	jmp	.LBB204_14
.LBB204_7:
	testq	%rbx, %rbx
	je	.LBB204_14
	movzbl	(%rsi), %eax
	movb	%al, (%r14)
.LBB204_14:
	movq	%r14, %rax
	movq	%rbx, %rdx
	addq	$64, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	retq
