# All of the package, and its tests but those that need Aqua.jl and Flux.jl.
load("$FOLDER/src/AllocArrays.jl")

using Main.AllocArrays, Bumper

# It reads `offset`, a private field of Bumper.jl's AllocBuffer.
if !(:offset in fieldnames(AllocBuffer))
    AllocArrays.amount_used(b::AllocBuffer) = Bumper.used(b)
end

load("$FOLDER/test/checked.jl")
load("$FOLDER/test/autoscaling_alloc_buffer.jl")
