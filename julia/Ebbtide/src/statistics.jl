# Statistics of a buffer; limits; freeing memory.

"""
    Stats

The memory of a buffer, in bytes: the `capacity` of all its chunks, the bytes `used` up to the
present position, `high_water`, the maximum capacity of the chunks that were entered, and the bytes
`held` from the heap; and the number of `chunks`, of which `oversize` serve a single large request.
See [`stats`](@ref).
"""
struct Stats
    size::UInt # of this struct, for the library
    capacity::UInt
    used::UInt
    high_water::UInt
    held::UInt
    chunks::UInt
    oversize::UInt
end

"""
    stats(buffer = default_buffer()) -> Stats

Statistics of a buffer. Walks its chunks; nothing is counted while allocating.
"""
function stats(b::AbstractBuffer)
    filled = Ref(Stats(sizeof(Stats), 0, 0, 0, 0, 0, 0))
    b.chunk == C_NULL && return filled[]
    status = GC.@preserve b ccall(LIBRARY.ebb_scope_stats, Cint, (Ptr{Cvoid}, Ptr{Stats}),
        scope_pointer(b), filled)
    check_status(status, "no statistics")
    filled[]
end

"""
    used(buffer) -> Int

The bytes in use in a buffer.
"""
used(b::AbstractBuffer) = Int(stats(b).used)

"""
    capacity(buffer) -> Int

The bytes of all chunks of a buffer.
"""
capacity(b::AbstractBuffer) = Int(stats(b).capacity)

chunk_count(b::AbstractBuffer) = stats(b).chunks

function Base.show(io::IO, stats::Stats)
    text = Vector{UInt8}(undef, 128)
    length = ccall(LIBRARY.ebb_stats_text, Csize_t, (Ref{Stats}, Ptr{UInt8}, Csize_t), stats, text,
        sizeof(text))
    print(io, String(text[1:min(length, sizeof(text) - 1)]))
end

summary_text(b::AbstractBuffer) = b.chunk == C_NULL ? "closed" : string(stats(b))

Base.show(io::IO, b::AbstractBuffer) = print(io, typeof(b), "(", summary_text(b), ")")

"""
    set_limit!(buffer, bytes)

Limits the bytes that a buffer may take from the heap, headers included; 0 for no limit. Memory that
it holds already stays. Allocations beyond the limit throw a [`BufferError`](@ref).

```jldoctest
buffer = Ebbtide.set_limit!(SlabBuffer(), 2^21)
@no_escape buffer begin
    @alloc_nothrow(UInt8, 2^22) === nothing
end

# output

true
```
"""
function set_limit!(b::AbstractBuffer, bytes::Integer)
    b.arena == C_NULL && throw(BufferError("the buffer is closed"))
    check_status(ccall(LIBRARY.ebb_arena_set_limit, Cint, (Ptr{Cvoid}, Csize_t), b.arena,
        checked_bytes(bytes)), "no limit set")
    b
end

"""
    limit(buffer) -> Int

The limit of a buffer in bytes; 0 if there is none.
"""
limit(b::AbstractBuffer) = Int(ccall(LIBRARY.ebb_arena_limit, Csize_t, (Ptr{Cvoid},), b.arena))

"""
    trim!(buffer = default_buffer())

Frees all chunks of a buffer except the first. Throws a [`BufferError`](@ref) if something is
allocated in it.

```jldoctest
buffer = SlabBuffer{16_384}()
@no_escape buffer (@alloc(Int, 10_000); nothing)
before = Ebbtide.capacity(buffer)
Ebbtide.trim!(buffer)
Ebbtide.capacity(buffer) < before

# output

true
```
"""
function trim!(b::AbstractBuffer)
    rebuild!(b) do arena
        ccall(LIBRARY.ebb_arena_trim, Cint, (Ptr{Cvoid},), arena)
    end
    b
end
trim!(b::AllocBuffer) = (check_idle(b); b)
