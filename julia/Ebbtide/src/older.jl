# The names of Bumper.jl before version 0.5.

"""
    alloc(T, buffer, dims...)
    alloc(T, dims...)

The older spelling of [`alloc!`](@ref); without a buffer, in the [`default_buffer`](@ref).
"""
@inline alloc(::Type{T}, buffer, dims::Integer...) where {T} = alloc!(buffer, T, dims...)
@inline alloc(::Type{T}, dims::Integer...) where {T} = alloc!(default_buffer(), T, dims...)

"""
    alloc_nothrow(T, buffer, dims...)

Like [`alloc`](@ref), but returns `nothing` if there is no room or the buffer is closed. Wrong
arguments still throw an `ArgumentError`.
"""
@inline alloc_nothrow(::Type{T}, buffer::AbstractBuffer, dims::Integer...) where {T} =
    alloc_nothrow!(buffer, T, dims...)

@inline function alloc_nothrow!(b::AbstractBuffer, ::Type{T}, dims::Vararg{Integer,N}) where {T,N}
    check_element(T)
    size = map(to_length, dims)
    start = alloc_aligned!(b, size_in_bytes(T, size), alignment(T), try_alloc_slowly!)
    start == C_NULL && return nothing
    unsafe_arena_array(T, start, size)
end

"""
    no_escape(f, buffer = default_buffer())

The function form of [`@no_escape`](@ref): calls `f()`, and frees what it allocated in the buffer.

```jldoctest
Ebbtide.no_escape(() -> sum(fill!(alloc(Int, 10), 2)))

# output

20
```
"""
function no_escape(f, b = default_buffer())
    @no_escape b f()
end

const alloc_ptr = alloc_ptr!
