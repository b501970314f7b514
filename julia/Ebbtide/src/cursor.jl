# The cursor of a buffer: the fast paths, in Julia, on the words of an open scope of the library.
#
# Every buffer is a mutable struct that begins with the four words of an `ebb_scope`, so its address
# is that of a scope: the cold paths, and functions in C or Rust, take it as one.
#
#   alloc_aligned! ── fits: moves `top` down
#                  └─ else: alloc_slowly! ── ebb_alloc_slowly_ (the next chunk, or an error)
#   checkpoint_save ── copies the words; a growing buffer with hardly anything free moves on first
#   checkpoint_restore! ── same epoch: writes the words back
#                       └─ else: restore_stale!
#
# Invariants:
# - J1 The words of a buffer with a chunk are in use, as `ebbtide::front_end` defines it.
# - J2 `root` has the words that the scope was opened with. They are in use as long as `epoch` stays.
# - J3 The words of a checkpoint are in use again when they are written back, if the buffer has the
#   checkpoint's epoch: no chunk has been released since.
# - J4 The words of a closed buffer have no chunk, and `top` is below `low`: nothing fits.

"""
    AbstractBuffer

The supertype of the buffers of this package. Buffers of other types need no supertype: methods of
[`alloc_ptr!`](@ref), [`checkpoint_save`](@ref) and [`checkpoint_restore!`](@ref) are enough.
"""
abstract type AbstractBuffer end

struct Words
    top::UInt
    chunk::Ptr{Cvoid}
    low::UInt
end

const CLOSED = Words(8192, C_NULL, 8192 + 64)

words(b::AbstractBuffer) = Words(b.top, b.chunk, b.low)

@inline function set_words!(b::AbstractBuffer, words::Words)
    b.top = words.top
    b.chunk = words.chunk
    b.low = words.low
    nothing
end

is_at_root(b::AbstractBuffer) = words(b) === b.root

# The buffer as an `ebb_scope *`. The caller preserves the buffer.
scope_pointer(b::AbstractBuffer) = pointer_from_objref(b)

# Opens the scope of an arena that has none open.
function open_scope!(b::AbstractBuffer)
    GC.@preserve b ccall(LIBRARY.ebb_open_slowly_, Cvoid, (Ptr{Cvoid}, Ptr{Cvoid}), b.arena,
        scope_pointer(b))
    b.root = words(b)
    b.epoch += 1
    b.chunk == C_NULL || return nothing
    set_words!(b, CLOSED)
    b.root = CLOSED
    throw_status("a buffer cannot be opened")
end

@inline function alloc_aligned!(b::AbstractBuffer, bytes::Int, align::UInt)
    start = (b.top - bytes % UInt) & ~(align - 1)
    # Compares distances, which is exact for all sizes up to LARGEST_SIZE.
    if (start - b.low) % Int >= 0
        b.top = start
        return Ptr{Cvoid}(start)
    end
    alloc_slowly!(b, bytes, align)
end

@noinline function alloc_slowly!(b::AbstractBuffer, bytes::Int, align::UInt)
    block = try_alloc_slowly!(b, bytes, align)
    block == C_NULL && throw_full(b, bytes)
    block
end

try_alloc_slowly!(b::AbstractBuffer, bytes::Int, align::UInt) =
    GC.@preserve b ccall(LIBRARY.ebb_alloc_slowly_, Ptr{Cvoid}, (Ptr{Cvoid}, Csize_t, Csize_t),
        scope_pointer(b), bytes, align)

function throw_full(b::AbstractBuffer, bytes)
    b.chunk == C_NULL && throw(BufferError("the buffer is closed"))
    throw(BufferError("$bytes bytes do not fit: $(summary_text(b)). If nothing in use explains " *
        "this, an exception may have left its memory behind; see reset_buffer!"))
end

"""
    Checkpoint

The position of a buffer, as [`checkpoint_save`](@ref) returns it.
"""
struct Checkpoint{B<:AbstractBuffer}
    buffer::B
    words::Words
    epoch::UInt
end

# Below this many free bytes, a checkpoint moves its buffer on to the next chunk. Otherwise each turn
# of a loop at the end of a chunk would enter the next one anew.
const CHILD_ROOM = 64

"""
    checkpoint_save(buffer = default_buffer()) -> checkpoint

The position of a buffer, for [`checkpoint_restore!`](@ref). [`@no_escape`](@ref) does both and
should be preferred. Costs a few loads.
"""
@inline function checkpoint_save(b::AbstractBuffer)
    grows(b) && b.top - b.low < CHILD_ROOM && make_room!(b)
    Checkpoint(b, words(b), b.epoch)
end

@noinline make_room!(b::AbstractBuffer) =
    GC.@preserve b ccall(LIBRARY.ebb_make_room_, Cvoid, (Ptr{Cvoid},), scope_pointer(b))

"""
    checkpoint_restore!(checkpoint)

Frees everything that was allocated in the checkpoint's buffer since
[`checkpoint_save`](@ref). Restore checkpoints last in, first out. The arrays that end must not be
used any more. Costs a few stores; the buffer keeps its chunks.
"""
@inline function checkpoint_restore!(cp::Checkpoint)
    b = cp.buffer
    b.epoch == cp.epoch || return restore_stale!(b)
    set_words!(b, cp.words)
end

# Chunks were released or replaced since the checkpoint. That happens only while nothing is allocated,
# so the checkpoint was one of an empty buffer, or it is used out of order. In both cases it is safe
# to go back to the beginning (J2). A closed buffer has no beginning.
@noinline restore_stale!(b::AbstractBuffer) = set_words!(b, b.root)
