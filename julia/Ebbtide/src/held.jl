# The memory that buffers hold, and when to collect those that are garbage.
#
# The garbage collector does not see the chunks of a buffer. So this file counts their bytes, and
# calls the collector when buffers other than the present one hold too many. What a collection
# leaves is taken to be alive: the next one comes when the buffers hold twice as much.
#
#   try_alloc_slowly! ── count_entered! ── every few MiB: recount! ── collect_buffers_if_due!
#
# Invariant:
# - **J6** `HELD_BYTES` is the sum of `charged` of all open buffers. `charged` is what the buffer held
#   when its chunks were counted last. Since then, it has entered chunks of `entered` bytes.

const HELD_BYTES = Threads.Atomic{Int}(0)

# The next collection begins when other buffers hold more bytes than this.
const COLLECT_LEAST = 128 * 2^20
const COLLECT_ABOVE = Threads.Atomic{Int}(COLLECT_LEAST)
const COLLECTING = Threads.Atomic{Bool}(false)

# Counting walks the chunks, so it waits until the buffer has entered chunks of this many bytes, and
# of a quarter of those that it holds.
const COUNT_LEAST = 4 * 2^20

# After an allocation by the cold path, which began in the chunk `before`. The chunks that it enters
# are new ones, or ones that the buffer has kept.
@inline function count_entered!(b, before::Ptr{Cvoid}, bytes::Int)
    b.entered += bytes + (b.chunk == before ? 0 : (b.top - b.low) % Int)
    b.entered >= max(COUNT_LEAST, b.charged ÷ 4) && recount!(b)
    nothing
end

@noinline function recount!(b)
    before = b.charged
    b.charged = Int(stats(b).held)
    b.entered = 0
    Threads.atomic_add!(HELD_BYTES, b.charged - before)
    b.charged > before && collect_buffers_if_due!(b.charged)
    nothing
end

# Of a buffer that gives its chunks back.
function uncharge!(b)
    left = Threads.atomic_sub!(HELD_BYTES, b.charged) - b.charged
    COLLECT_ABOVE[] = max(COLLECT_LEAST, min(COLLECT_ABOVE[], 2 * left))
    b.charged = 0
    b.entered = 0
    nothing
end

# `own` bytes belong to a buffer that is in use.
collect_buffers_if_due!(own::Int) = HELD_BYTES[] - own > COLLECT_ABOVE[] && collect_buffers!(own)

@noinline function collect_buffers!(own::Int)
    # Finalizers and other threads, which may get here meanwhile, leave it to this task.
    Threads.atomic_cas!(COLLECTING, false, true) && return false
    try
        collect_now!(false)
        # A buffer that has survived a collection is freed by a full one only.
        HELD_BYTES[] - own > COLLECT_ABOVE[] ÷ 4 * 3 && collect_now!(true)
        COLLECT_ABOVE[] = max(COLLECT_LEAST, 2 * (HELD_BYTES[] - own))
    finally
        COLLECTING[] = false
    end
    true
end
