	cmpq	$64, %rdx
	ja	.LBB241_13
	movq	(%rdi), %rax
	movq	%rax, %rcx
	subq	16(%rdi), %rcx
	cmpq	%rdx, %rcx
	jl	.LBB241_13
	subq	%rdx, %rax
	movq	%rax, (%rdi)
	cmpq	$7, %rdx
	ja	.LBB241_6
	cmpq	$1, %rdx
	jbe	.LBB241_8
	cmpq	$3, %rdx
	jbe	.LBB241_14
	movl	(%rsi), %ecx
	movl	%ecx, (%rax)
	movl	-4(%rsi,%rdx), %ecx
	movl	%ecx, -4(%rax,%rdx)
.LBB241_12:
	retq
.LBB241_6:
	cmpq	$17, %rdx
	jae	.LBB241_10
	movq	(%rsi), %rcx
	movq	%rcx, (%rax)
	movq	-8(%rsi,%rdx), %rcx
	movq	%rcx, -8(%rax,%rdx)
	retq
.LBB241_8:
	testq	%rdx, %rdx
	je	.LBB241_12
	movzbl	(%rsi), %ecx
	movb	%cl, (%rax)
	retq
.LBB241_10:
	cmpq	$33, %rdx
	jae	.LBB241_15
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rax)
	movups	-16(%rsi,%rdx), %xmm0
	movups	%xmm0, -16(%rax,%rdx)
	retq
.LBB241_13:
	subq	$24, %rsp
	movq	%rdi, (%rsp)
	movq	%rsi, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rsp, %rdi
	callq	*_ZN7ebbtide7in_root11out_of_lineE@GOTPCREL(%rip)
	addq	$24, %rsp
	retq
.LBB241_14:
	movzwl	(%rsi), %ecx
	movw	%cx, (%rax)
	movzwl	-2(%rsi,%rdx), %ecx
	movw	%cx, -2(%rax,%rdx)
	retq
.LBB241_15:
	movups	(%rsi), %xmm0
	movups	16(%rsi), %xmm1
	movups	%xmm1, 16(%rax)
	movups	%xmm0, (%rax)
	movups	-32(%rsi,%rdx), %xmm0
	movups	-16(%rsi,%rdx), %xmm1
	movups	%xmm1, -16(%rax,%rdx)
	movups	%xmm0, -32(%rax,%rdx)
	retq
