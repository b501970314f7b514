	stp	x29, x30, [sp, #-48]!
	str	x21, [sp, #16]
	stp	x20, x19, [sp, #32]
	mov	x29, sp
	adrp	x8, :gottprel:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE
	mov	x21, x0
	ldr	x8, [x8, :gottprel_lo12:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE]
	mrs	x9, TPIDR_EL0
	add	x19, x9, x8
	ldr	x8, [x19, #32]
	cmp	x8, #1
	b.hi	.LBB17_3
	ldr	x20, [x19, #96]
	cbz	x20, .LBB17_3
	ldr	x8, [x19, #104]
	str	x20, [x19, #32]
	str	x8, [x19, #8]
	blr	x21
	ldr	x8, [x19, #32]
	cmp	x8, x20
	b.eq	.LBB17_4
	b	.LBB17_10
.LBB17_3:
	bl	_ZN14ebbtide_global5calls5enterE
	mov	x20, x0
	blr	x21
	ldr	x8, [x19, #32]
	cmp	x8, x20
	b.ne	.LBB17_10
.LBB17_4:
	ldr	x8, [x19, #88]
	cbz	x8, .LBB17_10
	ldr	x9, [x19, #40]
	ldr	w10, [x19, #64]
	ldr	w11, [x8, #16]
	sub	w10, w10, w9
	cmp	w11, w10
	b.ne	.LBB17_10
	str	wzr, [x8, #16]
	ldr	x10, [x19]
	ldr	x8, [x19, #72]
	str	x9, [x19, #64]
	subs	x1, x10, x8
	b.eq	.LBB17_8
	ldr	x9, [x19, #120]
	str	x8, [x19]
	add	x9, x9, x1
	str	x9, [x19, #120]
.LBB17_8:
	ldr	x8, [x19, #112]
	mov	w9, #1
	str	xzr, [x19, #8]
	str	x9, [x19, #32]
	subs	x8, x8, #1
	str	x8, [x19, #112]
	b.eq	.LBB17_11
	ldp	x20, x19, [sp, #32]
	ldr	x21, [sp, #16]
	ldp	x29, x30, [sp], #48
	ret
.LBB17_10:
	mov	x0, x20
	ldp	x20, x19, [sp, #32]
	ldr	x21, [sp, #16]
	ldp	x29, x30, [sp], #48
	b	_ZN14ebbtide_global5calls5leaveE
.LBB17_11:
	mov	x0, x19
	ldp	x20, x19, [sp, #32]
	ldr	x21, [sp, #16]
	ldp	x29, x30, [sp], #48
	b	_ZN14ebbtide_global5owner7publish46_$LT$impl$u20$ebbtide_global..owner..Owner$GT$7publishE
