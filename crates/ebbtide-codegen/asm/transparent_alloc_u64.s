	movq	_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@GOTTPOFF(%rip), %rcx
	movq	%fs:8(%rcx), %rdx
	testq	%rdx, %rdx
	je	.LBB9_4
	cmpq	$7, %fs:16(%rcx)
	jbe	.LBB9_5
	movq	%fs:(%rcx), %rax
	leaq	8(%rax), %rsi
	cmpq	%rsi, %rdx
	jae	.LBB9_3
.LBB9_5:
	movl	$8, %edi
	movl	$8, %esi
	jmp	_ZN14ebbtide_global6scoped4slowE
.LBB9_4:
	movl	$8, %edi
	jmpq	*malloc@GOTPCREL(%rip)
.LBB9_3:
	movq	%rsi, %fs:(%rcx)
	incq	%fs:40(%rcx)
	prefetcht0	392(%rax)
	retq
