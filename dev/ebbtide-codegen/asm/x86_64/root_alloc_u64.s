	movq	(%rdi), %rax
	andq	$-8, %rax
	addq	$-8, %rax
	cmpq	16(%rdi), %rax
	jb	.LBB242_2
	movq	%rsi, (%rax)
	movq	%rax, (%rdi)
	retq
.LBB242_2:
	jmpq	*_ZN7ebbtide7in_root11out_of_lineE@GOTPCREL(%rip)
