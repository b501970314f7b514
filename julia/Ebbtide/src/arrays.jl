# Arrays in arena memory.

using LinearAlgebra: Adjoint, Diagonal, Hermitian, LowerTriangular, Symmetric, Transpose, UnitLowerTriangular,
    UnitUpperTriangular, UpperHessenberg, UpperTriangular

"""
    ArenaArray{T,N} <: DenseArray{T,N}

An array in the memory of a buffer, as [`@alloc`](@ref) and [`alloc!`](@ref) return it:
column-major and contiguous, with elements of plain bits. It is plain bits itself, an address and a
size, so making one allocates nothing, and loops over it compile to the same code as loops over an
`Array`.

It does not keep its memory alive: it is valid until its [`@no_escape`](@ref) block ends.
`copy`, `deepcopy`, `similar`, `collect` and broadcasting without a destination make ordinary
arrays, also of its views, transposes and permutations. It is serialized as an ordinary array, and so
are its views and transposes, an `Array` of these, and a `Dict` with such values. A `deepcopy` of a tuple, a struct or another container copies its address, as it does with
a `Ptr`: copy the array itself.

`reshape` and `reinterpret` return an `ArenaArray` of the same memory. Elements that need a larger
alignment than the array has are an `ArgumentError`. Broadcasting and `copyto!`
copy what overlaps the destination first, even through views, transposes and permutations. Not
recognised are a `PermutedDimsArray` around three nested ones of these, and two arrays that are both
wrapped four times.
"""
struct ArenaArray{T,N} <: DenseArray{T,N}
    # Not a `Ptr{T}`: where `T` is not inferred, Julia 1.5 prints an internal error when it drops a
    # conversion to that.
    address::Ptr{Cvoid}
    size::NTuple{N,Int}

    # There is no public constructor, so nobody makes one of an arbitrary address by accident.
    global unsafe_arena_array(::Type{T}, address::Ptr{Cvoid}, size::Dims{N}) where {T,N} =
        new{T,N}(address, size)
end

const ArenaVector{T} = ArenaArray{T,1}
const ArenaMatrix{T} = ArenaArray{T,2}

Base.size(a::ArenaArray) = a.size
Base.length(a::ArenaArray) = prod(a.size)
Base.IndexStyle(::Type{<:ArenaArray}) = IndexLinear()
Base.elsize(::Type{<:ArenaArray{T}}) where {T} = Base.elsize(Vector{T})
Base.sizeof(a::ArenaArray) = length(a) * Base.elsize(typeof(a))
Base.strides(a::ArenaArray) = Base.size_to_strides(1, a.size...)
Base.pointer(a::ArenaArray{T}) where {T} = Ptr{T}(a.address)
Base.unsafe_convert(::Type{Ptr{T}}, a::ArenaArray{T}) where {T} = pointer(a)

# Our arrays, bare or in up to three wrappers. One that gives the elements a structure is the innermost
# one. Loading the package takes longer the more members each of these types has.
const Wrapped{A} = Union{SubArray{<:Any,<:Any,<:A},Adjoint{<:Any,<:A},Transpose{<:Any,<:A},
    PermutedDimsArray{<:Any,<:Any,<:Any,<:Any,<:A},Base.ReshapedArray{<:Any,<:Any,<:A},
    Base.ReinterpretArray{<:Any,<:Any,<:Any,<:A}}
const Structured = Union{UpperTriangular{<:Any,<:ArenaArray},UnitUpperTriangular{<:Any,<:ArenaArray},
    LowerTriangular{<:Any,<:ArenaArray},UnitLowerTriangular{<:Any,<:ArenaArray},Symmetric{<:Any,<:ArenaArray},
    Hermitian{<:Any,<:ArenaArray},UpperHessenberg{<:Any,<:ArenaArray},Diagonal{<:Any,<:ArenaArray}}
const WrappedOnce = Union{ArenaArray,Wrapped{ArenaArray}}
const WrappedTwice = Union{ArenaArray,Wrapped{WrappedOnce},Structured}
const Related = Union{ArenaArray,Wrapped{WrappedTwice}}

Base.deepcopy(a::Related) = copy(a)
Base.deepcopy(a::Plain{<:Related}) = map(copy, a)

# The block preserves the buffer, and the buffer its memory (J5). Preserving the array here would keep
# loops from being vectorised.
@inline function Base.getindex(a::ArenaArray, i::Int)
    @boundscheck checkbounds(a, i)
    unsafe_load(pointer(a), i)
end

@inline function Base.setindex!(a::ArenaArray{T}, value, i::Int) where {T}
    @boundscheck checkbounds(a, i)
    unsafe_store!(pointer(a), convert(T, value)::T, i)
    a
end

function Base.reshape(a::ArenaArray{T}, size::Dims{N}) where {T,N}
    all(n -> n >= 0, size) && checked_length(size) == length(a) ||
        throw(DimensionMismatch("$(a.size) elements cannot be reshaped to $size"))
    unsafe_arena_array(T, a.address, size)
end
Base.reshape(a::ArenaArray, size::Tuple{Vararg{Union{Int,Colon}}}) = reshape(a, Base._reshape_uncolon(a, size))
Base.reshape(a::ArenaVector, ::Tuple{Colon}) = a
Base.vec(a::ArenaArray) = reshape(a, (length(a),))
Base.vec(a::ArenaVector) = a

function Base.reinterpret(::Type{S}, a::ArenaArray{T,N}) where {S,T,N}
    check_element(S)
    from, to = Base.elsize(typeof(a)), Base.elsize(Vector{S})
    # Elements of another size, or with another alignment.
    if from == to && rem(UInt(a.address), alignment(S)) == 0
        return unsafe_arena_array(S, a.address, a.size)
    end
    reinterpret_resized(S, a, from, to)
end

function reinterpret_resized(::Type{S}, a::ArenaArray{T,N}, from, to) where {S,T,N}
    N > 0 && from > 0 && to > 0 ||
        throw(ArgumentError("cannot reinterpret $T as $S in an array of $N dimensions"))
    bytes = from * a.size[1]
    rem(bytes, to) == 0 || throw(ArgumentError(
        "cannot reinterpret $bytes bytes in the first dimension as elements of $to bytes"))
    rem(UInt(a.address), alignment(S)) == 0 ||
        throw(ArgumentError("the array is not aligned for elements of type $S"))
    unsafe_arena_array(S, a.address, (div(bytes, to), Base.tail(a.size)...))
end

# Copies of contiguous memory, without a loop over the elements.
const Contiguous{T} = Union{Plain{T},ArenaArray{T}}

function copy_elements!(to::Contiguous{T}, at, from::Contiguous{T}, first, count) where {T}
    count == 0 && return to
    count > 0 || throw(ArgumentError("the number of elements to copy, $count, is negative"))
    checkbounds(to, at)
    checkbounds(to, at + count - 1)
    checkbounds(from, first)
    checkbounds(from, first + count - 1)
    unsafe_copyto!(to, at, from, first, count)
end

Base.copyto!(to::ArenaArray{T}, at::Integer, from::Contiguous{T}, first::Integer,
    count::Integer) where {T} = copy_elements!(to, Int(at), from, Int(first), Int(count))
Base.copyto!(to::Plain{T}, at::Integer, from::ArenaArray{T}, first::Integer,
    count::Integer) where {T} = copy_elements!(to, Int(at), from, Int(first), Int(count))
Base.copyto!(to::ArenaArray{T}, from::Contiguous{T}) where {T} =
    copy_elements!(to, 1, from, 1, length(from))
Base.copyto!(to::Plain{T}, from::ArenaArray{T}) where {T} =
    copy_elements!(to, 1, from, 1, length(from))

# Elements of the same type are plain bits; others are converted one by one. The caller answers for
# the indices.
function unsafe_copy_elements!(to::Contiguous{T}, at, from::Contiguous{T}, first, count) where {T}
    size = Base.elsize(Vector{T})
    GC.@preserve to from ccall(:memmove, Ptr{Cvoid}, (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t),
        pointer(to) + (at - 1) * size, pointer(from) + (first - 1) * size, count * size)
    to
end
function unsafe_copy_elements!(to, at, from, first, count)
    from = Base.unalias(to, from)
    @inbounds for i in 0:count-1
        to[at+i] = from[first+i]
    end
    to
end
Base.unsafe_copyto!(to::ArenaArray, at, from::Contiguous, first, count) =
    unsafe_copy_elements!(to, at, from, first, count)
Base.unsafe_copyto!(to::Plain, at, from::ArenaArray, first, count) =
    unsafe_copy_elements!(to, at, from, first, count)

# Both become ordinary arrays. Not by `promote_rule`, by which `[a, b]` would copy `a`.
Base.promote(a::ArenaArray{<:Any,N}, b::Union{Array{<:Any,N},ArenaArray{<:Any,N}}) where {N} =
    promote(Array(a), convert(Array, b))
Base.promote(a::Array{<:Any,N}, b::ArenaArray{<:Any,N}) where {N} = promote(a, Array(b))
Base.promote(a::ArenaArray{T,N}, b::ArenaArray{T,N}) where {T,N} = (a, b)

# ------------------------------------------------------------ what may hold an array

# Types whose values are not searched. Only Julia's own types: others may have any fields.
const OPAQUE = Union{Ptr,Type,Symbol,String,Module,IOStream,Base.LibuvStream,Method,
    Core.MethodInstance,Core.CodeInfo,TypeVar}

# The result of a `@test`, which holds what was compared since Julia 1.8, but only to show it.
const TEST_PACKAGE = Base.PkgId(Base.UUID("8dfed614-e22c-5e08-85e1-65c5234f0b40"), "Test")
is_test_result(T::DataType) =
    nameof(supertype(T)) === :Result && Base.PkgId(parentmodule(T)) == TEST_PACKAGE

# Whether values of a type may hold an array. `above` has the types that are being examined.
function may_hold_type(T, above = ())
    T isa Union && return may_hold_type(T.a, above) || may_hold_type(T.b, above)
    T <: ArenaArray && return true
    (T <: OPAQUE || T in above) && return false
    T isa DataType && isconcretetype(T) || return true
    is_test_result(T) && return false
    T === Core.SimpleVector && return true
    T <: Stored && return may_hold_type(eltype(T), (above..., T))
    any(field -> may_hold_type(field, (above..., T)), fieldtypes(T))
end

@generated may_hold(::Type{T}) where {T} = may_hold_type(T)

# ------------------------------------------------------------ element types and sizes

# In bytes. It folds to a constant.
alignment(::Type{T}) where {T} = UInt(Base.datatype_alignment(T))

# Arrays of a buffer are not among the elements: a search for arrays that escape would have to follow
# addresses that nobody has initialised.
@inline check_element(::Type{T}) where {T} =
    isbitstype(T) && !may_hold(T) ? nothing : throw_element(T)

@noinline throw_element(T) = throw(ArgumentError(isbitstype(T) ?
    "elements of type $T hold arrays of a buffer. Collect these in a tuple or a Vector" :
    "elements of type $T are not plain bits (isbitstype), so they cannot lie in a buffer"))

# The largest size: rounded up to any alignment, it is at most half of the address space, so one
# comparison decides whether a block fits.
const LARGEST_SIZE = typemax(Int) - 4096

@noinline throw_length(n) = throw(ArgumentError("the length $n is negative or too large"))

@inline to_length(n::Int) = n
@inline function to_length(n::Integer)
    0 <= n <= LARGEST_SIZE || throw_length(n)
    Int(n)
end

# The bytes of an array: an `ArgumentError` for what no array can have.
@inline function size_in_bytes(::Type{T}, size::Dims) where {T}
    element = Base.elsize(Vector{T})
    # The length has to be an Int even if elements have no bytes.
    bytes = max(element, 1)
    for n in size
        bytes, overflow = Base.Checked.mul_with_overflow(bytes, n)
        (n >= 0) & !overflow & (bytes <= LARGEST_SIZE) || throw_size(size)
    end
    element == 0 ? 0 : bytes
end
@inline function size_in_bytes(::Type{T}, size::Dims{1}) where {T}
    element = Base.elsize(Vector{T})
    most = LARGEST_SIZE ÷ max(element, 1)
    UInt(most) >= size[1] % UInt || throw_size(size)
    element * size[1]
end

@noinline throw_size(size) = throw(ArgumentError(
    "an array of the size $(join(size, " × ")) is negative in a dimension or too large"))

checked_length(size::Dims) = foldl(Base.checked_mul, size; init = 1)
