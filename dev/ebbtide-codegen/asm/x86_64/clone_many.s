	testq	%rsi, %rsi
	je	.LBB4_1
	movq	%rdi, %rax
	shlq	$4, %rsi
	movq	%rdx, %rdi
	movq	%rsi, %rdx
	movq	%rax, %rsi
	jmpq	*memcpy@GOTPCREL(%rip)
.LBB4_1:
	retq
