# `@arena`, under the names of ArenaPirate.jl.

"""
    @arena [no_escape=true] expression

Evaluates an expression. The memory of large arrays that have become garbage meanwhile serves the
arrays of the following `@arena`s, without the page faults and most of the cache misses that new
memory causes.

```jldoctest
total = 0
for turn in 1:3
    @arena begin
        x = collect(1:1_000_000)
        global total += sum(x .- turn)
    end
end
total

# output

1499995500000
```

The macro changes nothing in the expression, nor in the functions that it calls: it means what it
means without the macro, and all arrays are ordinary ones. Before it is evaluated, a collection of
young objects runs if a few megabytes have been allocated since the last one. The number is adapted
to what these collections cost. The first `@arena` of a process
calls [`Ebbtide.keep_freed_memory!`](@ref). Otherwise costs about 10 ns, plus 5 ns for each thread.

# Unsafe: `no_escape=true`

With `no_escape=true`, the behaviour is undefined if an array that was made or grown in the expression, or
in a function that it calls, is used afterwards: the program may crash, compute wrong results, or
corrupt memory. The arrays are freed at the end of the expression, without a collection.

```jldoctest
function sum_of_squares(n)
    @arena no_escape=true begin
        x = collect(1:n)
        sum(x .^ 2)
    end
end
sum_of_squares(1000)

# output

333833500
```

This is about arrays inside other objects as well. If they are used afterwards, do not do in the expression,
except in a [`@noarena`](@ref):

- add to a vector, dictionary, set or channel from outside it: its elements may move to a new array;
- call code that adds to a cache of its own, or enlarges its workspace, such as a function
  with memoization, or load a package;
- leave an array to a task that goes on, or to a finalizer.

The value of the expression is searched for such arrays, as that of a [`@no_escape`](@ref) block, and
an [`EscapeError`](@ref) is thrown. Nothing else is checked. `@noarena` and [`copyfromarena`](@ref) make arrays
that may be used afterwards. With `--check-bounds=yes`, as in `Pkg.test`, arrays are overwritten
instead of freed, so that whoever uses one finds `NaN` or -1.

Julia 1.11.0 or 1.11.1 on Linux (x86-64) is needed. Elsewhere, `no_escape=true` changes nothing.
"""
macro arena(expression)
    arena(expression)
end

macro arena(option, expression)
    option isa Expr && option.head === :(=) && option.args[1] === :no_escape && option.args[2] isa Bool ||
        throw(ArgumentError("@arena takes no_escape=true and an expression"))
    option.args[2] && frees_at_end(expression) || return arena(expression)
    around(:enter_no_escape!, :leave_no_escape!, expression)
end

function arena(expression)
    is_outside_blocks(expression) && return esc(expression)
    # A docstring may stand in front of a definition.
    Expr(:block, :(collect_if_due!()), :(Base.@__doc__($(esc(expression)))))
end

is_outside_blocks(x) = x isa Expr &&
    (x.head in (:module, :...) || x.head === :global && all(name -> name isa Symbol, x.args))

# What cannot be an argument, or has no use as one.
is_declaration(x) = x isa Expr && (x.head in DECLARATIONS || x.head === :(=) && is_signature(x.args[1]))
is_signature(x) = x isa Expr && (x.head === :call || x.head in (:where, :(::)) && is_signature(x.args[1]))

const DECLARATIONS = (:module, :..., :const, :struct, :abstract, :primitive, :using, :import, :export, :public,
    :macro, :toplevel, :function)

# Calls `enter` before the expression, and `leave` with its value. The expression is an argument, so it
# needs no variable and no scope.
around(enter, leave, expression) = :($leave($enter(), $(Expr(:block, esc(expression)))))

frees_at_end(x) = isdefined(@__MODULE__, :enter_no_escape!) && !is_outside_blocks(x) &&
    !is_declaration(x)

"""
    @noarena expression

Evaluates an expression. In an `@arena no_escape=true`, the arrays that are made in the expression may be
used afterwards. Elsewhere, every array is an ordinary one in any case.

```jldoctest
@arena sum(@noarena fill(1, 100_000))

# output

100000
```
"""
macro noarena(expression)
    frees_at_end(expression) || return esc(expression)
    around(:enter_noarena!, :leave_noarena!, expression)
end

"""
    copyfromarena(x)

A `copy` of `x`, also of each member of a tuple or a named tuple, that may be used after an
[`@arena`](@ref) with `no_escape=true`. A value that `copy` does not accept, such as a string, is returned
itself.

```jldoctest
x = [1, 2]
copied = copyfromarena((x, "text"))
x[1] = 3
copied

# output

([1, 2], "text")
```
"""
copyfromarena(x) = applicable(copy, x) ? (@noarena copy(x)) : x
copyfromarena(t::Union{Tuple,NamedTuple}) = map(copyfromarena, t)

"""
    map_arena(f, items; no_escape = false)

Like `map(f, items)`, with an [`@arena`](@ref) around each call.

```jldoctest
map_arena(n -> sum(fill(n, 100_000)), 1:3) == [100_000, 200_000, 300_000]

# output

true
```
"""
map_arena(f, items; no_escape::Bool = false) = map(item -> call_in_arena(f, item, no_escape), items)

call_in_arena(f, item, no_escape) = no_escape ? (@arena no_escape=true f(item)) : @arena f(item)

"""
    mtmap_arena(f, items; no_escape = false)

Like [`map_arena`](@ref), on all threads. The result is an array in the order of the items. If calls
throw, `mtmap_arena` starts no further calls, and throws the exception of the first item that
failed.

```jldoctest
mtmap_arena(n -> sum(fill(n, 100_000)), 1:3) == map_arena(n -> sum(fill(n, 100_000)), 1:3)

# output

true
```
"""
mtmap_arena(f, items; no_escape::Bool = false) = mtmap_array(f, collect(items), no_escape)

function mtmap_array(f, items, no_escape)
    results = similar(items, Base.promote_op(f, eltype(items)))
    failures = fill!(similar(items, Any), nothing)
    next = Threads.Atomic{Int}(1)
    function work()
        while (at = Threads.atomic_add!(next, 1)) <= length(items)
            try
                results[at] = call_in_arena(f, items[at], no_escape)
            catch exception
                failures[at] = Some(exception)
                next[] = length(items) + 1
            end
        end
    end
    foreach(wait, [Threads.@spawn(work()) for _ in 1:min(Threads.nthreads(), length(items))])
    failed = findfirst(!isnothing, failures)
    failed === nothing || throw(something(failures[failed]))
    # With the element type of the results, as `map` returns them.
    map(identity, results)
end

"""
    clear_arena_pool!(kept = 0)

Collects garbage, and gives freed memory that the C library keeps back to the system. `kept`, which
is a number of arenas in ArenaPirate.jl, has no effect.
"""
function clear_arena_pool!(kept::Integer = 0)
    release_freed_memory!()
    nothing
end
