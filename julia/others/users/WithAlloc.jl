# All of the package, and all of its tests.
include("$FOLDER/test/runtests.jl")
