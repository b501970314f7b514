# What `@arena no_escape=true` does at its end: it frees the arrays that were made in it.
#
# Julia 1.11 lists the `Memory` objects whose elements the C library allocated, for each thread, the
# newest first. At the end of a block, those in front of the one that was the newest at its beginning are
# the block's. Their elements are freed, and the objects become empty ones, which the collector sweeps
# like others.
#
#   enter_no_escape! ── the expression ── leave_no_escape! ── is_undisturbed ── reclaim!
#
# Invariants:
# - R1 Only memory is freed that the block's own code allocated. Whatever else might allocate on the
#   thread in the meantime leaves a trace: see `is_undisturbed`. Then nothing is freed.
# - R2 Nothing is freed while the collector could run, and nothing that the collector follows: the
#   elements are plain bits.
# - R3 The lists and counters of a thread are only touched if `knows_runtime`: the version is one of
#   `KNOWN_VERSIONS`, and they change as expected.
# - R4 The runtime and Base keep plain bits of their own. Their arrays have `KEPT_ELEMENTS`, other elements
#   that Base defines, or belong to a dictionary that also has an array of references.

# The offsets, in bytes, of parts of Julia's state of a thread, in `KNOWN_VERSIONS`.
const NEWEST = 168     # heap.mallocarrays: points to the first `ListNode`
const ALLOCATED = 2976 # gc_num.allocd
const MALLOCS = 2992   # gc_num.malloc
const UNREPORTED = 3032 # gc_num.alloc_acc: bytes that have not been added to the size of the heap

# The elements of a list. `tagged` is the address of a `Memory`, plus 1 if the collector frees its
# elements by itself.
struct ListNode
    tagged::UInt
    next::Ptr{ListNode}
end

# The first words of a `Memory`. If the C library allocated the elements, `owner` is its own address.
struct MemoryHead
    length::UInt
    elements::Ptr{Cvoid}
    owner::UInt
end

const KEPT_ELEMENTS = Union{UInt8,UInt16,UInt32,UInt64,Int32,Ptr}

# Elements that no standard library keeps, unlike `UUID` or `UnitRange`.
const FREED_ELEMENTS = Union{Number,Char,Tuple,NamedTuple,Base.AbstractCartesianIndex}

# An open block, which is in the `result` of its task: Julia overwrites that whenever it has switched to
# another task and back.
#
# - `outer`: what was there.
# - `kept`: the `Memory` objects that were made in a `@noarena`, also in those of inner blocks. All blocks
#   of a task share the set.
# - `keeping`: the number of `@noarena`s that are open, or were left early.
mutable struct NoEscapeBlock
    const outer::Any
    const thread::Ptr{Cvoid}
    const newest::Ptr{ListNode}
    const collected::UInt64
    const compiled::UInt64
    const bytes::Int64
    const may_finalize::Bool
    kept::Union{Nothing,Base.IdSet{Any}}
    keeping::Int
end

thread_state() = ccall(:jl_get_ptls_states, Ptr{Cvoid}, ())
newest(thread) = unsafe_load(Ptr{Ptr{ListNode}}(thread + NEWEST))
counter(thread, offset) = Ptr{Int64}(thread + offset)

# In ns, since the process began.
collection_time() = ccall(:jl_gc_total_hrtime, UInt64, ())
compile_time() = ccall(:jl_cumulative_compile_time_ns, UInt64, ())

finalizers_are_pending() = unsafe_load(cglobal(:jl_gc_have_pending_finalizers, Cint)) != 0

# 0 until a block has asked, then 1 or -1.
const KNOWS_RUNTIME = Threads.Atomic{Int}(0)

@inline knows_runtime() = KNOWS_RUNTIME[] > 0 || KNOWS_RUNTIME[] == 0 && examine_runtime!()

@noinline function examine_runtime!()
    # `VERSION` is that of the system image.
    knows = unsafe_string(ccall(:jl_ver_string, Cstring, ())) == string(VERSION) && !Base.isdebugbuild() &&
        any(_ -> counts_as_expected(), 1:3)
    # From now on, Julia measures the time of compilation.
    knows && KNOWS_RUNTIME[] == 0 && Base.cumulative_compile_timing(true)
    KNOWS_RUNTIME[] = knows ? 1 : -1
    knows
end

# Not inlined: LLVM moves loads across allocations that it sees.
@noinline four_kibibytes() = Memory{Float64}(undef, 512)

# Whether arrays of 4 KiB change counters and list as expected. The collector is off, because it would
# change the counters as well.
function counts_as_expected()
    thread = thread_state()
    was_enabled = GC.enable(false)
    was_added = false
    try
        for _ in 1:8
            allocated, mallocs = unsafe_load(counter(thread, ALLOCATED)), unsafe_load(counter(thread, MALLOCS))
            unreported, before = unsafe_load(counter(thread, UNREPORTED)), newest(thread)
            memory = four_kibibytes()
            # The object has 32 bytes.
            unsafe_load(counter(thread, ALLOCATED)) - allocated == 4096 + 32 || return false
            unsafe_load(counter(thread, MALLOCS)) - mallocs == 1 || return false
            now = unsafe_load(counter(thread, UNREPORTED))
            now == unreported + 4096 || 0 <= now < 2^14 || return false
            was_added |= now == unreported + 4096
            node = unsafe_load(newest(thread))
            GC.@preserve memory begin
                object = pointer_from_objref(memory)
                node.tagged == UInt(object) + 1 && node.next == before || return false
                head = unsafe_load(Ptr{MemoryHead}(object))
                head == MemoryHead(512, pointer(memory), UInt(object)) || return false
            end
        end
    finally
        GC.enable(was_enabled)
    end
    was_added
end

@inline function enter_no_escape!()
    knows_runtime() || (collect_if_due!(); return nothing)
    # The first time, the C library is told to keep freed memory. A collection would disturb the blocks of
    # other threads.
    DUE_AT[] == 0 && collect_garbage!()
    open_no_escape!()
end

@noinline function open_no_escape!()
    task, thread = current_task(), thread_state()
    block = NoEscapeBlock(task.result, thread, newest(thread), collection_time(), compile_time(),
        Base.gc_bytes(), finalizers_are_pending(), kept_by(task.result), 0)
    task.result = block
    block
end

kept_by(outer) = outer isa NoEscapeBlock ? outer.kept : nothing

# Nothing else than the block's code has allocated on the thread, and no object of the list is gone. No
# other task has run there, nothing was compiled, and no finalizer has run. An inner block, or a
# `@noarena`, that was left by an exception or a `return` has changed `result` or `keeping`.
is_undisturbed(block) = current_task().result === block && block.keeping == 0 &&
    thread_state() == block.thread && collection_time() == block.collected &&
    compile_time() == block.compiled && !block.may_finalize

leave_no_escape!(::Nothing, value) = value

@inline function leave_no_escape!(block::NoEscapeBlock, value)
    escapes = close_no_escape!(block, value)
    escapes && throw(EscapeError(typeof(value)))
    value
end

@noinline function close_no_escape!(block, @nospecialize(value))
    escapes = is_undisturbed(block) && !isbitstype(typeof(value)) && holds_memory(value, block)
    if is_undisturbed(block)
        each_memory(CHECKS_PROMISES ? overwrite! : free_elements!(block.thread), block)
        current_task().result = block.outer
    else
        current_task().result === block && give_up!(block)
        # Otherwise these arrays make Julia collect in the next blocks as well. With several threads, a
        # collection would disturb the blocks of the others.
        collection_time() != block.collected && Threads.nthreads() == 1 &&
            Base.gc_bytes() - block.bytes >= QUICK.least && collect_now!(false)
    end
    escapes
end

# What a `@noarena` that was left early has made is unknown to the outer block as well.
function give_up!(block)
    outer = block.outer
    block.keeping > 0 && outer isa NoEscapeBlock && (outer.keeping += 1)
    current_task().result = outer
end

# Calls `f` with each `Memory` object of plain bits that the block has made, and its first words. `until` is
# the node that was the newest when they began. The collector is off, so no object or node goes. An
# interrupt waits, because it would leave the collector off.
function each_memory(f, block, until = block.newest)
    disable_sigint() do
        was_enabled = GC.enable(false)
        try
            # It may have run before.
            collection_time() == block.collected && each_node(f, block, newest(block.thread), until)
        finally
            GC.enable(was_enabled)
        end
    end
    nothing
end

function each_node(f, block, node, until)
    newer = Ptr{MemoryHead}(C_NULL)
    while node != until
        tagged, next = unsafe_load(node).tagged, unsafe_load(node).next
        at = head_of(node)
        head = unsafe_load(at)
        # In an inner block, it may have been freed.
        if tagged != UInt(at) && head.owner == UInt(at) && head.elements != C_NULL
            memory = unsafe_pointer_to_objref(Ptr{Cvoid}(at))
            may_be_freed(typeof(memory)) && !is_kept(block, memory) && !are_of_dictionary(newer, at) &&
                (next == until || !are_of_dictionary(head_of(next), at)) && f(memory, head)
        end
        node, newer = next, at
    end
end

head_of(node) = Ptr{MemoryHead}(unsafe_load(node).tagged & ~UInt(1))

# The commonest elements first.
is_common(@nospecialize(T)) = T === Memory{Float64} || T === Memory{Int}
is_plain(@nospecialize(T)) = is_common(T) || isbitstype(eltype(T))
may_be_freed(@nospecialize(T)) = is_common(T) || is_freed_element(eltype(T))

@noinline is_freed_element(@nospecialize(T)) = isbitstype(T) && !(T <: KEPT_ELEMENTS) &&
    (T <: FREED_ELEMENTS || !(nameof(Base.moduleroot(parentmodule(T))) in (:Base, :Core, :Distributed, :Pkg)))

# Whether `other`, with references, may be the keys of the values in `plain`, or the reverse: a `Dict`
# allocates one right after the other, and their length is a power of two. Libraries keep
# dictionaries that grow in any function, such as those of log messages and of temporary files.
function are_of_dictionary(other::Ptr{MemoryHead}, plain::Ptr{MemoryHead})
    other != C_NULL || return false
    length = unsafe_load(plain).length
    ispow2(length) && unsafe_load(other).length == length &&
        !is_plain(typeof(unsafe_pointer_to_objref(Ptr{Cvoid}(other))))
end

is_kept(block, memory) = block.kept !== nothing && memory in block.kept

# As if the array had not been allocated: otherwise a collection would soon be due. The runtime adds
# the size, rounded up to 64 bytes, to both counters.
free_elements!(thread) = function (@nospecialize(memory), head)
    bytes = (Core.sizeof(memory) + 63) & ~63
    unsafe_store!(Ptr{MemoryHead}(head.owner), MemoryHead(0, C_NULL, head.owner))
    Libc.free(head.elements)
    for offset in (ALLOCATED, UNREPORTED)
        at = counter(thread, offset)
        unsafe_store!(at, unsafe_load(at) - bytes)
    end
end

# With `--check-bounds=yes`, as `Pkg.test` sets it, nothing is freed: whoever uses an array after the block
# finds NaN or -1.
const CHECKS_PROMISES = Base.JLOptions().check_bounds == 1

overwrite!(@nospecialize(memory), head) =
    ccall(:memset, Ptr{Cvoid}, (Ptr{Cvoid}, Cint, Csize_t), head.elements, 0xff, Core.sizeof(memory))

# The search for escapes, in this block.
may_hold(::NoEscapeBlock, ::Type{T}) where {T} = !isbitstype(T) && !(T <: OPAQUE)
is_leaf(value::Union{Stored,GenericMemoryRef}, ::NoEscapeBlock) = isbitstype(eltype(value))
is_memory(value::Array, block::NoEscapeBlock) = is_memory(value.ref.mem, block)
is_memory(value::GenericMemoryRef, block::NoEscapeBlock) = is_memory(value.mem, block)
function is_memory(value::GenericMemory, block::NoEscapeBlock)
    found = Ref(false)
    each_memory((memory, _) -> memory === value && (found[] = true), block)
    found[]
end
children(value::Dict, ::NoEscapeBlock) = fields(value, 1:nfields(value))

# An expression of `@noarena`: what it allocates is kept.
@inline function enter_noarena!()
    block = current_task().result
    block isa NoEscapeBlock || return nothing
    block.keeping += 1
    (block, newest(thread_state()))
end

leave_noarena!(::Nothing, value) = value

@noinline function leave_noarena!((block, before), value)
    block.keeping -= 1
    is_undisturbed(block) || return value
    block.kept === nothing && share_kept!(block, Base.IdSet{Any}())
    each_memory((memory, _) -> push!(block.kept, memory), block, before)
    value
end

share_kept!(outer, kept) = nothing
function share_kept!(block::NoEscapeBlock, kept)
    block.kept = kept
    share_kept!(block.outer, kept)
end
