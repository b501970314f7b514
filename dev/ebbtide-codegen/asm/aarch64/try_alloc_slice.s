	lsr	x8, x1, #60
	cbz	x8, .LBB243_2
	mov	x0, xzr
	ret
.LBB243_2:
	sub	sp, sp, #80
	stp	x29, x30, [sp, #48]
	stp	x20, x19, [sp, #64]
	add	x29, sp, #48
	lsl	x8, x1, #3
	ldr	x10, [x0]
	ldr	x9, [x0, #16]
	sub	x10, x10, x8
	and	x10, x10, #0xfffffffffffffff8
	subs	x11, x10, x9
	b.mi	.LBB243_11
	str	x10, [x0]
	add	x0, x9, x11
	cbz	x1, .LBB243_10
.LBB243_4:
	cmp	x1, #4
	b.hs	.LBB243_6
	mov	x8, xzr
	b	.LBB243_9
.LBB243_6:
	mov	w8, #2
	mov	w9, #4
	adrp	x10, .LCPI243_0
	dup	v0.2d, x8
	dup	v1.2d, x9
	ldr	q2, [x10, :lo12:.LCPI243_0]
	and	x8, x1, #0xffffffffffffffc
	add	x9, x0, #16
	and	x10, x1, #0xffffffffffffffc
.LBB243_7:
	add	v3.2d, v2.2d, v0.2d
	subs	x10, x10, #4
	stp	q2, q3, [x9, #-16]
	add	v2.2d, v2.2d, v1.2d
	add	x9, x9, #32
	b.ne	.LBB243_7
	cmp	x1, x8
	b.eq	.LBB243_10
.LBB243_9:
	mov	x9, x8
	add	x8, x8, #1
	cmp	x1, x8
	str	x9, [x0, x9, lsl #3]
	b.ne	.LBB243_9
.LBB243_10:
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB243_11:
	//APP
	//NO_APP
	mov	x20, x0
	mov	x19, x1
	ldr	x9, [x0, #8]
	//APP
	//NO_APP
	stp	xzr, x8, [sp]
	ldr	x10, [x0]
	ldr	x8, [x0, #16]
	stp	x10, x9, [sp, #16]
	mov	w9, #3
	str	x8, [x0]
	mov	x0, sp
	str	x8, [sp, #32]
	strh	w9, [sp, #40]
	bl	_ZN7ebbtide3raw14try_alloc_slowE
	ldr	x8, [sp, #16]
	ldr	x9, [sp, #32]
	ldr	x0, [sp]
	str	x8, [x20]
	str	x9, [x20, #16]
	//APP
	//NO_APP
	ldr	x8, [sp, #24]
	str	x8, [x20, #8]
	//APP
	//NO_APP
	cbz	x0, .LBB243_13
	mov	x1, x19
	cbnz	x19, .LBB243_4
	b	.LBB243_10
.LBB243_13:
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
