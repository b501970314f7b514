# What overlaps the destination of an operation is copied first.
#
# Julia takes arrays of plain bits for values, which overlap nothing. So for our arrays, and for what
# wraps them, its rules are stated here.

using Base.Broadcast: Broadcast, Broadcasted

# One of our arrays, bare or wrapped up to three times.
const Wrapped{T,N,A} = Union{SubArray{T,N,<:A},Adjoint{T,<:A},Transpose{T,<:A},
    PermutedDimsArray{T,N,<:Any,<:Any,<:A},Base.ReshapedArray{T,N,<:A},
    Base.ReinterpretArray{T,N,<:Any,<:A}}
const WrappedOnce{T,N} = Union{ArenaArray{T,N},Wrapped{T,N,ArenaArray}}
const WrappedTwice{T,N} = Union{WrappedOnce{T,N},Wrapped{T,N,WrappedOnce}}
const Related{T,N} = Union{WrappedTwice{T,N},Wrapped{T,N,WrappedTwice}}
const Permuted{T,N} = PermutedDimsArray{T,N,<:Any,<:Any,<:WrappedTwice}

Base.dataids(a::ArenaArray) = (UInt(a.address),)
# Julia's own, at least up to version 1.5, say that a permutation shares memory with no other array.
Base.dataids(a::Permuted) = Base.dataids(parent(a))

share_memory(a, b) = !Base._isdisjoint(Base.dataids(a), Base.dataids(b))
# Views of the same array may lie side by side.
share_memory(a::SubArray{T,<:Any,A}, b::SubArray{T,<:Any,A}) where {T,A} = Base.mightalias(a, b)

# The types decide whether two arrays may share memory at all, so that an operation on others sees one
# type of operand. The copy is an ordinary array.
without_overlap(to, a) =
    may_hold(typeof(to)) && may_hold(typeof(a)) && share_memory(to, a) ? copy(a) : a
Base.unalias(to, a::Related) = without_overlap(to, a)
Base.unalias(to::Related, a::AbstractArray) = without_overlap(to, a)
Base.unalias(to::Related, a::Related) = without_overlap(to, a)
Base.unalias(to::Related, a::AbstractRange) = a

# Broadcasting into one of our arrays. Its operands keep their types, so it compiles to one loop; what
# overlaps goes through an ordinary array.
@inline function Base.copyto!(to::WrappedOnce, operation::Broadcasted{Nothing})
    axes(to) == axes(operation) || Broadcast.throwdm(axes(to), axes(operation))
    has_overlap(to, operation) && return copyto_by_array!(to, operation)
    prepared = Broadcast.preprocess(nothing, operation)
    @simd for i in eachindex(prepared)
        @inbounds to[i] = prepared[i]
    end
    to
end

@noinline copyto_by_array!(to, operation) =
    copyto!(to, copyto!(similar(Array{eltype(to)}, axes(to)), operation))

# An operand that is the destination itself is read before the same element is written.
has_overlap(to, operand) = false
has_overlap(to, operand::AbstractArray) =
    may_hold(typeof(operand)) && operand !== to && share_memory(to, operand)
has_overlap(to, operand::Broadcasted) = any_overlaps(to, operand.args...)
any_overlaps(to) = false
any_overlaps(to, operand, more...) = has_overlap(to, operand) || any_overlaps(to, more...)

# Julia's own method writes to a permutation without checking what the source shares with it.
Base.PermutedDimsArrays._copy!(to::Permuted, from) =
    invoke(Base.PermutedDimsArrays._copy!, Tuple{PermutedDimsArray,Any}, to, Base.unalias(to, from))
