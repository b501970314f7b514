# The extension of the package for Bumper.jl.
load("$FOLDER/ext/TensorOperationsBumperExt.jl")

using Bumper
using Main.TensorOperations: tensoralloc, allocator_checkpoint!, allocator_reset!

function product_of_four(a, b, buffer)
    # Version 5.3 has none.
    has_checkpoints = hasmethod(allocator_checkpoint!, Tuple{typeof(buffer)})
    position = has_checkpoints ? allocator_checkpoint!(buffer) : Bumper.checkpoint_save(buffer)
    ab = tensoralloc(Matrix{Float64}, (size(a, 1), size(b, 2)), Val(true), buffer)
    result = tensoralloc(Matrix{Float64}, (size(a, 1), size(a, 1)), Val(false), buffer)
    ab .= a * b
    result .= ab * ab'
    has_checkpoints ? allocator_reset!(buffer, position) : Bumper.checkpoint_restore!(position)
    result, pointer(ab)
end

let a = rand(30, 40), b = rand(40, 20)
    for buffer in (default_buffer(), SlabBuffer{16_384}(), AllocBuffer(10_000))
        first_product, place = product_of_four(a, b, buffer)
        second_product, place_again = product_of_four(a, b, buffer)
        @test first_product == second_product ≈ a * b * b' * a'
        @test place == place_again
    end
end
