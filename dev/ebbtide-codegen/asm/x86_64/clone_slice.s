	pushq	%r15
	pushq	%r14
	pushq	%r12
	pushq	%rbx
	subq	$56, %rsp
	movq	%rdx, %rbx
	shlq	$4, %rdx
	movq	(%rdi), %r14
	andq	$-8, %r14
	movq	%r14, %rax
	subq	16(%rdi), %rax
	cmpq	%rdx, %rax
	jl	.LBB31_2
	subq	%rdx, %r14
	movq	%r14, (%rdi)
	movq	_ZN7ebbtide8prefetch9processor5LEASTE@GOTPCREL(%rip), %rax
	movq	(%rax), %rax
	cmpq	%rax, %rdx
	jb	.LBB31_8
.LBB31_4:
	movq	8(%rdi), %rax
	movq	8(%rax), %rax
	subq	%r14, %rax
	cmpq	$262144, %rax
	jb	.LBB31_8
	prefetcht0	-4096(%r14)
	leaq	-5(%rbx), %rax
	cmpq	$1019, %rax
	ja	.LBB31_8
	leaq	-4032(%r14), %rax
	movl	$64, %ecx
.LBB31_7:
	prefetcht0	-64(%rax,%rcx)
	prefetcht0	(%rax,%rcx)
	subq	$-128, %rcx
	cmpq	%rcx, %rdx
	ja	.LBB31_7
.LBB31_8:
	cmpq	$16, %rbx
	jae	.LBB31_9
	testq	%rbx, %rbx
	je	.LBB31_12
	movq	%r14, %rdi
	callq	*memcpy@GOTPCREL(%rip)
	jmp	.LBB31_12
.LBB31_9:
	movq	%rsi, %rdi
	movq	%rbx, %rsi
	movq	%r14, %rdx
	callq	*_ZN7ebbtide4copy10clone_manyE@GOTPCREL(%rip)
.LBB31_12:
	movq	%r14, %rax
	movq	%rbx, %rdx
	addq	$56, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	retq
.LBB31_2:
	#APP
	#NO_APP
	movq	8(%rdi), %rax
	#APP
	#NO_APP
	movq	(%rdi), %rcx
	movq	16(%rdi), %r8
	movq	%rcx, 24(%rsp)
	movq	%rax, 32(%rsp)
	movq	%r8, 40(%rsp)
	movq	$0, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movw	$3, 48(%rsp)
	movq	%r8, (%rdi)
	leaq	8(%rsp), %rax
	movq	%rdi, %r14
	movq	%rax, %rdi
	movq	%rsi, %r15
	movq	%rdx, %r12
	callq	*_ZN7ebbtide3raw10alloc_slowE@GOTPCREL(%rip)
	movq	%r14, %rdi
	movq	%r12, %rdx
	movq	%r15, %rsi
	movq	8(%rsp), %r14
	movq	24(%rsp), %rax
	movq	%rax, (%rdi)
	movq	40(%rsp), %rax
	movq	%rax, 16(%rdi)
	#APP
	#NO_APP
	movq	32(%rsp), %rax
	movq	%rax, 8(%rdi)
	#APP
	#NO_APP
	movq	_ZN7ebbtide8prefetch9processor5LEASTE@GOTPCREL(%rip), %rax
	movq	(%rax), %rax
	cmpq	%rax, %rdx
	jae	.LBB31_4
	jmp	.LBB31_8
