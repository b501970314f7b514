	movq	(%rdi), %rax
	andq	$-8, %rax
	addq	$-8, %rax
	cmpq	16(%rdi), %rax
	jb	.LBB30_2
	movq	%rsi, (%rax)
	movq	%rax, (%rdi)
	retq
.LBB30_2:
	jmpq	*_ZN7bumpalo11out_of_lineE@GOTPCREL(%rip)
