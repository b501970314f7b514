	adrp	x8, :got:_ZN14ebbtide_global6memory5range6BOUNDSE
	ldr	x8, [x8, :got_lo12:_ZN14ebbtide_global6memory5range6BOUNDSE]
	ldr	x9, [x8]
	ldr	x10, [x8, #8]
	add	x2, x9, x0
	cmp	x2, x10
	b.hs	.LBB13_5
	ldr	x8, [x8, #16]
	lsr	x9, x2, #16
	adrp	x10, :gottprel:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE
	ldr	x10, [x10, :gottprel_lo12:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE]
	mrs	x11, TPIDR_EL0
	add	x9, x8, x9, lsl #8
	add	x8, x11, x10
	ldr	x10, [x9]
	ldr	x11, [x8, #24]
	cmp	x10, x11
	b.ne	.LBB13_7
	ldr	w10, [x9, #24]
	cmp	w10, w0, uxth
	b.hi	.LBB13_7
	ldr	w10, [x9, #16]
	sub	w10, w10, #1
	str	w10, [x9, #16]
	add	x9, x1, #7
	and	x9, x9, #0xfffffffffffffff8
	ldr	x10, [x8]
	add	x11, x9, x0
	cmp	x11, x10
	b.ne	.LBB13_6
	sub	x9, x10, x9
	str	x9, [x8]
	ret
.LBB13_5:
	b	free
.LBB13_6:
	ldr	x10, [x8, #40]
	add	x9, x10, x9
	str	x9, [x8, #40]
	ret
.LBB13_7:
	b	_ZN14ebbtide_global6scoped14free_elsewhereE
