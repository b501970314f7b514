# The macro `@no_escape`: a block of code whose allocations end with it.
#
# Two passes over the block. The first expands every macro in it, ours among them. The second
# rewrites what leaves the block early (`return`, `break`, `continue`, `@goto`), so that it rewinds
# the buffer first. An inner block is expanded in the first pass, with exits that rewind it; the
# second pass of the outer block then adds its own.
#
# Julia expands a macro together with those in its result; otherwise it would not rename the
# variables of each one correctly. Our macros do not know their block at that point, so they insert
# calls of placeholders, which the first pass replaces.

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
    esc(no_escape_block(buffer, args[end], __module__, strict))
end

const OUTSIDE = "may only be used inside of a @no_escape block"

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
    placeholder("@alloc", args)
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
    placeholder("@alloc_ptr", args)
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
    placeholder("@alloc_nothrow", args)
end

# Our macros, and the function that each one calls.
const MARKERS = Dict{Symbol,Symbol}(Symbol("@alloc") => :alloc!, Symbol("@alloc_ptr") => :alloc_ptr!,
    Symbol("@alloc_nothrow") => :alloc_nothrow!)

# In the expansion of another macro, our macros expand to a call of one of these objects.
struct Placeholder
    called::Symbol
end
(p::Placeholder)(args...) = throw(ArgumentError("a macro took $(p.called) out of its @no_escape block"))

# Set in the storage of the task while a block expands other macros.
const EXPANDING_KEY = :Ebbtide_expanding

function placeholder(name, args)
    haskey(task_local_storage(), EXPANDING_KEY) || throw(ArgumentError("$name $OUTSIDE"))
    esc(Expr(:call, Placeholder(MARKERS[Symbol(name)]), args...))
end

# The state of the passes over a block: the names of its variables, and their findings.
mutable struct Block
    mod::Module
    buffer::Symbol
    position::Symbol
    task::Symbol
    result::Symbol
    # For each `try` from which the block may be left: the flag that says whether it is being left.
    flags::Vector{Symbol}
    # New names of the labels in the block, so that a jump from outside is an error.
    labels::Dict{Symbol,Symbol}
    # Whether to check the task, because a function inside of the block allocates.
    needs_task::Bool
    # The number of statements in a `try` that leave the block.
    exits_in_try::Int
    # Of a strict block: the flag that says that an exit has rewound it.
    rewound::Union{Nothing,Symbol}
end

Block(mod, strict) = Block(mod, gensym("buffer"), gensym("position"), gensym("task"), gensym("result"), Symbol[],
    Dict{Symbol,Symbol}(), false, 0, strict ? gensym("rewound") : nothing)

function new_flag!(block::Block)
    push!(block.flags, gensym("leaving"))
    last(block.flags)
end

our(name) = GlobalRef(Ebbtide, name)

function no_escape_block(buffer, body, mod::Module, strict::Bool)
    block = Block(mod, strict)
    body = expand(block, body, false)
    body = rewrite(block, body, OUTERMOST_PLACE)
    # An exit may throw, after it has rewound the block.
    strict && (body = quote
        try
            $body
        catch
            $(block.rewound) || $(our(:checkpoint_restore!))($(block.position))
            $(GlobalRef(Base, :rethrow))()
        end
    end)
    run = quote
        $(block.needs_task ? :(local $(block.task) = $(our(:current_task))()) : nothing)
        $(strict ? :(local $(block.rewound) = false) : nothing)
        local $(block.position) = $(our(:checkpoint_save))($(block.buffer))
        local $(block.result) = $body
        $(leave(block, block.result))
        $(block.result)
    end
    # Expanded here, where the name of the buffer is still a plain one.
    preserved = macroexpand(mod, Expr(:macrocall, GlobalRef(GC, Symbol("@preserve")),
        LineNumberNode(@__LINE__, @__FILE__), block.buffer, run); recursive = false)
    whole = quote
        local $(block.buffer) = $buffer
        $preserved
    end
    names = (block.buffer, block.position, block.task, block.result, block.rewound, block.flags...)
    escape_names(whole, names, escape_depth(whole))
end

# A macro around the block may have escaped parts of it: `@no_escape begin … $(esc(ex)) … end`.
# Names have other meanings there. Our names get the same meaning everywhere: the one that they have
# in the parts that were escaped most often.
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

# Whether the body of an expression is a function body, so that `return` in it leaves the function.
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

# Whether an expression calls a macro. One may stand before a `do` block.
is_macrocall(ex) = ex isa Expr &&
    (ex.head === :macrocall || ex.head === :do && is_macrocall(ex.args[1]))

expand(block::Block, ex, in_function::Bool) = ex

function expand(block::Block, ex::Expr, in_function::Bool)
    # A quote with interpolations is an expression that creates it.
    ex.head === :quote && return expand(block, expand_foreign(block.mod, ex), in_function)
    is_quoted(ex) && return ex
    if is_macrocall(ex)
        called = ex.head === :macrocall ? marker(block.mod, ex.args[1]) : nothing
        called === nothing || return expand_marker(block, called, ex.args[3:end], in_function)
        return expand(block, expand_foreign(block.mod, ex), in_function)
    elseif ex.head === :call && ex.args[1] isa Placeholder
        return expand_marker(block, ex.args[1].called, ex.args[2:end], in_function)
    elseif ex.head === :symboliclabel && !in_function
        block.labels[ex.args[1]] = gensym(ex.args[1])
    end
    in_function |= is_function(ex)
    Expr(ex.head, Any[expand(block, arg, in_function) for arg in ex.args]...)
end

# Expands a macro, and all that its expansion and its arguments contain.
function expand_foreign(mod::Module, ex::Expr)
    ex = qualify_markers(mod, ex)
    task_local_storage(EXPANDING_KEY, true) do
        macroexpand(mod, ex)
    end
end

# Our macros may be used under bare names that are not imported, which Julia would not find.
qualify_markers(mod::Module, ex) = ex
function qualify_markers(mod::Module, ex::Expr)
    is_quoted(ex) && return ex
    args = Any[qualify_markers(mod, arg) for arg in ex.args]
    if ex.head === :macrocall && ex.args[1] isa Symbol && marker(mod, ex.args[1]) !== nothing
        args[1] = GlobalRef(Ebbtide, ex.args[1])
    end
    Expr(ex.head, args...)
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

# The context of an expression.
#
# A `return` in a `try` may not leave the block: a `finally` clause may override it, and a `catch`
# clause may catch the error of an array that would escape. So it sets the flag of the outermost
# `try`, whose `finally` clause then rewinds the block. A `catch` clause, or a jump out of a
# `finally` clause, overrides the `return` and clears the flag. A `try` in a `finally` clause has a
# flag of its own, because its `catch` does not override an exit that began outside of it.
#
# - `in_loop`: in a loop of the block, which `break` leaves.
# - `flag`: that of the outermost `try` around.
# - `in_try`: in that `try`, and in no `finally` clause in it.
# - `by_break`, `by_goto`: the flags of the `finally` clauses that such a jump leaves, or may leave.
struct Place
    in_loop::Bool
    flag::Union{Nothing,Symbol}
    in_try::Bool
    by_break::Vector{Symbol}
    by_goto::Vector{Symbol}
end

const OUTERMOST_PLACE = Place(false, nothing, false, Symbol[], Symbol[])
in_loop(p::Place) = Place(true, p.flag, p.in_try, Symbol[], p.by_goto)
in_try(p::Place, flag) = Place(p.in_loop, flag, true, p.by_break, p.by_goto)
in_finally(p::Place) = Place(p.in_loop, p.flag, false, [p.by_break; p.flag], [p.by_goto; p.flag])

rewrite(block::Block, ex, place::Place) = ex

function rewrite(block::Block, ex::Expr, place::Place)
    (is_quoted(ex) || is_function(ex)) && return ex
    if ex.head === :return
        value = isempty(ex.args) ? nothing : rewrite(block, ex.args[1], place)
        result = gensym("returned")
        return Expr(:block, :(local $result = $value), exit(block, result, place),
            Expr(:return, result))
    elseif ex.head in (:break, :continue)
        return place.in_loop ? jump(ex, place.by_break) :
            Expr(:block, exit(block, nothing, place), ex)
    elseif ex.head === :symbolicgoto
        inside = get(block.labels, ex.args[1], nothing)
        return inside === nothing ? Expr(:block, exit(block, nothing, place), ex) :
            jump(Expr(:symbolicgoto, inside), place.by_goto)
    elseif ex.head === :symboliclabel
        return Expr(:symboliclabel, block.labels[ex.args[1]])
    elseif ex.head === :for && ex.args[1].head === :(=)
        # The iterated expression is evaluated before the loop.
        variable, items = ex.args[1].args
        body = rewrite(block, ex.args[2], in_loop(place))
        return Expr(:for, Expr(:(=), variable, rewrite(block, items, place)), body)
    elseif ex.head in (:while, :for)
        place = in_loop(place)
    elseif ex.head === :try
        return place.in_try ? rewrite_try(block, ex, place) : rewrite_outermost_try(block, ex, place)
    end
    Expr(ex.head, Any[rewrite(block, arg, place) for arg in ex.args]...)
end

# A jump within the block, which overrides the exits that set these flags.
jump(ex, flags) = Expr(:block, Any[:($flag = false) for flag in flags]..., ex)

leave(block::Block, result) = Expr(:call, our(:leave!), block.position, result)

# Rewinds the block: at once, or in the `finally` clause of the outermost `try`.
function exit(block::Block, result, place::Place)
    if place.flag === nothing
        call = leave(block, result)
        return block.rewound === nothing ? call : Expr(:block, :($(block.rewound) = true), call)
    end
    block.exits_in_try += 1
    :($(block.result) = $result; $(place.flag) = true)
end

# The arguments of a `try` are its body, the variable and the body of `catch`, and the body of
# `finally`; `false` where there is none.
function rewrite_try(block::Block, ex::Expr, place::Place)
    places = [place, place, place, in_finally(place), place]
    args = Any[rewrite(block, arg, at) for (arg, at) in zip(ex.args, places)]
    args[3] === false || (args[3] = Expr(:block, :($(place.flag) = false), args[3]))
    Expr(:try, args...)
end

function rewrite_outermost_try(block::Block, ex::Expr, place::Place)
    flag = new_flag!(block)
    before = block.exits_in_try
    # The `finally` clause stands outside of this `try`.
    clause = length(ex.args) >= 4 ? ex.args[4] : false
    inside = Expr(:try, ex.args[1:3]..., false, ex.args[5:end]...)
    inside = rewrite_try(block, inside, in_try(place, flag))
    has_exits = block.exits_in_try > before
    clause = rewrite(block, clause, place)
    if has_exits
        leave = :($flag && $(exit(block, block.result, place)))
        clause = clause === false ? leave : Expr(:block, clause, leave)
    end
    inside.args[4] = clause
    Expr(:block, :(local $flag = false), inside)
end
