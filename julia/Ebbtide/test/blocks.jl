# What Bumper.jl's tests and documentation show, B01 to B30.

@testset "B01 the example gives 9" begin
    @test incremented_sum([1, 2, 3]) == 9
    @test incremented_sum([1.0, 2.0, 3.0]) == 9.0
end

@testset "B02-B06 a block gives its memory back" begin
    for buffer in (default_buffer(), SlabBuffer{16_384}(), AllocBuffer(100), ResizeBuffer())
        @test incremented_sum([1, 2, 3], buffer) == 9
        @test used(buffer) == 0
        @test incremented_sum_by_function([1, 2, 3], buffer) == 9
        @test used(buffer) == 0
        @no_escape buffer begin
            @alloc(Int, 3)
            @test used(buffer) in 24:31 # with the padding that aligns it
        end
        @test used(buffer) == 0
    end
end

@testset "B07-B09 a warm block allocates nothing on Julia's heap" begin
    v = [1, 2, 3]
    on_default() = @allocated incremented_sum(v)
    on(buffer) = @allocated incremented_sum(v, buffer)
    by_function(buffer) = @allocated incremented_sum_by_function(v, buffer)
    for buffer in (SlabBuffer(), AllocBuffer(100), ResizeBuffer())
        on_default(), on(buffer), by_function(buffer)
        @test on_default() == 0
        @test on(buffer) == 0
        @test by_function(buffer) == 0
    end
end

@testset "B10-B16 slabs" begin
    slab = 16_384
    buffer = SlabBuffer{slab}()
    for turn in 1:2
        @no_escape buffer begin
            x = @alloc(Int8, slab ÷ 2 - 1)
            y = @alloc(Int8, slab ÷ 2 - 1)
            @test address(x) == address(y) + slab ÷ 2 - 1
            before = used(buffer)
            @test before == 2 * (slab ÷ 2 - 1)
            for _ in 1:5
                @no_escape buffer begin
                    z = @alloc(Int, 10)
                    @test !(address(y) <= address(z) < address(x) + slab)
                    @test sum(fill!(z, 1)) == 10
                end
            end
            large = @alloc(Int, 100_000)
            large .= 2
            @test Ebbtide.stats(buffer).oversize == 1
            # The present chunk stays: what is allocated next does not lie behind the large array.
            small = @alloc(Int8, 2)
            @test abs(Int(address(small)) - Int(address(large))) > 2
            @test sum(large) == 200_000
        end
        @test used(buffer) == 0
        # The second turn takes nothing more from the heap.
        @test chunks(buffer) == 3
    end
    @test Ebbtide.trim!(buffer) === buffer
    @test chunks(buffer) == 1
end

@testset "B15 addresses" begin
    buffer = SlabBuffer{16_384}()
    @no_escape buffer begin
        p = @alloc_ptr(10)
        @test p isa Ptr{Nothing}
        @test UInt(p) % 16 == 0
        @test used(buffer) == 16
        q = @alloc_ptr(100_000)
        @test UInt(q) % 16 == 0
        unsafe_store!(Ptr{UInt8}(q), 0x01, 100_000)
    end
    @test used(buffer) == 0
end

@testset "B17 an exception is rewound by the block around it, by with_buffer, and by strict blocks" begin
    buffer = SlabBuffer{16_384}()
    throwing() = @no_escape buffer begin
        @alloc(Int8, 16_383)
        @alloc(Int8, 100_000)
        throw("Boo!")
    end
    @no_escape buffer begin
        @test_throws String throwing()
        @test used(buffer) > 100_000
    end
    @test used(buffer) == 0

    @test_throws String @no_escape buffer strict = true begin
        @alloc(Int8, 100_000)
        throw("Boo!")
    end
    @test used(buffer) == 0

    slab = SlabBuffer()
    @test_throws String with_buffer(slab) do
        @no_escape begin
            @alloc(Int8, 100_000)
            throw("Boo!")
        end
    end
    @test used(slab) == 0
end

@testset "B18, B23 reset_buffer!" begin
    for buffer in (SlabBuffer{16_384}(), AllocBuffer(200_000), ResizeBuffer())
        try
            @no_escape buffer begin
                @alloc(Int8, 100_000)
                throw("Boo!")
            end
        catch
        end
        @test used(buffer) >= 100_000
        @test Ebbtide.reset_buffer!(buffer) === buffer
        @test used(buffer) == 0
    end
    Ebbtide.alloc!(default_buffer(), Int, 3)
    Ebbtide.reset_buffer!()
    @test used(default_buffer()) == 0
end

@testset "B19-B21 nested blocks" begin
    buffer, other = AllocBuffer(96), AllocBuffer(96)
    @no_escape buffer begin
        y = @alloc(Int, 3)
        y .= 1
        before = used(buffer)
        @no_escape buffer begin
            z = @alloc(Int, 3)
            z .= 2
            @test address(y) + 24 == address(z)
            @test used(buffer) == before + 24
        end
        @test used(buffer) == before
        @no_escape other begin
            z = @alloc(Int, 3)
            @test used(other) == 24
            @test used(buffer) == before
            @test pointer(other.buf) <= Ptr{UInt8}(pointer(z)) < pointer(other.buf) + 96
        end
        @test sum(y) == 3
    end
end

@testset "B22 a full buffer refuses, and is as it was" begin
    for buffer in (AllocBuffer(96), SlabBuffer{16_384}(; limit = 20_000))
        @no_escape buffer begin
            y = @alloc(Int, 3)
            y .= 7
            @test_throws BufferErrorType Ebbtide.alloc!(buffer, Int, 100_000)
            @test used(buffer) == 24
            z = @alloc(Int, 3)
            z .= 8
            @test sum(y) == 21
        end
    end
    # A buffer of n bytes holds n.
    buffer = AllocBuffer(100)
    @no_escape buffer begin
        bytes = @alloc(UInt8, 100)
        bytes .= 1
        @test sum(bytes) == 100
        @test_throws BufferErrorType @alloc(UInt8, 1)
    end
end

struct Holder{T}
    inner::T
end
mutable struct Variable
    value::Any
end

struct NumberOfArray <: Number
    value::Any
end
struct TextOfArray <: AbstractString
    value::Any
end

@static if isdefined(Base, :isfieldatomic)
    mutable struct AtomicVariable
        @atomic value::Any
    end
end

function atomic_memory_of(y, T)
    memory = AtomicMemory{T}(undef, 1)
    Core.memoryrefset!(GenericMemoryRef(memory), y, :monotonic, true)
    memory
end

const KEPT = Variable(nothing) # a mutable object, which is a weak key

@testset "B24 an array does not leave its block" begin
    buffer = SlabBuffer()
    escaping = Function[
        y -> y,
        y -> (1, y),
        y -> (a = 1, b = (y, 2)),
        y -> Holder(y),
        y -> Holder(Holder((y,))),
        y -> Variable(y),
        y -> (() -> y),
        y -> view(y, 1:2),
        y -> reshape(y, 3, 1),
        y -> transpose(y),
        y -> Ref{Any}(y),
        y -> [y],
        y -> Any[1, y],
        y -> Union{Nothing,typeof(y)}[nothing, y],
        y -> NumberOfArray(y),
        y -> TextOfArray(y),
        y -> IOBuffer(reinterpret(UInt8, y)),
        y -> AllocBuffer(y),
        y -> Task(() -> y),
        y -> (task = @async(y); wait(task); task),
        y -> Pair{Any,Any}(:a, 1 => y),
        y -> Dict(1 => y),
        y -> Dict(y => 1),
        y -> Dict{Any,Any}(:a => :b, y => 1),
        y -> IdDict(:a => y),
        y -> IdDict(y => :a),
        y -> WeakKeyDict(KEPT => y),
        y -> Set((y,)),
        y -> Base.IdSet{Any}((y,)),
        y -> Base.ImmutableDict(:a => y),
        y -> Dict(1 => Set(([y],))),
        y -> Core.svec(1, y),
        y -> (1, Core.svec(Core.svec(y))),
        y -> (KEPT.value = y; WeakRef(KEPT)),
        y -> Some(y),
        y -> Ref(y, 2),
        y -> Ref((y, 1)),
        y -> (x + 1 for x in y),
        y -> zip(1:3, y),
        y -> Iterators.drop(y, 1),
        y -> (c = Channel{Any}(1); put!(c, y); c),
        y -> Base.Fix2(in, y),
        y -> sin ∘ (x -> y),
        y -> Expr(:call, :f, y),
        y -> QuoteNode(y),
        y -> Symmetric(reshape(view(y, 1:1), 1, 1)),
        y -> Broadcast.broadcasted(+, y, 1),
        y -> DomainError(y),
    ]
    if isdefined(Core, :GenericMemory)
        append!(escaping, [
            y -> fill!(Memory{Any}(undef, 2), y),
            y -> (m = Memory{Any}(undef, 20); m[20] = y; m),
            y -> fill!(Memory{typeof(y)}(undef, 1), y),
            y -> fill!(Memory{Union{Nothing,typeof(y)}}(undef, 1), y),
            y -> memoryref(fill!(Memory{Any}(undef, 2), y), 2),
            y -> Holder(memoryref(fill!(Memory{typeof(y)}(undef, 2), y))),
            y -> atomic_memory_of(y, Any),
            y -> atomic_memory_of(y, typeof(y)),
            y -> GenericMemoryRef(atomic_memory_of(y, Any)),
        ])
    end
    isdefined(Base, :isfieldatomic) && push!(escaping, y -> (AtomicVariable(1), AtomicVariable([y])))
    for value in escaping
        @test_throws EscapeErrorType @no_escape buffer value(@alloc(Int, 3))
        @test used(buffer) == 0
    end
    returned() = @no_escape buffer begin
        y = @alloc(Int, 3)
        return y
    end
    @test_throws EscapeErrorType returned()

    # Also when the block has gone on to another chunk.
    small = SlabBuffer{1024}()
    @test_throws EscapeErrorType @no_escape small begin
        y = @alloc(Int, 3)
        @alloc(Int, 10_000)
        (y,)
    end

    # What does not leave is fine, and what belongs to an outer block.
    @test (@no_escape buffer copy(fill!(@alloc(Int, 3), 2))) == [2, 2, 2]
    @no_escape small begin
        y = @alloc(Int, 3)
        z = @no_escape small begin
            @alloc(Int, 3)
            y .= 4
        end
        @test z === y
        z = @no_escape small begin
            @alloc(Int, 10_000)
            (y, 1)
        end
        @test z === (y, 1)
    end
end

@testset "what is left of an array that was removed does not count" begin
    buffer = SlabBuffer()
    for collection in (Dict{Int,ArenaArray{Int,1}}(), Dict{ArenaArray{Int,1},Int}(), IdDict(), Dict())
        @test collection === @no_escape buffer begin
            y = fill!(@alloc(Int, 3), 1)
            key, value = collection isa Dict{ArenaArray{Int,1},Int} ? (y, 1) : (1, y)
            collection[key] = value
            delete!(collection, key)
        end
    end
end

@testset "a test may be the last statement of a block" begin
    @no_escape begin
        y = fill!(@alloc(Int, 3), 1)
        @test y == [1, 1, 1]
    end
    @no_escape begin
        y = @alloc(Int, 3)
        @test_throws BoundsError y[4]
    end
end

@testset "a value with atomic fields may leave its block" begin
    @test (@no_escape (@alloc(Int, 3); Channel{Any}(1))) isa Channel
    isdefined(Base, :isfieldatomic) && @test (@no_escape (@alloc(Int, 3); AtomicVariable([1]))).value == [1]
end

@testset "allow_ptr_array_to_escape turns the search off" begin
    leaving(buffer) = @no_escape buffer (@alloc(Int, 1), 1)
    allow(yes) = Core.eval(Ebbtide, :(allow_ptr_array_to_escape() = $yes))
    allow(true)
    try
        @test Base.invokelatest(leaving, SlabBuffer()) isa Tuple
    finally
        allow(false)
    end
    @test_throws EscapeErrorType Base.invokelatest(leaving, SlabBuffer())
end

@testset "B25 another task cannot allocate in a block" begin
    for buffer in (default_buffer(), SlabBuffer())
        failed = @no_escape buffer begin
            try
                @sync @async @alloc(Int, 10)
                nothing
            catch error
                error
            end
        end
        @test occursin("another task", sprint(showerror, failed))
        @test used(buffer) == 0
    end
    # The same task may, in a closure.
    @test 6 == @no_escape begin
        ones_of(n) = fill!(@alloc(Int, n), 1)
        sum(sum(ones_of(n)) for n in 1:3)
    end
end

macro leave_with(value)
    esc(:(return $value))
end

@testset "B26 return rewinds" begin
    buffer = SlabBuffer()
    by_return(n) = begin
        @no_escape buffer begin
            y = fill!(@alloc(Int, 3), n)
            n > 1 && return sum(y)
            n == 1 && return
            0
        end
    end
    @test (by_return(2), by_return(1), by_return(0)) === (6, nothing, 0)
    @test used(buffer) == 0

    by_macro() = @no_escape buffer begin
        @leave_with sum(fill!(@alloc(Int, 3), 2))
    end
    @test by_macro() == 6
    @test used(buffer) == 0

    # A function inside of a block returns from itself.
    @test 12 == @no_escape buffer begin
        twice(x) = begin
            return 2x
        end
        function thrice(x)
            return 3x
        end
        y = fill!(@alloc(Int, 1), 2)
        twice(y[1]) + map(x -> (return x), y)[1] + thrice(y[1])
    end
end

@testset "B27 goto rewinds" begin
    buffer = SlabBuffer()
    function by_goto(n)
        @no_escape buffer begin
            y = @alloc(Int, 3)
            m = 0
            @label again
            y .= m
            m += 1
            m < 3 && @goto again
            n == 1 && @goto done
            sum(y)
        end
        return 1
        @label done
        return used(buffer)
    end
    @test by_goto(0) == 1
    @test by_goto(1) == 0

    # Nobody jumps into a block.
    @test_throws Exception Core.eval(@__MODULE__, :(function ()
        @goto inside
        @no_escape begin
            @label inside
        end
    end))
end

@testset "B28, B29 break and continue rewind" begin
    buffer = SlabBuffer()
    function by_loop()
        seen = 0
        for n in 1:10
            @no_escape buffer begin
                y = fill!(@alloc(Int, 3), n)
                isodd(n) && continue
                for m in 1:3
                    m == 2 && break # leaves the inner loop only
                    seen += sum(y)
                end
                fill!(@alloc(Int, 3), 100)
                seen += sum(y)
                n == 8 && break
            end
            used(buffer) == 0 || error("not rewound")
        end
        seen
    end
    @test by_loop() == 2 * 3 * (2 + 4 + 6 + 8)
    @test used(buffer) == 0
end

@testset "B30 two blocks are left at once" begin
    buffer, other = SlabBuffer(), SlabBuffer()
    nested() = @no_escape buffer begin
        x = fill!(@alloc(Int, 3), 1)
        @no_escape other begin
            y = fill!(@alloc(Int, 3), 2)
            @no_escape other begin
                @alloc(Int, 3)
                return sum(x) + sum(y)
            end
        end
    end
    @test nested() == 9
    @test used(buffer) == used(other) == 0

    # Out of the loop around both, and out of a loop between them.
    function by_loops()
        seen = 0
        for n in 1:4
            @no_escape buffer begin
                x = fill!(@alloc(Int, 3), n)
                for m in 1:4
                    @no_escape buffer begin
                        y = fill!(@alloc(Int, 3), m)
                        m == 3 && break
                        seen += sum(y)
                    end
                end
                @no_escape buffer begin
                    z = fill!(@alloc(Int, 3), 100)
                    sum(x) == 3n || error("rewound too early")
                    isodd(n) && continue
                    seen += sum(z)
                end
            end
        end
        seen
    end
    @test by_loops() == 4 * 9 + 2 * 300
    @test used(buffer) == 0
end

@testset "a finally clause runs before the block ends" begin
    buffer = SlabBuffer()
    function by_finally(log)
        @no_escape buffer begin
            y = fill!(@alloc(Int, 3), 5)
            try
                return sum(y)
            finally
                z = fill!(@alloc(Int, 3), 6)
                push!(log, sum(y) + sum(z))
            end
        end
    end
    log = Int[]
    @test by_finally(log) == 15
    @test log == [33]
    @test used(buffer) == 0
end

# Whether an array is as it was after another one was allocated: it has not been rewound before.
function is_alive(x)
    y = fill!(Ebbtide.alloc!(default_buffer(), Int, length(x)), 2)
    all(==(1), x) && address(x) != address(y)
end

@testset "a return that does not leave the block does not rewind it" begin
    in_finally() = @no_escape begin
        x = fill!(@alloc(Int, 10), 1)
        log = Bool[]
        (() -> @no_escape begin
            y = fill!(@alloc(Int, 10), 1)
            try
                return 1
            finally
                try
                finally
                end
                push!(log, is_alive(x), is_alive(y))
            end
        end)()
        all(log)
    end
    by_break() = @no_escape begin
        x = fill!(@alloc(Int, 10), 1)
        while true
            try
                return false
            finally
                break
            end
        end
        try
        finally
        end
        is_alive(x)
    end
    by_break_in_try() = @no_escape begin
        x = fill!(@alloc(Int, 10), 1)
        try
            for _ in 1:2
                try
                    return false
                finally
                    continue
                end
            end
        finally
            nothing
        end
        is_alive(x)
    end
    by_goto() = @no_escape begin
        x = fill!(@alloc(Int, 10), 1)
        n = 0
        try
            @label again
            n += 1
            try
                n == 1 && return false
            finally
                n == 1 && @goto again
            end
        catch
        end
        is_alive(x)
    end
    by_exception() = @no_escape begin
        x = fill!(@alloc(Int, 10), 1)
        for turn in 1:2
            try
                try
                    turn == 1 && return false
                finally
                    turn == 1 && error("cannot close")
                end
            catch
            end
        end
        is_alive(x)
    end
    by_exception_twice() = @no_escape begin
        x = fill!(@alloc(Int, 10), 1)
        try
            try
                try
                    return false
                finally
                    error("cannot close")
                end
            finally
            end
        catch
        end
        is_alive(x)
    end
    for f in (in_finally, by_break, by_break_in_try, by_goto, by_exception, by_exception_twice)
        @test f()
        @test used(default_buffer()) == 0
    end
end

@testset "what a finally clause does by itself does not keep the block open" begin
    buffer = SlabBuffer()
    function leave()
        @no_escape buffer begin
            @alloc(Int, 10)
            try
                try
                    return 1
                finally
                    try
                        error("cannot close")
                    catch
                    end
                    for n in 1:2
                        n == 1 && continue
                        break
                    end
                end
            catch
            end
        end
        2
    end
    @test leave() == 1
    @test used(buffer) == 0
    # A `try` in the clause may leave, and be overridden, too.
    function leave_in_clause(overridden)
        @no_escape buffer begin
            x = fill!(@alloc(Int, 10), 1)
            for _ in 1:2
                try
                    try
                    finally
                        try
                            return 1
                        finally
                            overridden && break
                        end
                    end
                catch
                end
            end
            y = fill!(@alloc(Int, 10), 2)
            all(==(1), x) && address(x) != address(y) ? 2 : 3
        end
    end
    @test (leave_in_clause(false), leave_in_clause(true)) == (1, 2)
    @test used(buffer) == 0
end

@testset "a block cannot catch that its array escapes" begin
    for strict in (false, true)
        f = @eval () -> @no_escape strict = $strict begin
            x = fill!(@alloc(Int, 10), 1)
            try
                return x
            catch
            end
            is_alive(x)
        end
        @test_throws EscapeErrorType Base.invokelatest(f)
        @test used(default_buffer()) == 0
    end
    # The block around it can: it goes on.
    outer() = @no_escape begin
        x = fill!(@alloc(Int, 10), 1)
        try
            @no_escape begin
                return fill!(@alloc(Int, 10), 2)
            end
        catch
        end
        is_alive(x)
    end
    @test outer()
    @test used(default_buffer()) == 0
end

@testset "what a loop iterates over may leave the loop around it" begin
    buffer = SlabBuffer()
    for n in 1:2
        @no_escape buffer begin
            @alloc(Int, 10)
            for _ in (n == 1 && break; 1:3)
            end
        end
    end
    @test used(buffer) == 0
end

@testset "strict blocks are left early" begin
    buffer = SlabBuffer()
    strict(n) = begin
        for _ in 1:2
            @no_escape buffer strict = true begin
                y = fill!(@alloc(Int, 3), n)
                n == 1 && break
                n == 2 && return sum(y)
            end
        end
        0
    end
    @test (strict(1), strict(2), strict(3)) == (0, 6, 0)
    @test used(buffer) == 0
end

# The type that the value of `f` is inferred to have. One of several methods may be called.
inferred(f, types...) = Union{Base.return_types(f, types)...}

# In functions, where the types of the arguments are known.
function early_value(x)
    @no_escape begin
        y = copyto!(@alloc(Float64, length(x)), x)
        maximum(y) > 3 && return 3.0
        sum(y)
    end
end
function early_value_strict(x)
    @no_escape strict = true begin
        y = copyto!(@alloc(Float64, length(x)), x)
        maximum(y) > 3 && return 3.0
        sum(y)
    end
end
function early_value_in_try(x)
    @no_escape strict = true begin
        y = copyto!(@alloc(Float64, length(x)), x)
        try
            maximum(y) > 3 && return 3.0
            @no_escape strict = true sum(copyto!(@alloc(Float64, 2), y)[1:length(x)])
        catch
            0.0
        end
    end
end
function value_on(buffer, x)
    @no_escape buffer begin
        y = @alloc(Float64, length(x))
        foreach(i -> y[i] = x[i], eachindex(x))
        sum(y)
    end
end
function strict_value_on(buffer, x)
    @no_escape buffer strict = true begin
        y = copyto!(@alloc(Float64, length(x)), x)
        for value in y
            value > 3 && return value
            value < 0 && break
        end
        z = @alloc_nothrow(Float64, 1)
        z === nothing ? 0.0 : sum(y)
    end
end

is_null(scope) = scope == C_NULL

const BUFFER_TYPES = (SlabBuffer{1_048_576}, SlabBuffer{16_384}, ResizeBuffer,
    AllocBuffer{Vector{UInt8}}, AllocBuffer{Matrix{Int}}, Ebbtide.DefaultBuffer)

@testset "the type of a block's value is inferred" begin
    for f in (early_value, early_value_strict, early_value_in_try)
        @test (@inferred(f([1.0, 2.0])), @inferred(f([4.0]))) === (3.0, 3.0)
    end
    for f in (value_on, strict_value_on), buffer in BUFFER_TYPES
        @test inferred(f, buffer, Vector{Float64}) === Float64
    end
end

# The calls in the optimised code of `f` whose method is found at run time. Julia does not optimise what makes
# an exception.
function dynamic_calls(f, types...)
    called(x) = x isa GlobalRef ? getfield(x.mod, x.name) : x
    is_dynamic(x) = x isa Expr && (x.head === :(=) ? is_dynamic(x.args[2]) :
        x.head === :call && !(called(x.args[1]) isa Union{Core.IntrinsicFunction,Core.Builtin,Type{<:Exception}}))
    [statement for (code, _) in code_typed(f, types) for statement in code.code if is_dynamic(statement)]
end

@testset "no method is looked up in a block" begin
    for buffer in BUFFER_TYPES
        for f in (value_on, strict_value_on)
            @test (f, buffer, dynamic_calls(f, buffer, Vector{Float64})) == (f, buffer, [])
        end
        @test dynamic_calls(incremented_sum, Vector{Float64}, buffer) == []
    end
    for f in (early_value, early_value_strict, early_value_in_try, incremented_sum)
        @test (f, dynamic_calls(f, Vector{Float64})) == (f, [])
    end
    @test !isempty(dynamic_calls(value_on, Any, Vector{Float64}))
end

@testset "the types of the functions are inferred" begin
    Bytes, Default, Slab = Vector{UInt8}, Ebbtide.DefaultBuffer, SlabBuffer{1_048_576}
    for B in BUFFER_TYPES
        P = inferred(Ebbtide.checkpoint_save, B)
        for (f, types, expected) in (
            (Ebbtide.alloc!, (B, Type{Int}, Int), ArenaArray{Int,1}),
            (Ebbtide.alloc!, (B, Type{Int}, Int, UInt8), ArenaArray{Int,2}),
            (Ebbtide.alloc!, (B, Type{Int}, Tuple{Int,Int}), ArenaArray{Int,2}),
            (Ebbtide.alloc_ptr!, (B, Int), Ptr{Cvoid}),
            (alloc, (Type{Int}, B, Int), ArenaArray{Int,1}),
            (alloc_nothrow, (Type{Int}, B, Int), Union{Nothing,ArenaArray{Int,1}}),
            (Ebbtide.checkpoint_restore!, (P,), Nothing),
            (Ebbtide.no_escape, (typeof(default_buffer), B), Default),
            (Ebbtide.with_scope, (typeof(is_null), B), Bool),
            (Ebbtide.used, (B,), Int), (Ebbtide.capacity, (B,), Int), (Ebbtide.limit, (B,), Int),
            (Ebbtide.stats, (B,), Ebbtide.Stats), (Ebbtide.reset_buffer!, (B,), B),
            (Ebbtide.trim!, (B,), B), (Ebbtide.set_limit!, (B, Int), B), (Ebbtide.free, (B,), Nothing))
            @test (f, types, inferred(f, types...)) == (f, types, expected)
        end
        @test isconcretetype(P)
    end
    for B in (Slab, AllocBuffer{Bytes})
        @test inferred(with_buffer, typeof(rand), B) === Float64
    end
    for (f, types, expected) in (
        (alloc, (Type{Int}, Int, Int), ArenaArray{Int,2}),
        (SlabBuffer, (), Slab), (SlabBuffer{16_384}, (), SlabBuffer{16_384}),
        (ResizeBuffer, (Int,), ResizeBuffer), (AllocBuffer, (), AllocBuffer{Bytes}),
        (AllocBuffer, (Int,), AllocBuffer{Bytes}), (AllocBuffer, (Matrix{Int},), AllocBuffer{Matrix{Int}}),
        (default_buffer, (Type{SlabBuffer},), Slab),
        (default_buffer, (Type{AllocBuffer},), AllocBuffer{Bytes}),
        (Ebbtide.checkpoint_save, (), Ebbtide.Checkpoint{Default}),
        (Ebbtide.stats, (), Ebbtide.Stats), (set_default_buffer_size!, (Int,), Int),
        (Ebbtide.no_escape, (typeof(rand),), Float64),
        # One of two types, after `with_buffer`.
        (default_buffer, (), Default), (Ebbtide.reset_buffer!, (), Default),
        (Ebbtide.trim!, (), Default))
        @test (f, types, inferred(f, types...)) == (f, types, expected)
    end
end
