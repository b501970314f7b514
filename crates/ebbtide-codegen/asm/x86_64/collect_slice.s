.Lfunc_begin0:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$184, %rsp
	leaq	(%rsi,%rdx,4), %r15
	movq	%rdi, 40(%rsp)
	movq	$4, 48(%rsp)
	movq	$0, 112(%rsp)
	pxor	%xmm0, %xmm0
	movdqu	%xmm0, 56(%rsp)
	movl	$4, %r12d
	testq	%rdx, %rdx
	je	.LBB9_1
	cmpq	$1048576, %rdx
	movl	$1048576, %ebx
	cmovbq	%rdx, %rbx
	leal	(,%rbx,4), %r9d
	movq	(%rdi), %r13
	movq	8(%rdi), %r10
	movq	16(%rdi), %r14
	movl	%r14d, %eax
	negl	%eax
	andl	$3, %eax
	leaq	(%rax,%r9), %rcx
	movq	%r13, %r8
	subq	%r14, %r8
	cmpq	%r8, %rcx
	jbe	.LBB9_5
	movq	%r10, 8(%rsp)
	movq	%rdx, 24(%rsp)
	movq	%rsi, 32(%rsp)
	#APP
	#NO_APP
	movq	(%rdi), %rax
	movq	%rax, 120(%rsp)
	movq	16(%rdi), %rax
	movdqu	8(%rdi), %xmm0
	movdqu	%xmm0, 128(%rsp)
	pxor	%xmm0, %xmm0
	movdqu	%xmm0, 144(%rsp)
	movq	%r9, 16(%rsp)
	movq	%r9, 160(%rsp)
	movq	$4, 168(%rsp)
	movb	$1, 176(%rsp)
	movq	%rdi, %rbp
	movq	%rax, (%rdi)
.Ltmp0:
	leaq	120(%rsp), %rdi
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
.Ltmp1:
	movq	120(%rsp), %rcx
	movq	144(%rsp), %rax
	movq	%rbp, %rdi
	movq	%rcx, (%rbp)
	movdqu	128(%rsp), %xmm0
	movdqu	%xmm0, 8(%rbp)
	#APP
	#NO_APP
	testq	%rax, %rax
	movq	32(%rsp), %rsi
	je	.LBB9_1
	movq	(%rdi), %rcx
	movdqu	8(%rdi), %xmm0
	movq	24(%rsp), %rdx
	movq	16(%rsp), %r9
	movq	8(%rsp), %r10
	jmp	.LBB9_9
.LBB9_1:
	xorl	%ebx, %ebx
	cmpq	%r15, %rsi
	je	.LBB9_3
.LBB9_25:
	leaq	40(%rsp), %r14
.LBB9_26:
	movl	(%rsi), %ebp
	cmpq	%rbx, 64(%rsp)
	je	.LBB9_27
.LBB9_30:
	addq	$4, %rsi
	incl	%ebp
	movl	%ebp, (%r12,%rbx,4)
	incq	%rbx
	movq	%rbx, 56(%rsp)
	cmpq	%r15, %rsi
	jne	.LBB9_26
	jmp	.LBB9_31
.LBB9_27:
	cmpq	$-1, %rbx
	je	.LBB9_34
	movq	%rsi, %r13
	incq	%rbx
.Ltmp3:
	movq	%r14, %rdi
	movq	%rbx, %rsi
	callq	_ZN7ebbtide9collector18Collector$LT$T$GT$4growE
.Ltmp4:
	movq	48(%rsp), %r12
	movq	56(%rsp), %rbx
	movq	%r13, %rsi
	jmp	.LBB9_30
.LBB9_31:
	movq	40(%rsp), %rdi
	movq	64(%rsp), %rcx
	leaq	(%r12,%rcx,4), %rdx
	movq	16(%rdi), %rax
	cmpq	%rax, %rdx
	je	.LBB9_36
	jmp	.LBB9_33
.LBB9_5:
	addq	%r14, %rax
	leaq	(%rax,%r9), %rcx
	movq	%rcx, 16(%rdi)
	movq	%rcx, %xmm1
	movq	%r10, %xmm0
	punpcklqdq	%xmm1, %xmm0
	movq	%r13, %rcx
.LBB9_9:
	movq	%rax, 48(%rsp)
	movq	%rbx, 64(%rsp)
	movq	%r13, 72(%rsp)
	movq	%r10, 80(%rsp)
	movq	%r14, 88(%rsp)
	movq	%rcx, 96(%rsp)
	movdqu	%xmm0, 104(%rsp)
	leaq	-1(%rbx), %rcx
	cmpq	%rcx, %rdx
	cmovbq	%rdx, %rcx
	xorl	%edx, %edx
	cmpq	$8, %rcx
	jb	.LBB9_14
	movq	%rax, %r8
	subq	%rsi, %r8
	cmpq	$32, %r8
	jb	.LBB9_14
	incq	%rcx
	movl	%ecx, %edx
	andl	$7, %edx
	movl	$8, %r8d
	cmovneq	%rdx, %r8
	movq	%rcx, %rdx
	subq	%r8, %rdx
	leaq	(%rsi,%rdx,4), %rcx
	xorl	%r8d, %r8d
	pcmpeqd	%xmm0, %xmm0
.LBB9_12:
	movdqu	(%rsi,%r8,4), %xmm1
	movdqu	16(%rsi,%r8,4), %xmm2
	psubd	%xmm0, %xmm1
	psubd	%xmm0, %xmm2
	movdqu	%xmm1, (%rax,%r8,4)
	movdqu	%xmm2, 16(%rax,%r8,4)
	addq	$8, %r8
	cmpq	%r8, %rdx
	jne	.LBB9_12
	movq	%rcx, %rsi
.LBB9_14:
	leaq	(,%rbx,4), %rcx
	leaq	(,%rdx,4), %r8
	subq	%r8, %rcx
.LBB9_15:
	cmpq	%r15, %rsi
	je	.LBB9_18
	movl	(%rsi), %r8d
	addq	$4, %rsi
	incl	%r8d
	movl	%r8d, (%rax,%rdx,4)
	incq	%rdx
	addq	$-4, %rcx
	cmpq	%rdx, %rbx
	jne	.LBB9_15
	movq	%rbx, 56(%rsp)
	movq	%rax, %r12
	cmpq	%r15, %rsi
	jne	.LBB9_25
.LBB9_3:
	movq	%rbx, %rcx
	leaq	(%r12,%rcx,4), %rdx
	movq	16(%rdi), %rax
	cmpq	%rax, %rdx
	jne	.LBB9_33
.LBB9_36:
	movq	%rbx, %rdx
	subq	%rcx, %rdx
	leaq	(%rax,%rdx,4), %rax
	movq	%rax, 16(%rdi)
.LBB9_33:
	movq	%r12, %rax
	movq	%rbx, %rdx
.LBB9_22:
	addq	$184, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	retq
.LBB9_18:
	cmpq	%rdx, %rbx
	jne	.LBB9_20
	movq	%rbx, %rcx
	movq	%rax, %r12
	leaq	(%r12,%rcx,4), %rdx
	movq	16(%rdi), %rax
	cmpq	%rax, %rdx
	je	.LBB9_36
	jmp	.LBB9_33
.LBB9_20:
	addq	%rax, %r9
	movq	16(%rdi), %rsi
	cmpq	%rsi, %r9
	jne	.LBB9_22
	subq	%rcx, %rsi
	movq	%rsi, 16(%rdi)
	jmp	.LBB9_22
.LBB9_34:
.Ltmp6:
	leaq	.Lanon..3(%rip), %rdi
	callq	*_ZN69_$LT$core..convert..Infallible$u20$as$u20$ebbtide..error..Failure$GT$9too_largeE@GOTPCREL(%rip)
.Ltmp7:
	ud2
.LBB9_24:
.Ltmp8:
	jmp	.LBB9_38
.LBB9_23:
.Ltmp5:
	jmp	.LBB9_38
.LBB9_37:
.Ltmp2:
.LBB9_38:
	movq	%rax, %rbx
	leaq	40(%rsp), %rdi
	callq	_ZN4core3ptr61drop_in_place$LT$ebbtide..collector..Collector$LT$u32$GT$$GT$E
	movq	%rbx, %rdi
	callq	_Unwind_Resume@PLT
