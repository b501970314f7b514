	cmpq	$1024, %rdi
	ja	_ZN14ebbtide_global6scoped4slowE
	movq	_ZN14ebbtide_global6thread5OWNER29_$u7b$$u7b$constant$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$23__RUST_STD_INTERNAL_VALE@GOTTPOFF(%rip), %rcx
	cmpq	$0, %fs:24(%rcx)
	jne	_ZN14ebbtide_global6scoped4slowE
	movq	%fs:192(%rcx), %rdx
	testq	%rdx, %rdx
	je	_ZN14ebbtide_global6scoped4slowE
	leal	-1(%rdi), %r8d
	shrl	$3, %r8d
	andl	$127, %r8d
	movq	(%rdx,%r8,8), %rax
	testq	%rax, %rax
	je	_ZN14ebbtide_global6scoped4slowE
	leaq	-1(%rsi), %r9
	testq	%rax, %r9
	jne	_ZN14ebbtide_global6scoped4slowE
	movq	(%rax), %rsi
	movq	%rsi, (%rdx,%r8,8)
	movq	_ZN14ebbtide_global6memory5range6BOUNDSE@GOTPCREL(%rip), %rsi
	movq	24(%rsi), %r8
	movq	%rax, %r9
	subq	%r8, %r9
	movq	16(%rsi), %rsi
	shrq	$8, %r9
	andq	$-256, %r9
	incl	16(%rsi,%r9)
	addl	$7, %edi
	incq	1408(%rdx)
	andl	$4088, %edi
	incq	%fs:144(%rcx)
	addq	%rdi, %fs:120(%rcx)
	retq
