	movq	(%rdi), %rax
	movq	8(%rdi), %rdx
	movq	16(%rdi), %rcx
	cmpq	%rcx, %rdx
	jae	.LBB219_7
	pushq	%r15
	pushq	%r14
	pushq	%rbx
	movq	24(%rdi), %rbx
	leaq	(%rax,%rcx,8), %rcx
	cmpq	16(%rbx), %rcx
	jne	.LBB219_6
	movq	8(%rbx), %rdi
	cmpq	$0, 56(%rdi)
	jne	.LBB219_3
	cmpq	%rax, (%rdi)
	ja	.LBB219_6
.LBB219_5:
	leaq	(%rax,%rdx,8), %rcx
	movq	%rcx, 16(%rbx)
.LBB219_6:
	popq	%rbx
	popq	%r14
	popq	%r15
.LBB219_7:
	retq
.LBB219_3:
	movq	%rax, %r14
	movq	%rdx, %r15
	callq	*_ZN7ebbtide5chunk7control12CurrentChunk13anchor_regionE@GOTPCREL(%rip)
	movq	%r15, %rdx
	movq	%rax, %rdi
	movq	%r14, %rax
	cmpq	%rax, (%rdi)
	jbe	.LBB219_5
	jmp	.LBB219_6
