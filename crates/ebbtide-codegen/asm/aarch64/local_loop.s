	sub	sp, sp, #128
	stp	x29, x30, [sp, #64]
	stp	x24, x23, [sp, #80]
	stp	x22, x21, [sp, #96]
	stp	x20, x19, [sp, #112]
	add	x29, sp, #64
	ldr	x9, [x0]
	mov	x20, x0
	ldr	x0, [x0, #16]
	mov	x19, x1
	sub	x8, x9, #64
	cmp	x8, x0
	b.lo	.LBB16_7
	cbz	x19, .LBB16_6
.LBB16_2:
	ldr	x8, [x20, #8]
	mov	x21, xzr
	and	x9, x9, #0xfffffffffffffff0
	add	x20, sp, #8
	mov	w22, #8
	mov	w23, #3
	add	x24, sp, #16
.LBB16_3:
	sub	x10, x9, #8
	cmp	x10, x0
	b.lo	.LBB16_5
	str	x21, [x10]
	mov	x9, x10
	str	x10, [sp, #16]
	add	x21, x21, #1
	//APP
	//NO_APP
	cmp	x19, x21
	b.ne	.LBB16_3
	b	.LBB16_6
.LBB16_5:
	str	x21, [sp, #8]
	//APP
	//NO_APP
	str	x0, [sp, #48]
	add	x0, sp, #16
	stp	x9, x8, [sp, #32]
	stp	x20, x22, [sp, #16]
	strh	w23, [sp, #56]
	bl	_ZN7ebbtide3raw4growE
	ldp	x8, x0, [sp, #40]
	ldr	x9, [sp, #32]
	ldr	x10, [sp, #16]
	//APP
	//NO_APP
	str	x10, [sp, #16]
	add	x21, x21, #1
	//APP
	//NO_APP
	cmp	x19, x21
	b.ne	.LBB16_3
.LBB16_6:
	ldp	x20, x19, [sp, #112]
	ldp	x22, x21, [sp, #96]
	ldp	x24, x23, [sp, #80]
	ldp	x29, x30, [sp, #64]
	add	sp, sp, #128
	ret
.LBB16_7:
	ldr	x8, [x20, #8]
	str	x0, [sp, #32]
	add	x0, sp, #16
	stp	x9, x8, [sp, #16]
	bl	_ZN7ebbtide3raw16leave_full_chunkE
	ldr	x9, [sp, #16]
	ldur	q0, [sp, #24]
	str	x9, [x20]
	stur	q0, [x20, #8]
	cbnz	x19, .LBB16_2
	b	.LBB16_6
