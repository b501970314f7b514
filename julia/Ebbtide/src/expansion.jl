# The expansion of `@no_escape`, and of the macros inside of it.
#
# Two passes over the block. The first expands every macro in it, ours among them. The second
# rewrites what leaves the block early (`return`, `break`, `continue`, `@goto`), so that it rewinds
# the buffer first. An inner block is expanded in the first pass, with exits that rewind it; the
# second pass of the outer block then adds its own.
#
# Julia expands a macro together with those in its result; otherwise it would not rename the
# variables of each one correctly. Our macros do not know their block at that point, so they insert
# calls of placeholders, which the first pass replaces.

"The passes of `@no_escape` over its block."
module Expansion

using ..Ebbtide: Ebbtide

# It runs once for each block, so compiling it well takes longer than it saves.
Base.Experimental.@optlevel 0

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
    haskey(task_local_storage(), EXPANDING_KEY) ||
        throw(ArgumentError("$name may only be used inside of a @no_escape block"))
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
    names = [block.buffer, block.position, block.task, block.result]
    append!(names, block.flags)
    block.rewound === nothing || push!(names, block.rewound)
    escape_names(whole, names, escape_depth(whole))
end

# A macro around the block may have escaped parts of it: `@no_escape begin … $(esc(ex)) … end`.
# Names have other meanings there. Our names get the same meaning everywhere: the one that they have
# in the parts that were escaped most often.
function escape_depth(@nospecialize(ex))
    ex isa Expr || return 0
    depth = 0
    for arg in ex.args
        depth = max(depth, escape_depth(arg))
    end
    depth + (ex.head === :escape)
end

function escape_names(@nospecialize(ex), names::Vector{Symbol}, levels::Int)
    if ex isa Symbol && levels > 0 && ex in names
        return Expr(:escape, escape_names(ex, names, levels - 1))
    end
    ex isa Expr || return ex
    with_arguments(arg -> escape_names(arg, names, levels - (ex.head === :escape)), ex)
end

# The expression with what a function makes of its arguments. Compiled once for all functions.
function with_arguments(@nospecialize(f), ex::Expr)
    result = Expr(ex.head)
    for arg in ex.args
        push!(result.args, f(arg))
    end
    result
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
function marker(mod::Module, @nospecialize(name))
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
is_macrocall(@nospecialize(ex)) = ex isa Expr &&
    (ex.head === :macrocall || ex.head === :do && is_macrocall(ex.args[1]))

function expand(block::Block, @nospecialize(ex), in_function::Bool)
    ex isa Expr || return ex
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
    inside = in_function || is_function(ex)
    with_arguments(arg -> expand(block, arg, inside), ex)
end

# Expands a macro, and all that its expansion and its arguments contain.
function expand_foreign(mod::Module, ex::Expr)
    ex = qualify_markers(mod, ex)
    task_local_storage(EXPANDING_KEY, true) do
        macroexpand(mod, ex)
    end
end

# Our macros may be used under bare names that are not imported, which Julia would not find.
function qualify_markers(mod::Module, @nospecialize(ex))
    (ex isa Expr && !is_quoted(ex)) || return ex
    qualified = with_arguments(arg -> qualify_markers(mod, arg), ex)
    if ex.head === :macrocall && ex.args[1] isa Symbol && marker(mod, ex.args[1]) !== nothing
        qualified.args[1] = GlobalRef(Ebbtide, ex.args[1])
    end
    qualified
end

function expand_marker(block::Block, called::Symbol, args::Vector{Any}, in_function::Bool)
    # `@alloc(T, n; …)` has no keywords to pass.
    call = Expr(:call, our(called), block.buffer)
    for arg in args
        push!(call.args, expand(block, arg, in_function))
    end
    in_function || return call
    # Only here may another task run.
    block.needs_task = true
    Expr(:block, :($(block.task) === $(our(:current_task))() || $(our(:throw_task))()), call)
end

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

function rewrite(block::Block, @nospecialize(ex), place::Place)
    (ex isa Expr && !is_quoted(ex) && !is_function(ex)) || return ex
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
    elseif ex.head === :try
        return place.in_try ? rewrite_try(block, ex, place) : rewrite_outermost_try(block, ex, place)
    end
    around = ex.head in (:while, :for) ? in_loop(place) : place
    with_arguments(arg -> rewrite(block, arg, around), ex)
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

end
