	cmp	x1, #1024
	b.hi	.LBB2_5
	adrp	x8, :gottprel:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE
	ldr	x8, [x8, :gottprel_lo12:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE]
	mrs	x9, TPIDR_EL0
	add	x8, x9, x8
	ldr	x9, [x8, #192]
	cbz	x9, .LBB2_5
	ldr	x10, [x9, #1408]
	subs	x10, x10, #1
	str	x10, [x9, #1408]
	b.mi	.LBB2_5
	adrp	x10, :got:_ZN14ebbtide_global6memory5range6BOUNDSE
	lsr	x12, x2, #16
	ldr	x10, [x10, :got_lo12:_ZN14ebbtide_global6memory5range6BOUNDSE]
	ldr	x11, [x10, #16]
	add	x11, x11, x12, lsl #8
	ldr	w12, [x11, #16]
	sub	w12, w12, #1
	str	w12, [x11, #16]
	add	w11, w1, #7
	ldr	xzr, [x10, #24]
	and	x10, x11, #0xff8
	ldr	x11, [x8]
	add	x12, x10, x0
	cmp	x12, x11
	b.ne	.LBB2_6
	str	x0, [x8]
	ret
.LBB2_5:
	b	_ZN14ebbtide_global6scoped11free_mediumE
.LBB2_6:
	ldr	x11, [x8, #48]
	sub	w12, w1, #1
	add	x10, x11, x10
	and	x11, x12, #0x3f8
	str	x10, [x8, #48]
	ldr	x8, [x9, x11]
	str	x8, [x0]
	str	x0, [x9, x11]
	ret
