	adrp	x8, :gottprel:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE
	ldr	x8, [x8, :gottprel_lo12:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE]
	mrs	x9, TPIDR_EL0
	add	x8, x9, x8
	ldr	x9, [x8, #24]
	cmp	x9, #1
	b.ls	.LBB11_4
	ldr	x9, [x8, #16]
	cmp	x9, #8
	b.lo	.LBB11_5
	ldp	x0, x10, [x8]
	add	x9, x0, #8
	cmp	x10, x9
	b.lo	.LBB11_5
	ldr	x10, [x8, #32]
	str	x9, [x8]
	add	x9, x10, #1
	str	x9, [x8, #32]
	ret
.LBB11_4:
	mov	w0, #8
	b	malloc
.LBB11_5:
	mov	w0, #8
	mov	w1, #8
	b	_ZN14ebbtide_global6scoped7alignedE
