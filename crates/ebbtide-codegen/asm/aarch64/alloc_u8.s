	ldr	x8, [x0]
	ldr	x9, [x0, #16]
	sub	x8, x8, #1
	cmp	x8, x9
	b.lo	.LBB17_2
	strb	w1, [x8]
	str	x8, [x0]
	mov	x0, x8
	ret
.LBB17_2:
	sub	sp, sp, #80
	stp	x29, x30, [sp, #48]
	str	x19, [sp, #64]
	add	x29, sp, #48
	strb	w1, [x29, #28]
	add	x8, x29, #28
	mov	w9, #1
	//APP
	//NO_APP
	stp	x8, x9, [sp]
	mov	x19, x0
	ldr	x8, [x0, #16]
	ldr	x10, [x0]
	ldur	q0, [x0, #8]
	strh	wzr, [sp, #40]
	str	x8, [x0]
	mov	x0, sp
	str	x10, [sp, #16]
	stur	q0, [sp, #24]
	bl	_ZN7ebbtide3raw10alloc_slowE
	ldr	x9, [sp, #16]
	ldur	q0, [sp, #24]
	ldr	x0, [sp]
	str	x9, [x19]
	stur	q0, [x19, #8]
	//APP
	//NO_APP
	ldp	x29, x30, [sp, #48]
	ldr	x19, [sp, #64]
	add	sp, sp, #80
	ret
