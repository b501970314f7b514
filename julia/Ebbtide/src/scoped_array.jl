# Arrays that `@arena` allocates in its memory, and that may escape from it.

"""
    ScopedArray{T}(undef, dims...)
    ScopedArray(array)

An array whose elements are in the memory of the task's innermost [`@arena`](@ref), if it has at
least $ARENA_FLOOR bytes. Otherwise, and if no `@arena` is open, it is a wrapper of an ordinary
array. It may be used after its `@arena` has ended: the memory stays until the collector finds that
nothing refers to it.

Arrays derived from it by broadcasting, `similar`, `copy`, `collect`, `map`, `zero`, arithmetic and
products of matrices are `ScopedArray`s too, if their elements are plain bits.

`ScopedArray(array)` shares the elements of an ordinary array, so that arrays derived from it are in
the arena. `parent` returns the wrapped array.

```jldoctest
@arena begin
    x = ScopedArray(rand(100_000)) # shared with code that knows nothing of arenas
    x .+ 1 isa ScopedArray
end

# output

true
```
"""
struct ScopedArray{T,N} <: DenseArray{T,N}
    parent::Array{T,N}
end

const ScopedVector{T} = ScopedArray{T,1}
const ScopedMatrix{T} = ScopedArray{T,2}

ScopedArray{T,N}(::UndefInitializer, size::Dims{N}) where {T,N} =
    ScopedArray{T,N}(new_array(T, size))
ScopedArray{T}(::UndefInitializer, size::Dims{N}) where {T,N} = ScopedArray{T,N}(undef, size)
ScopedArray{T}(::UndefInitializer, size::Integer...) where {T} =
    ScopedArray{T}(undef, map(to_length, size))

Base.parent(a::ScopedArray) = a.parent
Base.size(a::ScopedArray) = size(a.parent)
Base.length(a::ScopedArray) = length(a.parent)
Base.IndexStyle(::Type{<:ScopedArray}) = IndexLinear()
Base.elsize(::Type{ScopedArray{T,N}}) where {T,N} = Base.elsize(Array{T,N})
Base.strides(a::ScopedArray) = strides(a.parent)
Base.stride(a::ScopedArray, k::Int) = stride(a.parent, k)
Base.cconvert(::Type{Ptr{T}}, a::ScopedArray{T}) where {T} = a.parent
Base.unsafe_convert(::Type{Ptr{T}}, a::ScopedArray{T}) where {T} =
    Base.unsafe_convert(Ptr{T}, a.parent)
Base.dataids(a::ScopedArray) = Base.dataids(a.parent)

Base.@propagate_inbounds Base.getindex(a::ScopedArray, i::Int) = a.parent[i]
Base.@propagate_inbounds Base.setindex!(a::ScopedArray, value, i::Int) = (a.parent[i] = value; a)

Base.similar(a::ScopedArray, ::Type{T}, size::Dims) where {T} = similar_scoped(T, size)
Base.similar(::Type{<:ScopedArray{T}}, size::Dims) where {T} = similar_scoped(T, size)
Base.similar(broadcasted::Broadcast.Broadcasted{Broadcast.ArrayStyle{ScopedArray}}, ::Type{T}) where {T} =
    similar_scoped(T, map(length, axes(broadcasted)))

# Elements that are not plain bits need an ordinary array. The compiler decides this.
similar_scoped(::Type{T}, size) where {T} =
    isbitstype(T) ? ScopedArray{T}(undef, size) : Array{T}(undef, size)

Base.BroadcastStyle(::Type{<:ScopedArray}) = Broadcast.ArrayStyle{ScopedArray}()

Base.copy(a::ScopedArray{T}) where {T} = copyto!(similar_scoped(T, size(a)), a)
Base.collect(a::ScopedArray) = copy(a)
Base.copyto!(to::ScopedArray{T}, from::ScopedArray{T}) where {T} = (copyto!(to.parent, from.parent); to)
Base.copyto!(to::ScopedArray{T}, from::Array{T}) where {T} = (copyto!(to.parent, from); to)
Base.copyto!(to::Array{T}, from::ScopedArray{T}) where {T} = copyto!(to, from.parent)
Base.fill!(a::ScopedArray, value) = (fill!(a.parent, value); a)
Base.reshape(a::ScopedArray, size::Dims) = ScopedArray(reshape(a.parent, size))
Base.reshape(a::ScopedArray, size::Tuple{Vararg{Union{Int,Colon}}}) = ScopedArray(reshape(a.parent, size))
Base.vec(a::ScopedArray) = ScopedArray(vec(a.parent))
