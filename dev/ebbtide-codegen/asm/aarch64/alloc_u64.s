	ldr	x8, [x0]
	ldr	x9, [x0, #16]
	and	x8, x8, #0xfffffffffffffff8
	sub	x8, x8, #8
	cmp	x8, x9
	b.lo	.LBB28_2
	str	x1, [x8]
	str	x8, [x0]
	mov	x0, x8
	ret
.LBB28_2:
	sub	sp, sp, #80
	stp	x29, x30, [sp, #48]
	str	x19, [sp, #64]
	add	x29, sp, #48
	str	x1, [x29, #24]
	add	x8, x29, #24
	mov	w10, #8
	//APP
	//NO_APP
	mov	x19, x0
	ldr	x9, [x0, #8]
	//APP
	//NO_APP
	stp	x8, x10, [sp]
	ldr	x11, [x0]
	ldr	x8, [x0, #16]
	stp	x11, x9, [sp, #16]
	mov	w9, #3
	str	x8, [x0]
	mov	x0, sp
	str	x8, [sp, #32]
	strh	w9, [sp, #40]
	bl	_ZN7ebbtide3raw10alloc_slowE
	ldr	x9, [sp, #16]
	ldr	x10, [sp, #32]
	ldr	x0, [sp]
	str	x9, [x19]
	str	x10, [x19, #16]
	//APP
	//NO_APP
	ldr	x9, [sp, #24]
	str	x9, [x19, #8]
	//APP
	//NO_APP
	ldp	x29, x30, [sp, #48]
	ldr	x19, [sp, #64]
	add	sp, sp, #80
	ret
