	sub	sp, sp, #112
	stp	x29, x30, [sp, #48]
	str	x23, [sp, #64]
	stp	x22, x21, [sp, #80]
	stp	x20, x19, [sp, #96]
	add	x29, sp, #48
	mov	x19, x2
	lsl	x2, x2, #4
	ldr	x9, [x0]
	ldr	x8, [x0, #16]
	sub	x9, x9, x2
	and	x9, x9, #0xfffffffffffffff8
	subs	x10, x9, x8
	b.mi	.LBB13_8
	cmp	x19, #63
	str	x9, [x0]
	b.hi	.LBB13_9
	add	x20, x8, x10
.LBB13_3:
	cmp	x19, #16
	b.hs	.LBB13_6
	cbz	x19, .LBB13_7
	mov	x0, x20
	bl	memcpy
	b	.LBB13_7
.LBB13_6:
	mov	x0, x1
	mov	x1, x19
	mov	x2, x20
	bl	_ZN7ebbtide4copy10clone_manyE
.LBB13_7:
	mov	x0, x20
	mov	x1, x19
	ldp	x20, x19, [sp, #96]
	ldr	x23, [sp, #64]
	ldp	x22, x21, [sp, #80]
	ldp	x29, x30, [sp, #48]
	add	sp, sp, #112
	ret
.LBB13_8:
	//APP
	//NO_APP
	mov	x22, x0
	stp	xzr, x2, [sp]
	ldr	x8, [x0]
	ldr	x9, [x0, #16]
	ldur	q0, [x0, #8]
	mov	x20, x2
	mov	x21, x1
	str	x8, [sp, #16]
	mov	w8, #3
	str	x9, [x0]
	mov	x0, sp
	stur	q0, [sp, #24]
	strh	w8, [sp, #40]
	bl	_ZN7ebbtide3raw4growE
	ldr	x8, [sp, #16]
	ldur	q0, [sp, #24]
	mov	x2, x20
	ldr	x20, [sp]
	mov	x1, x21
	str	x8, [x22]
	stur	q0, [x22, #8]
	//APP
	//NO_APP
	b	.LBB13_3
.LBB13_9:
	str	x9, [sp]
	mov	x8, sp
	mov	x23, x0
	//APP
	//NO_APP
	mov	x21, x1
	mov	x1, x2
	ldr	x9, [sp]
	ldr	x8, [x0, #16]
	mov	x20, x2
	add	x22, x9, x2
	mov	x0, x8
	mov	w2, #8
	bl	_ZN7ebbtide3raw12lowest_blockE
	mov	x2, x20
	mov	x20, x0
	mov	x8, x1
	mov	x1, x21
	str	x22, [x23]
	str	x8, [x23, #16]
	b	.LBB13_3
