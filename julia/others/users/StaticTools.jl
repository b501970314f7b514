# The buffer of the package, which adds methods to the functions of Bumper.jl, and its test.
mentions_others(statement) = occursin(r"AllocBufferImpl|MallocArray", string(statement))
load("$FOLDER/src/bumper.jl", StaticTools; only = !mentions_others)

using Main.StaticTools, Bumper

load("$FOLDER/test/testslab.jl")
