# Run with `julia --project=julia/Ebbtide julia/Ebbtide/test/runtests.jl`. A test set is named after the
# rows of the conformance table that it shows.

using Ebbtide, LinearAlgebra, Test

include("common.jl")

@testset "Ebbtide" begin
    include("blocks.jl")
end
