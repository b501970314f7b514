	cmpq	$1024, %rsi
	ja	.LBB2_5
	movq	_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@GOTTPOFF(%rip), %rcx
	movq	%fs:192(%rcx), %rax
	testq	%rax, %rax
	je	.LBB2_5
	decq	1408(%rax)
	js	.LBB2_5
	movq	_ZN14ebbtide_global6memory5range6BOUNDSE@GOTPCREL(%rip), %r8
	movq	16(%r8), %r9
	shrq	$8, %rdx
	andq	$-256, %rdx
	decl	16(%r9,%rdx)
	movq	24(%r8), %rdx
	leal	7(%rsi), %edx
	andl	$4088, %edx
	movq	%rdi, %r8
	addq	%rdx, %r8
	cmpq	%fs:(%rcx), %r8
	jne	.LBB2_4
	movq	%rdi, %fs:(%rcx)
	retq
.LBB2_5:
	jmpq	*_ZN14ebbtide_global6scoped11free_mediumE@GOTPCREL(%rip)
.LBB2_4:
	addq	%rdx, %fs:48(%rcx)
	decl	%esi
	andl	$1016, %esi
	movq	(%rax,%rsi), %rcx
	movq	%rcx, (%rdi)
	movq	%rdi, (%rax,%rsi)
	retq
