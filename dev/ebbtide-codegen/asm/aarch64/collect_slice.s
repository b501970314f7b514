.Lfunc_begin1:
	sub	sp, sp, #128
	stp	x29, x30, [sp, #80]
	str	x21, [sp, #96]
	stp	x20, x19, [sp, #112]
	add	x29, sp, #80
	lsl	x11, x2, #2
	mov	x3, x2
	mov	x20, x1
	mov	x8, x0
	mov	w0, #4
	str	xzr, [sp, #72]
	add	x19, x1, x11
	stp	x0, xzr, [sp]
	stp	xzr, x8, [sp, #16]
	cbz	x2, .LBB32_13
	ldr	x10, [x8, #16]
	ldr	x9, [x8]
	add	x12, x10, #3
	and	x0, x12, #0xfffffffffffffffc
	sub	x12, x9, x0
	cmp	x12, x11
	b.le	.LBB32_4
	ldr	x12, [x8, #8]
	sub	x13, x3, #1
	stp	x10, x9, [sp, #48]
	cmp	x3, x13
	add	x11, x11, x0
	str	x0, [sp]
	stp	x9, x12, [sp, #32]
	csel	x9, x3, x13, lo
	cmp	x9, #8
	str	x11, [x8, #16]
	str	x3, [sp, #16]
	stp	x12, x11, [sp, #64]
	b.hs	.LBB32_7
	mov	x9, xzr
	b	.LBB32_10
.LBB32_4:
.Ltmp8:
	mov	x0, x8
	mov	x1, x20
	mov	x2, x19
	bl	_ZN7ebbtide5slice39_$LT$impl$u20$ebbtide..scope..Scope$GT$17slice_collect_farE
.Ltmp9:
	mov	x3, x1
.LBB32_6:
	mov	x1, x3
	ldp	x20, x19, [sp, #112]
	ldr	x21, [sp, #96]
	ldp	x29, x30, [sp, #80]
	add	sp, sp, #128
	ret
.LBB32_7:
	add	x9, x9, #1
	mov	w11, #8
	movi	v0.4s, #1
	ands	x10, x9, #0x7
	add	x12, x20, #16
	csel	x10, x11, x10, eq
	add	x11, x0, #16
	sub	x9, x9, x10
	add	x10, x20, x9, lsl #2
	mov	x13, x9
.LBB32_8:
	ldp	q1, q2, [x12, #-16]
	subs	x13, x13, #8
	add	x12, x12, #32
	add	v1.4s, v1.4s, v0.4s
	add	v2.4s, v2.4s, v0.4s
	stp	q1, q2, [x11, #-16]
	add	x11, x11, #32
	b.ne	.LBB32_8
	mov	x20, x10
.LBB32_10:
	cmp	x20, x19
	b.eq	.LBB32_20
	ldr	w10, [x20], #4
	add	w10, w10, #1
	str	w10, [x0, x9, lsl #2]
	add	x9, x9, #1
	cmp	x3, x9
	b.ne	.LBB32_10
	str	x3, [sp, #8]
.LBB32_13:
	cmp	x20, x19
	b.eq	.LBB32_19
.LBB32_14:
	ldr	x8, [sp, #16]
	ldr	w21, [x20], #4
	cmp	x3, x8
	b.eq	.LBB32_16
	add	w8, w21, #1
	str	w8, [x0, x3, lsl #2]
	add	x3, x3, #1
	cmp	x20, x19
	str	x3, [sp, #8]
	b.ne	.LBB32_14
	b	.LBB32_18
.LBB32_16:
.Ltmp11:
	mov	x0, sp
	bl	_ZN7ebbtide9collector18Collector$LT$T$GT$4growE
.Ltmp12:
	ldp	x0, x3, [sp]
	add	w8, w21, #1
	str	w8, [x0, x3, lsl #2]
	add	x3, x3, #1
	cmp	x20, x19
	str	x3, [sp, #8]
	b.ne	.LBB32_14
.LBB32_18:
	ldp	x10, x8, [sp, #16]
	ldr	x0, [sp]
	add	x11, x0, x10, lsl #2
	ldr	x9, [x8, #16]
	cmp	x11, x9
	b.ne	.LBB32_6
	b	.LBB32_21
.LBB32_19:
	mov	x10, x3
	add	x11, x0, x3, lsl #2
	ldr	x9, [x8, #16]
	cmp	x11, x9
	b.ne	.LBB32_6
	b	.LBB32_21
.LBB32_20:
	mov	x10, x3
	mov	x3, x9
	add	x11, x0, x10, lsl #2
	ldr	x9, [x8, #16]
	cmp	x11, x9
	b.ne	.LBB32_6
.LBB32_21:
	sub	x10, x3, x10
	add	x9, x9, x10, lsl #2
	str	x9, [x8, #16]
	mov	x1, x3
	ldp	x20, x19, [sp, #112]
	ldr	x21, [sp, #96]
	ldp	x29, x30, [sp, #80]
	add	sp, sp, #128
	ret
.LBB32_22:
.Ltmp13:
	mov	x19, x0
	mov	x0, sp
	bl	_ZN4core3ptr61drop_in_place$LT$ebbtide..collector..Collector$LT$u32$GT$$GT$E
	mov	x0, x19
	bl	_Unwind_Resume
.LBB32_23:
.Ltmp10:
	mov	x19, x0
	mov	x0, sp
	bl	_ZN4core3ptr61drop_in_place$LT$ebbtide..collector..Collector$LT$u32$GT$$GT$E
	mov	x0, x19
	bl	_Unwind_Resume
