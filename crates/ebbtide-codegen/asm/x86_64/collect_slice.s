.Lfunc_begin1:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%rbx
	subq	$88, %rsp
	movq	%rdx, %rcx
	leaq	(%rsi,%rdx,4), %rdx
	movq	%rdi, 8(%rsp)
	movq	$4, 16(%rsp)
	movq	$0, 80(%rsp)
	pxor	%xmm0, %xmm0
	movdqu	%xmm0, 24(%rsp)
	testq	%rcx, %rcx
	je	.LBB14_1
	leaq	(,%rcx,4), %r8
	movq	(%rdi), %r9
	movq	16(%rdi), %r10
	leaq	3(%r10), %rax
	andq	$-4, %rax
	movq	%r9, %r11
	subq	%rax, %r11
	cmpq	%r8, %r11
	jle	.LBB14_28
	movq	8(%rdi), %r11
	addq	%rax, %r8
	movq	%r8, 16(%rdi)
	movq	%rax, 16(%rsp)
	movq	%rcx, 32(%rsp)
	movq	%r9, 40(%rsp)
	movq	%r11, 48(%rsp)
	movq	%r10, 56(%rsp)
	movq	%r9, 64(%rsp)
	movq	%r11, 72(%rsp)
	movq	%r8, 80(%rsp)
	leaq	-1(%rcx), %r8
	cmpq	%r8, %rcx
	cmovbq	%rcx, %r8
	cmpq	$8, %r8
	jae	.LBB14_20
	xorl	%r8d, %r8d
	jmp	.LBB14_23
.LBB14_1:
	movl	$4, %eax
	cmpq	%rdx, %rsi
	je	.LBB14_3
.LBB14_7:
	leaq	8(%rsp), %rbx
.LBB14_8:
	movl	(%rsi), %ebp
	cmpq	%rcx, 32(%rsp)
	je	.LBB14_9
.LBB14_12:
	addq	$4, %rsi
	incl	%ebp
	movl	%ebp, (%rax,%rcx,4)
	incq	%rcx
	movq	%rcx, 24(%rsp)
	cmpq	%rdx, %rsi
	jne	.LBB14_8
	jmp	.LBB14_13
.LBB14_9:
	cmpq	$-1, %rcx
	je	.LBB14_16
	movq	%rsi, %r14
	movq	%rdx, %r15
	incq	%rcx
.Ltmp12:
	movq	%rbx, %rdi
	movq	%rcx, %rsi
	callq	_ZN7ebbtide9collector18Collector$LT$T$GT$4growE
.Ltmp13:
	movq	16(%rsp), %rax
	movq	24(%rsp), %rcx
	movq	%r15, %rdx
	movq	%r14, %rsi
	jmp	.LBB14_12
.LBB14_13:
	movq	8(%rsp), %rdi
	movq	16(%rsp), %rax
	movq	32(%rsp), %rdx
	leaq	(%rax,%rdx,4), %r8
	movq	16(%rdi), %rsi
	cmpq	%rsi, %r8
	je	.LBB14_15
	jmp	.LBB14_30
.LBB14_28:
.Ltmp10:
	callq	*_ZN7ebbtide5slice39_$LT$impl$u20$ebbtide..scope..Scope$GT$17slice_collect_farE@GOTPCREL(%rip)
.Ltmp11:
	movq	%rdx, %rcx
	jmp	.LBB14_30
.LBB14_20:
	incq	%r8
	movl	%r8d, %r9d
	andl	$7, %r9d
	movl	$8, %r10d
	cmovneq	%r9, %r10
	subq	%r10, %r8
	leaq	(%rsi,%r8,4), %r9
	leaq	16(%rax), %r10
	xorl	%r11d, %r11d
	pcmpeqd	%xmm0, %xmm0
.LBB14_21:
	movdqu	(%rsi,%r11,4), %xmm1
	movdqu	16(%rsi,%r11,4), %xmm2
	psubd	%xmm0, %xmm1
	psubd	%xmm0, %xmm2
	movdqu	%xmm1, -16(%r10,%r11,4)
	movdqu	%xmm2, (%r10,%r11,4)
	addq	$8, %r11
	cmpq	%r11, %r8
	jne	.LBB14_21
	movq	%r9, %rsi
.LBB14_23:
	cmpq	%rdx, %rsi
	je	.LBB14_24
	movl	(%rsi), %r9d
	addq	$4, %rsi
	incl	%r9d
	movl	%r9d, (%rax,%r8,4)
	incq	%r8
	cmpq	%r8, %rcx
	jne	.LBB14_23
	movq	%rcx, 24(%rsp)
	cmpq	%rdx, %rsi
	jne	.LBB14_7
.LBB14_3:
	movq	%rcx, %rdx
	leaq	(%rax,%rdx,4), %r8
	movq	16(%rdi), %rsi
	cmpq	%rsi, %r8
	jne	.LBB14_30
.LBB14_15:
	movq	%rcx, %r8
	subq	%rdx, %r8
	leaq	(%rsi,%r8,4), %rdx
	movq	%rdx, 16(%rdi)
.LBB14_30:
	movq	%rcx, %rdx
	addq	$88, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	popq	%rbp
	retq
.LBB14_24:
	movq	%rcx, %rdx
	movq	%r8, %rcx
	leaq	(%rax,%rdx,4), %r8
	movq	16(%rdi), %rsi
	cmpq	%rsi, %r8
	je	.LBB14_15
	jmp	.LBB14_30
.LBB14_16:
.Ltmp15:
	leaq	.Lanon..3(%rip), %rdi
	callq	*_ZN69_$LT$core..convert..Infallible$u20$as$u20$ebbtide..error..Failure$GT$9too_largeE@GOTPCREL(%rip)
.Ltmp16:
	ud2
.LBB14_4:
.Ltmp14:
	jmp	.LBB14_6
.LBB14_5:
.Ltmp17:
.LBB14_6:
	movq	%rax, %rbx
	leaq	8(%rsp), %rdi
	callq	_ZN4core3ptr61drop_in_place$LT$ebbtide..collector..Collector$LT$u32$GT$$GT$E
	movq	%rbx, %rdi
	callq	_Unwind_Resume@PLT
