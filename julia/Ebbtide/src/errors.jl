"""
    BufferError(message)

A buffer cannot serve a request, because it is full, closed or in use. The buffer is unchanged.
Wrong arguments, such as a negative length, throw an `ArgumentError` instead.
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
