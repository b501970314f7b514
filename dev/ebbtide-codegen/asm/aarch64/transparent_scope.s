.Lfunc_begin0:
	stp	x29, x30, [sp, #-48]!
	str	x21, [sp, #16]
	stp	x20, x19, [sp, #32]
	mov	x29, sp
	adrp	x8, :gottprel:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE
	mov	x21, x0
	ldr	x8, [x8, :gottprel_lo12:_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE]
	mrs	x9, TPIDR_EL0
	add	x19, x9, x8
	ldr	x8, [x19, #24]
	cmp	x8, #1
	mov	w8, #9701
	movk	w8, #10107, lsl #16
	b.hi	.LBB15_3
	ldr	x20, [x19, #88]
	cbz	x20, .LBB15_3
	str	w8, [x19, #168]
	ldr	x8, [x19, #96]
	str	x20, [x19, #24]
	str	x8, [x19, #8]
	b	.LBB15_4
.LBB15_3:
	mov	w0, #9701
	movk	w0, #10107, lsl #16
	bl	_ZN14ebbtide_global5calls12enter_slowlyE
	mov	x20, x0
.LBB15_4:
.Ltmp0:
	blr	x21
.Ltmp1:
	ldr	x8, [x19, #24]
	cmp	x8, x20
	b.ne	.LBB15_12
	ldr	x8, [x19, #80]
	cbz	x8, .LBB15_12
	ldr	x9, [x19, #32]
	ldr	w10, [x19, #56]
	ldr	w11, [x8, #16]
	sub	w10, w10, w9
	cmp	w11, w10
	b.ne	.LBB15_12
	str	wzr, [x8, #16]
	ldr	x10, [x19]
	ldr	x8, [x19, #64]
	str	x9, [x19, #56]
	subs	x1, x10, x8
	b.eq	.LBB15_10
	ldr	x9, [x19, #112]
	str	x8, [x19]
	add	x9, x9, x1
	str	x9, [x19, #112]
.LBB15_10:
	ldr	x8, [x19, #104]
	mov	w9, #1
	str	xzr, [x19, #8]
	str	x9, [x19, #24]
	subs	x8, x8, #1
	str	x8, [x19, #104]
	b.eq	.LBB15_13
	ldp	x20, x19, [sp, #32]
	ldr	x21, [sp, #16]
	ldp	x29, x30, [sp], #48
	ret
.LBB15_12:
	mov	x0, x20
	ldp	x20, x19, [sp, #32]
	ldr	x21, [sp, #16]
	ldp	x29, x30, [sp], #48
	b	_ZN14ebbtide_global5calls5leaveE
.LBB15_13:
	mov	x0, x19
	ldp	x20, x19, [sp, #32]
	ldr	x21, [sp, #16]
	ldp	x29, x30, [sp], #48
	b	_ZN14ebbtide_global5owner7publish46_$LT$impl$u20$ebbtide_global..owner..Owner$GT$7publishE
.LBB15_14:
.Ltmp2:
	mov	x19, x0
.Ltmp3:
	mov	x0, x20
	bl	_ZN4core3ptr53drop_in_place$LT$ebbtide_global..calls..FastGuard$GT$E
.Ltmp4:
	mov	x0, x19
	bl	_Unwind_Resume
.LBB15_16:
.Ltmp5:
	bl	_RNvNtCs6Hz1PecaLG4_4core9panicking16panic_in_cleanup
