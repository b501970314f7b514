	sub	sp, sp, #112
	stp	x29, x30, [sp, #80]
	stp	x20, x19, [sp, #96]
	add	x29, sp, #80
	mov	x19, x0
	ldr	x0, [x0, #24]
	cbz	x0, .LBB205_4
	add	x8, x19, #48
	ldr	x9, [x19, #32]
	sub	x10, x0, #8
	cmp	x10, x9
	b.lo	.LBB205_5
.LBB205_2:
	str	x1, [x10]
.LBB205_3:
	str	x10, [sp, #16]
	add	x8, sp, #16
	//APP
	//NO_APP
	ldr	x8, [sp, #16]
	ldr	x0, [x8]
	ldp	x20, x19, [sp, #96]
	ldp	x29, x30, [sp, #80]
	add	sp, sp, #112
	ret
.LBB205_4:
	mov	x0, x19
	mov	x20, x1
	bl	_ZN7ebbtide5arena14Arena$LT$B$GT$11open_slowlyE
	mov	x8, x1
	mov	x1, x20
	ldr	x9, [x19, #32]
	sub	x10, x0, #8
	cmp	x10, x9
	b.hs	.LBB205_2
.LBB205_5:
	str	x1, [sp, #8]
	//APP
	//NO_APP
	stp	x0, x8, [sp, #16]
	mov	w8, #8
	dup	v0.2d, x8
	add	x8, sp, #8
	add	x0, sp, #16
	stp	x9, xzr, [sp, #32]
	str	x8, [sp, #48]
	stur	q0, [sp, #56]
	strb	wzr, [sp, #72]
	bl	_ZN7ebbtide3raw4growE
	ldr	x10, [sp, #40]
	//APP
	//NO_APP
	b	.LBB205_3
