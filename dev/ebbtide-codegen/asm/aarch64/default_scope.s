.Lfunc_begin2:
	sub	sp, sp, #96
	stp	x29, x30, [sp, #48]
	str	x21, [sp, #64]
	stp	x20, x19, [sp, #80]
	add	x29, sp, #48
	mov	x21, x0
	adrp	x0, :tlsdesc:_ZN7ebbtide5local5LOCAL29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE
	ldr	x1, [x0, :tlsdesc_lo12:_ZN7ebbtide5local5LOCAL29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE]
	add	x0, x0, :tlsdesc_lo12:_ZN7ebbtide5local5LOCAL29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE
	blr	x1
	mrs	x8, TPIDR_EL0
	add	x19, x8, x0
	ldrb	w8, [x19, #64]
	cbnz	w8, .LBB33_4
	mov	w8, #1
	mov	x20, xzr
	strb	w8, [x19, #64]
	add	x8, x19, #8
	ldr	x10, [x8]
	ldr	x11, [x8, #16]
	sub	x9, x10, #8
	cmp	x9, x11
	b.hs	.LBB33_5
.LBB33_2:
	str	x21, [x29, #24]
	ldur	q0, [x8, #8]
	add	x8, x29, #24
	//APP
	//NO_APP
	mov	w9, #8
	//APP
	//NO_APP
	str	x8, [sp]
	mov	w8, #3
	stur	q0, [sp, #24]
	stp	x9, x10, [sp, #8]
	strh	w8, [sp, #40]
.Ltmp14:
	mov	x0, sp
	bl	_ZN7ebbtide3raw10alloc_slowE
.Ltmp15:
	ldr	x9, [sp]
	//APP
	//NO_APP
	//APP
	//NO_APP
	b	.LBB33_6
.LBB33_4:
	mov	x0, x19
	bl	_ZN7ebbtide5local5Local11lease_otherE
	mov	x20, x0
	add	x8, x0, #96
	ldr	x10, [x8]
	ldr	x11, [x8, #16]
	sub	x9, x10, #8
	cmp	x9, x11
	b.lo	.LBB33_2
.LBB33_5:
	str	x21, [x9]
.LBB33_6:
	str	x9, [sp]
	mov	x8, sp
	//APP
	//NO_APP
	ldr	x8, [sp]
	ldr	x0, [x8]
	cbnz	x20, .LBB33_8
	ldrb	w8, [x19, #65]
	strb	w8, [x19, #64]
	ldp	x20, x19, [sp, #80]
	ldr	x21, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #96
	ret
.LBB33_8:
	mov	x21, x0
	mov	x0, x19
	mov	x1, x20
	bl	_ZN7ebbtide5local5Local9give_backE
	mov	x0, x21
	ldp	x20, x19, [sp, #80]
	ldr	x21, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #96
	ret
.LBB33_9:
.Ltmp16:
	mov	x21, x0
	cbnz	x20, .LBB33_12
	ldrb	w8, [x19, #65]
	strb	w8, [x19, #64]
.LBB33_11:
	mov	x0, x21
	bl	_Unwind_Resume
.LBB33_12:
.Ltmp17:
	mov	x0, x19
	mov	x1, x20
	bl	_ZN7ebbtide5local5Local9give_backE
.Ltmp18:
	b	.LBB33_11
.LBB33_13:
.Ltmp19:
	bl	_RNvNtCs6Hz1PecaLG4_4core9panicking16panic_in_cleanup
