# Catching arrays that leave their block.
#
# Whether a type may hold an `ArenaArray` at all is decided when the block is compiled, so that a
# block that returns a number pays nothing. Otherwise the value is searched at run time.

# The memory that a block allocated: at the high end and at the low end of one chunk.
struct BlockMemory
    high::Tuple{UInt,UInt}
    low::Tuple{UInt,UInt}
end

is_within(address::UInt, range::Tuple{UInt,UInt}) = range[1] <= address < range[2]
is_within(address::UInt, memory::BlockMemory) =
    is_within(address, memory.high) || is_within(address, memory.low)
is_within(address::UInt, ranges::Vector{Tuple{UInt,UInt}}) =
    any(range -> is_within(address, range), ranges)

# Nothing is known about the memory of a buffer of another package, so every array counts.
is_within(::UInt, ::Nothing) = true

# The most values that a search visits. This bounds its cost in large containers, and ends cycles.
const SEARCH_BUDGET = 64

# The values in which a search continues. The other fields of a task belong to the scheduler, and
# lead to other tasks.
children(value) = fields(value, 1:nfields(value))
children(value::Union{Stored,Core.SimpleVector}) = (value[i] for i in 1:length(value) if isassigned(value, i))
children(value::Task) = fields(value, (:code, :result))
# Of plain bits, the slots of a dictionary that are not in use hold anything.
children(value::Dict) = Iterators.flatten(part for part in (keys(value), values(value)) if may_hold(eltype(part)))
fields(value, names) = (read_field(value, name) for name in names if has_field(value, name))

# Searches `value` for an array in `memory`. Returns what is left of the budget, or -1 if there is
# one.
function search(value, memory, budget::Int)
    budget <= 0 && return budget
    budget -= 1
    may_hold(typeof(value)) || return budget
    if value isa ArenaArray
        return !isempty(value) && is_within(UInt(value.address), memory) ? -1 : budget
    end
    for child in children(value)
        budget = search(child, memory, budget)
        budget > 0 || break
    end
    budget
end

holds_memory(value, memory) = search(value, memory, SEARCH_BUDGET) < 0

"""
    Ebbtide.allow_ptr_array_to_escape() = false

Evaluate `Ebbtide.allow_ptr_array_to_escape() = true` to turn off the search for arrays that leave
their block.
"""
allow_ptr_array_to_escape() = false

# Ends a block: rewinds its buffer, and throws if `result` holds memory of the block.
@inline function leave!(position, result)
    if may_hold(typeof(result)) && !allow_ptr_array_to_escape()
        leave_searching!(position, result)
    else
        checkpoint_restore!(position)
        nothing
    end
end

@noinline function leave_searching!(position, result)
    escapes = false
    if !(position isa Checkpoint)
        checkpoint_restore!(position)
        escapes = holds_memory(result, nothing)
    elseif position.buffer.chunk == position.words.chunk
        memory = block_memory(position)
        checkpoint_restore!(position)
        escapes = holds_memory(result, memory)
    else
        checkpoint_restore!(position)
        escapes = holds_memory(result, free_ranges(position.buffer))
    end
    escapes && throw(EscapeError(typeof(result)))
    nothing
end

function block_memory(position::Checkpoint)
    now, before = words(position.buffer), position.words
    BlockMemory(UInt.((now.top, before.top)), UInt.((before.low, now.low)))
end

const FREE_RANGES = Tuple{UInt,UInt}[]
const FREE_RANGES_LOCK = ReentrantLock()

function push_range(start::UInt, bytes::UInt)
    push!(FREE_RANGES, (start, start + bytes))
    nothing
end

# All memory of a buffer that is free. The library calls back for each range, on this thread, and
# nothing yields meanwhile.
function free_ranges(b::AbstractBuffer)
    b.chunk == C_NULL && return Tuple{UInt,UInt}[]
    lock(FREE_RANGES_LOCK) do
        empty!(FREE_RANGES)
        each = @cfunction(push_range, Cvoid, (UInt, UInt))
        GC.@preserve b ccall(LIBRARY.ebb_free_ranges_, Cvoid, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}),
            C_NULL, scope_pointer(b), each)
        copy(FREE_RANGES)
    end
end
