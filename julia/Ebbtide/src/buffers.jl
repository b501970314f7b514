# The kinds of buffers: which arena of the library each one opens.

# `ebb_options`, for an arena on the heap.
struct ArenaOptions
    size::Csize_t
    first_chunk::Csize_t
    limit::Csize_t
    allocate::Ptr{Cvoid}
    release::Ptr{Cvoid}
    context::Ptr{Cvoid}
end

# A limit in bytes.
function checked_bytes(bytes)
    bytes isa Integer && 0 <= bytes <= LARGEST_SIZE ||
        throw(ArgumentError("$bytes is no number of bytes: negative, or too large"))
    Int(bytes)
end

# Sizes up to this one are not compared with the memory of the machine, which takes a microsecond to
# find out.
const SURE_SIZE = 2^30

# A number of bytes that a buffer is to have: at most those of the machine.
function checked_size(bytes, least = 1)
    bytes isa Integer && least <= bytes <= SURE_SIZE && return Int(bytes)
    most = clamp(Sys.total_memory(), SURE_SIZE, LARGEST_SIZE) % Int
    bytes isa Integer && least <= bytes <= most ||
        throw(ArgumentError("a buffer cannot have $bytes bytes: the least is $least, and the most " *
            "is $most, the memory of this machine"))
    Int(bytes)
end

# The library halves the size of the first chunk until there is memory for it. `bytes` were asked
# for; the chunk ends at a multiple of 16.
function check_served(b::AbstractBuffer, bytes::Int, limit::Int)
    served = (b.top - b.low) % Int
    (served + 16 > bytes || limit > 0) && return b
    close_arena!(b)
    throw(ArgumentError("there is no memory for a buffer of $bytes bytes, only for $served"))
end

function new_arena(first_chunk::Int, limit::Int)
    options = Ref(ArenaOptions(sizeof(ArenaOptions), first_chunk, limit, C_NULL, C_NULL, C_NULL))
    arena = ccall(LIBRARY.ebb_arena_new, Ptr{Cvoid}, (Ptr{ArenaOptions},), options)
    arena == C_NULL && throw_status("no arena")
    arena
end

# The size of the first chunk of a SlabBuffer, and of an AllocBuffer, in bytes.
const DEFAULT_SIZE = 1_048_576

"""
    SlabBuffer{N}(; limit = 0, finalize = true)
    SlabBuffer(; …)

A buffer that grows: it has a chunk of `N` bytes (1 MiB by default), and adds larger ones when they
are needed. It keeps its chunks when a [`@no_escape`](@ref) block ends, so a loop that crosses the
end of a chunk in every iteration costs no more than one that does not. [`trim!`](@ref) frees them.

`limit` is the most bytes that it may hold, 0 for no limit; see [`set_limit!`](@ref). Without
`finalize`, the garbage collector does not free its memory; call [`free`](@ref).

One task at a time may use a buffer. [`default_buffer`](@ref) has one for each task.

```jldoctest
buffer = SlabBuffer{16_384}()
for turn in 1:3
    @no_escape buffer begin
        fill!(@alloc(Int, 10_000), turn)
        nothing
    end
end
Ebbtide.used(buffer), Int(Ebbtide.stats(buffer).chunks)

# output

(0, 2)
```
"""
mutable struct SlabBuffer{SlabSize} <: AbstractBuffer
    top::Ptr{Cvoid}
    chunk::Ptr{Cvoid}
    low::Ptr{Cvoid}
    state::Ptr{Cvoid}
    arena::Ptr{Cvoid}
    moves::Ptr{Cvoid}
    valid_from::UInt
    root_top::Ptr{Cvoid}
    root_chunk::Ptr{Cvoid}
    root_low::Ptr{Cvoid}
    charged::Int
    entered::Int

    function SlabBuffer{N}(; limit::Integer = 0, finalize::Bool = true) where {N}
        bytes, limit = checked_size(N), checked_bytes(limit)
        arena = new_arena(bytes, limit)
        b = adopt_arena(SlabBuffer{N}, arena, finalize ? close_arena! : nothing)
        check_served(b, bytes, limit)
    end

    # A buffer that owns an arena. `finish!` is its finalizer.
    global function adopt_arena(::Type{SlabBuffer{N}}, arena::Ptr{Cvoid}, finish!) where {N}
        b = new{N}(C_NULL, C_NULL, C_NULL, C_NULL, arena, C_NULL, 0, C_NULL, C_NULL, C_NULL, 0, 0)
        open_scope!(b)
        finish! === nothing || finalizer(finish!, b)
        recount!(b)
        b
    end
end

SlabBuffer(; limit::Integer = 0, finalize::Bool = true) =
    SlabBuffer{DEFAULT_SIZE}(; limit = limit, finalize = finalize)

"""
    ResizeBuffer(bytes = 16_384; limit = 0)

A buffer that learns how much memory it needs: it grows by chunks like a [`SlabBuffer`](@ref), and
when its outermost [`@no_escape`](@ref) block ends, it replaces them by one chunk as large as all of
them together. From the second run on, everything fits into that chunk.

```jldoctest
buffer = ResizeBuffer(1_000)
needs_much() = @no_escape buffer sum(fill!(@alloc(Int, 1_000), 1) .+ fill!(@alloc(Int, 1_000), 2))
needs_much(), needs_much(), Int(Ebbtide.stats(buffer).chunks)

# output

(3000, 3000, 1)
```
"""
mutable struct ResizeBuffer <: AbstractBuffer
    top::Ptr{Cvoid}
    chunk::Ptr{Cvoid}
    low::Ptr{Cvoid}
    state::Ptr{Cvoid}
    arena::Ptr{Cvoid}
    moves::Ptr{Cvoid}
    valid_from::UInt
    root_top::Ptr{Cvoid}
    root_chunk::Ptr{Cvoid}
    root_low::Ptr{Cvoid}
    charged::Int
    entered::Int

    function ResizeBuffer(bytes::Integer = 16_384; limit::Integer = 0)
        bytes, limit = checked_size(bytes), checked_bytes(limit)
        arena = new_arena(bytes, limit)
        b = new(C_NULL, C_NULL, C_NULL, C_NULL, arena, C_NULL, 0, C_NULL, C_NULL, C_NULL, 0, 0)
        open_scope!(b)
        finalizer(close_arena!, b)
        recount!(b)
        check_served(b, bytes, limit)
    end
end

"""
    AllocBuffer(bytes = 1_048_576)
    AllocBuffer(storage)

A buffer of fixed size, over a vector of `bytes` bytes or over any `storage` that has a `pointer`
and a `sizeof`: another array, a `Memory`, or one from a `MemoryRef` on, mapped or foreign memory. A
buffer of n bytes holds exactly n bytes.
When it is full, allocating throws a [`BufferError`](@ref) and changes nothing.

The storage must not move, and must not be used for anything else meanwhile.

```jldoctest
buffer = AllocBuffer(zeros(UInt8, 80))
@no_escape buffer begin
    @alloc(Int, 10)
    Ebbtide.used(buffer)
end

# output

80
```
"""
mutable struct AllocBuffer{Storage} <: AbstractBuffer
    top::Ptr{Cvoid}
    chunk::Ptr{Cvoid}
    low::Ptr{Cvoid}
    state::Ptr{Cvoid}
    arena::Ptr{Cvoid}
    moves::Ptr{Cvoid}
    valid_from::UInt
    root_top::Ptr{Cvoid}
    root_chunk::Ptr{Cvoid}
    root_low::Ptr{Cvoid}
    buf::Storage
    handle::Vector{UInt8}
    pin::Any

    function AllocBuffer(storage::Storage) where {Storage}
        check_storage(elements(storage))
        b = new{Storage}(C_NULL, C_NULL, C_NULL, C_NULL, C_NULL, C_NULL, 0, C_NULL, C_NULL, C_NULL, storage,
            Vector{UInt8}(undef, HANDLE_SIZE + HANDLE_ALIGN), pin(storage))
        open_fixed!(b)
        b
    end
end

AllocBuffer(bytes::Integer) = AllocBuffer(Vector{UInt8}(undef, checked_size(bytes, 0)))
AllocBuffer() = AllocBuffer(DEFAULT_SIZE)

# `EBB_ARENA_SIZE` and the alignment of `ebb_arena_storage`.
const HANDLE_SIZE = 512
const HANDLE_ALIGN = 64

check_writable(storage) = nothing
check_writable(storage::Union{AbstractString,Symbol,Base.CodeUnits{UInt8}}) =
    throw(ArgumentError("a $(typeof(storage)) cannot be written to, so it is no storage"))
check_writable(storage::AbstractArray) =
    parent(storage) === storage ? nothing : check_writable(parent(storage))

check_storage(storage) = check_writable(storage)
function check_storage(storage::AbstractArray{T}) where {T}
    check_writable(storage)
    check_element(T)
    if storage isa StridedArray && strides(storage) != Base.size_to_strides(1, size(storage)...)
        throw(ArgumentError("the elements of the storage do not lie side by side"))
    end
end

# In bytes. `sizeof` of a view is that of the view itself.
storage_size(storage) = sizeof(storage)
storage_size(storage::AbstractArray{T}) where {T} = length(storage) * Base.elsize(Vector{T})

# Prevents a vector, or the parent of a view, from being resized, which would move its bytes: while
# another array shares them, `resize!` fails, or keeps them alive.
pin(storage) = nothing
pin(storage::AbstractArray) = parent(storage) === storage ? nothing : pin(parent(storage))
pin(storage::Vector) = reshape(storage, length(storage), 1)

# Upwards: the first block begins at the start of the storage, and blocks follow each other, as in
# Bumper.jl.
@inline function alloc_aligned!(b::AllocBuffer, bytes::Int, align::UInt, slowly! = alloc_slowly!)
    start = (UInt(b.low) + (align - 1)) & ~(align - 1)
    (UInt(b.top) - start) % Int >= bytes || return slowly!(b, bytes, align)
    b.low = Ptr{Cvoid}(start) + bytes
    Ptr{Cvoid}(start)
end
@noinline alloc_slowly!(b::AllocBuffer, bytes::Int, ::UInt) = throw_full(b, bytes)

# There is one chunk, and blocks change `low`. Only C and Rust, or closing the buffer, change `top`.
@inline function rewind!(b::AllocBuffer, words::Words, ::UInt)
    b.low = b.top == words.top ? words.low : settle!(b, words.top, words.low)
    nothing
end

# Returns the `low` of the buffer. A closed buffer keeps its words.
@noinline function settle!(b::AllocBuffer, top::Ptr{Cvoid}, low::Ptr{Cvoid})
    b.arena == C_NULL && return b.low
    b.top = top
    low
end

function open_fixed!(b::AllocBuffer)
    start, bytes = pointer(b.buf), checked_bytes(storage_size(elements(b.buf)))
    handle = pointer(b.handle)
    handle += -UInt(handle) & (HANDLE_ALIGN - 1)
    b.arena = GC.@preserve b ccall(LIBRARY.ebb_fixed_new, Ptr{Cvoid},
        (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), handle, start, bytes)
    b.arena == C_NULL && throw_status("no arena over the storage")
    open_scope!(b)
    # The scope ends at a multiple of 16, and so is empty in a small buffer. The scope around it, which
    # has the words that the buffer takes instead, has all of the storage.
    b.low = start
    b.top = b.low + bytes
    set_root!(b, words(b))
    nothing
end

# The memory is the storage, which Julia knows.
count_entered!(::AllocBuffer, ::Ptr{Cvoid}, ::Int) = nothing
recount!(::AllocBuffer) = nothing
uncharge!(::AllocBuffer) = nothing

# Closes a buffer and returns its arena, without open scopes, to be freed or reused. Null if the
# buffer was closed already.
function detach_arena!(b::AbstractBuffer)
    arena = b.arena
    arena == C_NULL && return C_NULL
    ccall(LIBRARY.ebb_arena_reset, Cint, (Ptr{Cvoid},), arena)
    b.arena = C_NULL
    b.moves += 1
    b.valid_from = UInt(b.moves)
    set_root!(b, closed_words())
    set_words!(b, closed_words())
    uncharge!(b)
    arena
end

# Frees the memory of a buffer. Also a finalizer: it runs when no task can reach the buffer any
# more, so no block of it is open, because an open block keeps its buffer alive. It neither throws
# nor yields, and the library's functions may run on any thread.
function close_arena!(b::AbstractBuffer)
    ccall(LIBRARY.ebb_arena_free, Cint, (Ptr{Cvoid},), detach_arena!(b))
    nothing
end

"""
    free(buffer)

Frees the memory of a buffer at once, instead of when it is collected. Using the buffer afterwards
throws a [`BufferError`](@ref). So does freeing it while something is allocated in it; after an
exception, call [`reset_buffer!`](@ref) first.

```jldoctest
buffer = SlabBuffer()
Ebbtide.free(buffer)
buffer

# output

SlabBuffer{1048576}(closed)
```
"""
function free(b::AbstractBuffer)
    b.arena == C_NULL || check_idle(b)
    close_arena!(b)
end

# A copy would be a second owner of the arena.
Base.deepcopy_internal(::AbstractBuffer, ::IdDict) =
    throw(ArgumentError("a buffer cannot be copied"))

function check_idle(b::AbstractBuffer)
    b.arena == C_NULL && throw(BufferError("the buffer is closed"))
    is_at_root(b) || throw(BufferError("the buffer is in use: $(summary_text(b))"))
    nothing
end

"""
    reset_buffer!(buffer = default_buffer())

Frees everything that was allocated in a buffer, for instance after an exception. Keeps the chunks.
Returns the buffer. Arrays of blocks that are open must not be used afterwards.

```jldoctest
buffer = SlabBuffer()
try
    @no_escape buffer (@alloc(Int, 10); error("stopped"))
catch
    before = Ebbtide.used(buffer)
    Ebbtide.reset_buffer!(buffer)
    before, Ebbtide.used(buffer)
end

# output

(80, 0)
```
"""
function reset_buffer!(b::AbstractBuffer)
    set_words!(b, root(b))
    b
end

# Changes the arena with one of the library's functions, while nothing is allocated. An interrupt waits:
# in between, the words would be those of a released chunk.
function rebuild!(change!, b::AbstractBuffer)
    check_idle(b)
    disable_sigint() do
        check_status(ccall(LIBRARY.ebb_arena_reset, Cint, (Ptr{Cvoid},), b.arena), "cannot reset")
        check_status(change!(b.arena), "cannot change the arena")
        open_scope!(b)
        recount!(b)
    end
end

# Called when the outermost block, or a block around which nothing is allocated, has ended.
function tidy!(b::ResizeBuffer)
    is_at_root(b) && b.arena != C_NULL && chunk_count(b) > 1 || return nothing
    rebuild!(b) do arena
        ccall(LIBRARY.ebb_arena_merge, Cint, (Ptr{Cvoid},), arena)
    end
end
