# `@arena`, under the names of ArenaPirate.jl.

"""
    @arena expression

Evaluates an expression. Meanwhile, [`ScopedArray`](@ref)s of this task, and arrays derived from
them, are allocated in memory that is reused afterwards, without the page faults and collections
that large temporary arrays otherwise cause. The result is the same as without the macro.

```julia
total = @arena begin
    x = collect(1:1_000_000)        # a ScopedArray
    sum(sqrt.(x) .+ 1)              # so is the temporary
end
```

Calls of `zeros`, `ones`, `fill`, `similar`, `collect`, `copy` and `map` that are written in the
expression return a `ScopedArray` where Julia's own would return an `Array` of plain bits. Functions
that the expression calls are not changed: pass them a `ScopedArray`.

No array dangles. If the value of the expression is a `ScopedArray`, or a tuple, a named tuple or an
`Array` of such arrays, it is copied to ordinary arrays. Arrays that escape in other ways stay
valid, and keep the memory of their scope; see [`copyfromarena`](@ref).

Scopes nest: the inner one uses the memory of the outer one. A task that is spawned inside may open
a scope of its own. `return`, `break` and exceptions also end the scope. When the arena is full, or
none is available, arrays are ordinary ones. Costs about 100 ns.
"""
macro arena(expression)
    scoped(:enter_arena!, :(out_of_arena($(esc(with_scoped_calls(expression))))))
end

"""
    @noarena expression

Evaluates an expression. Meanwhile, this task allocates ordinary arrays, although an
[`@arena`](@ref) is open. An `@arena` inside of the expression uses the arena again.

```jldoctest
@arena begin
    kept = @noarena zeros(100_000)
    temporary = zeros(100_000)
    kept isa Vector{Float64} && temporary isa ScopedArray
end

# output

true
```
"""
macro noarena(expression)
    scoped(:leave_arena!, esc(expression))
end

function scoped(enter, body)
    quote
        local scope = arena_scope()
        local before = $enter(scope)
        try
            $body
        finally
            restore!(scope, before)
        end
    end
end

# Both return what `restore!` needs.
function enter_arena!(scope)
    before = (scope.arena, scope.is_serving)
    scope.arena === nothing && (scope.arena = take_arena!(ARENA_POOL))
    scope.is_serving = true
    before
end

function leave_arena!(scope)
    before = (scope.arena, scope.is_serving)
    scope.is_serving = false
    before
end

function restore!(scope, before)
    outer, scope.is_serving = before
    outer === nothing && scope.arena !== nothing && give_arena_back!(scope.arena)
    scope.arena = outer
    nothing
end

# The value of an `@arena`, without memory of the arena where its type says that it has some. Other
# objects are returned themselves.
out_of_arena(x) = x
out_of_arena(a::ScopedArray) = copy(a.parent)
out_of_arena(t::Union{Tuple,NamedTuple}) = map(out_of_arena, t)
out_of_arena(a::Array{T}) where {T} = holds_scoped(T) ? map(out_of_arena, a) : a

holds_scoped(T) = T !== Union{} && T <: ScopedArray ||
    isconcretetype(T) && T <: Union{Tuple,NamedTuple} && any(holds_scoped, fieldtypes(T))

"""
    copyfromarena(x)

A `copy` of `x` in ordinary memory, for a result that lives longer than its [`@arena`](@ref), or
that must not change with `x`. A [`ScopedArray`](@ref), or a view of one, becomes an `Array`, also
in a tuple or a named tuple. So does a `ScopedArray` that is an element of an `Array`. A value that
`copy` does not accept, such as a string, is returned itself. Not needed for safety: `x` stays valid
in any case, but keeps the memory of its scope.

```jldoctest
results = []
for n in 1:3
    @arena push!(results, copyfromarena(fill(n, 100_000)))
end
typeof.(results) == fill(Vector{Int}, 3)

# output

true
```
"""
copyfromarena(x) = applicable(copy, x) ? copy(x) : x
copyfromarena(t::Union{Tuple,NamedTuple}) = map(copyfromarena, t)
copyfromarena(a::AbstractArray) = unwrapped(@noarena copy(a))
function copyfromarena(a::Array{T}) where {T}
    isbitstype(T) && return copy(a)
    holds_scoped(T) && return map(copyfromarena, a)
    copied = copy(a)
    for i in eachindex(copied)
        isassigned(copied, i) || continue
        element = out_of_arena(copied[i])
        element isa T && (copied[i] = element)
    end
    copied
end

unwrapped(a) = a
unwrapped(a::ScopedArray) = a.parent

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

Like [`map_arena`](@ref), on all threads. The results are in the order of the items. If calls throw,
`mtmap_arena` starts no further calls, and throws the exception of the first item that failed.

```jldoctest
mtmap_arena(n -> sum(fill(n, 100_000)), 1:3) == map_arena(n -> sum(fill(n, 100_000)), 1:3)

# output

true
```
"""
function mtmap_arena(f, items)
    items = collect(items)
    results = similar(items, Any)
    failures = similar(items, Any)
    fill!(failures, nothing)
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
    map(identity, results)
end
