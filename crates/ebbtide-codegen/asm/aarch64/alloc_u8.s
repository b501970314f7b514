	ldr	x8, [x0]
	ldr	x9, [x0, #16]
	sub	x8, x8, #1
	cmp	x8, x9
	b.lo	.LBB10_2
	strb	w1, [x8]
	str	x8, [x0]
	mov	x0, x8
	ret
.LBB10_2:
	sub	sp, sp, #96
	stp	x29, x30, [sp, #64]
	str	x19, [sp, #80]
	add	x29, sp, #64
	strb	w1, [x29, #28]
	add	x8, x29, #28
	mov	w9, #1
	//APP
	//NO_APP
	stp	xzr, x8, [sp, #24]
	dup	v0.2d, x9
	ldr	x8, [x0, #16]
	ldr	x10, [x0]
	ldur	q1, [x0, #8]
	mov	x19, x0
	strb	wzr, [sp, #56]
	str	x8, [x0]
	mov	x0, sp
	str	x10, [sp]
	stur	q1, [sp, #8]
	stur	q0, [sp, #40]
	bl	_ZN7ebbtide3raw4growE
	ldr	x8, [sp]
	ldur	q0, [sp, #8]
	ldr	x0, [sp, #24]
	str	x8, [x19]
	stur	q0, [x19, #8]
	//APP
	//NO_APP
	ldp	x29, x30, [sp, #64]
	ldr	x19, [sp, #80]
	add	sp, sp, #96
	ret
