	ldr	x8, [x0]
	ldr	x9, [x0, #16]
	and	x8, x8, #0xfffffffffffffff8
	sub	x8, x8, #24
	cmp	x8, x9
	b.lo	.LBB8_2
	ldr	q0, [x1]
	ldr	x9, [x1, #16]
	str	q0, [x8]
	str	x9, [x8, #16]
	str	x8, [x0]
	mov	x0, x8
	ret
.LBB8_2:
	sub	sp, sp, #128
	stp	x29, x30, [sp, #96]
	str	x19, [sp, #112]
	add	x29, sp, #96
	ldr	x8, [x1, #16]
	ldr	q0, [x1]
	adrp	x9, .LCPI8_0
	mov	x19, x0
	str	x8, [sp, #16]
	mov	x8, sp
	str	q0, [sp]
	ldr	q0, [x9, :lo12:.LCPI8_0]
	//APP
	//NO_APP
	stp	xzr, x8, [sp, #56]
	ldr	x8, [x0]
	stur	q0, [sp, #72]
	ldur	q0, [x0, #8]
	strb	wzr, [sp, #88]
	str	x8, [sp, #32]
	ldr	x8, [x0, #16]
	stur	q0, [sp, #40]
	str	x8, [x0]
	add	x0, sp, #32
	bl	_ZN7ebbtide3raw4growE
	ldr	x8, [sp, #32]
	ldur	q0, [sp, #40]
	ldr	x0, [sp, #56]
	str	x8, [x19]
	stur	q0, [x19, #8]
	//APP
	//NO_APP
	ldp	x29, x30, [sp, #96]
	ldr	x19, [sp, #112]
	add	sp, sp, #128
	ret
