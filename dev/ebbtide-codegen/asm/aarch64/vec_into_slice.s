	ldp	x1, x10, [x0, #8]
	mov	x8, x0
	ldr	x0, [x0]
	cmp	x1, x10
	b.hs	.LBB246_6
	sub	sp, sp, #48
	stp	x29, x30, [sp, #32]
	add	x29, sp, #32
	ldr	x9, [x8, #24]
	add	x8, x0, x10, lsl #3
	ldr	x10, [x9, #16]
	cmp	x8, x10
	b.ne	.LBB246_5
	ldr	x8, [x9, #8]
	ldr	x10, [x8, #48]
	cbnz	x10, .LBB246_7
	ldr	x8, [x8]
	cmp	x8, x0
	b.hi	.LBB246_5
.LBB246_4:
	add	x8, x0, x1, lsl #3
	str	x8, [x9, #16]
.LBB246_5:
	ldp	x29, x30, [sp, #32]
	add	sp, sp, #48
.LBB246_6:
	ret
.LBB246_7:
	stur	x0, [x29, #-8]
	mov	x0, x8
	stp	x9, x1, [sp, #8]
	bl	_ZN7ebbtide5chunk7control12CurrentChunk13anchor_regionE
	ldp	x9, x1, [sp, #8]
	mov	x8, x0
	ldur	x0, [x29, #-8]
	ldr	x8, [x8]
	cmp	x8, x0
	b.ls	.LBB246_4
	b	.LBB246_5
