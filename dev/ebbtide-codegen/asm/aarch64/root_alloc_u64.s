	ldr	x9, [x0]
	ldr	x10, [x0, #16]
	mov	x8, x0
	and	x9, x9, #0xfffffffffffffff8
	sub	x0, x9, #8
	cmp	x0, x10
	b.lo	.LBB242_2
	str	x1, [x0]
	str	x0, [x8]
	ret
.LBB242_2:
	mov	x0, x8
	b	_ZN7ebbtide7in_root11out_of_lineE
