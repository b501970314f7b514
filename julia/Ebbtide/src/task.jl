# The default buffers of a task.
#
# A task's buffers are in its local storage. Looking them up there costs more than a small block, so
# each thread caches those of the last task that used them. The cache records the task, so a hit is
# correct on any thread, and a task that has moved to another thread misses once. `with_buffer`
# changes the cached object itself, so no cache becomes stale.

# The types that a default buffer may have. Code that gets one is compiled for both of them.
const DefaultSlab = SlabBuffer{DEFAULT_SIZE}
const DefaultFixed = AllocBuffer{Vector{UInt8}}
const DefaultBuffer = Union{DefaultSlab,DefaultFixed}

# One type of checkpoint for both: Julia would allocate a value of one of two types that hold a
# buffer.
@inline checkpoint_save(b::DefaultBuffer) =
    Checkpoint{DefaultBuffer}(b, words(b), UInt(b.moves))

mutable struct TaskBuffers
    task::Task
    # The result of `default_buffer()`: one of the next two, or nothing if it is not known yet.
    current::Union{Nothing,DefaultSlab,DefaultFixed}
    slab::Union{Nothing,DefaultSlab}
    fixed::Union{Nothing,DefaultFixed}
    # The number of nested `with_buffer` calls in the task.
    replaced::Int
end

# Indexed by thread number. An entry may keep a task alive until the next task replaces it, or until
# this package collects garbage.
const TASK_CACHE = TaskBuffers[]

const STORAGE_KEY = :Ebbtide_buffers

# The size in bytes of default buffers that are created from now on.
const DEFAULT_BUFFER_SIZE = Ref(DEFAULT_SIZE)

# A task that never uses its buffers.
const NOBODY = Ref{TaskBuffers}()

function init_task_cache!()
    NOBODY[] = TaskBuffers(Task(() -> nothing), nothing, nothing, nothing, 0)
    append!(empty!(TASK_CACHE), fill(NOBODY[], thread_slots()))
end

# A collection by this package. The buffers of an ended task must not survive it because the task is in
# the cache: quick collections do not free what has survived others. Other threads may use the cache
# meanwhile.
function collect_now!(is_full)
    fill!(TASK_CACHE, NOBODY[])
    GC.gc(is_full)
end

@inline function task_buffers()
    thread, task = Threads.threadid(), current_task()
    if thread <= length(TASK_CACHE)
        cached = @inbounds TASK_CACHE[thread]
        cached.task === task && return cached
    end
    find_buffers(thread, task)
end

@noinline function find_buffers(thread, task)
    found = get!(task_local_storage(), STORAGE_KEY) do
        TaskBuffers(task, nothing, nothing, nothing, 0)
    end::TaskBuffers
    thread <= length(TASK_CACHE) && (TASK_CACHE[thread] = found)
    found
end

"""
    default_buffer()
    default_buffer(SlabBuffer) -> SlabBuffer{1048576}
    default_buffer(AllocBuffer) -> AllocBuffer{Vector{UInt8}}

The buffer of the current task, created on first use. Each task has its own: a
`SlabBuffer{1048576}`, unless [`with_buffer`](@ref) replaces it for a while by a buffer of either
type. With a type, the buffer of that type. After the task has ended and was collected, the memory
is freed or reused by another task.

```jldoctest
fetch(@async default_buffer()) === default_buffer()

# output

false
```
"""
@inline function default_buffer()
    buffer = task_buffers().current
    buffer === nothing ? first_default() : buffer
end

@inline function default_buffer(::Type{SlabBuffer})
    buffer = task_buffers().slab
    buffer === nothing ? new_default_slab() : buffer
end

@inline function default_buffer(::Type{AllocBuffer})
    buffer = task_buffers().fixed
    buffer === nothing ? new_default_fixed() : buffer
end

@noinline first_default() = task_buffers().current = default_buffer(SlabBuffer)

@noinline function new_default_slab()
    size = DEFAULT_BUFFER_SIZE[]
    arena = size == DEFAULT_SIZE ? idle_arena() : C_NULL
    finish! = size == DEFAULT_SIZE ? recycle_arena! : close_arena!
    arena == C_NULL && (arena = new_arena(size, 0))
    buffer = adopt_arena(SlabBuffer{DEFAULT_SIZE}, arena, finish!)
    size == DEFAULT_SIZE || check_served(buffer, size, 0)
    task_buffers().slab = buffer
end

@noinline new_default_fixed() = task_buffers().fixed = AllocBuffer(DEFAULT_BUFFER_SIZE[])

# Arenas of default buffers whose tasks have ended, kept for the next tasks because their first
# chunk is warm. Each slot changes by one atomic operation, because a finalizer must not wait for a
# lock.
const IDLE_ARENAS = [Threads.Atomic{UInt}(0) for _ in 1:16]

function take_idle_arena()
    for slot in IDLE_ARENAS
        slot[] == 0 && continue
        arena = Threads.atomic_xchg!(slot, UInt(0))
        arena == 0 || return Ptr{Cvoid}(arena)
    end
    C_NULL
end

function idle_arena()
    arena = take_idle_arena()
    arena == C_NULL && collect_buffers_if_due!(0) ? take_idle_arena() : arena
end

# The finalizer of a default buffer; see close_arena!.
function recycle_arena!(b::SlabBuffer)
    arena = detach_arena!(b)
    arena == C_NULL && return nothing
    ccall(LIBRARY.ebb_arena_set_limit, Cint, (Ptr{Cvoid}, Csize_t), arena, 0)
    ccall(LIBRARY.ebb_arena_trim, Cint, (Ptr{Cvoid},), arena)
    for slot in IDLE_ARENAS
        Threads.atomic_cas!(slot, UInt(0), UInt(arena)) == 0 && return nothing
    end
    ccall(LIBRARY.ebb_arena_free, Cint, (Ptr{Cvoid},), arena)
    nothing
end

"""
    with_buffer(f, buffer)

Calls `f()` with `buffer` as the [`default_buffer`](@ref) of the current task: a `SlabBuffer()` or
an `AllocBuffer(bytes)`. Blocks without a buffer, and functions called by `f`, use it; other tasks
do not. If `f` throws, its allocations in the buffer are freed. Buffers of other types have to be
passed as arguments.

```jldoctest
buffer = AllocBuffer(100)
with_buffer(() -> default_buffer() === buffer, buffer)

# output

true
```
"""
function with_buffer(f, b::DefaultBuffer)
    buffers = task_buffers()
    current, slab, fixed = buffers.current, buffers.slab, buffers.fixed
    position = checkpoint_save(b)
    buffers.current = b
    b isa DefaultSlab ? (buffers.slab = b) : (buffers.fixed = b)
    buffers.replaced += 1
    try
        f()
    catch
        checkpoint_restore!(position)
        rethrow()
    finally
        buffers.replaced -= 1
        buffers.current = current
        b isa DefaultSlab ? (buffers.slab = slab) : (buffers.fixed = fixed)
    end
end

# The error that other types have in Bumper.jl, with an explanation. It is registered here, because
# that takes longer than loading the rest of this file.
function with_buffer(f, b)
    WITH_BUFFER_EXPLAINED[] ||
        Base.Experimental.register_error_hint(explain_with_buffer, MethodError)
    WITH_BUFFER_EXPLAINED[] = true
    throw(MethodError(with_buffer, (f, b)))
end

const WITH_BUFFER_EXPLAINED = Ref(false)

function explain_with_buffer(io::IO, error, types, _)
    error.f === with_buffer && length(types) == 2 || return nothing
    print(io, "\nThe default buffer may be a $DefaultSlab or an $DefaultFixed. Pass a buffer of ",
        "another type as an argument: @no_escape buffer begin … end")
end

"""
    set_default_buffer_size!(bytes)

Sets the size of the default buffers that are made from now on, and replaces those of the current
task. Returns `bytes`. Throws a [`BufferError`](@ref) if they are in use, and inside of
[`with_buffer`](@ref).
"""
function set_default_buffer_size!(bytes::Integer)
    size = checked_size(bytes)
    buffers = task_buffers()
    buffers.replaced == 0 ||
        throw(BufferError("the default buffer is replaced by with_buffer"))
    for b in (buffers.slab, buffers.fixed)
        b === nothing || check_idle(b)
    end
    DEFAULT_BUFFER_SIZE[] = size
    buffers.current = nothing
    buffers.slab = nothing
    buffers.fixed = nothing
    bytes
end

checkpoint_save() = checkpoint_save(default_buffer())
reset_buffer!() = reset_buffer!(default_buffer())
trim!() = trim!(default_buffer())
stats() = stats(default_buffer())
