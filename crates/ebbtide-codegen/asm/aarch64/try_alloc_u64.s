	ldr	x8, [x0]
	ldr	x9, [x0, #16]
	and	x8, x8, #0xfffffffffffffff8
	sub	x8, x8, #8
	cmp	x8, x9
	b.lo	.LBB221_2
	str	x1, [x8]
	str	x8, [x0]
	mov	x0, x8
	ret
.LBB221_2:
	sub	sp, sp, #80
	stp	x29, x30, [sp, #48]
	str	x19, [sp, #64]
	add	x29, sp, #48
	str	x1, [x29, #24]
	add	x8, x29, #24
	mov	w9, #8
	//APP
	//NO_APP
	stp	x8, x9, [sp]
	mov	w8, #3
	ldr	x9, [x0, #16]
	ldr	x10, [x0]
	ldur	q0, [x0, #8]
	mov	x19, x0
	strh	w8, [sp, #40]
	str	x9, [x0]
	mov	x0, sp
	str	x10, [sp, #16]
	stur	q0, [sp, #24]
	bl	_ZN7ebbtide3raw14try_alloc_slowE
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
