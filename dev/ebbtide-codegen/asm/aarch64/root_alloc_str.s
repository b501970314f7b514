	sub	sp, sp, #80
	stp	x29, x30, [sp, #48]
	stp	x20, x19, [sp, #64]
	add	x29, sp, #48
	mov	x19, x2
	cmp	x2, #64
	b.hi	.LBB241_14
	ldr	x8, [x0, #16]
	ldr	x9, [x0]
	add	x10, x19, x8
	cmp	x9, x10
	b.mi	.LBB241_14
	sub	x9, x9, x19
	subs	x10, x9, x8
	b.mi	.LBB241_17
	cmp	x19, #7
	str	x9, [x0]
	add	x0, x8, x10
	b.hi	.LBB241_8
	cmp	x19, #1
	b.ls	.LBB241_10
	cmp	x19, #3
	b.ls	.LBB241_15
	ldr	w8, [x1]
	str	w8, [x0]
	sub	x8, x19, #4
	ldr	w9, [x1, x8]
	str	w9, [x0, x8]
.LBB241_7:
	mov	x1, x19
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB241_8:
	cmp	x19, #17
	b.hs	.LBB241_12
	ldr	x8, [x1]
	str	x8, [x0]
	sub	x8, x19, #8
	ldr	x9, [x1, x8]
	str	x9, [x0, x8]
	mov	x1, x19
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB241_10:
	cbz	x19, .LBB241_7
	ldrb	w8, [x1]
	strb	w8, [x0]
	mov	x1, x19
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB241_12:
	cmp	x19, #33
	b.hs	.LBB241_16
	ldr	q0, [x1]
	sub	x8, x19, #16
	str	q0, [x0]
	ldr	q0, [x1, x8]
	str	q0, [x0, x8]
	mov	x1, x19
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB241_14:
	stp	x0, x1, [sp]
	mov	x0, sp
	str	x19, [sp, #16]
	bl	_ZN7ebbtide7in_root11out_of_lineE
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB241_15:
	ldrh	w8, [x1]
	strh	w8, [x0]
	sub	x8, x19, #2
	ldrh	w9, [x1, x8]
	strh	w9, [x0, x8]
	mov	x1, x19
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB241_16:
	ldp	q1, q0, [x1]
	sub	x8, x19, #32
	add	x9, x1, x8
	add	x8, x0, x8
	stp	q1, q0, [x0]
	ldp	q1, q0, [x9]
	stp	q1, q0, [x8]
	mov	x1, x19
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
.LBB241_17:
	//APP
	//NO_APP
	mov	x20, x0
	ldr	x8, [x0, #8]
	//APP
	//NO_APP
	stp	x1, x19, [sp]
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
	ldr	x0, [sp]
	str	x8, [x20]
	str	x9, [x20, #16]
	//APP
	//NO_APP
	ldr	x8, [sp, #24]
	str	x8, [x20, #8]
	//APP
	//NO_APP
	mov	x1, x19
	ldp	x20, x19, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #80
	ret
