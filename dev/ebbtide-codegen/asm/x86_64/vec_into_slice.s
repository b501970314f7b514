	movq	(%rdi), %rax
	movq	8(%rdi), %rdx
	movq	16(%rdi), %rcx
	cmpq	%rcx, %rdx
	jae	.LBB246_7
	pushq	%r15
	pushq	%r14
	pushq	%rbx
	movq	24(%rdi), %rbx
	leaq	(%rax,%rcx,8), %rcx
	cmpq	16(%rbx), %rcx
	jne	.LBB246_6
	movq	8(%rbx), %rdi
	cmpq	$0, 48(%rdi)
	jne	.LBB246_3
	cmpq	%rax, (%rdi)
	ja	.LBB246_6
.LBB246_5:
	leaq	(%rax,%rdx,8), %rcx
	movq	%rcx, 16(%rbx)
.LBB246_6:
	popq	%rbx
	popq	%r14
	popq	%r15
.LBB246_7:
	retq
.LBB246_3:
	movq	%rax, %r14
	movq	%rdx, %r15
	callq	*_ZN7ebbtide5chunk7control12CurrentChunk13anchor_regionE@GOTPCREL(%rip)
	movq	%r15, %rdx
	movq	%rax, %rdi
	movq	%r14, %rax
	cmpq	%rax, (%rdi)
	jbe	.LBB246_5
	jmp	.LBB246_6
