# When `@arena` collects garbage.
#
# Julia starts a collection when tens of megabytes have been allocated. By then the memory of the
# first arrays is no longer in the processor's caches. A quick collection, which looks at young
# objects only, takes 25 µs or more, so it can run after every few megabytes: the next arrays then
# get memory that is still in the caches.
#
# Each quick collection postpones Julia's own, and never frees objects that survived two others. So
# a full collection, which takes 90 ms or more, follows when much has survived.

# Collections of one kind.
#
# - `is_full`: whether they are full ones.
# - `bytes`: so many bytes cause the next one. They are counted when they are allocated if it is
#   quick, and when they survive quick ones if it is full.
# - `least` and `most`: the limits of `bytes`.
# - `live`: the bytes that the last one left.
# - `ended_at`: when it ended, in ns.
mutable struct Collections
    is_full::Bool
    least::Int64
    most::Int64
    bytes::Int64
    live::Int64
    ended_at::UInt64
end

# The largest numbers are about those of Julia's own schedule. It also gives memory of small objects
# back to the system if a quick collection finds more.
const QUICK = Collections(false, 2^22, 5 * 2^23, 2^22, 0, 0)
const FULL = Collections(true, 2^26, 2^30, 2^26, 0, 0)

# When the last collection of ours was due: the number of collections of the process, of whatever cause,
# and the numbers of bytes and objects allocated.
const PAUSES = Ref{Int}(0)
const BYTES = Ref{Int64}(0)
const OBJECTS = Ref{Int64}(0)

# The number of full collections of the process when the last collection of ours ended.
const FULL_SWEEPS = Ref{Int}(0)

# When this many bytes have been allocated in all, a collection is due. While a task collects, it is
# `typemax(Int64)`, and the other tasks go on.
const DUE_AT = Threads.Atomic{Int64}(0)

@inline function collect_if_due!()
    Base.gc_bytes() < DUE_AT[] || collect_garbage!()
    nothing
end

@noinline function collect_garbage!()
    due_at = DUE_AT[]
    Base.gc_bytes() < due_at && return
    Threads.atomic_cas!(DUE_AT, due_at, typemax(Int64)) == due_at || return
    # An interrupt may arrive in between.
    try
        due_at == 0 ? begin_collections!() : collect!()
    finally
        DUE_AT[] = Base.gc_bytes() + QUICK.bytes
    end
end

# Before the first collection of the process.
function begin_collections!()
    FREED_MEMORY_IS_KEPT[] || keep_freed_memory!()
    for kind in (QUICK, FULL)
        kind.live, kind.ended_at = Base.gc_live_bytes(), time_ns()
    end
    PAUSES[], FULL_SWEEPS[] = Base.gc_num().pause, Base.gc_num().full_sweep
    has_large_objects!()
end

# Does nothing if Julia has collected garbage since the last time: an additional collection would
# find little, and would disturb Julia's own schedule. If quick collections do not pay, waits for
# one of Julia's.
function collect!()
    has_large = has_large_objects!()
    if Base.gc_num().pause != PAUSES[]
        decrease!(QUICK)
    elseif has_large && QUICK.bytes < QUICK.most
        collect!(QUICK)
        Base.gc_live_bytes() - FULL.live > FULL.bytes && collect!(FULL)
    end
    PAUSES[] = Base.gc_num().pause
end

# Whether the objects allocated since the last time have a kilobyte or more on average. The memory of
# smaller ones comes from Julia's own pages: collecting them early costs more than the caches save.
function has_large_objects!()
    num, bytes = Base.gc_num(), Base.gc_bytes()
    objects = num.poolalloc + num.bigalloc + num.malloc
    are_large = bytes - BYTES[] >= 1024 * (objects - OBJECTS[])
    BYTES[], OBJECTS[] = bytes, objects
    are_large
end

# Full collections may take a tenth of the time, and quick ones an eighth of the time between them. One
# that freed less than three quarters of what was new counts as if it had taken longer. The first one
# after a full one looks at all objects, so its time does not count.
function collect!(kind)
    start, live, pauses = time_ns(), Base.gc_live_bytes(), Base.gc_num().pause
    is_first = Base.gc_num().full_sweep != FULL_SWEEPS[]
    collect_now!(kind.is_full)
    # The collector is disabled.
    Base.gc_num().pause == pauses && return
    took, passed, left = time_ns() - start, start - kind.ended_at, Base.gc_live_bytes()
    is_dear = !is_first && (kind.is_full ? 10 : 8) * took > passed || 4 * (live - left) < 3 * (live - kind.live)
    is_dear ? kind.bytes = min(2 * kind.bytes, kind.most) : decrease!(kind)
    kind.live, kind.ended_at = left, start + took
    FULL_SWEEPS[] = Base.gc_num().full_sweep
end

decrease!(kind) = kind.bytes = max(kind.bytes - kind.bytes ÷ 8, kind.least)
