# Calls written in an `@arena`, such as `zeros(n)`, that return a ScopedArray there.
#
# They are found by name, and rewritten only if the name means the function from Base there: a
# variable called `copy`, for example, is left alone.
const SCOPED_CALLS = (:zeros, :ones, :fill, :similar, :collect, :copy, :map)

with_scoped_calls(x) = x
function with_scoped_calls(x::Expr)
    x.head in (:quote, :inert, :macrocall) && return x
    x.head === :do && return x.args[1].head === :call ? with_scoped_calls(without_do(x)) : x
    is_definition(x) && return Expr(x.head, x.args[1], map(with_scoped_calls, x.args[2:end])...)
    arguments = map(with_scoped_calls, x.args)
    x.head === :call && x.args[1] in SCOPED_CALLS ?
        call_with_function(scoped_call, arguments) : Expr(x.head, arguments...)
end

is_definition(x) = x.head in (:(=), :function) && x.args[1] isa Expr && x.args[1].head in (:call, :where, :(::))

# `f(arguments...) do … end` as a call whose first argument is a function.
without_do(x) = call_with_function(x.args[1].args[1], [x.args[2]; x.args[1].args[2:end]])

# A call with these arguments. Keywords behind a semicolon are the first argument of an expression.
function call_with_function(f, arguments)
    are_keywords(argument) = argument isa Expr && argument.head === :parameters
    Expr(:call, f, filter(are_keywords, arguments)..., filter(!are_keywords, arguments)...)
end

const Dimensions = Union{Dims,Tuple{Vararg{Integer}}}

@inline scoped_call(f, arguments...; keywords...) = f(arguments...; keywords...)

@inline scoped_call(::typeof(zeros), ::Type{T}, size::Integer...) where {T} = filled(zero(T), size)
@inline scoped_call(::typeof(zeros), ::Type{T}, size::Dimensions) where {T} = filled(zero(T), size)
@inline scoped_call(::typeof(zeros), size::Integer...) = filled(0.0, size)
@inline scoped_call(::typeof(zeros), size::Dimensions) = filled(0.0, size)
@inline scoped_call(::typeof(ones), ::Type{T}, size::Integer...) where {T} = filled(one(T), size)
@inline scoped_call(::typeof(ones), ::Type{T}, size::Dimensions) where {T} = filled(one(T), size)
@inline scoped_call(::typeof(ones), size::Integer...) = filled(1.0, size)
@inline scoped_call(::typeof(ones), size::Dimensions) = filled(1.0, size)
@inline scoped_call(::typeof(fill), value, size::Integer...) = filled(value, size)
@inline scoped_call(::typeof(fill), value, size::Dimensions) = filled(value, size)

@inline scoped_call(::typeof(similar), a::Array, arguments...) =
    scoped_call(similar, ScopedArray(a), arguments...)
@inline scoped_call(::typeof(similar), a::ScopedMatrixOrView, ::Type{T}, length::Integer) where {T} =
    similar(a, T, (length,))
@inline scoped_call(::typeof(similar), a::ScopedMatrixOrView{T}, length::Integer) where {T} =
    similar(a, T, (length,))
@inline scoped_call(::typeof(copy), a::Array{T}) where {T} =
    isbitstype(T) ? copy(ScopedArray(a)) : copy(a)
@inline scoped_call(::typeof(map), f, a::Array, more::Array...) =
    map(f, ScopedArray(a), map(ScopedArray, more)...)
@inline scoped_call(::typeof(collect), items) = collect_scoped(items)

filled(value::T, size) where {T} =
    fill!(similar_scoped(T, map(to_length, Tuple(size))), value)

collect_scoped(items) =
    has_known_shape(Base.IteratorSize(items)) && Base.IteratorEltype(items) isa Base.HasEltype &&
    isbitstype(eltype(items)) ? collect_known(items, Base.IteratorSize(items)) : collect(items)

has_known_shape(size) = size isa Union{Base.HasShape,Base.HasLength}

collect_known(items, ::Base.HasLength) = copyto!(ScopedArray{eltype(items)}(undef, length(items)), items)
collect_known(items, ::Base.HasShape) = copyto!(similar_scoped(eltype(items), size(items)), items)
