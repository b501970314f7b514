	sub	sp, sp, #96
	stp	x29, x30, [sp, #64]
	stp	x20, x19, [sp, #80]
	add	x29, sp, #64
	ldr	x9, [x0]
	ldr	x8, [x0, #16]
	mov	x19, x2
	sub	x9, x9, x2
	subs	x10, x9, x8
	b.mi	.LBB7_12
	cmp	x19, #64
	add	x20, x8, x10
	str	x9, [x0]
	b.ls	.LBB7_4
	mov	x0, x20
	mov	x2, x19
	bl	memcpy
.LBB7_3:
	mov	x0, x20
	mov	x1, x19
	ldp	x20, x19, [sp, #80]
	ldp	x29, x30, [sp, #64]
	add	sp, sp, #96
	ret
.LBB7_4:
	subs	x8, x19, #32
	b.ls	.LBB7_6
	ldp	q1, q0, [x1]
	add	x9, x1, x8
	add	x8, x20, x8
	stp	q1, q0, [x20]
	ldp	q1, q0, [x9]
	stp	q1, q0, [x8]
	mov	x0, x20
	mov	x1, x19
	ldp	x20, x19, [sp, #80]
	ldp	x29, x30, [sp, #64]
	add	sp, sp, #96
	ret
.LBB7_6:
	subs	x8, x19, #16
	b.ls	.LBB7_8
	ldr	q0, [x1]
	str	q0, [x20]
	ldr	q0, [x1, x8]
	str	q0, [x20, x8]
	mov	x0, x20
	mov	x1, x19
	ldp	x20, x19, [sp, #80]
	ldp	x29, x30, [sp, #64]
	add	sp, sp, #96
	ret
.LBB7_8:
	cmp	x19, #7
	b.ls	.LBB7_10
	ldr	x8, [x1]
	sub	x9, x19, #8
	ldr	x10, [x1, x9]
	str	x8, [x20]
	str	x10, [x20, x9]
	mov	x0, x20
	mov	x1, x19
	ldp	x20, x19, [sp, #80]
	ldp	x29, x30, [sp, #64]
	add	sp, sp, #96
	ret
.LBB7_10:
	cmp	x19, #3
	b.ls	.LBB7_13
	ldr	w8, [x1]
	sub	x9, x19, #4
	ldr	w10, [x1, x9]
	str	w8, [x20]
	str	w10, [x20, x9]
	mov	x0, x20
	mov	x1, x19
	ldp	x20, x19, [sp, #80]
	ldp	x29, x30, [sp, #64]
	add	sp, sp, #96
	ret
.LBB7_12:
	//APP
	//NO_APP
	mov	x20, x0
	stp	xzr, x1, [sp, #24]
	ldr	x8, [x0]
	ldr	x9, [x0, #16]
	ldur	q0, [x0, #8]
	strb	wzr, [sp, #56]
	str	x8, [sp]
	mov	w8, #1
	str	x9, [x0]
	mov	x0, sp
	stur	q0, [sp, #8]
	stp	x19, x8, [sp, #40]
	bl	_ZN7ebbtide3raw4growE
	ldr	x8, [sp]
	ldur	q0, [sp, #8]
	str	x8, [x20]
	stur	q0, [x20, #8]
	ldr	x20, [sp, #24]
	//APP
	//NO_APP
	mov	x0, x20
	mov	x1, x19
	ldp	x20, x19, [sp, #80]
	ldp	x29, x30, [sp, #64]
	add	sp, sp, #96
	ret
.LBB7_13:
	cmp	x19, #1
	b.ls	.LBB7_15
	ldrh	w8, [x1]
	sub	x9, x19, #2
	ldrh	w10, [x1, x9]
	strh	w8, [x20]
	strh	w10, [x20, x9]
	mov	x0, x20
	mov	x1, x19
	ldp	x20, x19, [sp, #80]
	ldp	x29, x30, [sp, #64]
	add	sp, sp, #96
	ret
.LBB7_15:
	cbz	x19, .LBB7_3
	ldrb	w8, [x1]
	strb	w8, [x20]
	mov	x0, x20
	mov	x1, x19
	ldp	x20, x19, [sp, #80]
	ldp	x29, x30, [sp, #64]
	add	sp, sp, #96
	ret
