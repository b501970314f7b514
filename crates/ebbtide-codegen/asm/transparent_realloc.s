	movq	_ZN14ebbtide_global6region5RANGEE@GOTPCREL(%rip), %rax
	movq	(%rax), %r9
	movq	%rdi, %r8
	subq	%r9, %r8
	movq	8(%rax), %rax
	cmpq	%rax, %r8
	jae	.LBB12_2
	jmp	_ZN14ebbtide_global6scoped6resizeE
.LBB12_2:
	movq	%rcx, %rsi
	jmpq	*realloc@GOTPCREL(%rip)
