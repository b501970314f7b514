.Lfunc_begin3:
	sub	sp, sp, #96
	stp	x29, x30, [sp, #32]
	stp	x24, x23, [sp, #48]
	stp	x22, x21, [sp, #64]
	stp	x20, x19, [sp, #80]
	add	x29, sp, #32
	ldp	w22, w8, [x0, #8]
	mov	w9, #8
	ldr	x23, [x0]
	mov	x20, x3
	stp	x9, xzr, [x0]
	mov	x21, x2
	mov	x19, x0
	sub	x9, x8, x22
	mov	w24, w8
	cmp	x3, x9
	b.ls	.LBB239_5
	add	x9, x20, x22
	lsr	x10, x9, #32
	cbnz	x10, .LBB239_17
	stp	x23, x22, [sp, #8]
	str	x8, [sp, #24]
	cbnz	w24, .LBB239_9
	ldr	x10, [x1, #16]
	cmp	x9, #4
	mov	w8, #4
	csel	x8, x9, x8, hi
	ldr	x11, [x1]
	add	x9, x10, #7
	lsl	x10, x8, #3
	and	x9, x9, #0xfffffffffffffff8
	sub	x11, x11, x9
	cmp	x11, x10
	b.le	.LBB239_9
	add	x10, x10, x9
	mov	x23, x9
	str	x10, [x1, #16]
	b	.LBB239_11
.LBB239_5:
	cbz	x20, .LBB239_13
	add	x0, x23, x22, lsl #3
	lsl	x2, x20, #3
	cmp	x20, #9
	b.hs	.LBB239_12
.LBB239_7:
	cmp	x20, #3
	b.hs	.LBB239_14
	ldr	x8, [x21]
	sub	x9, x2, #8
	ldr	x10, [x21, x9]
	str	x8, [x0]
	str	x10, [x0, x9]
	b	.LBB239_13
.LBB239_9:
.Ltmp20:
	mov	x0, x1
	add	x1, sp, #8
	add	x4, x20, x22
	mov	w2, #8
	mov	w3, #8
	mov	w5, wzr
	bl	_ZN7ebbtide6vector6memory11grow_sharedE
.Ltmp21:
	mov	x8, x1
	mov	x23, x0
.LBB239_11:
	mov	w9, #-1
	cmp	x8, x9
	csel	x24, x8, x9, lo
	add	x0, x23, x22, lsl #3
	lsl	x2, x20, #3
	cmp	x20, #9
	b.lo	.LBB239_7
.LBB239_12:
	mov	x1, x21
	bl	memcpy
.LBB239_13:
	add	w8, w22, w20
	str	x23, [x19]
	stp	w8, w24, [x19, #8]
	ldp	x20, x19, [sp, #80]
	ldp	x22, x21, [sp, #64]
	ldp	x24, x23, [sp, #48]
	ldp	x29, x30, [sp, #32]
	add	sp, sp, #96
	ret
.LBB239_14:
	cmp	x20, #5
	b.hs	.LBB239_16
	ldr	q0, [x21]
	sub	x8, x2, #16
	ldr	q1, [x21, x8]
	str	q0, [x0]
	str	q1, [x0, x8]
	b	.LBB239_13
.LBB239_16:
	ldp	q0, q1, [x21]
	sub	x8, x2, #32
	add	x9, x21, x8
	add	x8, x0, x8
	stp	q0, q1, [x0]
	ldp	q0, q1, [x9]
	stp	q0, q1, [x8]
	b	.LBB239_13
.LBB239_17:
.Ltmp22:
	adrp	x0, .Lanon..1
	add	x0, x0, :lo12:.Lanon..1
	bl	_ZN69_$LT$core..convert..Infallible$u20$as$u20$ebbtide..error..Failure$GT$9too_largeE
.Ltmp23:
	brk	#0x1
.LBB239_19:
.Ltmp24:
	str	x23, [x19]
	stp	w22, w24, [x19, #8]
	bl	_Unwind_Resume
