	pushq	%r15
	pushq	%r14
	pushq	%rbx
	subq	$64, %rsp
	movq	(%rdi), %rcx
	movq	16(%rdi), %rax
	subq	%rdx, %rcx
	movq	%rcx, %r8
	subq	%rax, %r8
	js	.LBB8_6
	movq	%rcx, (%rdi)
	addq	%r8, %rax
.LBB8_2:
	cmpq	$8, %rdx
	jae	.LBB8_3
	cmpq	$3, %rdx
	jbe	.LBB8_11
	movl	(%rsi), %ecx
	movl	%ecx, (%rax)
	movl	-4(%rsi,%rdx), %ecx
	movl	%ecx, -4(%rax,%rdx)
	jmp	.LBB8_13
.LBB8_3:
	cmpq	$17, %rdx
	jae	.LBB8_4
	movq	(%rsi), %rcx
	movq	%rcx, (%rax)
	movq	-8(%rsi,%rdx), %rcx
	movq	%rcx, -8(%rax,%rdx)
	jmp	.LBB8_13
.LBB8_11:
	testq	%rdx, %rdx
	je	.LBB8_13
	movq	%rdx, %rcx
	shrq	%rcx
	movzbl	(%rsi), %edi
	movb	%dil, (%rax)
	movzbl	(%rsi,%rcx), %edi
	movb	%dil, (%rax,%rcx)
	movzbl	-1(%rsi,%rdx), %ecx
	movb	%cl, -1(%rax,%rdx)
	jmp	.LBB8_13
.LBB8_4:
	cmpq	$33, %rdx
	jae	.LBB8_5
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rax)
	movups	-16(%rsi,%rdx), %xmm0
	movups	%xmm0, -16(%rax,%rdx)
	jmp	.LBB8_13
.LBB8_5:
	movq	%rax, %rdi
	movq	%rdx, %rbx
	movq	%rax, %r14
	callq	*memcpy@GOTPCREL(%rip)
	movq	%r14, %rax
	movq	%rbx, %rdx
.LBB8_13:
	addq	$64, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	retq
.LBB8_6:
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, 8(%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 16(%rsp)
	movq	$0, 32(%rsp)
	movq	%rdx, 40(%rsp)
	movq	$1, 48(%rsp)
	movb	$0, 56(%rsp)
	movq	%rax, (%rdi)
	leaq	8(%rsp), %rax
	movq	%rdi, %r15
	movq	%rax, %rdi
	movq	%rdx, %rbx
	movq	%rsi, %r14
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	%r14, %rsi
	movq	%rbx, %rdx
	movq	8(%rsp), %rcx
	movq	32(%rsp), %rax
	movq	%rcx, (%r15)
	movups	16(%rsp), %xmm0
	movups	%xmm0, 8(%r15)
	testq	%rax, %rax
	jne	.LBB8_2
	xorl	%eax, %eax
	jmp	.LBB8_13
