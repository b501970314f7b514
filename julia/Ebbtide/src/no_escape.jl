# The macro `@no_escape`: a block of code whose allocations end with it.
#
# Two passes over the block. The first expands every macro in it, ours among them. The second
# rewrites what leaves the block early (`return`, `break`, `continue`, `@goto`), so that it rewinds
# the buffer first. An inner block is expanded in the first pass, with exits that rewind it; the second
# pass of the outer block then adds its own.

"""
    @no_escape [buffer] [strict=true] begin … end

Runs a block of code, and frees what it allocated with [`@alloc`](@ref): the memory of the buffer, by
default the [`default_buffer`](@ref) of the task, goes back to the position from before. Returns the
value of the block. Blocks nest. Opening and closing one costs a few loads and stores.

`return`, `break`, `continue` and `@goto` may leave the block; it is rewound all the same. `@label`
may be used inside, but not jumped to from outside.

An exception leaves the block without rewinding it, because a `try` costs more than the block. What it
left behind is freed when a block around this one ends, when a [`with_buffer`](@ref) around it is left
by the exception, or by [`reset_buffer!`](@ref). With `strict=true`, it is freed at once, which costs a
`try`.

Arrays of the block must not outlive it. A value that the block returns is searched for them: as
themselves, and in tuples, structs, closures and arrays. That is an [`EscapeError`](@ref). The search
costs nothing where the type of the value cannot hold any. Arrays of an outer block may be returned
from an inner one. Not caught are addresses, and arrays that are assigned to a variable from outside.

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
    esc(no_escape_block(buffer, args[end], __module__, strict))
end

const OUTSIDE = "may only be used inside of a @no_escape block"

"""
    @alloc(T, dims...) -> ArenaArray{T}

An uninitialised array that ends with the [`@no_escape`](@ref) block around it, in the block's buffer.
See [`alloc!`](@ref) for the errors. The array must not be used after the block, and other tasks may
use it only if they end before. Allocating from another task is an error.
"""
macro alloc(args...)
    throw(ArgumentError("@alloc $OUTSIDE"))
end

"""
    @alloc_ptr(bytes) -> Ptr{Nothing}

Like [`@alloc`](@ref), but the address of `bytes` bytes, aligned to 16.
"""
macro alloc_ptr(args...)
    throw(ArgumentError("@alloc_ptr $OUTSIDE"))
end

"""
    @alloc_nothrow(T, dims...)

Like [`@alloc`](@ref), but `nothing` if there is no room.
"""
macro alloc_nothrow(args...)
    throw(ArgumentError("@alloc_nothrow $OUTSIDE"))
end

# Our macros, with the function that each one calls.
const MARKERS = Dict{Symbol,Symbol}(Symbol("@alloc") => :alloc!, Symbol("@alloc_ptr") => :alloc_ptr!,
    Symbol("@alloc_nothrow") => :alloc_nothrow!)

# What the passes know of a block: the names of its variables, and what they found.
mutable struct Block
    mod::Module
    buffer::Symbol
    position::Symbol
    task::Symbol
    leaving::Symbol
    result::Symbol
    # New names of the labels in the block, so that a jump from outside is an error.
    labels::Dict{Symbol,Symbol}
    # Whether the task is to be checked: something allocates in a function inside of the block.
    needs_task::Bool
    # Whether something leaves through a `finally` clause.
    needs_leaving::Bool
end

Block(mod) = Block(mod, gensym("buffer"), gensym("position"), gensym("task"), gensym("leaving"),
    gensym("result"), Dict{Symbol,Symbol}(), false, false)

our(name) = GlobalRef(Ebbtide, name)

function no_escape_block(buffer, body, mod::Module, strict::Bool)
    block = Block(mod)
    body = expand(block, body, false)
    body = rewrite(block, body, Place(false, strict))
    leave = Expr(:call, our(:leave!), block.position, block.result)
    run = if strict
        quote
            $(block.result) = nothing
            try
                $(block.result) = $body
            finally
                $leave
            end
        end
    else
        quote
            $(block.result) = $body
            $leave
        end
    end
    run = quote
        $(block.needs_task ? :(local $(block.task) = $(our(:current_task))()) : nothing)
        $(block.needs_leaving ? :(local $(block.leaving) = false) : nothing)
        local $(block.position) = $(our(:checkpoint_save))($(block.buffer))
        local $(block.result)
        $run
        $(block.result)
    end
    # Expanded here, where the name of the buffer is still a plain one.
    preserved = macroexpand(mod, Expr(:macrocall, GlobalRef(GC, Symbol("@preserve")),
        LineNumberNode(@__LINE__, @__FILE__), block.buffer, run); recursive = false)
    whole = quote
        local $(block.buffer) = $buffer
        $preserved
    end
    names = (block.buffer, block.position, block.task, block.leaving, block.result)
    escape_names(whole, names, escape_depth(whole))
end

# A macro around the block may have escaped parts of it: `@no_escape begin … $(esc(ex)) … end`. Names mean
# something else there. Ours are made to mean the same everywhere, which is what they mean in the
# parts that were escaped most often.
escape_depth(ex) = 0
escape_depth(ex::Expr) =
    (ex.head === :escape) + mapreduce(escape_depth, max, ex.args; init = 0)

escape_names(ex, names, levels) = ex
escape_names(ex::Symbol, names, levels) =
    ex in names && levels > 0 ? Expr(:escape, escape_names(ex, names, levels - 1)) : ex
function escape_names(ex::Expr, names, levels)
    levels -= ex.head === :escape
    Expr(ex.head, Any[escape_names(arg, names, levels) for arg in ex.args]...)
end

# ------------------------------------------------------------ the first pass

is_quoted(ex::Expr) = ex.head in (:quote, :inert, :meta, :import, :using, :export, :copyast)

# Whether the body of an expression is that of a function, so that `return` in it leaves the function.
function is_function(ex::Expr)
    ex.head in (:->, :function, :macro, :generator, :comprehension, :typed_comprehension) && return true
    ex.head === :(=) || return false
    # f(x) = …, with a return type or type parameters, but not f.x = … or f[x] = …
    left = ex.args[1]
    while left isa Expr && left.head in (:where, :(::)) && length(left.args) > 1
        left = left.args[1]
    end
    left isa Expr && left.head === :call
end

# Which of our macros this is, by what its name means in the module: qualified, imported under
# another path, or not imported at all.
function marker(mod::Module, name)
    symbol = name isa GlobalRef ? name.name :
        name isa Symbol ? name :
        name isa Expr && name.head === :. && name.args[2] isa QuoteNode ? name.args[2].value : nothing
    haskey(MARKERS, symbol) || return nothing
    meant = try
        Core.eval(mod, name)
    catch
        name isa Expr && rethrow()
        nothing # A bare name that means nothing else in this module.
    end
    ours = meant === nothing || meant === getfield(Ebbtide, symbol)
    ours ? MARKERS[symbol] : nothing
end

expand(block::Block, ex, in_function::Bool) = ex

function expand(block::Block, ex::Expr, in_function::Bool)
    is_quoted(ex) && return ex
    if ex.head === :macrocall
        called = marker(block.mod, ex.args[1])
        called === nothing || return expand_marker(block, called, ex.args[3:end], in_function)
        return expand(block, macroexpand(block.mod, ex; recursive = false), in_function)
    elseif ex.head === :symboliclabel && !in_function
        block.labels[ex.args[1]] = gensym(ex.args[1])
    end
    in_function |= is_function(ex)
    Expr(ex.head, Any[expand(block, arg, in_function) for arg in ex.args]...)
end

function expand_marker(block::Block, called, args, in_function::Bool)
    args = Any[expand(block, arg, in_function) for arg in args]
    # `@alloc(T, n; …)` has no keywords to pass.
    call = Expr(:call, our(called), block.buffer, args...)
    in_function || return call
    # Only here may another task run.
    block.needs_task = true
    Expr(:block, :($(block.task) === $(our(:current_task))() || $(our(:throw_task))()), call)
end

@noinline throw_task() = throw(BufferError("@alloc from another task than that of its @no_escape " *
    "block. Open a block in the task, which has a default buffer of its own"))

# ------------------------------------------------------------ the second pass

# Where an expression stands: in a loop of the block, which `break` leaves; in a `try` with a `finally`
# clause, which still runs after a `return`.
struct Place
    in_loop::Bool
    in_finally::Bool
end

rewrite(block::Block, ex, place::Place) = ex

function rewrite(block::Block, ex::Expr, place::Place)
    (is_quoted(ex) || is_function(ex)) && return ex
    if ex.head === :return
        value = isempty(ex.args) ? nothing : rewrite(block, ex.args[1], place)
        result = gensym("returned")
        return Expr(:block, :(local $result = $value), exit(block, result, place),
            Expr(:return, result))
    elseif ex.head in (:break, :continue)
        return place.in_loop ? ex : Expr(:block, exit(block, nothing, place), ex)
    elseif ex.head === :symbolicgoto
        inside = get(block.labels, ex.args[1], nothing)
        return inside === nothing ? Expr(:block, exit(block, nothing, place), ex) :
            Expr(:symbolicgoto, inside)
    elseif ex.head === :symboliclabel
        return Expr(:symboliclabel, block.labels[ex.args[1]])
    elseif ex.head in (:while, :for)
        place = Place(true, place.in_finally)
    elseif ex.head === :try && length(ex.args) >= 4 && ex.args[4] !== false && !place.in_finally
        return rewrite_finally(block, ex, place)
    end
    Expr(ex.head, Any[rewrite(block, arg, place) for arg in ex.args]...)
end

# Rewinds the block: at once, or after the `finally` clause that runs first.
function exit(block::Block, result, place::Place)
    place.in_finally || return Expr(:call, our(:leave!), block.position, result)
    block.needs_leaving = true
    :($(block.result) = $result; $(block.leaving) = true)
end

function rewrite_finally(block::Block, ex::Expr, place::Place)
    inside = Place(place.in_loop, true)
    args = Any[rewrite(block, arg, inside) for arg in ex.args]
    args[4] = Expr(:block, rewrite(block, ex.args[4], place),
        :($(block.leaving) && $(our(:leave!))($(block.position), $(block.result))))
    block.needs_leaving = true
    Expr(:try, args...)
end
