	pushq	%r15
	pushq	%r14
	pushq	%rbx
	subq	$48, %rsp
	movq	(%rdi), %rax
	movq	%rax, %rcx
	subq	16(%rdi), %rcx
	cmpq	%rdx, %rcx
	jl	.LBB26_17
	subq	%rdx, %rax
	movq	%rax, (%rdi)
	cmpq	$8, %rdx
	jae	.LBB26_2
	cmpq	$1, %rdx
	jbe	.LBB26_12
	cmpq	$3, %rdx
	jbe	.LBB26_15
	movl	(%rsi), %ecx
	movl	%ecx, (%rax)
	movl	-4(%rsi,%rdx), %ecx
	movl	%ecx, -4(%rax,%rdx)
	jmp	.LBB26_18
.LBB26_2:
	cmpq	$65, %rdx
	jae	.LBB26_3
	cmpq	$17, %rdx
	jae	.LBB26_8
	movq	(%rsi), %rcx
	movq	%rcx, (%rax)
	movq	-8(%rsi,%rdx), %rcx
	movq	%rcx, -8(%rax,%rdx)
	jmp	.LBB26_18
.LBB26_12:
	testq	%rdx, %rdx
	je	.LBB26_18
	movzbl	(%rsi), %ecx
	movb	%cl, (%rax)
	jmp	.LBB26_18
.LBB26_3:
	movq	_ZN7ebbtide8prefetch9processor5LEASTE@GOTPCREL(%rip), %rcx
	movq	(%rcx), %rcx
	cmpq	%rcx, %rdx
	movq	%rax, %r14
	jb	.LBB26_6
	movq	8(%rdi), %rcx
	movq	8(%rcx), %rcx
	subq	%rax, %rcx
	cmpq	$262144, %rcx
	jb	.LBB26_6
	movq	%rax, %rdi
	movq	%rsi, %rbx
	movq	%rdx, %rsi
	movq	%rdx, %r15
	callq	*_ZN7ebbtide8prefetch10below_copy4callE@GOTPCREL(%rip)
	movq	%rbx, %rsi
	movq	%r14, %rax
	movq	%r15, %rdx
.LBB26_6:
	movq	%rax, %rdi
	movq	%rdx, %rbx
	callq	*memcpy@GOTPCREL(%rip)
	movq	%r14, %rax
	movq	%rbx, %rdx
	jmp	.LBB26_18
.LBB26_15:
	movzwl	(%rsi), %ecx
	movw	%cx, (%rax)
	movzwl	-2(%rsi,%rdx), %ecx
	movw	%cx, -2(%rax,%rdx)
	jmp	.LBB26_18
.LBB26_8:
	cmpq	$33, %rdx
	jae	.LBB26_9
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rax)
	movups	-16(%rsi,%rdx), %xmm0
	movups	%xmm0, -16(%rax,%rdx)
	jmp	.LBB26_18
.LBB26_9:
	movups	(%rsi), %xmm0
	movups	16(%rsi), %xmm1
	movups	%xmm1, 16(%rax)
	movups	%xmm0, (%rax)
	movups	-32(%rsi,%rdx), %xmm0
	movups	-16(%rsi,%rdx), %xmm1
	movups	%xmm1, -16(%rax,%rdx)
	movups	%xmm0, -32(%rax,%rdx)
	jmp	.LBB26_18
.LBB26_17:
	#APP
	#NO_APP
	movq	8(%rdi), %rax
	#APP
	#NO_APP
	movq	(%rdi), %rcx
	movq	16(%rdi), %r8
	movq	%rcx, 16(%rsp)
	movq	%rax, 24(%rsp)
	movq	%r8, 32(%rsp)
	movq	%rsi, (%rsp)
	movq	%rdx, 8(%rsp)
	movw	$0, 40(%rsp)
	movq	%r8, (%rdi)
	movq	%rsp, %rax
	movq	%rdi, %r14
	movq	%rax, %rdi
	movq	%rdx, %rbx
	callq	*_ZN7ebbtide3raw10alloc_slowE@GOTPCREL(%rip)
	movq	%rbx, %rdx
	movq	(%rsp), %rax
	movq	16(%rsp), %rcx
	movq	%rcx, (%r14)
	movq	32(%rsp), %rcx
	movq	%rcx, 16(%r14)
	#APP
	#NO_APP
	movq	24(%rsp), %rcx
	movq	%rcx, 8(%r14)
	#APP
	#NO_APP
.LBB26_18:
	addq	$48, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	retq
