# Loops over arrays, which are arguments: the same functions for the arrays of each contestant.

using LinearAlgebra: BLAS, mul!

@noinline sum_of(x) = sum(x)
@noinline fill_it(y) = (fill!(y, 1.0); nothing)
@noinline copy_it(y, x) = (copyto!(y, x); nothing)
@noinline largest(x) = maximum(x)

@noinline broadcast_1(y, a) = (y .= 2 .* a .+ 1; nothing)
@noinline broadcast_2(y, a, b) = (y .= a .+ b; nothing)
@noinline broadcast_3(y, a, b, c) = (y .= a .* b .+ c; nothing)
@noinline broadcast_4(y, a, b, c, d) = (y .= a .* b .+ c .* d; nothing)

@noinline function dot_simd(x, y)
    total = zero(eltype(x))
    @simd for i in eachindex(x, y)
        @inbounds total += x[i] * y[i]
    end
    total
end
@noinline function dot_checked(x, y)
    total = zero(eltype(x))
    for i in 1:length(x)
        total += x[i] * y[i]
    end
    total
end
@noinline function axpy(y, x)
    for i in eachindex(x, y)
        @inbounds y[i] += 2.0 * x[i]
    end
end
@noinline function axpy_checked(y, x)
    for i in 1:length(y)
        y[i] += 2.0 * x[i]
    end
end
@noinline function weighted(y, a, b, c)
    for i in eachindex(y, a, b, c)
        @inbounds y[i] = a[i] * b[i] + c[i]
    end
end
@noinline function smooth(y, x)
    for i in 2:length(x)-1
        @inbounds y[i] = (x[i-1] + x[i] + x[i+1]) / 3
    end
end
@noinline function smooth_square(b, a)
    for j in 2:size(a, 2)-1, i in 2:size(a, 1)-1
        @inbounds b[i, j] = (a[i-1, j] + a[i+1, j] + a[i, j-1] + a[i, j+1]) / 4
    end
end
@noinline function row_sums(y, a)
    for j in 1:size(a, 2), i in 1:size(a, 1)
        y[i] += a[i, j]
    end
end
@noinline function product(c, a, b)
    for j in 1:size(c, 2), k in 1:size(a, 2), i in 1:size(c, 1)
        @inbounds c[i, j] += a[i, k] * b[k, j]
    end
end
@noinline blas_dot(x, y) = BLAS.dot(x, y)
@noinline blas_product(y, a, x) = (mul!(y, a, x); nothing)

square(n) = (s = isqrt(n); (s, s))
side(n) = (isqrt(n),)

# What is measured: a title, a function, and the sizes of its arguments for n elements.
const LOOPS = [
    ("sum", sum_of, (identity,)), ("maximum", largest, (identity,)), ("fill!", fill_it, (identity,)),
    ("copyto!", copy_it, (identity, identity)), ("y .= 2a .+ 1", broadcast_1, (identity, identity)),
    ("y .= a .+ b", broadcast_2, (identity, identity, identity)),
    ("y .= a .* b .+ c", broadcast_3, (identity, identity, identity, identity)),
    ("y .= a .* b .+ c .* d", broadcast_4, (identity, identity, identity, identity, identity)),
    ("dot product, @simd", dot_simd, (identity, identity)),
    ("dot product, checked", dot_checked, (identity, identity)),
    ("y += 2x", axpy, (identity, identity)), ("y += 2x, checked", axpy_checked, (identity, identity)),
    ("y = a b + c", weighted, (identity, identity, identity, identity)),
    ("means of three", smooth, (identity, identity)), ("means of four neighbours", smooth_square, (square, square)),
    ("sums of rows, checked", row_sums, (side, square)), ("matrix product", product, (square, square, square)),
    ("BLAS dot product", blas_dot, (identity, identity)), ("BLAS matrix times vector", blas_product, (side, square, side)),
]

function repeat_on(f::F, turns, arrays::Vararg{Any,N}) where {F,N}
    for _ in 1:turns
        f(arrays...)
    end
end
