	cbz	x1, .LBB3_2
	lsl	x9, x1, #4
	mov	x8, x0
	mov	x0, x2
	mov	x1, x8
	mov	x2, x9
	b	memcpy
.LBB3_2:
	ret
