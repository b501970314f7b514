# Where the macros are found, and buffers of other packages.

module NotImported
import Ebbtide
# Neither macro is imported.
f(x) = Ebbtide.@no_escape begin
    y = Ebbtide.@alloc(Int, length(x))
    y .= x .+ 1
    z = @alloc(Int, length(x))
    z .= y
    sum(z)
end
in_macro() = Ebbtide.@no_escape begin
    @inbounds z = fill!(@alloc(Int, 3), 1)
    sum(z)
end
nested() = Ebbtide.@no_escape begin
    y = fill!(Ebbtide.@alloc(Int, 3), 1)
    Ebbtide.@no_escape begin
        z = fill!(Ebbtide.@alloc(Int, 3), 2)
        sum(z) == 6 && return sum(y) + sum(z)
    end
end
end

module Renamed
import Ebbtide
const E = Ebbtide
f() = E.@no_escape sum(fill!(E.@alloc(Int, 3), 1))
g(b) = E.@no_escape b unsafe_load(Ptr{UInt8}(E.@alloc_ptr(1))) isa UInt8
end

module WithOwnMacro
using Ebbtide: @no_escape
macro alloc(x)
    esc(:($x + 1))
end
f(n) = @no_escape @alloc(n)
end

module NamedBumper
using Ebbtide
const Bumper = Ebbtide
function sum_of_two(x)
    Bumper.@no_escape begin
        y, z = Bumper.@alloc(Int, length(x)), Bumper.alloc!(Bumper.default_buffer(), Int, 3)
        sum(y .= x) + sum(z .= 1)
    end
end
end

@testset "a program that keeps the name Bumper" begin
    before = used(default_buffer())
    @test NamedBumper.sum_of_two([1, 2, 3]) == 9
    @test used(default_buffer()) == before
end

@testset "qualified names, and names that mean something else" begin
    @test NotImported.f([1, 2, 3]) == 9
    @test NotImported.nested() == 9
    @test Renamed.f() == 3
    @test Renamed.g(SlabBuffer())
    @test WithOwnMacro.f(1) == 2
    @test occursin("NoSuchModule", expansion_error(:(@no_escape NoSuchModule.@alloc(Int, 1))))
    @test used(default_buffer()) == 0
end

macro summed(array)
    :(sum($(esc(array))))
end
macro twice(ex)
    quote
        $(esc(ex))
        $(esc(ex))
    end
end

macro in_block(buffer, ex)
    quote
        @no_escape $(esc(buffer)) begin
            ones = fill!(@alloc(Int, 3), 1)
            $(esc(ex)) + sum(ones)
        end
    end
end

@testset "a block in another macro, around what the user wrote" begin
    buffer = SlabBuffer()
    in_macro(n) = @in_block buffer begin
        n == 0 && return 0
        y = fill!(@alloc(Int, n), 2)
        sum(map(v -> v + sum(fill!(@alloc(Int, 1), 1)), y))
    end
    @test (in_macro(0), in_macro(1), in_macro(2)) == (0, 6, 9)
    @test used(buffer) == 0
end

# Its variable is used in another macro only.
macro counted(index, array)
    quote
        local total = 0
        @inbounds total += $(esc(array))[$(esc(index))]
        total
    end
end

@testset "the variables of a macro are its own, in macros that it uses too" begin
    of_user(total, i) = @no_escape begin
        a = fill!(@alloc(Int, 4), 1)
        Threads.@threads for k in 1:4
            a[k] += total[i]
        end
        @counted(i, a) + sum(a)
    end
    # `r` and `i` are names in `@threads`.
    shadowing(r, i) = @no_escape begin
        a = fill!(@alloc(Int, 4), 0)
        Threads.@threads for k in 1:4
            a[k] += r[i]
        end
        Tuple(a)
    end
    @test of_user([5, 6], 2) == 7 + 28
    @test shadowing([1, 1, 1, 1], 2) == (1, 1, 1, 1)
    @test used(default_buffer()) == 0
end

macro applied(f, x)
    :($(esc(f))($(esc(x))))
end

# Nobody finds an @alloc in this expansion.
macro taken_out(ex)
    expanded = macroexpand(__module__, ex)
    :(eval($(QuoteNode(expanded))))
end

@testset "macros around @alloc" begin
    @test 12 == @no_escape begin
        @inbounds x = fill!(@alloc(Int, 3), 2)
        y = @applied(3) do n
            @inbounds fill!(@alloc(Int, n), 2)
        end
        sum(x) + sum(y)
    end
    @test NotImported.in_macro() == 3
    leave() = @no_escape begin
        @alloc(Int, 3)
        :(x + $(return 3))
    end
    @test leave() == 3
    @test used(default_buffer()) == 0
    @test_throws ArgumentError @no_escape @taken_out @alloc(Int, 1)
end

@testset "macros, quotes and scopes in a block" begin
    buffer = SlabBuffer()
    @test 3 == @no_escape buffer @summed(fill!(@alloc(Int, 3), 1))
    @no_escape buffer begin
        @twice @alloc(Int, 1)
        @test used(buffer) == 16
    end
    @test (@no_escape buffer :(return @alloc(x))) == :(return @alloc(x))
    # What the block assigns is seen after it, as in any `begin` block.
    function visible()
        @no_escape buffer begin
            y = fill!(@alloc(Int, 3), 1)
            total = sum(y)
        end
        total
    end
    @test visible() == 3
    # In a comprehension, a do block, a let, a generator, and with short circuits.
    @test 12 == @no_escape buffer begin
        y = fill!(@alloc(Int, 3), 1)
        squares = [v * 2 for v in y]
        doubled = map(y) do v
            v > 0 || return 0
            2v
        end
        let z = @alloc(Int, 3)
            z .= 0
        end
        sum(squares) + sum(v * 2 for v in y)
    end
    while true
        @no_escape buffer begin
            @alloc(Int, 3)
            break
        end
    end
    @test used(buffer) == 0
end

# The allocator of the documentation.
include_string(@__MODULE__, only(code_blocks(joinpath("docs", "src", "own.md"))))
Tape() = Tape(Vector{UInt8}(undef, 100), 0)
Ebbtide.default_buffer(::Type{Tape}) = get!(Tape, task_local_storage(), :tape)::Tape

@testset "buffers of other types" begin
    tape = Tape()
    @test incremented_sum([1, 2, 3], tape) == 9
    @test tape.at == 0
    @test_throws ErrorException incremented_sum(1:100, tape)
    @test_throws Ebbtide.EscapeError @no_escape tape @alloc(Int, 3)
    @test tape.at == 0
    @test incremented_sum([1, 2, 3], default_buffer(Tape)) == 9
    v = [1, 2, 3]
    on(tape) = @allocated incremented_sum(v, tape)
    on(tape)
    @test on(tape) == 0
end

# A buffer that counts the blocks that are open in it, and returns addresses of its words.
mutable struct Words
    words::Vector{UInt64}
    open_blocks::Int
end
Ebbtide.alloc_ptr!(b::Words, bytes::Int) = pointer(b.words)
Ebbtide.checkpoint_save(b::Words) = (b.open_blocks += 1; b)
Ebbtide.checkpoint_restore!(b::Words) = (b.open_blocks -= 1; nothing)

# One that makes arrays itself, of a type of its own.
struct OrdinaryArrays end
Ebbtide.alloc!(::OrdinaryArrays, ::Type{T}, size::Vararg{Integer,N}) where {T,N} = zeros(T, size...)
Ebbtide.checkpoint_save(b::OrdinaryArrays) = b
Ebbtide.checkpoint_restore!(::OrdinaryArrays) = nothing

@testset "buffers of other types: their addresses and arrays may have any type" begin
    buffer = Words(zeros(UInt64, 10), 0)
    @test incremented_sum([1, 2, 3], buffer) == 9
    @test buffer.open_blocks == 0 && buffer.words[1:3] == [2, 3, 4]
    @test (@no_escape OrdinaryArrays() @alloc(Int, 2, 3)) == zeros(Int, 2, 3)
end

@testset "a strict block ends once, however it is left" begin
    buffer = Words(zeros(UInt64, 10), 0)
    leave(how) = @no_escape buffer strict = true begin
        y = fill!(@alloc(Int, 3), 1)
        how === :return && return sum(y)
        how === :throw && error("stopped")
        how === :escape && return y
        try
            how === :return_in_try && return sum(y)
            how === :escape_in_try && return y
        catch
            return "caught"
        end
        how === :escape_at_the_end ? y : sum(y)
    end
    outcomes = map((:return, :return_in_try, :end, :throw, :escape, :escape_in_try, :escape_at_the_end)) do how
        outcome = try
            leave(how)
        catch exception
            typeof(exception)
        end
        @test buffer.open_blocks == 0
        outcome
    end
    @test outcomes == (3, 3, 3, ErrorException, EscapeErrorType, EscapeErrorType, EscapeErrorType)
end

@testset "storage of other kinds" begin
    words = Vector{Int}(undef, 10)
    buffer = AllocBuffer(words)
    @no_escape buffer begin
        @test sum(fill!(@alloc(Int, 10), 3)) == 30
        @test_throws Ebbtide.BufferError @alloc(UInt8, 1)
    end
    @test words == fill(3, 10)
    matrix = AllocBuffer(zeros(UInt8, 16, 16))
    @test incremented_sum([1, 2, 3], matrix) == 9
    # A buffer over memory of another buffer.
    @no_escape begin
        inner = AllocBuffer(@alloc(UInt8, 1024))
        @test incremented_sum(1:100, inner) == 5150
        Ebbtide.free(inner)
    end
end
