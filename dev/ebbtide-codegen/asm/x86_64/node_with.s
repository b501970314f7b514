.Lfunc_begin3:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$24, %rsp
	movq	%rcx, %r14
	movq	%rdx, %r15
	movq	%rdi, %rbx
	movq	(%rdi), %r13
	movl	8(%rdi), %r12d
	movl	12(%rdi), %ebp
	movq	$8, (%rdi)
	movq	$0, 8(%rdi)
	movq	%rbp, %rax
	subq	%r12, %rax
	cmpq	%rax, %rcx
	jbe	.LBB239_9
	leaq	(%r14,%r12), %r8
	movq	%r8, %rax
	shrq	$32, %rax
	jne	.LBB239_2
	movq	%r13, (%rsp)
	movq	%r12, 8(%rsp)
	movq	%rbp, 16(%rsp)
	testl	%ebp, %ebp
	jne	.LBB239_7
	cmpq	$5, %r8
	movl	$4, %edx
	cmovaeq	%r8, %rdx
	movq	(%rsi), %rdi
	movq	16(%rsi), %rax
	leaq	(,%rdx,8), %rcx
	addq	$7, %rax
	andq	$-8, %rax
	subq	%rax, %rdi
	cmpq	%rcx, %rdi
	jle	.LBB239_7
	addq	%rax, %rcx
	movq	%rcx, 16(%rsi)
	jmp	.LBB239_8
.LBB239_9:
	testq	%r14, %r14
	je	.LBB239_16
	leaq	(,%r12,8), %rdi
	addq	%r13, %rdi
	leaq	(,%r14,8), %rdx
	cmpq	$9, %r14
	jae	.LBB239_11
.LBB239_12:
	cmpq	$3, %r14
	jae	.LBB239_13
	movq	(%r15), %rax
	movq	%rax, (%rdi)
	movq	-8(%r15,%rdx), %rax
	movq	%rax, -8(%rdi,%rdx)
	jmp	.LBB239_16
.LBB239_7:
.Ltmp20:
	movq	%rsp, %rax
	movl	$8, %edx
	movl	$8, %ecx
	movq	%rsi, %rdi
	movq	%rax, %rsi
	xorl	%r9d, %r9d
	callq	*_ZN7ebbtide6vector6memory11grow_sharedE@GOTPCREL(%rip)
.Ltmp21:
.LBB239_8:
	movq	%rax, %r13
	movl	$4294967295, %ebp
	cmpq	%rbp, %rdx
	cmovbq	%rdx, %rbp
	leaq	(,%r12,8), %rdi
	addq	%r13, %rdi
	leaq	(,%r14,8), %rdx
	cmpq	$9, %r14
	jb	.LBB239_12
.LBB239_11:
	movq	%r15, %rsi
	callq	*memcpy@GOTPCREL(%rip)
.LBB239_16:
	addl	%r14d, %r12d
	movq	%r13, (%rbx)
	movl	%r12d, 8(%rbx)
	movl	%ebp, 12(%rbx)
	addq	$24, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	retq
.LBB239_13:
	cmpq	$5, %r14
	jae	.LBB239_14
	movups	(%r15), %xmm0
	movups	%xmm0, (%rdi)
	movups	-16(%r15,%rdx), %xmm0
	movups	%xmm0, -16(%rdi,%rdx)
	jmp	.LBB239_16
.LBB239_14:
	movups	(%r15), %xmm0
	movups	16(%r15), %xmm1
	movups	%xmm1, 16(%rdi)
	movups	%xmm0, (%rdi)
	movups	-32(%r15,%rdx), %xmm0
	movups	-16(%r15,%rdx), %xmm1
	movups	%xmm1, -16(%rdi,%rdx)
	movups	%xmm0, -32(%rdi,%rdx)
	jmp	.LBB239_16
.LBB239_2:
.Ltmp22:
	leaq	.Lanon..1(%rip), %rdi
	callq	*_ZN69_$LT$core..convert..Infallible$u20$as$u20$ebbtide..error..Failure$GT$9too_largeE@GOTPCREL(%rip)
.Ltmp23:
	ud2
.LBB239_17:
.Ltmp24:
	movq	%r13, (%rbx)
	movl	%r12d, 8(%rbx)
	movl	%ebp, 12(%rbx)
	movq	%rax, %rdi
	callq	_Unwind_Resume@PLT
