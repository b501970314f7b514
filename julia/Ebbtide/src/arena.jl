# `@arena`, under the names of ArenaPirate.jl.

"""
    @arena expression

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
"""
macro arena(expression)
    # These cannot be in a block.
    is_declaration(x) = x.head === :global && all(name -> name isa Symbol, x.args)
    expression isa Expr && (expression.head in (:module, :...) || is_declaration(expression)) &&
        return esc(expression)
    # A docstring may stand in front of a definition.
    Expr(:block, :(collect_if_due!()), :(Base.@__doc__($(esc(expression)))))
end

"""
    @noarena expression

Evaluates an expression. Every array is an ordinary one in any case; the name is for programs that
were written for ArenaPirate.jl.

```jldoctest
@arena sum(@noarena fill(1, 100_000))

# output

100000
```
"""
macro noarena(expression)
    esc(expression)
end

"""
    copyfromarena(x)

A `copy` of `x`, also of each member of a tuple or a named tuple. A value that `copy` does not
accept, such as a string, is returned itself. Never needed for safety, because arrays of an
[`@arena`](@ref) are ordinary ones.

```jldoctest
x = [1, 2]
copied = copyfromarena((x, "text"))
x[1] = 3
copied

# output

([1, 2], "text")
```
"""
copyfromarena(x) = applicable(copy, x) ? copy(x) : x
copyfromarena(t::Union{Tuple,NamedTuple}) = map(copyfromarena, t)

"""
    map_arena(f, items)

Like `map(f, items)`, with an [`@arena`](@ref) around each call.

```jldoctest
map_arena(n -> sum(fill(n, 100_000)), 1:3) == [100_000, 200_000, 300_000]

# output

true
```
"""
map_arena(f, items) = map(item -> call_in_arena(f, item), items)

call_in_arena(f, item) = @arena f(item)

"""
    mtmap_arena(f, items)

Like [`map_arena`](@ref), on all threads. The result is an array in the order of the items. If calls
throw, `mtmap_arena` starts no further calls, and throws the exception of the first item that
failed.

```jldoctest
mtmap_arena(n -> sum(fill(n, 100_000)), 1:3) == map_arena(n -> sum(fill(n, 100_000)), 1:3)

# output

true
```
"""
mtmap_arena(f, items) = mtmap_array(f, collect(items))

function mtmap_array(f, items)
    results = similar(items, Base.promote_op(f, eltype(items)))
    failures = fill!(similar(items, Any), nothing)
    next = Threads.Atomic{Int}(1)
    function work()
        while (at = Threads.atomic_add!(next, 1)) <= length(items)
            try
                results[at] = call_in_arena(f, items[at])
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
