	movq	_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@GOTTPOFF(%rip), %rax
	cmpq	$1, %fs:24(%rax)
	ja	_ZN14ebbtide_global6scoped6zeroedE
	movl	$1, %esi
	jmpq	*calloc@GOTPCREL(%rip)
