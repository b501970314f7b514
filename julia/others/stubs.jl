# What packages that use Bumper.jl need besides it, as far as their tests call it.

"Spglib.jl, whose symmetries of a crystal are found by trial."
module Spglib

using LinearAlgebra: norm

export Cell

# The vectors of the lattice, the positions of the atoms in units of them, and the kinds of atoms.
struct Cell
    lattice::Vector{Vector{Float64}}
    positions::Vector{Vector{Float64}}
    kinds::Vector{Int}
end

# The rotations and translations that map the crystal onto itself, in units of the lattice. The
# first one is the identity.
function get_symmetry(cell::Cell, tolerance)
    lattice = hcat(cell.lattice...)
    metric = lattice' * lattice
    found = [([1 0 0; 0 1 0; 0 0 1], zeros(3))]
    for entries in Iterators.product(ntuple(_ -> -1:1, 9)...)
        rotation = reshape(collect(entries), 3, 3)
        norm(rotation' * metric * rotation - metric) < 1e-5 * norm(metric) || continue
        for to in findall(==(cell.kinds[1]), cell.kinds)
            shift = cell.positions[to] - rotation * cell.positions[1]
            shift -= floor.(shift .+ 1e-6)
            is_new = rotation != found[1][1] || maximum(abs, shift) > 1e-6
            is_new && maps_onto_itself(cell, lattice, rotation, shift, tolerance) && push!(found, (rotation, shift))
        end
    end
    first.(found), last.(found)
end

maps_onto_itself(cell, lattice, rotation, shift, tolerance) =
    all(1:length(cell.kinds)) do from
        image = rotation * cell.positions[from] + shift
        any(1:length(cell.kinds)) do to
            cell.kinds[to] == cell.kinds[from] || return false
            distance = image - cell.positions[to]
            norm(lattice * (distance - round.(distance))) < tolerance
        end
    end

end

"PyCall.jl, without any module of Python."
module PyCall
export pyimport
pyimport(name) = error("there is no $name")
end

"ScopedValues.jl, for one task."
module ScopedValues
mutable struct ScopedValue{T}
    value::T
end
Base.getindex(scoped::ScopedValue) = scoped.value
function with(f, (scoped, value)::Pair)
    before, scoped.value = scoped.value, value
    try
        f()
    finally
        scoped.value = before
    end
end
end

"ConcurrentUtilities.jl: its lock lets one reader in at a time."
module ConcurrentUtilities
export ReadWriteLock, readlock, readunlock
struct ReadWriteLock <: Base.AbstractLock
    lock::ReentrantLock
end
ReadWriteLock() = ReadWriteLock(ReentrantLock())
Base.lock(l::ReadWriteLock) = lock(l.lock)
Base.unlock(l::ReadWriteLock) = unlock(l.lock)
readlock(l::ReadWriteLock) = lock(l)
readunlock(l::ReadWriteLock) = unlock(l)
end

"PrecompileTools.jl, which precompiles nothing."
module PrecompileTools
export @setup_workload, @compile_workload
macro setup_workload(_) end
macro compile_workload(_) end
end

"The part of StaticTools.jl below its buffers."
module StaticTools
using Bumper
import Bumper
export malloc, free, MallocSlabBuffer
malloc(bytes) = Libc.malloc(bytes)
free(p::Ptr) = Libc.free(p)
end

"The trees of DynamicExpressions.jl, and the functions that its extension for Bumper.jl adds methods to."
module DynamicExpressions

abstract type AbstractExpressionNode{T} end

# A leaf is a constant or a row of the data; a branch applies an operator to its children.
struct Node{T} <: AbstractExpressionNode{T}
    constant::Bool
    val::T
    feature::Int
    op::Int
    children::Vector{Node{T}}
end
Node(val::T) where {T} = Node{T}(true, val, 0, 0, [])
Node{T}(feature::Int) where {T} = Node{T}(false, zero(T), feature, 0, [])
Node(op::Int, children::Node{T}...) where {T} = Node{T}(false, zero(T), 0, op, collect(children))

# The operators of one argument, and those of two.
struct OperatorEnum{OPS<:Tuple}
    ops::OPS
end
Base.getindex(operators::OperatorEnum, degree::Int) = operators.ops[degree]

struct EvalContext{turbo,bumper,early_exit} end

function tree_mapreduce(leaf, branch, combine, tree; break_sharing)
    isempty(tree.children) && return leaf(tree)
    combine(branch(tree), (tree_mapreduce(leaf, branch, combine, child; break_sharing = break_sharing)
        for child in tree.children)...)
end

is_valid_array(x) = all(isfinite, x)

module UtilsModule
struct ResultOk{A}
    x::A
    ok::Bool
end
counttuple(::Type{<:NTuple{N,Any}}) where {N} = N
end

module ExtensionInterfaceModule
function _bumper_eval_tree_array end
function is_extension_loaded end
function bumper_kern! end
end

end

"The functions that TensorOperations.jl's extension for Bumper.jl adds methods to."
module TensorOperations
export tensoralloc
tensoralloc(::Type{A}, structure, istemp) where {A} = A(undef, structure...)
function allocator_checkpoint! end
function allocator_reset! end
function _butensor end
function blas_contract! end
end
