# The standard libraries' methods for `Array` only, for our arrays.

using LinearAlgebra: LinearAlgebra, GeneralizedSchur, LU, Schur
using Random: Random, AbstractRNG
using Serialization: Serialization, AbstractSerializer, serialize

# Another process has other memory: it gets ordinary arrays.
Serialization.serialize(to::AbstractSerializer, a::WrappedOnce) = serialize(to, copy(a))
Serialization.serialize(to::AbstractSerializer, a::Plain{<:WrappedOnce}) = serialize(to, map(copy, a))
Serialization.serialize(to::AbstractSerializer, d::Dict{<:Any,<:WrappedOnce}) =
    serialize(to, Dict(zip(keys(d), map(copy, collect(values(d))))))

# These factorizations demand the type of the given matrix of a copy, or of a second matrix.
Base.copy(f::LU{T,<:ArenaArray}) where {T} = LU(copy(f.factors), copy(f.ipiv), f.info)
LinearAlgebra.Schur(t::ArenaMatrix{T}, z::Matrix{T}, values::Vector) where {T} = Schur(copy(t), z, values)
LinearAlgebra.GeneralizedSchur(s::ArenaMatrix{T}, t::ArenaMatrix{T}, α::Vector, β::Vector{T}, q::Matrix{T},
    z::Matrix{T}) where {T} = GeneralizedSchur(copy(s), copy(t), α, β, q, z)

# The same numbers as in an `Array`, for which the generators have methods of their own.
as_array(a::ArenaArray) = unsafe_wrap(Array, pointer(a), size(a))
Random.rand!(rng::AbstractRNG, a::ArenaArray, ::Type{T}) where {T} = (Random.rand!(rng, as_array(a), T); a)
for f in (:randn!, :randexp!, :randperm!, :randcycle!)
    @eval Random.$f(rng::AbstractRNG, a::ArenaArray) = (Random.$f(rng, as_array(a)); a)
end
Random.randperm!(a::ArenaArray) = Random.randperm!(Random.default_rng(), a)
Random.randcycle!(a::ArenaArray) = Random.randcycle!(Random.default_rng(), a)
