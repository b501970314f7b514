# The macro `@no_escape`, a block of code whose allocations end with it, and those inside of it.

"""
    @no_escape [buffer] [strict=true] begin … end

Runs a block of code, and frees what it allocated with [`@alloc`](@ref): the memory of the buffer,
by default the [`default_buffer`](@ref) of the task, goes back to the position from before. Returns
the value of the block. Blocks nest. Opening and closing one costs a few loads and stores.

`return`, `break`, `continue` and `@goto` may leave the block, and rewind the buffer. `@label` may
be used inside, but not jumped to from outside.

An exception leaves the block without rewinding the buffer, because a `try` costs more than the
block. The memory is freed when an enclosing block ends, when the exception leaves an enclosing
[`with_buffer`](@ref), or by [`reset_buffer!`](@ref). With `strict=true`, it is freed at once, which
costs a `try`.

Arrays of the block must not outlive it. The value of the block is searched for them, also in
tuples, structs, closures and arrays; finding one throws an [`EscapeError`](@ref). The search costs
nothing if the value's type cannot hold such an array. Arrays of an outer block may be returned from
an inner one. The search does not detect addresses, arrays that are assigned to a variable outside
of the block, and arrays beyond the first $SEARCH_BUDGET values that it visits.

An array belongs to the innermost block of its buffer that is open when it is allocated. A function
that is defined in a block, allocates with that block's `@alloc`, and is called in an inner block on
the same buffer makes arrays that end with the inner block.

```julia
function normalised_sum(x)
    @no_escape begin
        y = @alloc(Float64, length(x))
        y .= x
        largest = maximum(y)
        largest == 0 && return 0.0
        y ./= largest
        sum(y)
    end
end
```
"""
macro no_escape(args...)
    isempty(args) && throw(ArgumentError("@no_escape needs a block"))
    buffer, strict = GlobalRef(Ebbtide, :default_buffer), false
    buffer = Expr(:call, buffer)
    given = false
    for arg in args[1:end-1]
        if arg isa Expr && arg.head === :(=) && arg.args[1] === :strict && arg.args[2] isa Bool
            strict = arg.args[2]
        elseif given
            throw(ArgumentError("@no_escape takes a buffer, strict=true and a block"))
        else
            buffer, given = arg, true
        end
    end
    esc(Expansion.no_escape_block(buffer, args[end], __module__, strict))
end

"""
    @alloc(T, dims...) -> ArenaArray{T}

An uninitialised array in the buffer of the enclosing [`@no_escape`](@ref) block, valid until the
block ends. See [`alloc!`](@ref) for the errors. Other tasks may use the array only if they end
before the block. Allocating from another task is an error.

```jldoctest
@no_escape begin
    squares = @alloc(Int, 4)
    squares .= (1:4) .^ 2
    sum(squares)
end

# output

30
```
"""
macro alloc(args...)
    Expansion.placeholder("@alloc", args)
end

"""
    @alloc_ptr(bytes) -> Ptr{Nothing}

Like [`@alloc`](@ref), but returns the address of `bytes` bytes, aligned to 16.

```jldoctest
@no_escape begin
    number = Ptr{Int}(@alloc_ptr(8))
    unsafe_store!(number, 7)
    unsafe_load(number)
end

# output

7
```
"""
macro alloc_ptr(args...)
    Expansion.placeholder("@alloc_ptr", args)
end

"""
    @alloc_nothrow(T, dims...)

Like [`@alloc`](@ref), but returns `nothing` if there is no room.

```jldoctest
@no_escape AllocBuffer(100) begin
    @alloc_nothrow(Int, 1_000) === nothing
end

# output

true
```
"""
macro alloc_nothrow(args...)
    Expansion.placeholder("@alloc_nothrow", args)
end

@noinline throw_task() = throw(BufferError("@alloc from another task than that of its @no_escape " *
    "block. Open a block in the task, which has a default buffer of its own"))
