.Lfunc_begin0:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$152, %rsp
	movq	%rdi, 8(%rsp)
	movq	$4, 16(%rsp)
	movq	$0, 80(%rsp)
	cmpq	$1048576, %rdx
	movl	$1048576, %ebx
	cmovbq	%rdx, %rbx
	pxor	%xmm0, %xmm0
	movdqu	%xmm0, 24(%rsp)
	movl	$4, %r13d
	testq	%rdx, %rdx
	je	.LBB9_5
	leaq	(,%rbx,4), %rax
	movq	(%rdi), %r14
	movq	8(%rdi), %r15
	movq	16(%rdi), %r12
	movl	%r12d, %ecx
	negl	%ecx
	andl	$3, %ecx
	leaq	(%rcx,%rbx,4), %r8
	movq	%r14, %r9
	subq	%r12, %r9
	cmpq	%r9, %r8
	jbe	.LBB9_6
	movq	%rsi, (%rsp)
	movq	%rdx, 88(%rsp)
	#APP
	#NO_APP
	movq	(%rdi), %rcx
	movq	%rcx, 96(%rsp)
	movq	16(%rdi), %rcx
	movdqu	8(%rdi), %xmm0
	movdqu	%xmm0, 104(%rsp)
	movq	$0, 120(%rsp)
	movq	%rax, 128(%rsp)
	movq	$4, 136(%rsp)
	movb	$1, 144(%rsp)
	movq	%rdi, %rbp
	movq	%rcx, (%rdi)
.Ltmp0:
	leaq	96(%rsp), %rdi
	callq	*_ZN7ebbtide3raw8try_growE@GOTPCREL(%rip)
.Ltmp1:
	movq	96(%rsp), %r8
	movq	104(%rsp), %rdi
	movq	112(%rsp), %rax
	movq	120(%rsp), %rcx
	movq	%r8, (%rbp)
	movq	%rdi, 8(%rbp)
	movq	%rax, 16(%rbp)
	testq	%rcx, %rcx
	movq	88(%rsp), %rdx
	movq	(%rsp), %rsi
	je	.LBB9_5
	andq	$-4, %r8
	movq	%r8, (%rbp)
	jmp	.LBB9_7
.LBB9_5:
	xorl	%ebx, %ebx
	jmp	.LBB9_8
.LBB9_6:
	addq	%r12, %rcx
	addq	%rcx, %rax
	movq	%rax, 16(%rdi)
	movq	%r15, %rdi
	movq	%r14, %r8
.LBB9_7:
	movq	%rcx, 16(%rsp)
	movq	%rbx, 32(%rsp)
	movq	%r14, 40(%rsp)
	movq	%r15, 48(%rsp)
	movq	%r12, 56(%rsp)
	movq	%r8, 64(%rsp)
	movq	%rdi, 72(%rsp)
	movq	%rax, 80(%rsp)
	movq	%rcx, %r13
.LBB9_8:
	leaq	(%rsi,%rdx,4), %r15
	shlq	$2, %rdx
	addq	%rsi, %rdx
	xorl	%eax, %eax
	leaq	8(%rsp), %r14
	movl	$8, %r12d
	pcmpeqd	%xmm2, %xmm2
	movq	%rbx, %rdi
	subq	%rax, %rdi
	je	.LBB9_23
.LBB9_9:
	leaq	(,%rax,4), %r8
	addq	%r13, %r8
	movq	%rdx, %r9
	subq	%rsi, %r9
	shrq	$2, %r9
	movq	%rax, %rcx
	notq	%rcx
	addq	%rbx, %rcx
	cmpq	%rcx, %r9
	cmovbq	%r9, %rcx
	cmpq	$12, %rcx
	jae	.LBB9_11
	xorl	%ecx, %ecx
	jmp	.LBB9_18
.LBB9_11:
	movl	%esi, %r9d
	negl	%r9d
	testb	$3, %r9b
	je	.LBB9_13
	xorl	%ecx, %ecx
	jmp	.LBB9_18
.LBB9_13:
	movq	%r8, %r9
	subq	%rsi, %r9
	cmpq	$32, %r9
	jae	.LBB9_15
	xorl	%ecx, %ecx
	jmp	.LBB9_18
.LBB9_15:
	incq	%rcx
	leaq	(,%rax,4), %r10
	movl	%ecx, %r9d
	andl	$7, %r9d
	cmoveq	%r12, %r9
	subq	%r9, %rcx
	leaq	(%rsi,%rcx,4), %r9
	addq	%r13, %r10
	addq	$16, %r10
	xorl	%r11d, %r11d
.LBB9_16:
	movdqu	(%rsi,%r11,4), %xmm0
	movdqu	16(%rsi,%r11,4), %xmm1
	psubd	%xmm2, %xmm0
	psubd	%xmm2, %xmm1
	movdqu	%xmm0, -16(%r10,%r11,4)
	movdqu	%xmm1, (%r10,%r11,4)
	addq	$8, %r11
	cmpq	%r11, %rcx
	jne	.LBB9_16
	movq	%r9, %rsi
.LBB9_18:
	cmpq	%r15, %rsi
	je	.LBB9_21
	movl	(%rsi), %r9d
	addq	$4, %rsi
	incl	%r9d
	movl	%r9d, (%r8,%rcx,4)
	incq	%rcx
	cmpq	%rcx, %rdi
	jne	.LBB9_18
	movq	%rdi, %rcx
	jmp	.LBB9_22
.LBB9_21:
	movq	%r15, %rsi
.LBB9_22:
	addq	%rax, %rcx
	movq	%rcx, 24(%rsp)
	movq	%rbx, %rax
	cmpq	%rbx, %rcx
	jne	.LBB9_30
.LBB9_23:
	cmpq	%r15, %rsi
	je	.LBB9_29
	movl	(%rsi), %ebp
	cmpq	%rax, %rbx
	je	.LBB9_26
.LBB9_25:
	addq	$4, %rsi
	incl	%ebp
	movq	16(%rsp), %r13
	movl	%ebp, (%r13,%rax,4)
	incq	%rax
	movq	%rax, 24(%rsp)
	movq	32(%rsp), %rbx
	movq	%rbx, %rdi
	subq	%rax, %rdi
	jne	.LBB9_9
	jmp	.LBB9_23
.LBB9_26:
	movq	%rsi, (%rsp)
	cmpq	$-1, %rbx
	je	.LBB9_34
	movq	%rdx, %r13
	incq	%rbx
.Ltmp2:
	movq	%r14, %rdi
	movq	%rbx, %rsi
	callq	_ZN7ebbtide7growing16Growing$LT$T$GT$4growE
.Ltmp3:
	movq	24(%rsp), %rax
	movq	%r13, %rdx
	movq	(%rsp), %rsi
	pcmpeqd	%xmm2, %xmm2
	jmp	.LBB9_25
.LBB9_29:
	movq	%rax, %rcx
.LBB9_30:
	movq	8(%rsp), %rdx
	movq	16(%rsp), %rax
	leaq	(%rax,%rbx,4), %rdi
	movq	16(%rdx), %rsi
	cmpq	%rsi, %rdi
	jne	.LBB9_32
	movq	%rcx, %rdi
	subq	%rbx, %rdi
	leaq	(%rsi,%rdi,4), %rsi
	movq	%rsi, 16(%rdx)
.LBB9_32:
	movq	%rcx, %rdx
	addq	$152, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	retq
.LBB9_34:
.Ltmp5:
	leaq	.Lanon.1a5e33e59d3bb45a24e4b8c8f157d7de.3(%rip), %rdi
	callq	*_ZN69_$LT$core..convert..Infallible$u20$as$u20$ebbtide..error..Failure$GT$9too_largeE@GOTPCREL(%rip)
.Ltmp6:
	ud2
.LBB9_36:
.Ltmp4:
	jmp	.LBB9_38
.LBB9_37:
.Ltmp7:
.LBB9_38:
	movq	%rax, %rbx
	leaq	8(%rsp), %rdi
	callq	_ZN4core3ptr57drop_in_place$LT$ebbtide..growing..Growing$LT$u32$GT$$GT$E
	movq	%rbx, %rdi
	callq	_Unwind_Resume@PLT
