	cbz	x1, .LBB4_2
	lsl	x9, x1, #4
	mov	x8, x0
	mov	x0, x2
	mov	x1, x8
	mov	x2, x9
	b	memcpy
.LBB4_2:
	ret
