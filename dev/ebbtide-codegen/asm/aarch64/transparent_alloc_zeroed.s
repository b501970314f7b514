	adrp	x8, :gottprel:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE
	ldr	x8, [x8, :gottprel_lo12:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE]
	mrs	x9, TPIDR_EL0
	add	x8, x9, x8
	ldr	x8, [x8, #24]
	cmp	x8, #1
	b.ls	.LBB12_2
	b	_ZN14ebbtide_global6scoped6zeroedE
.LBB12_2:
	mov	w1, #1
	b	calloc
