"""
    BufferError(message)

A buffer cannot do what it was asked for: it is full, closed or in use. It is as it was before.
Wrong arguments, such as a negative length, are an `ArgumentError` instead.
"""
struct BufferError <: Exception
    message::String
end

Base.showerror(io::IO, error::BufferError) = print(io, "BufferError: ", error.message)

"""
    EscapeError(type)

A value of this type left a [`@no_escape`](@ref) block and holds an array that the block
allocated. The block has been rewound, and the array must not be used.
"""
struct EscapeError <: Exception
    type::Type
end

function Base.showerror(io::IO, error::EscapeError)
    print(io, "EscapeError: a value of type ", error.type, " would leave its @no_escape block ",
        "with memory of the block. Return a copy, or allocate in an outer block.")
end
