# What differs between versions of Julia. docs/src/versions.md lists what is used of its internals.

# `Memory` came with Julia 1.11, and lies below Array, Dict, IdDict and Set there. `Plain` arrays are
# contiguous, and are read and written without atomic instructions. `Stored` arrays have their elements
# themselves.
@static if isdefined(Core, :GenericMemory)
    const Plain{T} = Union{Array{T},Memory{T}}
    const Stored = Union{Array,GenericMemory}

    # The elements of a storage: from the one that is referred to.
    elements(storage) = storage
    elements(ref::GenericMemoryRef) = view(ref.mem, Core.memoryrefoffset(ref):length(ref.mem))
else
    const Plain{T} = Array{T}
    const Stored = Array

    elements(storage) = storage
end

# The fields of a value. Since Julia 1.7, some have to be read atomically.
@static if isdefined(Base, :isfieldatomic)
    order_of(value, name) = Base.isfieldatomic(typeof(value), name) ? :acquire : :not_atomic
    has_field(value, name) = isdefined(value, name, order_of(value, name))
    read_field(value, name) = getfield(value, name, order_of(value, name))
else
    has_field(value, name) = isdefined(value, name)
    read_field(value, name) = getfield(value, name)
end

@static if isdefined(Base, :ismutabletype)
    is_mutable_type(T) = ismutabletype(T)
else
    is_mutable_type(T) = T.mutable
end

@static if isdefined(Threads, :maxthreadid)
    thread_slots() = Threads.maxthreadid()
else
    thread_slots() = Threads.nthreads()
end
