# All of the package, and its tests up to the one that needs Unitful.jl.
load("$FOLDER/src/AtomicSymmetries.jl")
load("$FOLDER/test/runtests.jl")
