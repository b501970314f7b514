# Arrays that `@arena` makes, in functions that are unaware of arenas.

# Calls `change!` on an ordinary vector, and on one that `@arena` made.
function changes_alike(change!, n)
    ordinary, served = collect(1:n), nothing
    expected = change!(ordinary)
    result = @arena begin
        served = collect(1:n)
        shared = view(served, 1:1)
        result = change!(served)
        isempty(served) || shared[1] == served[1] || error("a view does not follow its array")
        result === served ? :itself : result
    end
    served == ordinary && result == (expected === ordinary ? :itself : expected)
end

# A loop that sees the elements that it adds.
function append_halves!(a)
    for x in a
        x > 1 && push!(a, x ÷ 2)
    end
    a
end

@testset "A01 vectors grow and shrink: $n elements" for n in (3, LARGE)
    @test all(change! -> changes_alike(change!, n), (
        a -> push!(a, 7), a -> push!(a, 7, 8), a -> pushfirst!(a, 7), a -> append!(a, 1:5), a -> append!(a, a),
        a -> prepend!(a, [1, 2]), a -> prepend!(a, a), append_halves!, a -> push!(reshape(a, n), 7),
        a -> insert!(a, 2, 9), pop!, popfirst!, a -> popat!(a, 2), a -> popat!(a, n + 1, 0),
        a -> deleteat!(a, 1), a -> deleteat!(a, 1:2), a -> deleteat!(a, a .> 2), a -> splice!(a, 2),
        a -> splice!(a, 2, [5, 6]), a -> splice!(a, 2:3), a -> empty!(a), a -> filter!(isodd, a), a -> unique!(a),
        a -> copy!(a, [1, 2]), a -> sizehint!(a, 10), a -> fill!(resize!(a, 2n), 0)))
    @test (@arena (a = zeros(0); foreach(i -> push!(a, i), 1:n); a)) == 1:n
    @arena begin
        a = ones(n)
        @test_throws ArgumentError resize!(a, -1)
        @test_throws BoundsError deleteat!(a, n + 1)
        @test a == fill(1, n)
    end
end

# Functions of LinearAlgebra, and a result of each that can be compared.
const OF_MATRIX = (
    A -> A \ A[:, 1], A -> Symmetric(A) \ A[:, 1], inv, det, A -> det(Symmetric(A)), exp, A -> log(A * A'), sqrt, sin,
    tr, A -> lu(A).L, A -> qr(A).R, A -> qr(A, Val(true)).p, A -> svd(A).S, A -> svd(A, 2A).R0, nullspace,
    A -> abs.(eigvals(A)), A -> eigvals(Symmetric(A)), A -> eigvals(A, A * A'), A -> schur(A).T, A -> schur(A, A * A').S,
    A -> hessenberg(A).H, A -> bunchkaufman(Symmetric(copy(A))).U, A -> cholesky(Symmetric(A * A')).U,
    A -> cholesky(Symmetric(A * A'), Val(true)).p, A -> sylvester(A, A, A), A -> lyap(A, A), pinv, rank,
    A -> svd!(view(A, 2:4, 2:4)).S, A -> qr!(view(A, 2:4, 2:4), Val(true)).p)

@testset "A01 linear algebra: $n × $n" for n in (5, 100)
    matrix = [i == j ? 2.0n + i : 1 / (i + 2j) for i in 1:n, j in 1:n]
    for f in OF_MATRIX
        @test f(copy(matrix)) ≈ f(ScopedArray(copy(matrix)))
    end
    @arena begin
        A = ScopedArray(matrix)
        vectors = similar(A, 10), similar(matrix, 10), similar(A, Int, 10), similar(matrix, Int, 10)
        @test vectors[1:2] isa NTuple{2,ScopedArray{Float64,1}}
        @test vectors[3:4] isa NTuple{2,ScopedArray{Int,1}}
        @test ScopedArray(A) === A && reshape(A, size(A)) === A
        @test sum(skipmissing(reshape(ScopedArray([1, missing, 3]), 3, 1))) == 4
    end
end

@testset "A01 operands that overlap the destination" begin
    for elements in ([1, 2, 3], ["a", "b", "c"])
        a = ScopedArray(copy(elements))
        view(a, 2:3) .= view(a, 1:2)
        @test a == elements[[1, 1, 2]]
    end
end

# The compiler of Julia 1.5 aborted on such loops.
function repeated_sum(x, y, turns)
    for _ in 1:turns
        y = y .+ x
    end
    total = 0.0
    for i in eachindex(y)
        total += y[i]
        y[i] = 0
    end
    total + sum(y)
end
function repeated_product(A, turns)
    P = Matrix{Float64}(I, size(A)...)
    for _ in 1:turns
        P *= A
        P .+= 1
    end
    P
end

@testset "A01 a variable that has an ordinary array first, then one in an arena" begin
    x = collect(1.0:LARGE)
    @test repeated_sum(ScopedArray(x), zeros(LARGE), 3) == 3 * sum(x)
    @test repeated_product(ScopedArray([1.0 2; 3 4]), 3) == repeated_product([1.0 2; 3 4], 3)
end
