	sub	sp, sp, #96
	stp	x29, x30, [sp, #48]
	stp	x22, x21, [sp, #64]
	stp	x20, x19, [sp, #80]
	add	x29, sp, #48
	mov	x19, x2
	lsl	x2, x2, #4
	ldr	x9, [x0]
	ldr	x8, [x0, #16]
	sub	x9, x9, x2
	and	x9, x9, #0xfffffffffffffff8
	subs	x10, x9, x8
	b.mi	.LBB31_4
	str	x9, [x0]
	add	x20, x8, x10
	cmp	x19, #16
	b.hs	.LBB31_5
.LBB31_2:
	cbz	x19, .LBB31_6
	mov	x0, x20
	bl	memcpy
	b	.LBB31_6
.LBB31_4:
	//APP
	//NO_APP
	mov	x22, x0
	mov	x20, x2
	ldr	x8, [x0, #8]
	//APP
	//NO_APP
	stp	xzr, x2, [sp]
	ldr	x9, [x0]
	ldr	x10, [x0, #16]
	mov	x21, x1
	stp	x9, x8, [sp, #16]
	mov	w8, #3
	str	x10, [x0]
	mov	x0, sp
	str	x10, [sp, #32]
	strh	w8, [sp, #40]
	bl	_ZN7ebbtide3raw10alloc_slowE
	ldr	x8, [sp, #16]
	ldr	x9, [sp, #32]
	mov	x2, x20
	ldr	x20, [sp]
	mov	x1, x21
	str	x8, [x22]
	str	x9, [x22, #16]
	//APP
	//NO_APP
	ldr	x8, [sp, #24]
	str	x8, [x22, #8]
	//APP
	//NO_APP
	cmp	x19, #16
	b.lo	.LBB31_2
.LBB31_5:
	mov	x0, x1
	mov	x1, x19
	mov	x2, x20
	bl	_ZN7ebbtide4copy10clone_manyE
.LBB31_6:
	mov	x0, x20
	mov	x1, x19
	ldp	x20, x19, [sp, #80]
	ldp	x22, x21, [sp, #64]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #96
	ret
