.Lfunc_begin0:
	pushq	%r15
	pushq	%r14
	pushq	%r12
	pushq	%rbx
	pushq	%rax
	movq	%rdi, %r15
	movq	_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@GOTTPOFF(%rip), %r12
	movq	%fs:0, %rbx
	addq	%r12, %rbx
	cmpq	$1, %fs:24(%r12)
	ja	.LBB15_11
	movq	%fs:88(%r12), %r14
	testq	%r14, %r14
	je	.LBB15_11
	movl	$662382053, %fs:168(%r12)
	movq	%fs:96(%r12), %rax
	movq	%r14, %fs:24(%r12)
	movq	%rax, %fs:8(%r12)
	jmp	.LBB15_3
.LBB15_11:
	movl	$662382053, %edi
	callq	*_ZN14ebbtide_global5calls12enter_slowlyE@GOTPCREL(%rip)
	movq	%rax, %r14
.LBB15_3:
.Ltmp0:
	callq	*%r15
.Ltmp1:
	cmpq	%r14, %fs:24(%r12)
	jne	.LBB15_12
	movq	%fs:80(%r12), %rax
	testq	%rax, %rax
	je	.LBB15_12
	movq	%fs:32(%r12), %rcx
	movl	%fs:56(%r12), %edx
	subl	%ecx, %edx
	cmpl	%edx, 16(%rax)
	jne	.LBB15_12
	movl	$0, 16(%rax)
	movq	%rcx, %fs:56(%r12)
	movq	%fs:(%r12), %rsi
	movq	%fs:64(%r12), %rax
	subq	%rax, %rsi
	je	.LBB15_9
	addq	%rsi, %fs:112(%r12)
	movq	%rax, %fs:(%r12)
.LBB15_9:
	movq	$0, %fs:8(%r12)
	movq	$1, %fs:24(%r12)
	decq	%fs:104(%r12)
	je	.LBB15_10
	addq	$8, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	retq
.LBB15_12:
	movq	%r14, %rdi
	addq	$8, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	jmpq	*_ZN14ebbtide_global5calls5leaveE@GOTPCREL(%rip)
.LBB15_10:
	movq	%rbx, %rdi
	addq	$8, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	jmpq	*_ZN14ebbtide_global5owner7publish46_$LT$impl$u20$ebbtide_global..owner..Owner$GT$7publishE@GOTPCREL(%rip)
.LBB15_14:
.Ltmp2:
	movq	%rax, %rbx
.Ltmp3:
	movq	%r14, %rdi
	callq	_ZN4core3ptr53drop_in_place$LT$ebbtide_global..calls..FastGuard$GT$E
.Ltmp4:
	movq	%rbx, %rdi
	callq	_Unwind_Resume@PLT
.LBB15_13:
.Ltmp5:
	callq	*_RNvNtCsgEmfK2I1SDS_4core9panicking16panic_in_cleanup@GOTPCREL(%rip)
