	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$40, %rsp
	movq	(%rdi), %rcx
	movq	16(%rdi), %rax
	subq	%rdx, %rcx
	movq	%rcx, %r8
	subq	%rax, %r8
	js	.LBB8_2
	movq	%rcx, (%rdi)
	addq	%r8, %rax
	cmpq	$8, %rdx
	jae	.LBB8_6
.LBB8_10:
	cmpq	$3, %rdx
	jbe	.LBB8_11
	movl	(%rsi), %ecx
	movl	%ecx, (%rax)
	movl	-4(%rsi,%rdx), %ecx
	movl	%ecx, -4(%rax,%rdx)
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
.LBB8_2:
	movq	%rsi, %r12
	#MEMBARRIER
	movq	(%rdi), %rbx
	movq	8(%rdi), %r14
	movq	16(%rdi), %r15
	movq	%rdi, %r13
	movq	%r15, (%rdi)
	movl	$0, (%rsp)
	leaq	8(%rsp), %rdi
	movl	$1, %r9d
	movq	%rbx, %rsi
	movq	%rdx, %r8
	movq	%r15, %rdx
	movq	%r14, %rcx
	movq	%r8, %rbp
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
	movq	8(%rsp), %rax
	testq	%rax, %rax
	je	.LBB8_3
	movq	16(%rsp), %rcx
	movq	%rcx, (%r13)
	movups	24(%rsp), %xmm0
	movups	%xmm0, 8(%r13)
	movq	%rbp, %rdx
	movq	%r12, %rsi
	cmpq	$8, %rdx
	jb	.LBB8_10
.LBB8_6:
	cmpq	$17, %rdx
	jae	.LBB8_7
	movq	(%rsi), %rcx
	movq	%rcx, (%rax)
	movq	-8(%rsi,%rdx), %rcx
	movq	%rcx, -8(%rax,%rdx)
	jmp	.LBB8_13
.LBB8_7:
	cmpq	$33, %rdx
	jae	.LBB8_8
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rax)
	movups	-16(%rsi,%rdx), %xmm0
	movups	%xmm0, -16(%rax,%rdx)
	jmp	.LBB8_13
.LBB8_8:
	movq	%rax, %rdi
	movq	%rdx, %rbx
	movq	%rax, %r14
	callq	*memcpy@GOTPCREL(%rip)
	movq	%r14, %rax
	movq	%rbx, %rdx
.LBB8_13:
	addq	$40, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	retq
.LBB8_3:
	movq	%rbx, (%r13)
	movq	%r14, 8(%r13)
	movq	%r15, 16(%r13)
	xorl	%eax, %eax
	movq	%rbp, %rdx
	jmp	.LBB8_13
