.Lfunc_begin1:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r12
	pushq	%rbx
	subq	$80, %rsp
	movq	%rdx, %rcx
	movq	%rsi, %r14
	leaq	(%rsi,%rdx,4), %rbx
	movq	$4, (%rsp)
	pxor	%xmm0, %xmm0
	movdqu	%xmm0, 8(%rsp)
	movq	%rdi, 24(%rsp)
	movq	$0, 72(%rsp)
	testq	%rdx, %rdx
	je	.LBB32_1
	leaq	(,%rcx,4), %rdx
	movq	(%rdi), %rsi
	movq	16(%rdi), %r8
	leaq	3(%r8), %rax
	andq	$-4, %rax
	movq	%rsi, %r9
	subq	%rax, %r9
	cmpq	%rdx, %r9
	jle	.LBB32_25
	movq	8(%rdi), %r9
	addq	%rax, %rdx
	movq	%rdx, 16(%rdi)
	movq	%rax, (%rsp)
	movq	%rcx, 16(%rsp)
	movq	%rsi, 32(%rsp)
	movq	%r9, 40(%rsp)
	movq	%r8, 48(%rsp)
	movq	%rsi, 56(%rsp)
	movq	%r9, 64(%rsp)
	movq	%rdx, 72(%rsp)
	leaq	-1(%rcx), %rdx
	cmpq	%rdx, %rcx
	cmovbq	%rcx, %rdx
	cmpq	$8, %rdx
	jae	.LBB32_17
	xorl	%edx, %edx
	jmp	.LBB32_20
.LBB32_1:
	movl	$4, %eax
	cmpq	%rbx, %r14
	je	.LBB32_3
.LBB32_7:
	movq	%rsp, %r15
	movq	_ZN7ebbtide9collector18Collector$LT$T$GT$4growE@GOTPCREL(%rip), %r12
.LBB32_8:
	movl	(%r14), %ebp
	cmpq	16(%rsp), %rcx
	je	.LBB32_9
.LBB32_11:
	addq	$4, %r14
	incl	%ebp
	movl	%ebp, (%rax,%rcx,4)
	incq	%rcx
	movq	%rcx, 8(%rsp)
	cmpq	%rbx, %r14
	jne	.LBB32_8
	jmp	.LBB32_12
.LBB32_9:
.Ltmp11:
	movq	%r15, %rdi
	callq	*%r12
.Ltmp12:
	movq	(%rsp), %rax
	movq	8(%rsp), %rcx
	jmp	.LBB32_11
.LBB32_12:
	movq	(%rsp), %rax
	movq	16(%rsp), %rsi
	movq	24(%rsp), %rdi
	leaq	(%rax,%rsi,4), %r8
	movq	16(%rdi), %rdx
	cmpq	%rdx, %r8
	je	.LBB32_14
	jmp	.LBB32_27
.LBB32_25:
.Ltmp8:
	movq	%r14, %rsi
	movq	%rbx, %rdx
	callq	*_ZN7ebbtide5slice39_$LT$impl$u20$ebbtide..scope..Scope$GT$17slice_collect_farE@GOTPCREL(%rip)
.Ltmp9:
	movq	%rdx, %rcx
	jmp	.LBB32_27
.LBB32_17:
	incq	%rdx
	movl	%edx, %esi
	andl	$7, %esi
	movl	$8, %r8d
	cmovneq	%rsi, %r8
	subq	%r8, %rdx
	leaq	(%r14,%rdx,4), %rsi
	leaq	16(%rax), %r8
	xorl	%r9d, %r9d
	pcmpeqd	%xmm0, %xmm0
.LBB32_18:
	movdqu	(%r14,%r9,4), %xmm1
	movdqu	16(%r14,%r9,4), %xmm2
	psubd	%xmm0, %xmm1
	psubd	%xmm0, %xmm2
	movdqu	%xmm1, -16(%r8,%r9,4)
	movdqu	%xmm2, (%r8,%r9,4)
	addq	$8, %r9
	cmpq	%r9, %rdx
	jne	.LBB32_18
	movq	%rsi, %r14
.LBB32_20:
	cmpq	%rbx, %r14
	je	.LBB32_21
	movl	(%r14), %esi
	addq	$4, %r14
	incl	%esi
	movl	%esi, (%rax,%rdx,4)
	incq	%rdx
	cmpq	%rdx, %rcx
	jne	.LBB32_20
	movq	%rcx, 8(%rsp)
	cmpq	%rbx, %r14
	jne	.LBB32_7
.LBB32_3:
	movq	%rcx, %rsi
	leaq	(%rax,%rsi,4), %r8
	movq	16(%rdi), %rdx
	cmpq	%rdx, %r8
	jne	.LBB32_27
.LBB32_14:
	movq	%rcx, %r8
	subq	%rsi, %r8
	leaq	(%rdx,%r8,4), %rdx
	movq	%rdx, 16(%rdi)
.LBB32_27:
	movq	%rcx, %rdx
	addq	$80, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	popq	%rbp
	retq
.LBB32_21:
	movq	%rcx, %rsi
	movq	%rdx, %rcx
	leaq	(%rax,%rsi,4), %r8
	movq	16(%rdi), %rdx
	cmpq	%rdx, %r8
	je	.LBB32_14
	jmp	.LBB32_27
.LBB32_4:
.Ltmp13:
	jmp	.LBB32_6
.LBB32_5:
.Ltmp10:
.LBB32_6:
	movq	%rax, %rbx
	movq	%rsp, %rdi
	callq	_ZN4core3ptr61drop_in_place$LT$ebbtide..collector..Collector$LT$u32$GT$$GT$E
	movq	%rbx, %rdi
	callq	_Unwind_Resume@PLT
