.Lfunc_begin2:
	pushq	%r15
	pushq	%r14
	pushq	%rbx
	subq	$64, %rsp
	movq	%rdi, %r15
	data16
	leaq	_ZN7ebbtide5local5LOCAL29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@TLSGD(%rip), %rdi
	data16
	data16
	rex64
	callq	__tls_get_addr@PLT
	movq	%rax, %rbx
	cmpb	$0, 64(%rax)
	jne	.LBB33_4
	movb	$1, 64(%rbx)
	movq	%rbx, %rax
	addq	$8, %rax
	xorl	%r14d, %r14d
	movq	(%rax), %rdx
	leaq	-8(%rdx), %rcx
	cmpq	16(%rax), %rcx
	jae	.LBB33_6
.LBB33_7:
	movups	8(%rax), %xmm0
	movq	%r15, 8(%rsp)
	#APP
	#NO_APP
	#APP
	#NO_APP
	movq	%rdx, 32(%rsp)
	movups	%xmm0, 40(%rsp)
	leaq	8(%rsp), %rax
	movq	%rax, 16(%rsp)
	movq	$8, 24(%rsp)
	movw	$3, 56(%rsp)
.Ltmp14:
	leaq	16(%rsp), %rdi
	callq	*_ZN7ebbtide3raw10alloc_slowE@GOTPCREL(%rip)
.Ltmp15:
	movq	16(%rsp), %rcx
	#APP
	#NO_APP
	#APP
	#NO_APP
	jmp	.LBB33_9
.LBB33_4:
	movq	%rbx, %rdi
	callq	*_ZN7ebbtide5local5Local11lease_otherE@GOTPCREL(%rip)
	movq	%rax, %r14
	addq	$96, %rax
	movq	(%rax), %rdx
	leaq	-8(%rdx), %rcx
	cmpq	16(%rax), %rcx
	jb	.LBB33_7
.LBB33_6:
	movq	%r15, (%rcx)
.LBB33_9:
	movq	%rcx, 16(%rsp)
	leaq	16(%rsp), %rax
	#APP
	#NO_APP
	movq	16(%rsp), %rax
	movq	(%rax), %rax
	testq	%r14, %r14
	jne	.LBB33_10
	movzbl	65(%rbx), %ecx
	movb	%cl, 64(%rbx)
.LBB33_15:
	addq	$64, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	retq
.LBB33_10:
	movq	%rbx, %rdi
	movq	%r14, %rsi
	movq	%rax, %rbx
	callq	*_ZN7ebbtide5local5Local9give_backE@GOTPCREL(%rip)
	movq	%rbx, %rax
	jmp	.LBB33_15
.LBB33_2:
.Ltmp16:
	movq	%rax, %r15
	testq	%r14, %r14
	jne	.LBB33_3
	movzbl	65(%rbx), %eax
	movb	%al, 64(%rbx)
.LBB33_13:
	movq	%r15, %rdi
	callq	_Unwind_Resume@PLT
.LBB33_3:
.Ltmp17:
	movq	%rbx, %rdi
	movq	%r14, %rsi
	callq	*_ZN7ebbtide5local5Local9give_backE@GOTPCREL(%rip)
.Ltmp18:
	jmp	.LBB33_13
.LBB33_11:
.Ltmp19:
	callq	*_RNvNtCsgEmfK2I1SDS_4core9panicking16panic_in_cleanup@GOTPCREL(%rip)
