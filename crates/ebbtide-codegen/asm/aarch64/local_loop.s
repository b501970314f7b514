	sub	sp, sp, #144
	stp	x29, x30, [sp, #96]
	stp	x22, x21, [sp, #112]
	stp	x20, x19, [sp, #128]
	add	x29, sp, #96
	ldr	x9, [x0]
	mov	x20, x0
	ldr	x0, [x0, #16]
	mov	x19, x1
	sub	x8, x9, #64
	cmp	x8, x0
	b.lo	.LBB13_7
	cbz	x19, .LBB13_6
.LBB13_2:
	mov	w8, #8
	mov	x21, xzr
	and	x9, x9, #0xfffffffffffffff0
	dup	v0.2d, x8
	ldr	x8, [x20, #8]
	add	x20, sp, #24
	add	x22, sp, #32
	str	q0, [sp]
.LBB13_3:
	sub	x10, x9, #8
	cmp	x10, x0
	b.lo	.LBB13_5
	str	x21, [x10]
	mov	x9, x10
	str	x10, [sp, #32]
	add	x21, x21, #1
	//APP
	//NO_APP
	cmp	x19, x21
	b.ne	.LBB13_3
	b	.LBB13_6
.LBB13_5:
	str	x21, [sp, #24]
	//APP
	//NO_APP
	stp	x0, xzr, [sp, #48]
	add	x0, sp, #32
	ldr	q0, [sp]
	stp	x9, x8, [sp, #32]
	str	x20, [sp, #64]
	stur	q0, [sp, #72]
	strb	wzr, [sp, #88]
	bl	_ZN7ebbtide3raw4growE
	ldp	x9, x8, [sp, #32]
	ldp	x0, x10, [sp, #48]
	//APP
	//NO_APP
	str	x10, [sp, #32]
	add	x21, x21, #1
	//APP
	//NO_APP
	cmp	x19, x21
	b.ne	.LBB13_3
.LBB13_6:
	ldp	x20, x19, [sp, #128]
	ldp	x22, x21, [sp, #112]
	ldp	x29, x30, [sp, #96]
	add	sp, sp, #144
	ret
.LBB13_7:
	ldr	x8, [x20, #8]
	str	x0, [sp, #48]
	add	x0, sp, #32
	stp	x9, x8, [sp, #32]
	bl	_ZN7ebbtide3raw16leave_full_chunkE
	ldr	x9, [sp, #32]
	ldur	q0, [sp, #40]
	str	x9, [x20]
	stur	q0, [x20, #8]
	cbnz	x19, .LBB13_2
	b	.LBB13_6
