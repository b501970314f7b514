	ldr	x8, [x0]
	ldr	x9, [x0, #16]
	and	x8, x8, #0xfffffffffffffff8
	sub	x8, x8, #24
	cmp	x8, x9
	b.lo	.LBB15_2
	ldr	q0, [x1]
	ldr	x9, [x1, #16]
	str	q0, [x8]
	str	x9, [x8, #16]
	str	x8, [x0]
	mov	x0, x8
	ret
.LBB15_2:
	sub	sp, sp, #112
	stp	x29, x30, [sp, #80]
	str	x19, [sp, #96]
	add	x29, sp, #80
	ldr	q0, [x1]
	ldr	x8, [x1, #16]
	mov	x9, sp
	mov	x19, x0
	str	q0, [sp]
	str	x8, [sp, #16]
	mov	w8, #24
	//APP
	//NO_APP
	stp	x9, x8, [sp, #32]
	mov	w9, #3
	strh	w9, [sp, #72]
	ldr	x9, [x0, #16]
	ldr	x8, [x0]
	ldur	q0, [x0, #8]
	str	x9, [x0]
	add	x0, sp, #32
	str	x8, [sp, #48]
	stur	q0, [sp, #56]
	bl	_ZN7ebbtide3raw10alloc_slowE
	ldr	x9, [sp, #48]
	ldur	q0, [sp, #56]
	ldr	x0, [sp, #32]
	str	x9, [x19]
	stur	q0, [x19, #8]
	//APP
	//NO_APP
	ldp	x29, x30, [sp, #80]
	ldr	x19, [sp, #96]
	add	sp, sp, #112
	ret
