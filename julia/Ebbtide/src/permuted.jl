# Permutations of our arrays. Julia's own methods, up to version 1.5 at least, write to a
# `PermutedDimsArray` without a look at what the source shares with it, and take one for an array
# that shares nothing.

const OurArray{T,N} = Union{ArenaArray{T,N},ScopedArray{T,N}}
const Related{T,N} = Union{OurArray{T,N},SubArray{T,N,<:OurArray},Adjoint{T,<:OurArray},Transpose{T,<:OurArray},
    PermutedDimsArray{T,N,<:Any,<:Any,<:OurArray},Base.ReshapedArray{T,N,<:OurArray}}
const Permuted{T,N} = PermutedDimsArray{T,N,<:Any,<:Any,<:Related}

Base.dataids(a::Permuted) = Base.dataids(parent(a))
Base.unaliascopy(a::Permuted) = typeof(a)(Base.unaliascopy(parent(a)))

# What may share memory with one of ours: such arrays, and what shows any array.
const Sharing{T,N} = Union{OurArray{T,N},SubArray{T,N},Adjoint{T},Transpose{T},PermutedDimsArray{T,N},
    Base.ReshapedArray{T,N}}

Base.copyto!(to::Permuted{T,N}, from::Sharing{T,N}) where {T,N} =
    invoke(copyto!, Tuple{PermutedDimsArray{T,N},AbstractArray{T,N}}, to, Base.unalias(to, from))
Base.copyto!(to::Permuted, from::Sharing) =
    invoke(copyto!, Tuple{PermutedDimsArray,AbstractArray}, to, Base.unalias(to, from))
