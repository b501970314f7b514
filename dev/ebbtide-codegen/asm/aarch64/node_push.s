	sub	sp, sp, #80
	stp	x29, x30, [sp, #32]
	str	x21, [sp, #48]
	stp	x20, x19, [sp, #64]
	add	x29, sp, #32
	ldp	w19, w8, [x0, #8]
	cmp	w19, w8
	b.ne	.LBB238_6
	cmn	w19, #1
	b.eq	.LBB238_9
	ldr	x9, [x0]
	str	x8, [sp, #24]
	stp	x9, x19, [sp, #8]
	cbnz	w19, .LBB238_8
	ldr	x8, [x1, #16]
	ldr	x9, [x1]
	add	x8, x8, #7
	and	x8, x8, #0xfffffffffffffff8
	sub	x9, x9, x8
	cmp	x9, #33
	b.lt	.LBB238_8
	add	x9, x8, #32
	str	x9, [x1, #16]
	mov	w1, #4
.LBB238_5:
	mov	w9, #-1
	str	x8, [x0]
	cmp	x1, x9
	csel	x9, x1, x9, lo
	str	w9, [x0, #12]
	b	.LBB238_7
.LBB238_6:
	ldr	x8, [x0]
.LBB238_7:
	str	x2, [x8, x19, lsl #3]
	add	w8, w19, #1
	str	w8, [x0, #8]
	ldp	x20, x19, [sp, #64]
	ldr	x21, [sp, #48]
	ldp	x29, x30, [sp, #32]
	add	sp, sp, #80
	ret
.LBB238_8:
	mov	x8, x1
	add	x1, sp, #8
	add	x4, x19, #1
	mov	x20, x0
	mov	x0, x8
	mov	x21, x2
	mov	w2, #8
	mov	w3, #8
	mov	w5, wzr
	bl	_ZN7ebbtide6vector6memory11grow_sharedE
	mov	x2, x21
	mov	x8, x0
	mov	x0, x20
	b	.LBB238_5
.LBB238_9:
	adrp	x0, .Lanon..1
	add	x0, x0, :lo12:.Lanon..1
	bl	_ZN69_$LT$core..convert..Infallible$u20$as$u20$ebbtide..error..Failure$GT$9too_largeE
