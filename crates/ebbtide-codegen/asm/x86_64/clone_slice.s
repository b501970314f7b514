	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$48, %rsp
	movq	%rdx, %rbx
	shlq	$4, %rdx
	movq	(%rdi), %r14
	andq	$-8, %r14
	movq	%r14, %rax
	subq	16(%rdi), %rax
	cmpq	%rdx, %rax
	jl	.LBB13_12
	subq	%rdx, %r14
	movq	%r14, (%rdi)
	movq	_ZN7ebbtide8prefetch9processor5LEASTE@GOTPCREL(%rip), %rax
	movq	(%rax), %rax
	cmpq	%rax, %rdx
	jb	.LBB13_7
	cmpq	$64, %rbx
	jae	.LBB13_3
	movq	8(%rdi), %rax
	movq	8(%rax), %rax
	subq	%r14, %rax
	cmpq	$262144, %rax
	jb	.LBB13_7
	prefetcht0	-4096(%r14)
	movq	%r14, %rax
	addq	$-4032, %rax
	movl	$64, %ecx
.LBB13_6:
	prefetcht0	-64(%rax,%rcx)
	prefetcht0	(%rax,%rcx)
	subq	$-128, %rcx
	cmpq	%rdx, %rcx
	jb	.LBB13_6
	jmp	.LBB13_7
.LBB13_12:
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, 16(%rsp)
	movq	16(%rdi), %rax
	movups	8(%rdi), %xmm0
	movups	%xmm0, 24(%rsp)
	movq	$0, (%rsp)
	movq	%rdx, 8(%rsp)
	movw	$3, 40(%rsp)
	movq	%rax, (%rdi)
	movq	%rsp, %rax
	movq	%rdi, %r12
	movq	%rax, %rdi
	movq	%rsi, %r14
	movq	%rdx, %r15
	callq	*_ZN7ebbtide3raw4growE@GOTPCREL(%rip)
	movq	%r15, %rdx
	movq	%r14, %rsi
	movq	(%rsp), %r14
	movq	16(%rsp), %rax
	movq	%rax, (%r12)
	movups	24(%rsp), %xmm0
	movups	%xmm0, 8(%r12)
	#APP
	#NO_APP
.LBB13_7:
	cmpq	$16, %rbx
	jae	.LBB13_8
.LBB13_9:
	testq	%rbx, %rbx
	je	.LBB13_11
	movq	%r14, %rdi
	callq	*memcpy@GOTPCREL(%rip)
	jmp	.LBB13_11
.LBB13_3:
	movq	%r14, (%rsp)
	movq	%rsp, %rax
	#APP
	#NO_APP
	movq	(%rsp), %r12
	addq	%rdx, %r12
	movq	16(%rdi), %rax
	movq	%rdx, %r15
	movl	$8, %edx
	movq	%rdi, %r13
	movq	%rax, %rdi
	movq	%rsi, %r14
	movq	%r15, %rsi
	callq	*_ZN7ebbtide3raw12lowest_blockE@GOTPCREL(%rip)
	movq	%r14, %rsi
	movq	%rax, %r14
	movq	%rdx, %rax
	movq	%r15, %rdx
	movq	%r12, (%r13)
	movq	%rax, 16(%r13)
	cmpq	$16, %rbx
	jb	.LBB13_9
.LBB13_8:
	movq	%rsi, %rdi
	movq	%rbx, %rsi
	movq	%r14, %rdx
	callq	*_ZN7ebbtide4copy10clone_manyE@GOTPCREL(%rip)
.LBB13_11:
	movq	%r14, %rax
	movq	%rbx, %rdx
	addq	$48, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	retq
