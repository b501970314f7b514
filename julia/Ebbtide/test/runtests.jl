# Run with `julia --project=julia/Ebbtide julia/Ebbtide/test/runtests.jl`. A test set is named after
# the rows of the conformance table that it shows.

using Ebbtide, Libdl, LinearAlgebra, Random, Serialization, Test

include("common.jl")

@testset "Ebbtide" begin
    for file in ("blocks", "lexical", "arrays", "tasks", "resize", "statistics", "older", "workloads",
        "misuse", "loading", "arena", "malloc", "languages", "documentation", "model")
        include(file * ".jl")
    end
end
