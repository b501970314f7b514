# Arrays in a buffer behave like Julia's own.

struct Point{T}
    x::T
    y::T
end
Base.:+(a::Point, b::Point) = Point(a.x + b.x, a.y + b.y)

@testset "indexing, iteration and shape" begin
    @no_escape begin
        a = @alloc(Float64, 3, 4)
        @test a isa DenseMatrix{Float64}
        @test a isa ArenaArray{Float64,2}
        @test size(a) == (3, 4) && length(a) == 12 && ndims(a) == 2
        @test strides(a) == (1, 3) && stride(a, 2) == 3 && stride(a, 3) == 12
        @test sizeof(a) == 96
        a .= reshape(1:12, 3, 4)
        @test a == reshape(1:12, 3, 4)
        @test a[2, 3] == a[8] == 8.0
        @test collect(a) isa Matrix{Float64}
        @test_throws BoundsError a[13]
        @test_throws BoundsError a[4, 1]
        @test_throws BoundsError a[0] = 1
        @test_throws InexactError @alloc(Int, 1)[1] = 1.5
        @test sum(a) == 78 && maximum(a) == 12
        @test vec(a) isa ArenaArray{Float64,1}
        @test reshape(a, 4, 3)[4, 3] == 12
        @test reshape(a, 4, :)[1, 3] == 9 && reshape(a, 4, :) isa ArenaArray
        @test reshape(a, (2, :)) isa ArenaArray{Float64,2} && reshape(a, (:, 2, 3)) isa ArenaArray{Float64,3}
        for flat in (reshape(a, :), reshape(a, (:,)), reshape(vec(a), :), reshape(vec(a), (:,)), reshape(vec(a), Val(1)))
            @test flat === vec(a)
        end
        @test_throws DimensionMismatch reshape(a, (5, :))
        @test_throws DimensionMismatch reshape(a, 5, 5)
        @test_throws DimensionMismatch reshape(a, -3, -4)
        @test similar(a) isa Matrix{Float64}
        @test copy(a) isa Matrix{Float64}
        @test deepcopy(a) isa Matrix{Float64}
        @test a .+ 1 isa Matrix{Float64}
        @test (b = view(a, 2:3, 2); b .= 0; a[2, 2] == a[3, 2] == 0)
        @test sort!(vec(a)) == sort(vec(collect(a)))
        scalar = @alloc(Int)
        scalar[] = 7
        @test size(scalar) == () && scalar[] == 7
        @test isempty(@alloc(Int, 0)) && isempty(@alloc(Int, 3, 0))
        @test size(@alloc(Int, (2, 3))) == (2, 3)
        @test size(@alloc(Int, 0x02, big(3))) == (2, 3)
        nothing
    end
end

@testset "copies" begin
    @no_escape begin
        a, b = @alloc(Int, 5), @alloc(Int, 5)
        copyto!(a, 1:5)
        copyto!(b, a)
        v = zeros(Int, 5)
        @test copyto!(v, b) == 1:5
        @test copyto!(v, 2, b, 1, 4) == [1, 1, 2, 3, 4]
        @test copyto!(b, 1, a, 2, 4) == [2, 3, 4, 5, 5]
        @test copyto!(a, 2, a, 1, 4) == [1, 1, 2, 3, 4] # overlapping
        @test copyto!(a, [9, 8])[1:2] == [9, 8]
        @test_throws BoundsError copyto!(a, 2, v, 1, 5)
        @test_throws BoundsError copyto!(a, 1, v, 2, 5)
        @test_throws BoundsError copyto!(a, zeros(Int, 6))
        @test_throws ArgumentError copyto!(a, 1, v, 1, -1)
        @test_throws BoundsError copyto!(a, typemax(Int), v, 1, 2)
        copyto!(a, 1:5)
        @test unsafe_copyto!(a, 2, a, 1, 4) === a == [1, 1, 2, 3, 4] # overlapping
        @test unsafe_copyto!(a, 1, [7, 8], 1, 2) == [7, 8, 2, 3, 4]
        @test unsafe_copyto!(zeros(Int, 3), 2, a, 1, 2) == [0, 7, 8]
        @test unsafe_copyto!(zeros(3), 2, a, 1, 2) == [0, 7, 8]
        @test unsafe_copyto!(a, 4, [5.0, 6.0], 1, 2) == [7, 8, 2, 5, 6]
        @test unsafe_copyto!(reinterpret(UInt, a), 2, a, 1, 4) == [7, 7, 8, 2, 5]
        @test_throws InexactError unsafe_copyto!(a, 1, [0.5], 1, 1)
        if isdefined(Core, :GenericMemory)
            memory = Memory{Int}(undef, 2)
            @test copyto!(memory, 1, a, 3, 2) === memory == [8, 2]
            @test copyto!(a, memory) == [8, 2, 8, 2, 5]
            @test unsafe_copyto!(a, 4, memory, 1, 2) == [8, 2, 8, 8, 2]
            @test Memory{Int}(a) == a && Memory{Float64}(a) == a
        end
        nothing
    end
end

@testset "promotion makes ordinary arrays" begin
    @no_escape begin
        a, b = fill!(@alloc(Int, 2), 1), fill!(@alloc(Float64, 2), 2)
        for (x, y) in ((a, [3, 4]), ([3, 4], a), (a, [3.0, 4.0]), (a, b), (b, [3, 4]), ([3.0, 4.0], b))
            promoted = promote(x, y)
            @test promoted == (x, y)
            @test promoted isa NTuple{2,Vector{promote_type(eltype(x), eltype(y))}}
        end
        @test promote(a, a) === (a, a)
        # A list has the arrays themselves, as a list of an array and a view of one.
        foreach(x -> fill!(x, 9), [a, [1]])
        @test a == [9, 9]
        nothing
    end
end

@testset "operands that overlap the destination are copied" begin
    @no_escape begin
        filled() = copyto!(@alloc(Int, 5), 1:5)
        a = filled()
        @views a[2:5] .= a[1:4]
        @test a == [1, 1, 2, 3, 4]
        a = filled()
        copyto!(view(a, 2:5), view(a, 1:4))
        @test a == [1, 1, 2, 3, 4]
        a = filled()
        a .= view(a, 5:-1:1)
        @test a == 5:-1:1
        a = filled()
        view(a, 5:-1:1) .= a
        @test a == 5:-1:1
        for turned in (adjoint, transpose, m -> PermutedDimsArray(m, (2, 1)))
            m = copyto!(@alloc(Int, 3, 3), 1:9)
            m .= turned(m)
            @test m == reshape(1:9, 3, 3)'
        end
        m = copyto!(@alloc(Int, 3, 3), 1:9)
        m' .= m
        @test m == reshape(1:9, 3, 3)'
        p = copyto!(@alloc(Int, 3), [2, 3, 1])
        permuted = view(p, p)
        p[p] = 1:3
        @test p == [3, 1, 2] && permuted == [1, 2, 3]
        nothing
    end
end

# The array `1:9` in a square, in a buffer.
square_of(T) = copyto!(Ebbtide.alloc!(default_buffer(), T, 3, 3), 1:9)

@testset "whatever shows an array: operands that overlap the destination are copied" begin
    permuted(m) = PermutedDimsArray(m, (2, 1))
    turned(m) = view(m, 3:-1:1, 1:3)
    # What is written, what is read, and how: the same as if what is read had been copied before.
    destinations = (identity, transpose, permuted, turned, m -> permuted(turned(m)), m -> reinterpret(Int, view(m, :, :)),
        m -> view(reinterpret(Int32, view(m, :, :)), 1:2:6, :))
    sources = (identity, adjoint, permuted, turned, m -> turned(permuted(m)), m -> reshape(turned(m), 3, 3),
        m -> turned(transpose(m)), m -> turned(Symmetric(m)), m -> transpose(reshape(turned(transpose(m)), 3, 3)),
        m -> reinterpret(Int, view(reinterpret(UInt, turned(m)), 1:3, 1:3)))
    functions = ((to, from) -> (to .= from), (to, from) -> (to .= from .+ transpose(from)),
        (to, from) -> (@views copyto!(to[:, 2:3], from[:, 1:2])),
        (to, from) -> (to[:, 2:3] = view(from, :, 1:2)))
    for to in destinations, from in sources, f in functions
        expected = collect(reshape(1:9, 3, 3))
        f(to(expected), collect(from(expected)))
        @no_escape begin
            m = square_of(Int)
            f(to(m), from(m))
            @test m == expected
        end
    end
    # Other elements in the same memory.
    @no_escape begin
        numbers = copyto!(@alloc(Float64, 2, 3), 1:6)
        pairs = reinterpret(ComplexF64, numbers)
        numbers .= abs.(pairs)
        @test numbers == repeat(abs.([1 + 2im 3 + 4im 5 + 6im]), 2)
    end
    # Of matrices with a structure, only a part can be written.
    for structured in (UpperTriangular, UnitUpperTriangular, m -> UpperHessenberg(m)), from in (1:2, [1, 2])
        @no_escape begin
            row = view(structured(square_of(Int)), 1, :)
            before = row[from]
            copyto!(view(row, from .+ 1), view(row, from))
            @test row[from .+ 1] == before
        end
    end
end

# A random function that shows a matrix of the size `r` × `c` in another way, and the size of its
# result. Several indices may stand for the same element if `repeats`.
function random_look(rng, (r, c), repeats)
    kind = rand(rng, 1:(repeats ? 9 : 7))
    kind == 1 && return (adjoint, (c, r))
    kind == 2 && return (transpose, (c, r))
    kind == 3 && return (m -> PermutedDimsArray(m, (2, 1)), (c, r))
    kind == 4 && return (m -> reshape(m, c, r), (c, r))
    kind == 5 && return (m -> reinterpret(eltype(m) == Int ? UInt : Int, m), (r, c))
    kind == 8 && r == c && return (rand(rng, (Symmetric, UpperTriangular, UnitLowerTriangular)), (r, c))
    rows = kind < 8 ? random_indices(rng, r) : rand(rng, 1:r, r)
    columns = random_indices(rng, c)
    (m -> view(m, rows, columns), (length(rows), length(columns)))
end

function random_indices(rng, n)
    from, to = minmax(rand(rng, 1:n), rand(rng, 1:n))
    rand(rng, (from:to, to:-1:from, 1:2:n, 1:n, from:to, randperm(rng, n)))
end

# Up to `count` of these, one after another, and the size of what they show of a square.
function random_looks(rng, count, repeats)
    looks, size = Any[], (6, 6)
    for _ in 1:count
        look, next = random_look(rng, size, repeats)
        minimum(next) > 1 || continue
        push!(looks, look)
        size = next
    end
    (m -> foldl((m, look) -> look(m), looks; init = m)), size
end

random_part(rng, (r, c), (rows, columns)) =
    (rand(rng, 0:r-rows) .+ (1:rows), rand(rng, 0:c-columns) .+ (1:columns))

@testset "random arrays that overlap: the same as if operands had been copied" begin
    rng = MersenneTwister(50)
    operations = (
        (to, a, b) -> (to .= a),
        (to, a, b) -> (to .= a .+ b),
        (to, a, b) -> (to .= to .+ a),
        (to, a, b) -> copyto!(to, a),
        (to, a, b) -> (to[:, :] = a))
    for turn in 1:60
        # Two arrays that are both wrapped four times are not recognised.
        looks = [random_looks(rng, rand(rng, 0:2), false), random_looks(rng, rand(rng, 0:3), true),
            random_looks(rng, rand(rng, 0:2), true)]
        # Often the same array, of which other parts are seen.
        rand(rng, Bool) && (looks[2] = looks[1])
        rand(rng, Bool) && (looks[3] = looks[2])
        common = min.(last.(looks)...)
        parts = [random_part(rng, size, common) for (_, size) in looks]
        shown(m) = [view(look(m), part...) for ((look, _), part) in zip(looks, parts)]
        expected = collect(reshape(1:36, 6, 6))
        to, a, b = shown(expected)
        operation = rand(rng, operations)
        operation(to, collect(a), collect(b))
        @no_escape begin
            m = copyto!(@alloc(Int, 6, 6), 1:36)
            operation(shown(m)...)
            @test m == expected
        end
    end
end

# An array type of another package that wraps ours: what the package says of it is not needed.
struct WrappedElsewhere{A} <: AbstractVector{Int}
    array::A
end
mutable struct Chained <: AbstractVector{Int}
    array::ArenaArray{Int,1}
    next::Any
end
Base.size(a::Union{WrappedElsewhere,Chained}) = size(a.array)
Base.getindex(a::Union{WrappedElsewhere,Chained}, i::Int) = a.array[i]
Base.dataids(a::Chained) = Base.dataids(a.array)

@testset "arrays of other types that share memory are known to" begin
    @no_escape begin
        for wrap in (WrappedElsewhere, a -> WrappedElsewhere(WrappedElsewhere(view(a, 1:6))), a -> (c = Chained(a, 1); c.next = c))
            a = copyto!(@alloc(Int, 6), 1:6)
            view(a, 2:6) .= view(wrap(a), 1:5)
            @test a == [1, 1, 2, 3, 4, 5]
        end
    end
end

@testset "arrays that share memory are known to" begin
    @no_escape begin
        m, other = square_of(Int), square_of(Int)
        for shown in (identity, transpose, m -> view(m, [1, 2], :), m -> PermutedDimsArray(view(m', :, 1:2), (2, 1)),
            m -> view(UpperTriangular(m), 1:2, 2:3))

            @test Base.mightalias(m, shown(m)) && Base.mightalias(shown(m), shown(m))
            @test !Base.mightalias(m, shown(other)) && !Base.mightalias(shown(m), collect(m))
        end
        @test !Base.mightalias(view(m, :, 1), view(m, :, 2)) && Base.mightalias(view(m, :, 1), view(m, 2, :))
        # Other types of views, and indices that stand for two dimensions.
        @test Base.mightalias(view(m, :, 1), view(m', :, 1)) && Base.mightalias(view(m, :, 1), view(vec(m), 2:3))
        @test Base.mightalias(view(m, :, 1), view(m, [CartesianIndex(1, 1)]))
        @test !Base.mightalias(view(m, [1, 2], 1), view(m, [1, 2], 2)) && Base.mightalias(view(m, 1:2:3, 1), view(m, 3, :))
        # An element may lie below several indices of what is viewed.
        repeated = view(m, [1, 1, 2], :)'
        @test Base.mightalias(view(repeated, :, 1), view(repeated, :, 2))
    end
end

# In functions, which are compiled for the types of the arrays.
assign_sum!(to, a, b) = (to .= a .+ b; nothing)
assign!(to, a) = (to .= a; nothing)

@testset "an operand in a buffer costs no allocation" begin
    @no_escape begin
        a, b, d = @alloc(Float64, 50, 50), @alloc(Float64, 50, 50), @alloc(Float64, 50, 50)
        c = @alloc(Float32, 50, 50)
        foreach(x -> fill!(x, 1), (a, b, c, d))
        for to in (a, view(a, :, :)), from in (b, c, b', view(b, 1:50, :), PermutedDimsArray(b, (2, 1)), view(b, :, 1))
            for f in (() -> assign_sum!(to, from, c), () -> assign_sum!(to, d, from), () -> assign!(to, from))
                f()
                @test @allocated(f()) <= 64 # what a closure and a dynamic call take
            end
        end
        nothing
    end
end

@testset "a deep copy is an ordinary array" begin
    @no_escape begin
        a = fill!(@alloc(Int, 2, 2), 3)
        for shown in (a, view(a, 1, :), a', transpose(a), PermutedDimsArray(a, (2, 1)), reshape(view(a, :, :), 4),
            reinterpret(UInt, view(a, :, :)))

            deepcopy(shown)[1] = 7
            first(deepcopy([shown]))[1] = 7
            @test a[1] == 3
            @test deepcopy([shown]) == [shown]
        end
        nothing
    end
end

struct NamedBox{A}
    name::String
    array::A
end
struct PlainBox{A}
    array::A
end
mutable struct MutableBox
    array::Any
end

@testset "a deep copy of what holds an array has its address, and cannot leave" begin
    for hold in (a -> (a, 1), a -> (1, (a, "x")), a -> (x = a, y = 2), a -> NamedBox("a", a), PlainBox, MutableBox,
            a -> Any[a, [a]], a -> Ref(a), a -> (() -> sum(a)), a -> (view(a, 1, :), a'), a -> PlainBox(PlainBox(a)))
        @test_throws EscapeErrorType @no_escape deepcopy(hold(fill!(@alloc(Int, 2, 2), 3)))
    end
    @test deepcopy(Dict(1 => 2)) == Dict(1 => 2)
    @no_escape begin
        a = fill!(@alloc(Int, 2), 1)
        first(deepcopy((a, 1)))[1] = 5
        @test a == [5, 1] # as with a `Ptr`
        nothing
    end
end

@testset "another process gets an ordinary array" begin
    function sent(value)
        io = IOBuffer()
        serialize(io, value)
        deserialize(seekstart(io))
    end
    @no_escape begin
        a = fill!(@alloc(Int, 2, 2), 3)
        @test sent(a) isa Matrix{Int}
        @test sent((1, a)) == (1, [3 3; 3 3])
        @test sent(a') == [3 3; 3 3] && !(parent(sent(a')) isa ArenaArray)
        @test sent(view(a, 1, :)) isa Vector{Int}
        @test sent([a, a]) isa Vector{Matrix{Int}}
        @test sent([view(a, 1, :)]) isa Vector{Vector{Int}}
        @test sent(Dict("a" => a)) == Dict("a" => [3 3; 3 3]) && sent(Dict(1 => a')) isa Dict{Int,<:Matrix}
        @test sent(empty(Dict(1 => a))) isa Dict{Int,Matrix{Int}}
        if isdefined(Core, :GenericMemory)
            memory = fill!(Memory{typeof(a)}(undef, 1), a)
            @test sent(memory)[1] isa Matrix{Int} && deepcopy(memory)[1] isa Matrix{Int}
        end
        nothing
    end
    @test_throws Ebbtide.BufferError Ebbtide.alloc!(sent(SlabBuffer()), Int, 1)
end

@testset "linear algebra, by BLAS" begin
    x, y, z = rand(20, 20), rand(20, 20), rand(20)
    @no_escape begin
        a, b, c = @alloc(Float64, 20, 20), @alloc(Float64, 20, 20), @alloc(Float64, 20, 20)
        v = @alloc(Float64, 20)
        a .= x
        b .= y
        v .= z
        @test mul!(c, a, b) ≈ x * y
        @test mul!(c, a', b) ≈ x' * y
        @test a * b ≈ x * y
        @test dot(v, v) ≈ dot(z, z)
        @test norm(v) ≈ norm(z)
        @test LinearAlgebra.BLAS.gemv('N', 1.0, a, v) ≈ x * z
        @test mul!(view(c, :, 1), a, v) ≈ x * z
        @test a \ v ≈ x \ z
        @test lu!(a).L ≈ lu(x).L
        @test inv(copy(lu!(a .= x))) * x ≈ I
        @test schur!(a .= x).values ≈ schur(x).values
        @test schur!(a .= x, b .= y).β ≈ schur(x, y).β
        nothing
    end
end

@testset "random numbers are those of an Array" begin
    for T in (Bool, Int8, UInt32, Int, Int128, Float16, Float32, Float64, ComplexF64), n in (1, 7, 1000)
        fills = [rand!, a -> rand!(a, T), a -> rand!(a, T[0, 1]), a -> rand!(MersenneTwister(2), a)]
        T <: AbstractFloat && append!(fills, (randn!, randexp!))
        T in (UInt32, Int, Int128) && append!(fills, (randperm!, randcycle!, shuffle!, a -> rand!(a, 1:10)))
        for f in fills
            @no_escape begin
                results = map((zeros(T, n), fill!(@alloc(T, n), 0))) do a
                    Random.seed!(1)
                    (f(a) === a, collect(a), rand())
                end
                @test results[1] == results[2]
            end
        end
    end
end

@testset "reinterpret" begin
    @no_escape begin
        a = fill!(@alloc(Float64, 4), 1.0)
        bits = reinterpret(UInt64, a)
        @test bits isa ArenaArray{UInt64,1}
        @test all(==(reinterpret(UInt64, 1.0)), bits)
        @test length(reinterpret(UInt8, a)) == 32
        points = reinterpret(Point{Float64}, a)
        @test points[2] === Point(1.0, 1.0) && length(points) == 2
        @test reinterpret(ComplexF64, reshape(a, 2, 2)) == [1.0 + 1im 1.0 + 1im]
        bytes = @alloc(UInt8, 9)
        @test_throws ArgumentError reinterpret(Int, bytes)
        @test_throws ArgumentError reinterpret(Any, a)
        odd = @alloc(UInt8, 8)
        @alloc(UInt8, 1)
        unaligned = reinterpret(UInt8, @alloc(UInt8, 8))
        @test UInt(pointer(unaligned)) % 8 == 0 ||
            (@test_throws ArgumentError reinterpret(Int, unaligned); true)
        nothing
    end
end

@testset "elements of several fields, and their alignment" begin
    buffer = SlabBuffer{16_384}()
    types = (UInt8, Int16, Float32, Float64, ComplexF64, Point{Int8}, Point{Float64},
        Tuple{Int8,Int64}, NTuple{3,UInt8}, Bool, Char, Ptr{Cvoid}, Nothing, Int128)
    @no_escape buffer begin
        for T in types
            @alloc(UInt8, 1)
            a = @alloc(T, 5)
            @test UInt(pointer(a)) % Base.datatype_alignment(T) == 0
            @test sizeof(a) == 5 * Base.elsize(Vector{T})
            @test eltype(a) === T
        end
        points = @alloc(Point{Float64}, 3)
        points .= Ref(Point(1.0, 2.0))
        @test reduce(+, points) === Point(3.0, 6.0)
        pairs = @alloc(Tuple{Int8,Int64}, 2)
        pairs[1] = (1, 2)
        pairs[2] = (3, 4)
        @test pairs[1] === (Int8(1), 2) && pairs[2] === (Int8(3), 4)
    end
end
