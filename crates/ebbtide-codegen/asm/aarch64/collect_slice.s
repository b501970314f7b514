.Lfunc_begin0:
	sub	sp, sp, #240
	stp	x29, x30, [sp, #144]
	str	x27, [sp, #160]
	stp	x26, x25, [sp, #176]
	stp	x24, x23, [sp, #192]
	stp	x22, x21, [sp, #208]
	stp	x20, x19, [sp, #224]
	add	x29, sp, #144
	add	x21, x1, x2, lsl #2
	mov	x19, x1
	mov	x8, x0
	mov	w0, #4
	str	xzr, [sp, #72]
	stp	x8, x0, [sp]
	stp	xzr, xzr, [sp, #16]
	cbz	x2, .LBB9_5
	cmp	x2, #256, lsl #12
	mov	w9, #1048576
	ldr	x24, [x8]
	csel	x20, x2, x9, lo
	ldp	x25, x23, [x8, #8]
	lsl	x22, x20, #2
	neg	w9, w23
	mov	x10, x22
	sub	x11, x24, x23
	bfxil	x10, x9, #0, #2
	cmp	x10, x11
	b.ls	.LBB9_6
	//APP
	//NO_APP
	mov	x26, x2
	mov	x27, x8
	ldr	x9, [x8]
	ldur	q0, [x8, #8]
	ldr	x10, [x8, #16]
	stp	xzr, xzr, [x29, #-40]
	stur	x9, [x29, #-64]
	mov	w9, #4
	stp	x22, x9, [x29, #-24]
	mov	w9, #1
	stur	q0, [x29, #-56]
	sturb	w9, [x29, #-8]
	str	x10, [x8]
.Ltmp0:
	sub	x0, x29, #64
	bl	_ZN7ebbtide3raw8try_growE
.Ltmp1:
	ldur	x9, [x29, #-64]
	ldur	q0, [x29, #-56]
	mov	x8, x27
	ldur	x0, [x29, #-40]
	str	x9, [x27]
	stur	q0, [x27, #8]
	//APP
	//NO_APP
	cbz	x0, .LBB9_19
	ldp	x11, x10, [x8]
	mov	x2, x26
	ldr	x9, [x8, #16]
	b	.LBB9_7
.LBB9_5:
	mov	x20, xzr
	cmp	x19, x21
	b.ne	.LBB9_20
	b	.LBB9_29
.LBB9_6:
	and	x9, x9, #0x3
	mov	x10, x25
	mov	x11, x24
	add	x0, x23, x9
	add	x9, x0, x22
	str	x9, [x8, #16]
.LBB9_7:
	sub	x12, x20, #1
	stp	x11, x10, [sp, #56]
	mov	x1, xzr
	cmp	x2, x12
	str	x0, [sp, #8]
	csel	x11, x2, x12, lo
	stp	x20, x24, [sp, #24]
	cmp	x11, #8
	stp	x25, x23, [sp, #40]
	str	x9, [sp, #72]
	b.lo	.LBB9_12
	sub	x9, x0, x19
	cmp	x9, #32
	b.lo	.LBB9_12
	add	x9, x11, #1
	mov	w11, #8
	movi	v0.4s, #1
	ands	x10, x9, #0x7
	csel	x10, x11, x10, eq
	add	x11, x19, #16
	sub	x1, x9, x10
	add	x10, x0, #16
	add	x9, x19, x1, lsl #2
	mov	x12, x1
.LBB9_10:
	ldp	q1, q2, [x11, #-16]
	subs	x12, x12, #8
	add	x11, x11, #32
	add	v1.4s, v1.4s, v0.4s
	add	v2.4s, v2.4s, v0.4s
	stp	q1, q2, [x10, #-16]
	add	x10, x10, #32
	b.ne	.LBB9_10
	mov	x19, x9
.LBB9_12:
	sub	x9, x22, x1, lsl #2
.LBB9_13:
	cmp	x19, x21
	b.eq	.LBB9_16
	ldr	w10, [x19], #4
	sub	x9, x9, #4
	add	w10, w10, #1
	str	w10, [x0, x1, lsl #2]
	add	x1, x1, #1
	cmp	x20, x1
	b.ne	.LBB9_13
	str	x20, [sp, #16]
	cmp	x19, x21
	b.ne	.LBB9_20
	b	.LBB9_29
.LBB9_16:
	cmp	x20, x1
	b.eq	.LBB9_29
	ldr	x10, [x8, #16]
	add	x11, x22, x0
	cmp	x11, x10
	b.ne	.LBB9_28
	sub	x9, x10, x9
	str	x9, [x8, #16]
	b	.LBB9_28
.LBB9_19:
	mov	x20, xzr
	mov	w0, #4
	cmp	x19, x21
	b.eq	.LBB9_29
.LBB9_20:
	ldr	x8, [sp, #24]
	ldr	w22, [x19], #4
	cmp	x8, x20
	b.eq	.LBB9_22
	add	w8, w22, #1
	str	w8, [x0, x20, lsl #2]
	add	x20, x20, #1
	cmp	x19, x21
	str	x20, [sp, #16]
	b.ne	.LBB9_20
	b	.LBB9_25
.LBB9_22:
	cmn	x20, #1
	b.eq	.LBB9_30
.Ltmp3:
	mov	x0, sp
	add	x1, x20, #1
	bl	_ZN7ebbtide9collector18Collector$LT$T$GT$4growE
.Ltmp4:
	ldp	x0, x20, [sp, #8]
	add	w8, w22, #1
	str	w8, [x0, x20, lsl #2]
	add	x20, x20, #1
	cmp	x19, x21
	str	x20, [sp, #16]
	b.ne	.LBB9_20
.LBB9_25:
	ldr	x8, [sp]
	ldr	x9, [sp, #24]
	add	x11, x0, x9, lsl #2
	ldr	x10, [x8, #16]
	cmp	x11, x10
	b.ne	.LBB9_27
.LBB9_26:
	sub	x9, x20, x9
	add	x9, x10, x9, lsl #2
	str	x9, [x8, #16]
.LBB9_27:
	mov	x1, x20
.LBB9_28:
	ldp	x20, x19, [sp, #224]
	ldr	x27, [sp, #160]
	ldp	x22, x21, [sp, #208]
	ldp	x24, x23, [sp, #192]
	ldp	x26, x25, [sp, #176]
	ldp	x29, x30, [sp, #144]
	add	sp, sp, #240
	ret
.LBB9_29:
	mov	x9, x20
	add	x11, x0, x20, lsl #2
	ldr	x10, [x8, #16]
	cmp	x11, x10
	b.ne	.LBB9_27
	b	.LBB9_26
.LBB9_30:
.Ltmp6:
	adrp	x0, .Lanon..3
	add	x0, x0, :lo12:.Lanon..3
	bl	_ZN69_$LT$core..convert..Infallible$u20$as$u20$ebbtide..error..Failure$GT$9too_largeE
.Ltmp7:
	brk	#0x1
.LBB9_32:
.Ltmp8:
	mov	x19, x0
	mov	x0, sp
	bl	_ZN4core3ptr61drop_in_place$LT$ebbtide..collector..Collector$LT$u32$GT$$GT$E
	mov	x0, x19
	bl	_Unwind_Resume
.LBB9_33:
.Ltmp5:
	mov	x19, x0
	mov	x0, sp
	bl	_ZN4core3ptr61drop_in_place$LT$ebbtide..collector..Collector$LT$u32$GT$$GT$E
	mov	x0, x19
	bl	_Unwind_Resume
.LBB9_34:
.Ltmp2:
	mov	x19, x0
	mov	x0, sp
	bl	_ZN4core3ptr61drop_in_place$LT$ebbtide..collector..Collector$LT$u32$GT$$GT$E
	mov	x0, x19
	bl	_Unwind_Resume
