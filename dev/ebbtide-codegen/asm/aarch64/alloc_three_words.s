	ldr	x8, [x0]
	ldr	x9, [x0, #16]
	and	x8, x8, #0xfffffffffffffff8
	sub	x8, x8, #24
	cmp	x8, x9
	b.lo	.LBB27_2
	ldr	q0, [x1]
	ldr	x9, [x1, #16]
	str	q0, [x8]
	str	x9, [x8, #16]
	str	x8, [x0]
	mov	x0, x8
	ret
.LBB27_2:
	sub	sp, sp, #112
	stp	x29, x30, [sp, #80]
	str	x19, [sp, #96]
	add	x29, sp, #80
	ldr	q0, [x1]
	ldr	x8, [x1, #16]
	mov	w9, #24
	mov	x19, x0
	str	q0, [sp]
	str	x8, [sp, #16]
	mov	x8, sp
	//APP
	//NO_APP
	ldr	x10, [x0, #8]
	//APP
	//NO_APP
	stp	x8, x9, [sp, #32]
	mov	w8, #3
	ldr	x9, [x0]
	strh	w8, [sp, #72]
	ldr	x8, [x0, #16]
	stp	x9, x10, [sp, #48]
	str	x8, [x0]
	add	x0, sp, #32
	str	x8, [sp, #64]
	bl	_ZN7ebbtide3raw10alloc_slowE
	ldr	x9, [sp, #48]
	ldr	x10, [sp, #64]
	ldr	x0, [sp, #32]
	str	x9, [x19]
	str	x10, [x19, #16]
	//APP
	//NO_APP
	ldr	x9, [sp, #56]
	str	x9, [x19, #8]
	//APP
	//NO_APP
	ldp	x29, x30, [sp, #80]
	ldr	x19, [sp, #96]
	add	sp, sp, #112
	ret
