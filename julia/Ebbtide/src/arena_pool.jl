# The memory of `@arena`: arenas that one scope at a time takes from a pool.
#
# An array in an arena is a Julia array over memory of a buffer, with a finalizer that decrements
# the arena's count. It does so when the collector finds the array dead for the second time: the
# first time, the finalizer of another object that refers to the array may still store it somewhere.
# An arena starts again from its beginning only when no scope uses it and the count is 0, so an
# array that outlives its scope keeps its memory. Until then, later scopes continue behind the
# memory in use. The collector finds arrays dead, but does not see this memory. So when enough
# memory waits to be freed, the pool starts a collection of young objects, which takes 25 µs or
# more.
#
# The finalizers only count: they may run on any thread, at any allocation.

# Memory for the arrays of one scope at a time.
#
# - `arrays`: the number of arrays in it that the collector has not yet found dead.
# - `owner`: the task whose scope uses it; without a value if none does, or if the task is gone.
# - `used`: the bytes in use when the last scope returned it.
# - `was_full`: whether it has refused a request since it last started from its beginning.
mutable struct PooledArena
    buffer::SlabBuffer{DEFAULT_SIZE}
    arrays::Threads.Atomic{Int}
    owner::WeakRef
    used::Int
    was_full::Bool
end

PooledArena(limit) =
    PooledArena(SlabBuffer(limit = limit), Threads.Atomic{Int}(0), WeakRef(nothing), 0, false)

# The finalizer of an array, and the one that it adds.
(arena::PooledArena)(array) = (finalizer(_ -> count_off!(arena), array); nothing)
count_off!(arena) = (Threads.atomic_sub!(arena.arrays, 1); nothing)

# All arenas.
#
# - `most_bytes`: the most bytes that an arena may hold.
# - `most_arenas`: the maximum number of arenas.
# - `waiting_bytes`: if more memory than this waits for the collector, the pool calls it. A low
#   value is better for the processor's caches; the value is adapted to the cost of collections.
#   Above `MOST_WAITING_BYTES`, no arena is added.
# - `collected_at`: when the last of these collections ended, in ns.
mutable struct ArenaPool
    lock::ReentrantLock
    arenas::Vector{PooledArena}
    most_bytes::Int
    most_arenas::Int
    waiting_bytes::Int
    collected_at::UInt64
end

const FEWEST_WAITING_BYTES = 2^22
const MOST_WAITING_BYTES = 2^28
const ARENA_POOL = ArenaPool(ReentrantLock(), PooledArena[], 2^27, 0, FEWEST_WAITING_BYTES, 0)

function init_arena_pool!()
    empty!(ARENA_POOL.arenas)
    ARENA_POOL.most_arenas = 8 * Threads.nthreads()
end

is_taken(arena) = (task = arena.owner.value) !== nothing && !istaskdone(task::Task)
is_idle(arena) = arena.arrays[] == 0 && !is_taken(arena)
has_room(pool, arena) = arena.used <= pool.most_bytes ÷ 2 && !arena.was_full
is_usable(pool, arena) = is_idle(arena) || !is_taken(arena) && has_room(pool, arena)

# An arena for a scope of this task; `nothing` if all are taken, or kept by arrays.
function take_arena!(pool)
    lock(pool.lock) do
        collect_if_due!(pool)
        at = findfirst(arena -> is_usable(pool, arena), pool.arenas)
        if at !== nothing
            arena = pool.arenas[at]
            arena.arrays[] == 0 && begin_anew!(arena)
        elseif length(pool.arenas) < pool.most_arenas && waiting_bytes(pool) <= MOST_WAITING_BYTES
            arena = PooledArena(pool.most_bytes)
            push!(pool.arenas, arena)
        else
            return nothing
        end
        arena.owner = WeakRef(current_task())
        arena
    end
end

# Collections may take a tenth of the time. One that freed nothing counts as if it had taken longer.
function collect_if_due!(pool)
    waiting = waiting_bytes(pool)
    waiting > pool.waiting_bytes || return
    start = time_ns()
    GC.gc(false)
    GC.gc(false)
    passed, took = start - pool.collected_at, time_ns() - start
    if 10 * took > passed || 2 * waiting_bytes(pool) > waiting
        pool.waiting_bytes = min(2 * pool.waiting_bytes, MOST_WAITING_BYTES)
    elseif 40 * took < passed
        pool.waiting_bytes = max(pool.waiting_bytes ÷ 2, FEWEST_WAITING_BYTES)
    end
    pool.collected_at = start + took
end

function waiting_bytes(pool)
    bytes = 0
    for arena in pool.arenas
        is_taken(arena) || arena.arrays[] == 0 || (bytes += arena.used)
    end
    bytes
end

# It may be full of chunks of sizes that are no longer needed.
function begin_anew!(arena)
    reset_buffer!(arena.buffer)
    arena.was_full && trim!(arena.buffer)
    arena.was_full = false
    arena.used = 0
end

function give_arena_back!(arena)
    arena.used = used(arena.buffer)
    arena.owner = WeakRef(nothing)
    nothing
end

"""
    clear_arena_pool!(kept = 0)

Frees the memory of all arenas that have no scope and no arrays, except for `kept` of them. Collects
garbage first.
"""
function clear_arena_pool!(kept::Integer = 0)
    kept >= 0 || throw(ArgumentError("$kept is no number of arenas"))
    GC.gc()
    GC.gc()
    lock(ARENA_POOL.lock) do
        idle = collect(Iterators.drop(filter(is_idle, ARENA_POOL.arenas), kept))
        setdiff!(ARENA_POOL.arenas, idle)
        foreach(arena -> free(reset_buffer!(arena.buffer)), idle)
        ARENA_POOL.waiting_bytes = FEWEST_WAITING_BYTES
    end
    nothing
end

# ------------------------------------------------------------ allocating

# The arena of a task's scopes, and whether the innermost one uses it.
mutable struct ArenaScope
    arena::Union{Nothing,PooledArena}
    is_serving::Bool
end

const ARENA_SCOPE_KEY = :Ebbtide_arena

arena_scope() = get!(() -> ArenaScope(nothing, false), task_local_storage(), ARENA_SCOPE_KEY)::ArenaScope

# The arena that serves this task now, or `nothing`.
function serving_arena()
    scope = get(task_local_storage(), ARENA_SCOPE_KEY, nothing)::Union{Nothing,ArenaScope}
    scope === nothing || !scope.is_serving ? nothing : scope.arena
end

# The size in bytes from which on arrays are allocated in the arena. Smaller ones cost more with a
# finalizer than without an arena.
const ARENA_FLOOR = 2^16

# An array in the arena that serves this task; `nothing` if it is too small, or if there is no room.
function new_array_in_arena(::Type{T}, size::Dims) where {T}
    check_element(T)
    bytes = size_in_bytes(T, size)
    bytes < ARENA_FLOOR && return nothing
    arena = serving_arena()
    arena === nothing && return nothing
    block = try_alloc_slowly!(arena.buffer, bytes, UInt(64))
    if block == C_NULL
        arena.was_full = true
        return nothing
    end
    array = unsafe_wrap(Array, Ptr{T}(block), size)
    Threads.atomic_add!(arena.arrays, 1)
    finalizer(arena, array)
end
