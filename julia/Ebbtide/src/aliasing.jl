# What overlaps the destination of an operation is copied first.
#
# Julia takes arrays of plain bits for values, which overlap nothing. So for our arrays, and for what
# wraps them, its rules are stated here.

using Base.Broadcast: Broadcast, Broadcasted

const Permuted = PermutedDimsArray{<:Any,<:Any,<:Any,<:Any,<:WrappedTwice}
const View = SubArray{<:Any,<:Any,<:WrappedTwice}

# For arrays of other packages that wrap ours.
Base.dataids(a::ArenaArray) = addresses(a)

# The addresses of our arrays in the fields of an array, whatever wraps them. The types decide which
# fields are read, so an operand that cannot hold one of our arrays costs nothing. Mutable arrays, which
# may refer to themselves, say it on their own.
addresses(a::ArenaArray) = (UInt(a.address),)
@generated function addresses(x)
    may_hold_type(x) || return ()
    is_mutable_type(x) && return x <: AbstractArray ? :(Base.dataids(x)) : ()
    parts = [:(addresses(getfield(x, $i))...) for i in 1:fieldcount(x) if may_hold_type(fieldtype(x, i))]
    Expr(:tuple, parts...)
end

share_memory(a, b) = have_common(addresses(a), addresses(b))
have_common(as, bs) = !Base._isdisjoint(as, bs)

# Views of the same array may lie side by side.
share_memory(a::SubArray, b::SubArray) = parent(a) === parent(b) && is_one_to_one(parent(a)) ?
    may_meet(parentindices(a), parentindices(b)) : have_common(addresses(a), addresses(b))

# Whether each element of an array has memory of its own.
is_one_to_one(::ArenaArray) = true
is_one_to_one(a::Related) = is_one_to_one(parent(a))
is_one_to_one(a::View) =
    parentindices(a) isa Tuple{Vararg{Union{Integer,AbstractRange}}} && is_one_to_one(parent(a))
is_one_to_one(::AbstractArray) = false

# Whether two views of an array may have an element in common. An index may stand for several
# dimensions, unless it is a number or has numbers.
const OneDimension = Union{Integer,AbstractArray{<:Integer}}
may_meet(a::Tuple{Vararg{OneDimension}}, b::Tuple{Vararg{OneDimension}}) = all(map(may_meet, a, b))
may_meet(a::Tuple, b::Tuple) = true
may_meet(i::Integer, j::Integer) = i == j
may_meet(i::Integer, js::AbstractArray) = i in js
may_meet(is::AbstractArray, j::Integer) = j in is
may_meet(is::AbstractUnitRange, js::AbstractUnitRange) = max(first(is), first(js)) <= min(last(is), last(js))
may_meet(is::AbstractRange, js::AbstractRange) = !isempty(intersect(is, js))
may_meet(is::AbstractArray, js::AbstractArray) = true

# Julia has a method for two views, in some versions of the same type only.
Base.mightalias(a::Related, b::Related) = share_memory(a, b)
Base.mightalias(a::View, b::View) = share_memory(a, b)
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
