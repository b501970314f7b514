	movq	_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@GOTTPOFF(%rip), %rcx
	cmpq	$1, %fs:24(%rcx)
	jbe	.LBB11_4
	cmpq	$8, %fs:16(%rcx)
	jb	.LBB11_5
	movq	%fs:(%rcx), %rax
	leaq	8(%rax), %rdx
	cmpq	%rdx, %fs:8(%rcx)
	jb	.LBB11_5
	movq	%rdx, %fs:(%rcx)
	incq	%fs:32(%rcx)
	prefetcht0	392(%rax)
	retq
.LBB11_4:
	movl	$8, %edi
	jmpq	*malloc@GOTPCREL(%rip)
.LBB11_5:
	movl	$8, %edi
	movl	$8, %esi
	jmp	_ZN14ebbtide_global6scoped7alignedE
