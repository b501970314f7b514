# Arrays that `@arena` allocates in its memory, and that may escape from it.

using LinearAlgebra: LinearAlgebra, QRCompactWY

"""
    ScopedArray{T}(undef, dims...)
    ScopedArray(array)

An array whose elements are in the memory of the task's innermost [`@arena`](@ref), if it has at
least $ARENA_FLOOR bytes. Otherwise, and if no `@arena` is open, it is a wrapper of an ordinary
array. It may be used after its `@arena` has ended: the memory stays until the collector finds that
nothing refers to it.

Arrays derived from it by broadcasting, `similar`, `copy`, `collect`, `map`, `zero`, arithmetic and
products of matrices are `ScopedArray`s too, if their elements are plain bits. A `ScopedVector`
grows and shrinks like a `Vector`: `push!`, `append!`, `resize!` and the others move its elements to
ordinary memory first if they are in an arena. `similar(matrix, length)` returns a `Vector` unless
the call is written in an [`@arena`](@ref), because LinearAlgebra needs one.

`ScopedArray(array)` shares the elements of an ordinary array, so that arrays derived from it are in
the arena. `parent` returns the wrapped array, for functions that accept only an `Array`; it cannot
be resized if its elements are in an arena.

```jldoctest
@arena begin
    x = ScopedArray(rand(100_000)) # shared with code that knows nothing of arenas
    x .+ 1 isa ScopedArray
end

# output

true
```
"""
mutable struct ScopedArray{T,N} <: DenseArray{T,N}
    # Whether the elements are in an arena, where an array cannot be resized.
    in_arena::Bool
    # With `in_arena`, keeps `parent` away from the offsets at which an `Array` has the address of
    # its elements and its length. LLVM merges loads from the same offset of a variable that may
    # have either type, and the compiler of Julia 1.5 aborts on the result: "Illegal inttoptr".
    unused::Int
    parent::Array{T,N}

    ScopedArray{T,N}(parent) where {T,N} = new{T,N}(false, 0, parent)
    function ScopedArray{T,N}(::UndefInitializer, size::Dims{N}) where {T,N}
        array = new_array_in_arena(T, size)
        array === nothing ? new{T,N}(false, 0, Array{T,N}(undef, size)) : new{T,N}(true, 0, array)
    end
end

const ScopedVector{T} = ScopedArray{T,1}
const ScopedMatrix{T} = ScopedArray{T,2}
const ScopedMatrixOrView{T} = Union{ScopedMatrix{T},SubArray{T,2,<:ScopedArray}}

ScopedArray(parent::Array{T,N}) where {T,N} = ScopedArray{T,N}(parent)
ScopedArray(a::ScopedArray) = a
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

# As with an `Array`, a loop sees elements that it adds or removes.
@inline Base.iterate(a::ScopedArray, at = 1) = iterate(a.parent, at)

Base.@propagate_inbounds Base.getindex(a::ScopedArray, i::Int) = a.parent[i]
Base.@propagate_inbounds Base.setindex!(a::ScopedArray, value, i::Int) = (a.parent[i] = value; a)

Base.similar(a::ScopedArray, ::Type{T}, size::Dims) where {T} = similar_scoped(T, size)
Base.similar(::Type{<:ScopedArray{T}}, size::Dims) where {T} = similar_scoped(T, size)
# LinearAlgebra calls these for vectors that LAPACK fills, such as pivots, and stores them in fields
# of type `Vector`.
Base.similar(::ScopedMatrixOrView{T}, length::Int) where {T} = Vector{T}(undef, length)
Base.similar(::ScopedMatrixOrView, ::Type{T}, length::Int) where {T} = Vector{T}(undef, length)
LinearAlgebra.QRCompactWY(factors::AbstractMatrix{T}, blocks::ScopedMatrix{T}) where {T} =
    QRCompactWY(factors, blocks.parent)
Base.similar(broadcasted::Broadcast.Broadcasted{Broadcast.ArrayStyle{ScopedArray}}, ::Type{T}) where {T} =
    similar_scoped(T, map(length, axes(broadcasted)))

# Elements that are not plain bits need an ordinary array. The compiler decides this.
similar_scoped(::Type{T}, size) where {T} =
    isbitstype(T) ? ScopedArray{T}(undef, size) : Array{T}(undef, size)

Base.BroadcastStyle(::Type{<:ScopedArray}) = Broadcast.ArrayStyle{ScopedArray}()

# The type of the copy has to be that of `a`.
Base.unaliascopy(a::ScopedArray{T}) where {T} =
    isbitstype(T) ? copy(a) : ScopedArray(copy(a.parent))

Base.copy(a::ScopedArray{T}) where {T} = copyto!(similar_scoped(T, size(a)), a)
Base.collect(a::ScopedArray) = copy(a)
Base.copyto!(to::ScopedArray{T}, from::ScopedArray{T}) where {T} = (copyto!(to.parent, from.parent); to)
Base.copyto!(to::ScopedArray{T}, from::Array{T}) where {T} = (copyto!(to.parent, from); to)
Base.copyto!(to::Array{T}, from::ScopedArray{T}) where {T} = copyto!(to, from.parent)
Base.fill!(a::ScopedArray, value) = (fill!(a.parent, value); a)
Base.reshape(a::ScopedArray, size::Dims) = wrapped_like(a, reshape(a.parent, size))
Base.reshape(a::ScopedArray, size::Tuple{Vararg{Union{Int,Colon}}}) =
    wrapped_like(a, reshape(a.parent, size))
Base.vec(a::ScopedArray) = wrapped_like(a, vec(a.parent))
Base.vec(a::ScopedVector) = a

# Wraps an array that shares the elements of `a`; returns `a` itself if it is the array of `a`.
wrapped_like(a::ScopedArray, parent::Array) = parent === a.parent ? a : ScopedArray(parent)
# Julia's own reshaped array, if the element type is a union of plain bits.
wrapped_like(::ScopedArray, reshaped) = reshaped

# ------------------------------------------------------------ vectors that grow and shrink

function resizable(a::ScopedVector)
    if a.in_arena
        a.parent = copy(a.parent)
        a.in_arena = false
    end
    a.parent
end

# Calls a function that resizes an ordinary vector, and may return it.
function resizing(f, a::ScopedVector, arguments...)
    result = f(resizable(a), arguments...)
    result === a.parent ? a : result
end

Base.resize!(a::ScopedVector, length::Integer) = resizing(resize!, a, length)
Base.sizehint!(a::ScopedVector, length) = resizing(sizehint!, a, length)
Base.empty!(a::ScopedVector) = resizing(empty!, a)
Base.push!(a::ScopedVector, item) = resizing(push!, a, item)
Base.pushfirst!(a::ScopedVector, item) = resizing(pushfirst!, a, item)
Base.append!(a::ScopedVector, items) = resizing(append!, a, items)
# `prepend!` compares its arguments, because the elements move.
Base.prepend!(a::ScopedVector, items) =
    resizing(prepend!, a, items === a ? resizable(a) : items)
Base.insert!(a::ScopedVector, at::Integer, item) = resizing(insert!, a, at, item)
Base.pop!(a::ScopedVector) = resizing(pop!, a)
Base.popfirst!(a::ScopedVector) = resizing(popfirst!, a)
Base.popat!(a::ScopedVector, at::Integer) = resizing(popat!, a, at)
Base.popat!(a::ScopedVector, at::Integer, default) = resizing(popat!, a, at, default)
Base.deleteat!(a::ScopedVector, at) = resizing(deleteat!, a, at)
Base.splice!(a::ScopedVector, at) = resizing(splice!, a, at)
Base.splice!(a::ScopedVector, at, items) = resizing(splice!, a, at, items)
