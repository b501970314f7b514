# The functions that allocate. Generic over the buffer: buffers of other packages need only
# `alloc_ptr!`.

"""
    alloc!(buffer, T, dims...) -> ArenaArray{T}

An uninitialised array in a buffer, of the dimensions `dims`, which may be a tuple. Inside of a
[`@no_escape`](@ref) block prefer [`@alloc`](@ref), whose memory ends with the enclosing block.

`T` must be a type of plain bits; other types, and negative or enormous dimensions, throw an
`ArgumentError`. A full or closed buffer throws a [`BufferError`](@ref). The buffer is then
unchanged.

```jldoctest
buffer = SlabBuffer()
@no_escape buffer begin
    size(Ebbtide.alloc!(buffer, Float64, 3, 4))
end

# output

(3, 4)
```
"""
@inline function alloc!(b, ::Type{T}, dims::Vararg{Integer,N}) where {T,N}
    check_element(T)
    size = map(to_length, dims)
    block = alloc_elements!(b, size_in_bytes(T, size), alignment(T))
    unsafe_arena_array(T, block, size)
end
@inline alloc!(b, ::Type{T}, dims::Tuple{Vararg{Integer}}) where {T} = alloc!(b, T, dims...)

@inline alloc_elements!(b::AbstractBuffer, bytes, align) = alloc_aligned!(b, bytes, align)

# A buffer of another package need not align its blocks.
@inline function alloc_elements!(b, bytes, align)
    block = Ptr{Cvoid}(alloc_ptr!(b, bytes)::Ptr)
    UInt(block) & (align - 1) == 0 ? block : align_block!(b, block, bytes, align)
end

@noinline function align_block!(b, block::Ptr{Cvoid}, bytes::Int, align::UInt)
    padding = (-UInt(block) & (align - 1)) % Int
    # The next bytes follow in most buffers. If so, nothing else is lost.
    Ptr{Cvoid}(alloc_ptr!(b, padding)::Ptr) == block + bytes && return block + padding
    larger = UInt(alloc_ptr!(b, bytes + (align - 1) % Int)::Ptr)
    Ptr{Cvoid}((larger + (align - 1)) & ~(align - 1))
end

"""
    alloc_ptr!(buffer, bytes) -> Ptr{Nothing}

The address of `bytes` uninitialised bytes in a buffer, aligned to 16.
"""
@inline function alloc_ptr!(b::AbstractBuffer, bytes::Integer)
    size = to_length(bytes)
    size_in_bytes(UInt8, (size,))
    alloc_aligned!(b, size, UInt(16))
end
