	adrp	x8, :gottprel:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE
	ldr	x8, [x8, :gottprel_lo12:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE]
	mrs	x9, TPIDR_EL0
	add	x9, x9, x8
	ldr	x8, [x9, #24]
	cmp	x8, #1
	b.ls	.LBB10_5
	cmp	x1, #8
	b.hi	.LBB10_6
	ldr	x8, [x9, #16]
	cmp	x0, x8
	b.hi	.LBB10_6
	ldp	x8, x11, [x9]
	add	x10, x0, #7
	and	x10, x10, #0xfffffffffffffff8
	add	x10, x8, x10
	cmp	x11, x10
	b.lo	.LBB10_6
	ldr	x11, [x9, #32]
	str	x10, [x9]
	mov	x0, x8
	add	x10, x11, #1
	str	x10, [x9, #32]
	ret
.LBB10_5:
	b	malloc
.LBB10_6:
	b	_ZN14ebbtide_global6scoped7alignedE
