	sub	sp, sp, #96
	stp	x29, x30, [sp, #64]
	stp	x20, x19, [sp, #80]
	add	x29, sp, #64
	ldr	x8, [x0, #32]
	mov	x19, x0
	ldr	x0, [x8, #80]
	cbz	x0, .LBB240_4
	ldr	x10, [x19, #24]
	sub	x9, x0, #8
	cmp	x9, x10
	b.lo	.LBB240_5
.LBB240_2:
	str	x1, [x9]
.LBB240_3:
	str	x9, [sp, #16]
	add	x8, sp, #16
	//APP
	//NO_APP
	ldr	x8, [sp, #16]
	ldr	x0, [x8]
	ldp	x20, x19, [sp, #80]
	ldp	x29, x30, [sp, #64]
	add	sp, sp, #96
	ret
.LBB240_4:
	mov	x0, x19
	mov	x20, x1
	bl	_ZN7ebbtide5arena14Arena$LT$B$GT$11open_slowlyE
	mov	x8, x1
	mov	x1, x20
	ldr	x10, [x19, #24]
	sub	x9, x0, #8
	cmp	x9, x10
	b.hs	.LBB240_2
.LBB240_5:
	str	x1, [sp, #8]
	mov	w9, #8
	//APP
	//NO_APP
	//APP
	//NO_APP
	stp	x0, x8, [sp, #32]
	add	x8, sp, #8
	stp	x8, x9, [sp, #16]
	mov	w8, #3
	add	x0, sp, #16
	str	x10, [sp, #48]
	strh	w8, [sp, #56]
	bl	_ZN7ebbtide3raw10alloc_slowE
	ldr	x9, [sp, #16]
	//APP
	//NO_APP
	//APP
	//NO_APP
	b	.LBB240_3
