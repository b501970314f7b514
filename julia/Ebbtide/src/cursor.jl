# The cursor of a buffer: the fast paths, in Julia, on the words of an open scope of the library.
#
# Every buffer is a mutable struct that begins with the four words of an `ebb_scope`, so the cold
# paths, and functions in C or Rust, can use its address as that of a scope.
#
#   alloc_aligned! ── fits: moves `top` down, or `low` up (AllocBuffer)
#                  └─ else: alloc_slowly! ── ebb_alloc_slowly_ (the next chunk, or an error)
#   checkpoint_save ── copies the words
#   checkpoint_restore! ── only one word has changed since: writes it back
#                       └─ else: settle!, which writes all words back, and replaces stale ones
#
# Invariants:
# - **J1** The words of a buffer with a chunk are in use, as `ebbtide::front_end` defines it.
# - **J2** `root(buffer)` has the words that the scope was opened with. They are in use as long as it is
#   open.
# - **J3** `moves` changes whenever the cold path moves the buffer on to another chunk, chunks are
#   released, or the scope is lent to C or Rust. A checkpoint with `moves >= valid_from` is one of the
#   present scope, none of whose chunks was released: its words are in use again when they are written
#   back.
# - **J4** The words of a closed buffer have no chunk, and nothing fits. If the words are all null,
#   nothing but an array of 0 bytes fits.
# - **J5** While a block is open, its code preserves the buffer (`GC.@preserve`), and no chunk that holds
#   what is in use is released. So an array of the block is an address and a size, and its elements
#   are loaded and stored without preserving anything.

"""
    AbstractBuffer

The supertype of the buffers of this package. Buffers of other types need no supertype: methods of
[`alloc_ptr!`](@ref), [`checkpoint_save`](@ref) and [`checkpoint_restore!`](@ref) are enough.
"""
abstract type AbstractBuffer end

# Pointers, because Julia stores the pointers of a mutable object as null in a precompiled file: a
# buffer that a module created during precompilation is closed when the module is loaded (J4).
# Pointers in structs inside of the object are kept, so the words are fields of the buffer itself.
# `moves` is a count stored as a pointer, so that all checkpoints of a loaded buffer are stale.
struct Words
    top::Ptr{Cvoid}
    chunk::Ptr{Cvoid}
    low::Ptr{Cvoid}
end

# The words of a closed buffer. Read at run time, because Julia stores constant pointers in the code
# of a precompiled file as null, too.
const CLOSED_LOW = Ref(UInt(64))
closed_words() = Words(C_NULL, C_NULL, Ptr{Cvoid}(CLOSED_LOW[]))

words(b::AbstractBuffer) = Words(b.top, b.chunk, b.low)

@inline function set_words!(b::AbstractBuffer, words::Words)
    b.top = words.top
    b.chunk = words.chunk
    b.low = words.low
    nothing
end

# The words that the scope was opened with (J2).
root(b::AbstractBuffer) = Words(b.root_top, b.root_chunk, b.root_low)

function set_root!(b::AbstractBuffer, words::Words)
    b.root_top = words.top
    b.root_chunk = words.chunk
    b.root_low = words.low
    nothing
end

is_at_root(b::AbstractBuffer) = words(b) === root(b)

# The buffer as an `ebb_scope *`. The caller preserves the buffer.
scope_pointer(b::AbstractBuffer) = pointer_from_objref(b)

"""
    with_scope(f, buffer)

Calls `f(scope)` with the buffer's scope as a pointer, an `ebb_scope *` of the C interface. A
function in C or Rust may allocate from it and open child scopes, which it has to close. Its
allocations end with the [`@no_escape`](@ref) block around this call. The pointer is valid during
the call.
"""
function with_scope(f, b::AbstractBuffer)
    b.moves += 1
    GC.@preserve b f(Ptr{Cvoid}(scope_pointer(b)))
end

# Opens the scope of an arena that has none open. Checkpoints of the previous one are stale. Without
# memory for a chunk, the buffer is closed.
function open_scope!(b::AbstractBuffer)
    GC.@preserve b ccall(LIBRARY.ebb_open_slowly_, Cvoid, (Ptr{Cvoid}, Ptr{Cvoid}), b.arena,
        scope_pointer(b))
    set_root!(b, words(b))
    b.moves += 1
    b.valid_from = UInt(b.moves)
    b.chunk == C_NULL || return nothing
    reason = last_status_text()
    close_arena!(b)
    throw(BufferError("a buffer cannot be opened: $reason"))
end

# `slowly!` is the cold path: alloc_slowly!, which throws, or try_alloc_slowly!, which returns null.
@inline function alloc_aligned!(b::AbstractBuffer, bytes::Int, align::UInt, slowly! = alloc_slowly!)
    start = (UInt(b.top) - bytes % UInt) & ~(align - 1)
    # Comparing distances is exact for all sizes up to LARGEST_SIZE.
    (start - UInt(b.low)) % Int >= 0 || return slowly!(b, bytes, align)
    b.top = Ptr{Cvoid}(start)
end

@noinline function alloc_slowly!(b::AbstractBuffer, bytes::Int, align::UInt)
    block = try_alloc_slowly!(b, bytes, align)
    block == C_NULL && throw_full(b, bytes)
    block
end

@noinline function try_alloc_slowly!(b::AbstractBuffer, bytes::Int, align::UInt)
    b.arena == C_NULL || (b.moves += 1)
    before = b.chunk
    block = GC.@preserve b ccall(LIBRARY.ebb_alloc_slowly_, Ptr{Cvoid},
        (Ptr{Cvoid}, Csize_t, Csize_t), scope_pointer(b), bytes, align)
    block == C_NULL || count_entered!(b, before, bytes)
    block
end

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
    moves::UInt
end

"""
    checkpoint_save(buffer = default_buffer()) -> checkpoint

The position of a buffer, for [`checkpoint_restore!`](@ref). [`@no_escape`](@ref) does both and
should be preferred. Costs a few loads.

```jldoctest
buffer = SlabBuffer()
position = Ebbtide.checkpoint_save(buffer)
Ebbtide.alloc!(buffer, Int, 10)
before = Ebbtide.used(buffer)
Ebbtide.checkpoint_restore!(position)
before, Ebbtide.used(buffer)

# output

(80, 0)
```
"""
@inline checkpoint_save(b::AbstractBuffer) = Checkpoint(b, words(b), UInt(b.moves))

"""
    checkpoint_restore!(checkpoint)

Frees everything that was allocated in the checkpoint's buffer since [`checkpoint_save`](@ref).
Restore checkpoints last in, first out. The freed arrays must not be used again. Costs a few
stores; the buffer keeps its chunks.
"""
@inline checkpoint_restore!(cp::Checkpoint) = rewind!(cp.buffer, cp.words, cp.moves)

# Stores only `top`. The other words differ from those of the checkpoint in three cases: the cold path
# ran, which changes `moves`; a cold path in C or Rust ran, which changes `chunk`; or C or Rust allocated
# at the low end, and `with_scope` has changed `moves`. The store comes last, so that the compiler keeps
# `top` in a register in a loop of blocks.
@inline function rewind!(b::AbstractBuffer, words::Words, moves::UInt)
    b.top = UInt(b.moves) == moves && b.chunk == words.chunk ? words.top :
        settle!(b, words.top, words.chunk, words.low, moves)
    nothing
end

# Writes all words of a checkpoint back. Returns the `top` of the buffer. The words are separate
# arguments because a caller would store a struct in every block, whether or not it calls this.
@noinline function settle!(b::AbstractBuffer, top::Ptr{Cvoid}, chunk::Ptr{Cvoid}, low::Ptr{Cvoid}, moves::UInt)
    # A stale checkpoint is one of an empty buffer, because chunks are released only while nothing
    # is allocated, or it is used out of order. In both cases it is safe to go back to the beginning
    # (J2). A closed buffer has no beginning, and one of a precompiled module is closed.
    set_words!(b, moves >= b.valid_from && b.arena != C_NULL ? Words(top, chunk, low) : root(b))
    tidy!(b)
    b.top
end

# After a block that needed the next chunk, a buffer with fewer free bytes than this moves on to
# that chunk. Otherwise each iteration of a loop at the end of a chunk would enter the next one
# again.
const CHILD_ROOM = 64

# After a block that may have moved its buffer on to another chunk.
function tidy!(b::AbstractBuffer)
    b.top - b.low < CHILD_ROOM && !is_at_root(b) || return nothing
    GC.@preserve b ccall(LIBRARY.ebb_make_room_, Cvoid, (Ptr{Cvoid},), scope_pointer(b))
end
