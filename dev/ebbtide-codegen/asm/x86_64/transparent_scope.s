	pushq	%r15
	pushq	%r14
	pushq	%r12
	pushq	%rbx
	pushq	%rax
	movq	%rdi, %r15
	movq	_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@GOTTPOFF(%rip), %r12
	movq	%fs:0, %rbx
	addq	%r12, %rbx
	cmpq	$1, %fs:32(%r12)
	ja	.LBB17_3
	movq	%fs:96(%r12), %r14
	testq	%r14, %r14
	je	.LBB17_3
	movq	%fs:104(%r12), %rax
	movq	%r14, %fs:32(%r12)
	movq	%rax, %fs:8(%r12)
	callq	*%r15
	cmpq	%r14, %fs:32(%r12)
	je	.LBB17_5
	jmp	.LBB17_11
.LBB17_3:
	callq	*_ZN14ebbtide_global5calls5enterE@GOTPCREL(%rip)
	movq	%rax, %r14
	callq	*%r15
	cmpq	%r14, %fs:32(%r12)
	jne	.LBB17_11
.LBB17_5:
	movq	%fs:88(%r12), %rax
	testq	%rax, %rax
	je	.LBB17_11
	movq	%fs:40(%r12), %rcx
	movl	%fs:64(%r12), %edx
	subl	%ecx, %edx
	cmpl	%edx, 16(%rax)
	jne	.LBB17_11
	movl	$0, 16(%rax)
	movq	%rcx, %fs:64(%r12)
	movq	%fs:(%r12), %rsi
	movq	%fs:72(%r12), %rax
	subq	%rax, %rsi
	je	.LBB17_9
	addq	%rsi, %fs:120(%r12)
	movq	%rax, %fs:(%r12)
.LBB17_9:
	movq	$0, %fs:8(%r12)
	movq	$1, %fs:32(%r12)
	decq	%fs:112(%r12)
	je	.LBB17_10
	addq	$8, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	retq
.LBB17_11:
	movq	%r14, %rdi
	addq	$8, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	jmpq	*_ZN14ebbtide_global5calls5leaveE@GOTPCREL(%rip)
.LBB17_10:
	movq	%rbx, %rdi
	addq	$8, %rsp
	popq	%rbx
	popq	%r12
	popq	%r14
	popq	%r15
	jmpq	*_ZN14ebbtide_global5owner7publish46_$LT$impl$u20$ebbtide_global..owner..Owner$GT$7publishE@GOTPCREL(%rip)
