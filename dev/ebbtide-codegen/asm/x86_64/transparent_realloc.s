	movq	_ZN14ebbtide_global6memory5range6BOUNDSE@GOTPCREL(%rip), %rax
	movq	(%rax), %r8
	addq	%rdi, %r8
	movq	8(%rax), %rax
	cmpq	%rax, %r8
	jae	.LBB14_6
	movq	_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@GOTTPOFF(%rip), %r9
	leaq	7(%rsi), %r10
	andq	$-8, %r10
	movq	%fs:(%r9), %rax
	leaq	(%r10,%rdi), %r11
	cmpq	%rax, %r11
	jne	_ZN14ebbtide_global6scoped6resizeE
	cmpq	%rdi, %fs:64(%r9)
	ja	_ZN14ebbtide_global6scoped6resizeE
	cmpq	%fs:16(%r9), %rcx
	ja	_ZN14ebbtide_global6scoped6resizeE
	leaq	7(%rcx), %r11
	andq	$-8, %r11
	subq	%r10, %rax
	addq	%rax, %r11
	cmpq	%r11, %fs:8(%r9)
	jb	_ZN14ebbtide_global6scoped6resizeE
	movq	%r11, %fs:(%r9)
	incq	%fs:144(%r9)
	retq
.LBB14_6:
	movq	%rcx, %rsi
	jmpq	*realloc@GOTPCREL(%rip)
