	adrp	x8, :got:_ZN14ebbtide_global6memory5range6BOUNDSE
	ldr	x8, [x8, :got_lo12:_ZN14ebbtide_global6memory5range6BOUNDSE]
	ldr	x9, [x8]
	ldr	x8, [x8, #8]
	add	x4, x9, x0
	cmp	x4, x8
	b.hs	.LBB14_6
	adrp	x8, :gottprel:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE
	ldr	x8, [x8, :gottprel_lo12:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE]
	mrs	x9, TPIDR_EL0
	add	x9, x9, x8
	add	x8, x1, #7
	and	x8, x8, #0xfffffffffffffff8
	ldr	x10, [x9]
	add	x11, x8, x0
	cmp	x11, x10
	b.ne	.LBB14_5
	ldr	x11, [x9, #64]
	cmp	x11, x0
	b.hi	.LBB14_5
	ldr	x11, [x9, #16]
	cmp	x3, x11
	b.hi	.LBB14_5
	add	x11, x3, #7
	sub	x8, x10, x8
	ldr	x12, [x9, #8]
	and	x11, x11, #0xfffffffffffffff8
	add	x10, x8, x11
	cmp	x12, x10
	b.hs	.LBB14_7
.LBB14_5:
	b	_ZN14ebbtide_global6scoped6resizeE
.LBB14_6:
	mov	x1, x3
	b	realloc
.LBB14_7:
	ldr	x11, [x9, #144]
	str	x10, [x9]
	mov	x0, x8
	add	x10, x11, #1
	str	x10, [x9, #144]
	ret
