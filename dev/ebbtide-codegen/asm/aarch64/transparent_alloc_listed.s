	cmp	x0, #1024
	b.hi	.LBB4_5
	adrp	x8, :gottprel:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE
	ldr	x8, [x8, :gottprel_lo12:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE]
	mrs	x9, TPIDR_EL0
	add	x9, x9, x8
	ldr	x8, [x9, #24]
	cbnz	x8, .LBB4_5
	ldr	x10, [x9, #192]
	cbz	x10, .LBB4_5
	sub	w8, w0, #1
	ubfx	x11, x8, #3, #7
	ldr	x8, [x10, x11, lsl #3]
	cbz	x8, .LBB4_5
	sub	x12, x1, #1
	tst	x12, x8
	b.eq	.LBB4_6
.LBB4_5:
	b	_ZN14ebbtide_global6scoped4slowE
.LBB4_6:
	adrp	x13, :got:_ZN14ebbtide_global6memory5range6BOUNDSE
	ldr	x12, [x8]
	ldr	x13, [x13, :got_lo12:_ZN14ebbtide_global6memory5range6BOUNDSE]
	str	x12, [x10, x11, lsl #3]
	ldr	x11, [x13, #24]
	ldr	x12, [x13, #16]
	add	w13, w0, #7
	mov	x0, x8
	sub	x11, x8, x11
	lsr	x11, x11, #16
	add	x11, x12, x11, lsl #8
	ldr	w12, [x11, #16]
	add	w12, w12, #1
	str	w12, [x11, #16]
	ldr	x11, [x10, #1408]
	ldr	x12, [x9, #144]
	ldr	x14, [x9, #120]
	add	x11, x11, #1
	str	x11, [x10, #1408]
	and	x10, x13, #0xff8
	add	x11, x12, #1
	add	x10, x14, x10
	str	x11, [x9, #144]
	str	x10, [x9, #120]
	ret
