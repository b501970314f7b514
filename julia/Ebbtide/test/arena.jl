# `@arena` and what belongs to it: rows A01 to A08.

const POOL = Ebbtide.ARENA_POOL
const LARGE = Ebbtide.ARENA_FLOOR ÷ 8

arrays_in_arenas() = sum(Int[arena.arrays[] for arena in POOL.arenas])

# How many arrays a call puts into arenas. The collector, which would count them off, is off.
function arrays_put_into_arenas(f)
    GC.enable(false)
    before = arrays_in_arenas()
    try
        f()
    finally
        GC.enable(true)
    end
    # What `f` returned may be garbage now, but it has not been collected.
    arrays_in_arenas() - before
end

function collect_garbage()
    foreach(_ -> GC.gc(), 1:3)
end

sum_of_two(n) = sum(collect(1:n) + collect(1:n))

# Fills and reads memory like code that knows nothing of arenas.
function fills_others(turns)
    for turn in 1:turns
        @arena sum(fill(turn, 4 * LARGE))
    end
end

@testset "A01 the result is the same with and without" begin
    for n in (0, 1, 10, LARGE, 10 * LARGE)
        @test (@arena sum(collect(1:n) + collect(1:n))) === sum_of_two(n)
        @test (@arena sum_of_two(n)) === sum_of_two(n)
    end
    formula(x) = (sqrt.(x) .+ 1) .* x
    x = collect(1.0:LARGE)
    @test (@arena formula(ScopedArray(x))) == formula(x)
    @test (@arena formula(ScopedArray(x))) isa Vector{Float64}
    @test arrays_put_into_arenas(() -> @arena sum(collect(1:LARGE) + collect(1:LARGE))) == 3
    @test arrays_put_into_arenas(() -> @arena sum_of_two(LARGE)) == 0
end

@testset "A01 what is derived from an array in an arena is in the arena" begin
    square = 512
    @arena begin
        a = zeros(square, square)
        @test a isa ScopedArray{Float64,2} && all(iszero, a)
        for derive in (similar, copy, collect, zero, a -> map(x -> x + 1, a), a -> a .+ 1, a -> a + a, a -> a * a,
                       a -> 2a, a -> -a, a -> Float32.(a), a -> a .== 0x01, a -> permutedims(a), a -> a[:, 1:end],
                       a -> reshape(a, :), vec, a -> similar(a, Int, (2, square)))
            b = derive(a)
            @test b isa ScopedArray
        end
        for derive in (similar, copy, a -> a .+ 1, a -> a * a, a -> map(x -> x + 1, a))
            @test arrays_put_into_arenas(() -> derive(a)) == 1
        end
        numbers, square_of_ones, bytes, pairs =
            ones(Int, LARGE), ones(2, 2), fill(0x03, (LARGE, 8)), collect((i, j) for i in 1:LARGE, j in 1:2)
        @test numbers isa ScopedArray{Int,1} && sum(numbers) == LARGE
        @test square_of_ones isa ScopedArray && square_of_ones == [1.0 1.0; 1.0 1.0]
        @test bytes isa ScopedArray{UInt8,2} && size(bytes) == (LARGE, 8)
        @test pairs == [(i, j) for i in 1:LARGE, j in 1:2]
        # Elements that are no plain bits have no place there.
        @test a .|> string isa Matrix{String}
        @test map(x -> big(x), a) isa Matrix{BigFloat}
        letters, anything, big_zeros, texts = collect("text"), collect(Any[1, 2]), zeros(BigInt, 2), fill("a", 2)
        @test letters == ['t', 'e', 'x', 't'] && anything isa Vector{Any}
        @test big_zeros == [0, 0] && texts == ["a", "a"]
    end
end

macro called_with(f, x)
    :($(esc(f))($(esc(x))))
end

@testset "A01 calls written in the block mean what they mean there" begin
    @test 4 == @arena @called_with(3) do x
        x + 1
    end
    copy_of_all(copy) = @arena copy(3)
    @test copy_of_all(x -> x + 1) == 4
    @test (@arena map([1, 2], [10, 20]) do x, y
        x + y
    end) == [11, 22]
    @test (@arena begin
        fill(x) = 2x
        fill(4)
    end) == 8
    @test (@arena sum(collect(i for i in 1:3 if isodd(i)))) == 4
    @test_throws ArgumentError @arena zeros(-1)
    @test_throws ArgumentError @arena ScopedArray{Float64}(undef, typemax(Int), typemax(Int))
    @test_throws ArgumentError ScopedArray{String}(undef, 2)
    early(x) = @arena begin
        x > 1 && return sum(zeros(LARGE))
        1.0
    end
    @test early(2) === 0.0 && early(0) === 1.0
    @test Ebbtide.serving_arena() === nothing
end

@testset "A02 scopes nest, and the inner one uses the arena of the outer" begin
    @arena begin
        outer = Ebbtide.serving_arena()
        a = fill(1, LARGE)
        inner = @arena begin
            @test Ebbtide.serving_arena() === outer
            sum(a .+ 1)
        end
        @test Ebbtide.serving_arena() === outer
        @test inner == 2 * LARGE && all(==(1), a)
    end
    @test Ebbtide.serving_arena() === nothing
end

@testset "A02 an exception ends its scopes" begin
    fails() = @arena begin
        a = zeros(LARGE)
        @arena a .= sqrt.(a .- 1)
    end
    @test_throws DomainError fails()
    @test Ebbtide.serving_arena() === nothing
    collect_garbage()
    @test arrays_in_arenas() == 0
end

@testset "A03 @noarena allocates ordinary arrays, and nothing needs it" begin
    results = Any[]
    @arena for n in 1:50
        y = fill(n, LARGE)
        @test Ebbtide.serving_arena() !== nothing
        @noarena begin
            @test Ebbtide.serving_arena() === nothing
            @test arrays_put_into_arenas(() -> ScopedArray{Int}(undef, LARGE)) == 0
            @test arrays_put_into_arenas(() -> @arena zeros(LARGE)) == 1
            push!(results, copyfromarena(y))
        end
    end
    forgetful = Any[]
    for n in 1:50
        @arena push!(forgetful, fill(n, LARGE))
    end
    fills_others(200)
    collect_garbage()
    fills_others(200)
    @test all(results[n] isa Vector{Int} && all(==(n), results[n]) for n in 1:50)
    @test all(forgetful[n] isa ScopedArray && all(==(n), forgetful[n]) for n in 1:50)
    @test (@noarena 1 + 1) == 2
end

@testset "A03 what leaves an @arena stays valid, whichever way" begin
    mutable_box = Ref{Any}()
    channel = Channel{Any}(1)
    local assigned, closure
    struct_of_array = @arena begin
        a = collect(1:LARGE)
        assigned = a
        closure = () -> sum(a)
        mutable_box[] = view(a, 2:LARGE)
        put!(channel, a)
        reinterpret(Float64, a) => reshape(parent(a), 2, :)
    end
    collect_garbage()
    fills_others(200)
    expected = collect(1:LARGE)
    @test assigned == expected
    @test closure() == sum(expected)
    @test mutable_box[] == expected[2:end]
    @test take!(channel) == expected
    @test reinterpret(Int, collect(first(struct_of_array))) == expected
    @test vec(last(struct_of_array)) == expected
    assigned = closure = mutable_box[] = struct_of_array = nothing
    close(channel)
end

mutable struct LastWords
    array::Any
end

@testset "A03 an array that a finalizer stores stays valid" begin
    stored = Any[]
    function leave_to_finalizer()
        @arena begin
            a = fill(1, LARGE)
            finalizer(object -> push!(stored, object.array), LastWords(a))
            nothing
        end
    end
    collect_garbage()
    clear_arena_pool!()
    leave_to_finalizer()
    GC.gc()
    clear_arena_pool!()
    @test length(stored) == 1
    # Its memory has not been freed, or used again.
    @test arrays_in_arenas() == 1 && length(POOL.arenas) == 1
    arrays_in_arenas() == 1 && fills_others(200)
    @test all(==(1), only(stored))
end

@testset "A03 copyfromarena" begin
    @arena begin
        a = ones(LARGE)
        @test copyfromarena(a) isa Vector{Float64}
        @test copyfromarena((a, 1)) == (parent(a), 1) && first(copyfromarena((a, 1))) isa Vector
        @test copyfromarena((x = a, y = "b")).x isa Vector
        @test copyfromarena([a, a]) isa Vector{Vector{Float64}}
        @test copyfromarena(7) === 7
        for derived in (view(a, 2:LARGE), reshape(a, :, 2), reshape(a, 2, :)', reinterpret(Int, a))
            copied = copyfromarena(derived)
            @test copied isa Array && copied == derived
        end
        mixed = copyfromarena(Any[a, "b", (a, 1)])
        @test mixed isa Vector{Any} && mixed[1] isa Vector && mixed[3][1] isa Vector
    end
    @test (@arena (ones(LARGE), 2)) isa Tuple{Vector{Float64},Int}
    @test (@arena [ones(LARGE), ones(LARGE)]) isa Vector{Vector{Float64}}
end

@testset "A03 copyfromarena copies ordinary objects as well" begin
    reused, copies = zeros(3), []
    for turn in 1:3
        reused .= turn
        push!(copies, copyfromarena(reused), copyfromarena((reused, 1))[1])
    end
    @test copies == [[1, 1, 1], [1, 1, 1], [2, 2, 2], [2, 2, 2], [3, 3, 3], [3, 3, 3]]
    for object in (Dict(:a => 1), Set(1:3), ["a", "b"], [zeros(2)], trues(3), Vector{String}(undef, 2))
        copied = copyfromarena(object)
        @test typeof(copied) === typeof(object) && copied !== object
    end
    @test copyfromarena("text") === "text" && copyfromarena(nothing) === nothing
    @test copyfromarena(1:3) === 1:3
end

@testset "A03 the value of an @arena keeps its identity" begin
    for object in ([(1, 2)], [(a = 1,)], Tuple[], Any[zeros(3)], zeros(3), Dict(1 => 2))
        @test (@arena object) === object
    end
end

@testset "A04 map_arena and mtmap_arena" begin
    f(n) = sum(ScopedArray(fill(n, LARGE)) .+ 1)
    items = 1:40
    @test map_arena(f, items) == map(f, items)
    @test mtmap_arena(f, items) == map(f, items) && mtmap_arena(f, items) isa Vector{Int}
    @test mtmap_arena(n -> ScopedArray(fill(n, LARGE)) .* 2, [1, 2]) == [fill(2, LARGE), fill(4, LARGE)]
    @test mtmap_arena(string, reshape(1:4, 2, 2)) == ["1" "3"; "2" "4"]
    @test isempty(mtmap_arena(f, Int[]))
    thrown = try
        mtmap_arena(_ -> throw(nothing), items)
    catch exception
        exception
    end
    @test thrown === nothing
    @test_throws DomainError(-3.0) mtmap_arena(n -> n < -2 ? throw(DomainError(float(n))) : sum(zeros(LARGE)), 0:-1:-20)
end

# In functions, whose variables are garbage when they return.
arena_of_a_scope() = @arena (zeros(LARGE); Ebbtide.serving_arena())
arena_of_a_scope_in_a_task() = fetch(@async arena_of_a_scope())
function keep_an_array(check)
    kept = @arena Ref(zeros(LARGE))
    check(kept)
end

@testset "A05 arenas go back to a pool, and belong to one task at a time" begin
    collect_garbage()
    clear_arena_pool!()
    @test isempty(POOL.arenas)
    @test length(unique(objectid(arena_of_a_scope()) for _ in 1:10)) == 1
    @test @arena begin
        mine = Ebbtide.serving_arena()
        mine !== nothing && arena_of_a_scope_in_a_task() !== mine && fetch(@async Ebbtide.serving_arena()) === nothing
    end
    keep_an_array() do kept
        clear_arena_pool!()
        @test length(POOL.arenas) == 1 && all(iszero, kept[])
    end
    @test @arena (arena_of_a_scope_in_a_task(); true)
    collect_garbage()
    @test length(POOL.arenas) == 2
    clear_arena_pool!(1)
    @test length(POOL.arenas) == 1
    @test_throws ArgumentError clear_arena_pool!(-1)
    clear_arena_pool!()
    @test isempty(POOL.arenas)
end

@testset "A05 a task that is gone leaves its arena to others" begin
    clear_arena_pool!()
    function abandon()
        task = @task @arena (zeros(LARGE); wait(Condition()))
        schedule(task)
        yield()
        nothing
    end
    abandon()
    @test count(Ebbtide.is_taken, POOL.arenas) == 1
    collect_garbage()
    clear_arena_pool!()
    @test isempty(POOL.arenas)
end

@testset "A06 small arrays, and those that do not fit, are ordinary ones" begin
    small = LARGE - 1
    @test arrays_put_into_arenas(() -> @arena zeros(small)) == 0
    @test arrays_put_into_arenas(() -> @arena zeros(LARGE)) == 1
    most_bytes, POOL.most_bytes = POOL.most_bytes, 2^21
    clear_arena_pool!()
    try
        # 16 arrays of 2^17 bytes and the headers do not fit 2^21.
        @arena begin
            arrays = [fill(n, 2^14) for n in 1:40]
            @test 1 < arrays_in_arenas() < 16
            @test all(all(==(n), arrays[n]) for n in 1:40)
        end
        collect_garbage()
        # What filled it is given back for other sizes.
        @test arrays_put_into_arenas(() -> @arena zeros(2^17)) == 1
    finally
        POOL.most_bytes = most_bytes
    end
end

@testset "A06 when all arenas are kept, arrays are ordinary ones" begin
    clear_arena_pool!()
    most_arenas, POOL.most_arenas = POOL.most_arenas, 1
    try
        @arena begin
            @test fetch(@async @arena (zeros(LARGE); Ebbtide.serving_arena())) === nothing
            @test Ebbtide.serving_arena() !== nothing
        end
    finally
        POOL.most_arenas = most_arenas
    end
end

@testset "A06 the memory that waits for the collector is bounded" begin
    clear_arena_pool!()
    fills_others(20_000)
    @test sum(Int[held(arena.buffer) for arena in POOL.arenas]) <=
        Ebbtide.MOST_WAITING_BYTES + POOL.most_bytes
    # Nor does memory grow when the collector is off: then arrays are ordinary ones.
    GC.enable(false)
    fills_others(2_000)
    GC.enable(true)
    @test sum(Int[held(arena.buffer) for arena in POOL.arenas]) <=
        Ebbtide.MOST_WAITING_BYTES + POOL.most_bytes
end

@testset "A07 tasks that are spawned inside have arenas of their own" begin
    totals = @arena begin
        a = fill(1, LARGE)
        tasks = [Threads.@spawn(@arena sum(collect(1:LARGE) .+ n) + a[1]) for n in 1:32]
        map(fetch, tasks)
    end
    @test totals == [sum(1:LARGE) + n * LARGE + 1 for n in 1:32]
end

@testset "A08 the examples" begin
    for name in ("medians.jl", "parameter_search.jl")
        example = joinpath(@__DIR__, "..", "examples", name)
        @test Base.include(Module(), example)(small = true)
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
