# Permutations of our arrays. Julia's own methods, at least up to version 1.5, write to a
# `PermutedDimsArray` without checking whether the source shares memory with it, and assume that a
# `PermutedDimsArray` shares memory with no other array.

const OurArray{T,N} = ScopedArray{T,N}
const ScopedRelated{T,N} = Union{OurArray{T,N},SubArray{T,N,<:OurArray},Adjoint{T,<:OurArray},Transpose{T,<:OurArray},
    PermutedDimsArray{T,N,<:Any,<:Any,<:OurArray},Base.ReshapedArray{T,N,<:OurArray}}
const ScopedPermuted{T,N} = PermutedDimsArray{T,N,<:Any,<:Any,<:ScopedRelated}

Base.dataids(a::ScopedPermuted) = Base.dataids(parent(a))
Base.unaliascopy(a::ScopedPermuted) = typeof(a)(Base.unaliascopy(parent(a)))

# Arrays that may share memory with one of ours: our arrays, and wrappers of any array.
const ScopedSharing{T,N} = Union{OurArray{T,N},SubArray{T,N},Adjoint{T},Transpose{T},PermutedDimsArray{T,N},
    Base.ReshapedArray{T,N}}

Base.copyto!(to::ScopedPermuted{T,N}, from::ScopedSharing{T,N}) where {T,N} =
    invoke(copyto!, Tuple{PermutedDimsArray{T,N},AbstractArray{T,N}}, to, Base.unalias(to, from))
Base.copyto!(to::ScopedPermuted, from::ScopedSharing) =
    invoke(copyto!, Tuple{PermutedDimsArray,AbstractArray}, to, Base.unalias(to, from))
