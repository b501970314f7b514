	sub	sp, sp, #128
	stp	x29, x30, [sp, #64]
	stp	x24, x23, [sp, #80]
	stp	x22, x21, [sp, #96]
	stp	x20, x19, [sp, #112]
	add	x29, sp, #64
	mov	x20, x0
	ldr	x0, [x0]
	mov	x19, x1
	ldr	x8, [x20, #16]
	sub	x9, x0, #64
	cmp	x9, x8
	b.lo	.LBB34_7
	ldr	x9, [x20, #8]
	cbz	x19, .LBB34_6
.LBB34_2:
	mov	x20, xzr
	and	x10, x0, #0xfffffffffffffff0
	add	x21, sp, #8
	mov	w22, #8
	mov	w23, #3
	add	x24, sp, #16
.LBB34_3:
	sub	x11, x10, #8
	cmp	x11, x8
	b.lo	.LBB34_5
	str	x20, [x11]
	mov	x10, x11
	str	x11, [sp, #16]
	add	x20, x20, #1
	//APP
	//NO_APP
	cmp	x19, x20
	b.ne	.LBB34_3
	b	.LBB34_6
.LBB34_5:
	str	x20, [sp, #8]
	add	x0, sp, #16
	//APP
	//NO_APP
	//APP
	//NO_APP
	stp	x10, x9, [sp, #32]
	str	x8, [sp, #48]
	stp	x21, x22, [sp, #16]
	strh	w23, [sp, #56]
	bl	_ZN7ebbtide3raw10alloc_slowE
	ldr	x10, [sp, #32]
	ldr	x11, [sp, #16]
	ldr	x8, [sp, #48]
	//APP
	//NO_APP
	ldr	x9, [sp, #40]
	//APP
	//NO_APP
	str	x11, [sp, #16]
	add	x20, x20, #1
	//APP
	//NO_APP
	cmp	x19, x20
	b.ne	.LBB34_3
.LBB34_6:
	ldp	x20, x19, [sp, #112]
	ldp	x22, x21, [sp, #96]
	ldp	x24, x23, [sp, #80]
	ldp	x29, x30, [sp, #64]
	add	sp, sp, #128
	ret
.LBB34_7:
	ldr	x9, [x20, #8]
	str	x8, [sp, #32]
	stp	x0, x9, [sp, #16]
	add	x0, sp, #16
	bl	_ZN7ebbtide3raw16leave_full_chunkE
	ldr	x9, [sp, #16]
	ldur	q0, [sp, #24]
	mov	x8, x1
	str	x9, [x20]
	fmov	x9, d0
	stur	q0, [x20, #8]
	cbnz	x19, .LBB34_2
	b	.LBB34_6
