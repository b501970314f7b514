	pushq	%r15
	pushq	%r14
	pushq	%rbx
	subq	$48, %rsp
	movq	(%rdi), %rcx
	movq	16(%rdi), %rax
	subq	%rdx, %rcx
	movq	%rcx, %r8
	subq	%rax, %r8
	js	.LBB1_2
	addq	%r8, %rax
	movq	%rcx, (%rdi)
	cmpq	$8, %rdx
	jae	.LBB1_4
.LBB1_8:
	cmpq	$3, %rdx
	jbe	.LBB1_9
	movl	(%rsi), %ecx
	movl	%ecx, (%rax)
	movl	-4(%rsi,%rdx), %ecx
	movl	%ecx, -4(%rax,%rdx)
	jmp	.LBB1_11
.LBB1_9:
	testq	%rdx, %rdx
	je	.LBB1_11
	movq	%rdx, %rcx
	shrq	%rcx
	movzbl	(%rsi), %edi
	movb	%dil, (%rax)
	movzbl	(%rsi,%rcx), %edi
	movb	%dil, (%rax,%rcx)
	movzbl	-1(%rsi,%rdx), %ecx
	movb	%cl, -1(%rax,%rdx)
	jmp	.LBB1_11
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
	movq	24(%rsp), %rcx
	movups	32(%rsp), %xmm0
	movups	%xmm0, 8(%r14)
	movq	16(%rsp), %rax
	movq	%rcx, (%rdi)
	cmpq	$8, %rdx
	jb	.LBB1_8
.LBB1_4:
	cmpq	$17, %rdx
	jae	.LBB1_5
	movq	(%rsi), %rcx
	movq	%rcx, (%rax)
	movq	-8(%rsi,%rdx), %rcx
	movq	%rcx, -8(%rax,%rdx)
	jmp	.LBB1_11
.LBB1_5:
	cmpq	$33, %rdx
	jae	.LBB1_6
	movups	(%rsi), %xmm0
	movups	%xmm0, (%rax)
	movups	-16(%rsi,%rdx), %xmm0
	movups	%xmm0, -16(%rax,%rdx)
	jmp	.LBB1_11
.LBB1_6:
	movq	%rax, %rdi
	movq	%rdx, %rbx
	movq	%rax, %r14
	callq	*memcpy@GOTPCREL(%rip)
	movq	%r14, %rax
	movq	%rbx, %rdx
.LBB1_11:
	addq	$48, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	retq
