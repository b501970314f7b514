	movq	_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@GOTTPOFF(%rip), %rcx
	cmpq	$1, %fs:24(%rcx)
	jbe	.LBB10_5
	cmpq	$8, %rsi
	ja	_ZN14ebbtide_global6scoped7alignedE
	cmpq	%fs:16(%rcx), %rdi
	ja	_ZN14ebbtide_global6scoped7alignedE
	movq	%fs:(%rcx), %rax
	leaq	7(%rdi), %rdx
	andq	$-8, %rdx
	addq	%rax, %rdx
	cmpq	%rdx, %fs:8(%rcx)
	jb	_ZN14ebbtide_global6scoped7alignedE
	movq	%rdx, %fs:(%rcx)
	incq	%fs:32(%rcx)
	prefetcht0	384(%rdx)
	retq
.LBB10_5:
	jmpq	*malloc@GOTPCREL(%rip)
