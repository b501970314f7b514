	movq	_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@GOTTPOFF(%rip), %rcx
	movq	%fs:8(%rcx), %rdx
	testq	%rdx, %rdx
	je	.LBB8_5
	cmpq	$8, %rsi
	ja	_ZN14ebbtide_global6scoped4slowE
	cmpq	%fs:16(%rcx), %rdi
	ja	_ZN14ebbtide_global6scoped4slowE
	movq	%fs:(%rcx), %rax
	leaq	7(%rdi), %r8
	andq	$-8, %r8
	addq	%rax, %r8
	cmpq	%r8, %rdx
	jb	_ZN14ebbtide_global6scoped4slowE
	movq	%r8, %fs:(%rcx)
	incq	%fs:40(%rcx)
	prefetcht0	384(%r8)
	retq
.LBB8_5:
	jmpq	*malloc@GOTPCREL(%rip)
