	sub	sp, sp, #80
	stp	x29, x30, [sp, #48]
	stp	x20, x19, [sp, #64]
	add	x29, sp, #48
	ldr	x8, [x0]
	ldr	x9, [x0, #16]
	sub	x10, x8, x2
	subs	x11, x10, x9
	b.mi	.LBB26_16
	subs	x8, x2, #8
	str	x10, [x0]
	add	x0, x9, x11
	b.hs	.LBB26_6
	cmp	x2, #1
	b.ls	.LBB26_9
	cmp	x2, #3
	b.ls	.LBB26_12
	ldr	w8, [x1]
	sub	x9, x2, #4
	ldr	w10, [x1, x9]
	str	w8, [x0]
	str	w10, [x0, x9]
.LBB26_5:
	mov	x1, x2
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB26_6:
	cmp	x2, #65
	b.hs	.LBB26_11
	cmp	x2, #17
	b.hs	.LBB26_13
	ldr	x9, [x1]
	ldr	x10, [x1, x8]
	str	x9, [x0]
	str	x10, [x0, x8]
	mov	x1, x2
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB26_9:
	cbz	x2, .LBB26_5
	ldrb	w8, [x1]
	strb	w8, [x0]
	mov	x1, x2
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB26_11:
	mov	x19, x0
	mov	x20, x2
	bl	memcpy
	mov	x0, x19
	mov	x2, x20
	mov	x1, x2
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB26_12:
	ldrh	w8, [x1]
	sub	x9, x2, #2
	ldrh	w10, [x1, x9]
	strh	w8, [x0]
	strh	w10, [x0, x9]
	mov	x1, x2
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB26_13:
	cmp	x2, #33
	b.hs	.LBB26_15
	ldr	q0, [x1]
	sub	x8, x2, #16
	str	q0, [x0]
	ldr	q0, [x1, x8]
	str	q0, [x0, x8]
	mov	x1, x2
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB26_15:
	ldp	q1, q0, [x1]
	sub	x8, x2, #32
	add	x9, x1, x8
	add	x8, x0, x8
	stp	q1, q0, [x0]
	ldp	q1, q0, [x9]
	stp	q1, q0, [x8]
	mov	x1, x2
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB26_16:
	//APP
	//NO_APP
	mov	x20, x0
	mov	x19, x2
	ldr	x8, [x0, #8]
	//APP
	//NO_APP
	stp	x1, x2, [sp]
	ldr	x10, [x0, #16]
	ldr	x9, [x0]
	strh	wzr, [sp, #40]
	str	x10, [x0]
	mov	x0, sp
	stp	x9, x8, [sp, #16]
	str	x10, [sp, #32]
	bl	_ZN7ebbtide3raw10alloc_slowE
	ldr	x8, [sp, #16]
	ldr	x9, [sp, #32]
	mov	x2, x19
	ldr	x0, [sp]
	str	x8, [x20]
	str	x9, [x20, #16]
	//APP
	//NO_APP
	ldr	x8, [sp, #24]
	str	x8, [x20, #8]
	//APP
	//NO_APP
	mov	x1, x2
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
