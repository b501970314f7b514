# What overlaps the destination of an operation is copied first.
#
# Julia takes arrays of plain bits for values, which overlap nothing. So for our arrays, and for what
# wraps them, its rules are stated here.

using Base.Broadcast: Broadcast, Broadcasted

const Permuted = PermutedDimsArray{<:Any,<:Any,<:Any,<:Any,<:WrappedTwice}

Base.dataids(a::ArenaArray) = (UInt(a.address),)
# Julia's own, at least up to version 1.5, say that these share memory with no other array.
Base.dataids(a::Union{Permuted,Structured}) = Base.dataids(parent(a))

# The types decide whether two arrays may share memory at all, so that an operation on others sees one
# type of operand.
share_memory(a, b) =
    may_hold(typeof(a)) && may_hold(typeof(b)) && !Base._isdisjoint(Base.dataids(a), Base.dataids(b))
# Views of the same array may lie side by side.
const TwoViews = Tuple{SubArray{T,<:Any,A},SubArray{T,<:Any,A}} where {T,A}
share_memory(a::SubArray{T,<:Any,A}, b::SubArray{T,<:Any,A}) where {T,A} = invoke(Base.mightalias, TwoViews, a, b)
Base.mightalias(a::Related, b::Related) = share_memory(a, b)
Base.mightalias(a::SubArray{T,<:Any,A}, b::SubArray{T,<:Any,A}) where {T,A<:WrappedTwice} = share_memory(a, b)

# The copy is an ordinary array.
without_overlap(to, a) = share_memory(to, a) ? copy(a) : a
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
has_overlap(to, operand::AbstractArray) = operand !== to && share_memory(to, operand)
has_overlap(to, operand::Broadcasted) = any_overlaps(to, operand.args...)
any_overlaps(to) = false
any_overlaps(to, operand, more...) = has_overlap(to, operand) || any_overlaps(to, more...)

# Julia's own method writes to a permutation without checking what the source shares with it.
Base.PermutedDimsArrays._copy!(to::Permuted, from) =
    invoke(Base.PermutedDimsArrays._copy!, Tuple{PermutedDimsArray,Any}, to, Base.unalias(to, from))
