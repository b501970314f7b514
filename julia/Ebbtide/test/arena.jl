# `@arena` and what belongs to it: rows A01 to A08.

using Statistics

# Makes the next `@arena` collect garbage.
function make_due!()
    Ebbtide.PAUSES[] = Base.gc_num().pause
    Ebbtide.BYTES[] -= 2^40 # as if by large objects
    Ebbtide.DUE_AT[] = 1
end

# Programs, with a number `n`, vectors `v`, `k`, `s` and `u` of numbers, integers, strings and
# vectors, and matrices `A` and `P`, of which `P` is positive definite.
const PROGRAMS = quote
    # Arrays are made.
    zeros(n); zeros(Int, n, 2); zeros(Number, 2); ones(n); ones(Float32, (2, n)); fill(1, n); fill("a", 2); falses(n)
    trues(2, n); similar(v, 0); fill!(similar(v), 2); fill!(similar(A, Int, 2), 2); collect(1:n); collect(i^2 for i in 1:n)
    collect(v); copy(v); deepcopy(u); [i + j for i in 1:n, j in 1:2]; Float64[i for i in k]; Any[n, v]; [v; 1]; [v v]
    vcat(v, k); hcat(v, v); hvcat((1, 1), 1, 2); cat(A, A; dims = 3); repeat(v, 2); repeat([1 2], n); rand(n); randn(2, n)
    randperm(n); rand(1:9, n); bitrand(n); range(1, 2; length = n); LinearIndices(A); CartesianIndices(A)
    Vector{Float64}(k); Array(A'); Matrix(A'); Vector(1:n); convert(Vector{Float64}, k); Matrix{Int}(I, 3, 3)
    fill(v, 2); zero(v); oneunit(A); one(A); collect("text"); collect(pairs(s)); split("a b"); codeunits("ab"); digits(n)
    zeros(2)[1:0]; reinterpret(Int, v); reshape(v, 1, n); reshape(v, n, 1, 1); vec(A); selectdim(A, 1, 2); view(v, 2:3)
    @view(A[:, 1]); @views v[1:2] + v[2:3]; eachrow(A); collect(eachcol(A))
    # Arrays are mapped, ordered and searched.
    map(x -> x + 1, v); map(+, v, v); map(string, k); map((x, y) -> x, v, k); v .+ 1; v .+ v'; sqrt.(v); v .== 2; k .% 0x02
    @. v^2 + k; broadcast(+, v, A[1, 1]); string.(k); (x -> x > 1 ? x : missing).(v); ifelse.(v .> 2, v, missing)
    identity.(Any[1, 2.0]); tuple.(k, v); Ref(v)[]; v .=> k; accumulate(+, v); cumsum(A; dims = 2)
    cumprod(k .% 3); diff(v); reverse(v); reverse(A; dims = 1); circshift(v, 1); rotl90(A); rotr90(A); rot180(A); permutedims(A)
    permutedims(reshape(1:8, 2, 2, 2), (3, 1, 2)); PermutedDimsArray(A, (2, 1)); dropdims(A[1:1, :]; dims = 1); sort(v; rev = true)
    sort(A; dims = 1); sortperm(v); partialsort(v, 2); partialsortperm(v, 1:2); shuffle(v); unique(k .% 3)
    union(k, [0]); intersect(k, 1:2); setdiff(k, 1:2); symdiff(k, [0]); filter(isodd, k); findall(isodd, k); findmax(v)
    findmin(A; dims = 1); argmax(v); extrema(v); minimum(A; dims = 1); sum(A; dims = 2); prod(v .% 2 .+ 1); reduce(vcat, u)
    reduce(hcat, [v, v]); mapreduce(x -> [x], vcat, k); foldl(-, v); maximum(abs, v); count(isodd, k); any(isnan, v); all(v .> 0)
    indexin(k, [2]); searchsorted(v, 2.0); nextind(v, 1); join(k, ","); string(v[1:2]); repr(A[1:2, 1:2]); sprint(show, v[1:3])
    hash(v); objectid(n); v == copy(v); isequal(A, copy(A)); v < 2v; summary(A); size(A); axes(A); strides(A); eltype(u)
    median(v); mean(A; dims = 1); std(v); quantile(v, 0.3); cor(A); var(v); middle(v); Iterators.partition(k, 2) |> collect
    zip(v, k) |> collect; enumerate(s) |> collect; Dict(zip(k, v)); Set(k); NamedTuple{(:a, :b)}((v, k)); (v, (a = A,)); Some(v)
    v[[1, 2]]; v[v .> 2]; A[:, 1]; A[1, :]; A[CartesianIndex(1, 2)]; get(v, 0, nothing); getindex(A, 1:2, 2); first(v); last(v)
    Float32.(v); float(k); complex(v); real(complex(v)); conj(v); abs2.(v); round.(Int, v); big.(k[1:2]); BitArray(v .> 1)
    v + v; v - 1v; 2v; v / 2; -v; v' * v; v * v'; A * v; A * A; A'; transpose(A); A^2; A^-1; A ./ v; v'A; [1, 2]'; 2^n % 7
    # Linear algebra.
    A \ v[1:m]; A \ A; A / A; inv(A); det(A); logdet(P); logabsdet(A); tr(A); rank(A); cond(A); norm(v); opnorm(A); normalize(v)
    dot(v, v); cross([1, 2, 3], [4, 5, 6]); kron(A[1:2, 1:2], A[1:2, 1:2]); exp(A / 100); sqrt(P)
    lu(A); lu(A).L; lu(A).p; Matrix(qr(A).Q); qr(A).R; qr(A, Val(true)).p; lq(A); svd(A); svdvals(A)
    svd(A, 2A); svd(A; full = true).Vt; eigen(Symmetric(P)); eigen(A).values; eigvals(A, P); eigvecs(Symmetric(P)); schur(A); schur(A, P).S
    hessenberg(A); cholesky(P); cholesky(P, Val(true)).p; bunchkaufman(P); ldlt(SymTridiagonal(v, v[2:end])); pinv(A)
    pinv(v); nullspace(A[1:2, :]); lyap(P, A); sylvester(A, P, A); givens(A, 1, 2, 1); Diagonal(v) * v; Diagonal(v); diag(A); diagm(v[1:3])
    diagm(1 => [1, 2]); Tridiagonal(A); Bidiagonal(v, v[2:end], :U); Symmetric(A); Hermitian(A); UpperTriangular(A) \ v[1:m]; tril(A); triu(A)
    LowerTriangular(A) * A; A * Diagonal(1:m); isposdef(P); issymmetric(P); axpy!(2, v, copy(v)); mul!(similar(A), A, A); ldiv!(lu(A), v[1:m])
    rmul!(v, 2); lmul!(2, v); I + A; A - I; adjoint(A)[1, 2]; factorize(A); eigmax(P); stride(A, 2); LinearAlgebra.peakflops isa Function
    eigvals!(view(P, 1:2, 1:2)); svd!(view(A, 2:4, 2:4)); BLAS.gemm('N', 'N', A, A); BLAS.dot(v, v); LAPACK.getrf!(A); transpose!(similar(A), A)
    # Arrays change.
    (push!(v, 7), v); append!(v, k); prepend!(v, v); (pop!(v), v); (popfirst!(v), v); pushfirst!(v, 7); insert!(v, 2, 9); deleteat!(v, 1:2)
    deleteat!(v, v .> 2); (splice!(v, 2), v); (splice!(v, 2:3, [5, 6, 7]), v); resize!(v, 2); fill!(resize!(v, 2n), 0); empty!(v)
    filter!(isodd, k); unique!(k .= k .% 3); sizehint!(v, 2n); sort!(v; rev = true); reverse!(v); shuffle!(v); permute!(v, randperm(n))
    partialsort!(v, 2); copyto!(v, 2, v, 1, n - 1); copyto!(v, 1, v, 2, n - 1); copyto!(v, k); copy!(v, [1, 2]); v .= k; v .+= v; A .= A'
    v[2:3] .= 0; v[2:3] = [8, 9]; (v[end] = 1; v); A[1, :] .= 1; setindex!(v, 1, 2); fill!(v, 3); map!(-, v, k); replace!(v, 1 => 2)
    accumulate!(+, v, k); cumsum!(v, v); circshift!(similar(v), v, 1); randn!(v); rand!(k, 1:9); view(v, 2:3) .= view(v, 1:2); union!(k, 0)
    (a = v; push!(a, 1); a === v); (a = view(v, 1:2); a .= 0; v); (a = reshape(v, 1, n); a[1] = 5; v); (a = [v, v]; a[1][1] = 0; v)
    (x = zeros(3); h = Typed(x); h.vector[1] = 1; (x, h.vector === x)); (push!(u, zeros(2)); u[end]); (d = Dict(1 => v); d[1][1] = 9; v)
    (y::Vector{Float64} = zeros(n); y); (x = zeros(n); (a, b) = (x, x); a[1] = 1; b[1]); (t = (v, v); t[1] === t[2]); Typed(k).vector
    (r = Ref{Vector{Float64}}(zeros(n)); r[][1] = 1; r[]); (f() = push!(v, 1); f(); v); (g = () -> v; g() === v); takes_vector(zeros(n))
    (c = Channel{Any}(1); put!(c, v); take!(c) === v); fetch(@async sum(zeros(n))); (io = IOBuffer(); write(io, v); take!(io)); reinterpret(Int, v)[1]
    (x = [1]; for i in x; i < n && push!(x, i + 1); end; x); (x = 0; for i in k; x += i; i > 2 && break; end; x); [x for x in v if x > 2]
    (x = Union{Int,Missing}[1, missing]; skipmissing(x) |> collect); (w = WeakRef(v); w.value === v); let x = v; x; end; begin v end; nothing
    # Exceptions are thrown.
    zeros(-1); v[0]; v[n + 1]; A[m + 1, 1]; Vector{Int}(undef, -1); ones(2) + ones(3); sqrt(-1); [1, 2] * [3, 4]; push!(1:3, 4); pop!(Int[])
    resize!(v, -1); deleteat!(v, n + 1); convert(Vector{Int}, ["a"]); cholesky(-P); inv(zeros(2, 2)); error("text"); throw(v); takes_vector(1:3)
    zeros(n)::Vector{Int}; undefined_name; reshape(v, 2, n, 7); parse(Int, "a"); [v A']; reduce(+, Union{}[]); (r = view(v, 1:2); resize!(r, 3))
    push!(reshape(v, n), 1) == v; @assert n < 0; Dict()[1]; hcat(v, [1]); only(v); zeros(Int, 1)[1] = "a"; invoke(sum, Tuple{Int}, v)
end

struct Typed
    vector::Vector{Float64}
end
takes_vector(x::Vector{Float64}) = x

function inputs(n)
    Random.seed!(1)
    m = min(n, 60)
    A = [i == j ? 2.0m + i : 1 / (i + 2j) for i in 1:m, j in 1:m]
    (n, m, collect(1.0:n), collect(1:n), ["a", "b"], [zeros(2), ones(n)], A, A * A')
end

# The value of a program, or what it throws.
function value_or_error(program, n)
    try
        Core.eval(@__MODULE__, :(let (n, m, v, k, s, u, A, P) = inputs($n); $program end))
    catch exception
        Some(exception)
    end
end

# Whether two objects are of the same type and have equal contents.
alike(a, b) = typeof(a) === typeof(b) && (isequal(a, b) || fieldcount(typeof(a)) > 0 &&
    all(i -> alike(getfield(a, i), getfield(b, i)), 1:fieldcount(typeof(a))))
alike(a::AbstractArray, b::AbstractArray) = typeof(a) === typeof(b) && axes(a) == axes(b) && all(alike(x, y) for (x, y) in zip(a, b))
alike(a::Exception, b::Exception) = typeof(a) === typeof(b) && sprint(showerror, a) == sprint(showerror, b)

@testset "A01 the outcome is the same with and without" begin
    for program in filter(program -> !(program isa LineNumberNode), PROGRAMS.args)
        for n in (4, 3000)
            expected = value_or_error(program, n)
            make_due!()
            result = value_or_error(:(@arena $program), n)
            # Others get the memory if it is free.
            for _ in 1:3
                make_due!()
                @arena fill(NaN, 3000) .+ 1
            end
            alike(expected, result) || @error "The outcomes differ" program expected result
            @test alike(expected, result)
        end
    end
end

# With `@@` for the macro. The value is the last one.
const AT_TOP_LEVEL = (
    "@@ x = zeros(3)\nx", "@@ begin; x = 1; y = 2; end\n(x, y)", "@@ const C = 3\nC", "@@ (a, b) = (1, 2)\n[a, b]",
    "@@ local x = 1\nx", "@@ global x = 2\nx", "@@ global x\nx = 2", "x = 1\n@@ x += 1\nx", "@@ f(x) = 2x\nf(2)", "@@ function f(x) x + 1 end\nf(2)",
    "@@ struct S; x; end\nS(1).x", "@@ begin; struct S; x; end; S(2).x; end", "@@ using Random\nrandperm(3) |> sort",
    "@@ import Random\nRandom.MersenneTwister(1)", "@@ module M; x = 1; end\nM.x", "@@ macro m() 3 end\n@m()", "@@ let x = 1; x; end",
    "@@ abstract type T end\nisabstracttype(T)", "@@ export q", "f(x...) = x\nf(@@([1, 2]...))", "@@ :(x + \$(1 + 1))", "@@(1), 2",
    "s = 0\nfor i in 1:3; global s; @@ s += i; end\ns", "@@ for i in 1:3; i == 2 && break; end", "@@ x = @@ zeros(2)\nx",
    "\"text\" @@ f(x) = 1\nstring(@doc f)", "\"text\" @@ struct S end\nstring(@doc S)", "@@ return 1", "@@ break", "@@ error(\"text\")", "@@ eval(:(x = 1)) + 1\nx", "@@ begin; f() = 1; f(); end", "@@ quote; x; end")

@testset "A01 at top level" begin
    for text in AT_TOP_LEVEL
        results = map(("@noarena ", "@arena ", "")) do name
            inside = Module()
            Core.eval(inside, :(using Ebbtide))
            make_due!()
            value = try
                include_string(inside, replace(text, "@@" => name))
            catch error
                error isa LoadError ? error.error : error
            end
            (filter(name -> !startswith(string(name), r"##?[^a-z]|anonymous"), names(inside; all = true)),
                value isa Expr ? string(Base.remove_linenums!(value)) : value)
        end
        @test all(result -> alike(last(result), last(results[1])), results)
        @test all(result -> first(result) == first(results[1]), results)
    end
end

function leaves_by_return(n)
    @arena n > 1 && return zeros(n)
    @arena begin
        x = fill(n, 2)
        return @arena x
    end
end

function leaves_loops()
    found = Int[]
    for i in 1:10
        @arena begin
            isodd(i) && continue
            push!(found, i)
            i == 6 && break
        end
    end
    i = 0
    @label again
    i += 1
    @arena i < 4 && @goto again
    (found, i)
end

macro called_with(f, x)
    :($(esc(f))($(esc(x))))
end

@testset "A01, A02 control flow" begin
    for i in 1:2
        make_due!()
        @test leaves_by_return(3) == zeros(3) && leaves_by_return(1) == [1, 1]
        @test leaves_loops() == ([2, 4, 6], 4)
        @test_throws DomainError @arena @arena sqrt(-1.0)
    end
    make_due!()
    @test 4 == @arena @called_with(3) do x
        x + 1
    end
    @test (@arena (x = 1; @arena (y = x + 1; @arena z = y + 1; z); z)) == 3
    object = Any[1]
    @test (@arena object) === object && (@noarena object) === object
    # Nothing is left of one that was left.
    @test Ebbtide.DUE_AT[] < typemax(Int64)
end

sum_of_two(n) = sum(collect(1:n) + collect(1:n))

@testset "A03, A04 copyfromarena, map_arena and mtmap_arena" begin
    reused, copies = zeros(3), []
    for turn in 1:3
        reused .= turn
        push!(copies, copyfromarena(reused), copyfromarena((reused, 1))[1], copyfromarena((a = reused,)).a)
    end
    @test copies == [fill(turn, 3) for turn in 1:3 for _ in 1:3]
    for object in (Dict(:a => 1), Set(1:3), ["a", "b"], [zeros(2)], trues(3), Vector{String}(undef, 2))
        copied = copyfromarena(object)
        @test typeof(copied) === typeof(object) && copied !== object
    end
    @test copyfromarena("text") === "text" && copyfromarena(nothing) === nothing && copyfromarena(1:3) === 1:3

    for f in (n -> n + 1, n -> sum_of_two(10_000) + n, string, n -> n > 20 ? n : float(n)),
        items in (1:40, Int[], [1], reshape(1:4, 2, 2), (i for i in 1:3), Any[1, 2.0])

        @test alike(map_arena(f, items), map(f, items)) && alike(mtmap_arena(f, items), map(f, items))
    end
    @test map_arena(+, (1, 2)) === (1, 2) && mtmap_arena(+, (1, 2)) == [1, 2]
    @test (@inferred mtmap_arena(x -> x + 1, [1, 2])) == (@inferred map_arena(x -> x + 1, [1, 2])) == [2, 3]
    thrown = try
        mtmap_arena(_ -> throw(nothing), 1:40)
    catch exception
        exception
    end
    @test thrown === nothing
    @test_throws DomainError(-3.0) mtmap_arena(n -> n < -2 ? throw(DomainError(float(n))) : sum(zeros(10_000)), 0:-1:-20)
end

@testset "A05 clear_arena_pool! may be called anywhere" begin
    @test (@arena (x = ones(10^6); clear_arena_pool!(); clear_arena_pool!(1); sum(x))) == 10^6
end

collections() = Base.gc_num().pause

@testset "A06 one collection runs when enough has been allocated" begin
    # No full one follows, whatever other tests have left.
    Ebbtide.FULL.live = Base.gc_live_bytes()
    make_due!()
    before = collections()
    @arena nothing
    @test collections() == before + 1 && Ebbtide.DUE_AT[] >= Base.gc_bytes() + Ebbtide.QUICK.least - 10^6
    @arena nothing
    @test collections() == before + 1
    # Julia's own collection replaces it.
    make_due!()
    GC.gc(false)
    before = collections()
    @arena nothing
    @test collections() == before
    # So does that of another task.
    make_due!()
    due_at = Threads.atomic_xchg!(Ebbtide.DUE_AT, typemax(Int64))
    @arena nothing
    @test collections() == before && Ebbtide.DUE_AT[] == typemax(Int64)
    Ebbtide.DUE_AT[] = due_at
    allocated() = @allocated @arena nothing
    allocated()
    # At -O1, the Ref in Julia's own `gc_bytes` may lie on the heap.
    @test allocated() == 0 || Base.JLOptions().opt_level < 2
end

@testset "A06 objects count that have a kilobyte or more on average" begin
    Ebbtide.has_large_objects!()
    refs = [Ref(i) for i in 1:1000]
    @test !Ebbtide.has_large_objects!()
    array = zeros(10^7) # large also beside what the compiler may allocate
    @test Ebbtide.has_large_objects!()
    @test length(refs) + length(array) == 10_001_000
end

@testset "A06 a disabled collector stays disabled, and changes no number" begin
    numbers() = map(kind -> kind.bytes, (Ebbtide.QUICK, Ebbtide.FULL))
    before = numbers(), collections()
    GC.enable(false)
    for _ in 1:100
        make_due!()
        @arena zeros(10)
    end
    @test before == (numbers(), collections())
    @test GC.enable(true) == false
end

@testset "A06 collections are rarer when they are dear, or free little" begin
    kind = Ebbtide.Collections(false, 2^10, 2^12, 2^10, Base.gc_live_bytes(), time_ns())
    live = [zeros(10^6)]
    for expected in (2^11, 2^12, 2^12)
        before = kind.bytes
        # Several times: on a busy machine, much time may pass between the first two lines.
        @test any(1:100) do _
            kind.bytes, kind.ended_at = before, time_ns()
            Ebbtide.collect!(kind)
            kind.bytes == expected
        end
    end
    for expected in (2^12 - 2^9, 2^12 - 2^9 - (2^12 - 2^9) ÷ 8)
        # Long ago.
        kind.live, kind.ended_at = Base.gc_live_bytes(), 0
        foreach(_ -> zeros(10^6), 1:3)
        Ebbtide.collect!(kind)
        @test kind.bytes == expected
    end
    # The first one after a full one looks at all objects.
    kind.bytes, kind.live = kind.least, Base.gc_live_bytes()
    Ebbtide.FULL_SWEEPS[] -= 1
    foreach(_ -> zeros(10^6), 1:3)
    kind.ended_at = time_ns()
    Ebbtide.collect!(kind)
    @test kind.bytes == kind.least && Ebbtide.FULL_SWEEPS[] == Base.gc_num().full_sweep
    @test length(live) == 1
end

# Each array survives two quick collections, and dies.
function turn_ring(turns)
    ring, live = [zeros(10^6) for _ in 1:8], Int[]
    for turn in 1:turns
        make_due!()
        Ebbtide.QUICK.bytes = Ebbtide.QUICK.least
        ring[turn % 8 + 1] = @arena fill(turn, 10^6) .+ 0.5
        push!(live, Base.gc_live_bytes())
    end
    sum(first, ring), maximum(live) - minimum(live)
end

@testset "A06 memory is bounded if arrays die old" begin
    full = Ebbtide.FULL
    before, Ebbtide.FULL.most = (full.most, full.bytes), full.least
    full.bytes = full.least
    total, growth = turn_ring(80)
    full.most, full.bytes = before
    @test total == sum(73:80) + 4
    # It has allocated 1,280 MB.
    @test growth < 350 * 10^6
end

# In a function, whose frame does not keep the task alive.
@noinline use_buffer_in_task() = (wait(@async @no_escape fill!(@alloc(UInt8, 2^25), 1)[end]); nothing)

# Quick collections pass while each task's buffer is the last one that its thread has used.
function full_collections_of_ended_tasks()
    before, total = Base.gc_num().full_sweep, 0.0
    for n in 1:80
        use_buffer_in_task()
        for _ in 1:20
            total += @arena sum(collect(1:10^5) .+ n)
        end
    end
    total, Base.gc_num().full_sweep - before
end

@testset "A06 buffers of ended tasks do not grow old" begin
    Ebbtide.FULL.live = Base.gc_live_bytes()
    total, collections = full_collections_of_ended_tasks()
    @test total == 20 * 80 * sum(1:10^5) + 20 * 10^5 * sum(1:80)
    @test collections <= 5
end

mutable struct LastWords
    array::Any
end

@testset "A06 finalizers may use it, and keep arrays" begin
    stored = Any[]
    leave_to_finalizer() = (finalizer(object -> push!(stored, @arena object.array .+ 1), LastWords(zeros(10^4))); nothing)
    leave_to_finalizer()
    for _ in 1:3
        make_due!()
        @arena fill(1, 10^4)
        make_due!()
        GC.gc()
    end
    @test stored == [ones(10^4)]
end

@testset "A07 tasks, inside and at once" begin
    totals = @arena begin
        a = fill(1, 10^4)
        tasks = [Threads.@spawn(begin
            for _ in 1:50
                make_due!()
                @arena sum(collect(1:10^4) .+ n)
            end
            @arena sum(collect(1:10^4) .+ n) + a[1]
        end) for n in 1:32]
        map(fetch, tasks)
    end
    @test totals == [sum(1:10^4) + n * 10^4 + 1 for n in 1:32]
    @test Ebbtide.DUE_AT[] < typemax(Int64)
end

@testset "A08 the examples" begin
    for name in ("medians.jl", "parameter_search.jl")
        example = joinpath(@__DIR__, "..", "examples", name)
        run_example = Base.include(Module(), example)
        @test Base.invokelatest(run_example; small = true)
    end
end

@testset "no method is on types and functions that are not ours" begin
    @test isempty(Test.detect_ambiguities(Ebbtide))
    is_ours(x) = x isa Union{Type,Function} && occursin("Ebbtide", string(parentmodule(x)))
    mentions_ours(x) = x isa Union ? mentions_ours(x.a) || mentions_ours(x.b) :
        x isa UnionAll ? mentions_ours(x.body) || mentions_ours(x.var.ub) :
        x isa TypeVar ? mentions_ours(x.ub) :
        x isa DataType ? parentmodule(x) === Ebbtide || any(mentions_ours, x.parameters) : false
    pirates = Method[]
    for name in names(Base; all = true)
        isdefined(Base, name) || continue
        f = getfield(Base, name)
        f isa Function || continue
        for method in methods(f)
            method.module === Ebbtide && !mentions_ours(method.sig) && push!(pirates, method)
        end
    end
    @test pirates == Method[]
end
