# The default buffers of tasks, B31 to B39.

@testset "B31 the default buffer is made when it is asked for" begin
    @test fetch(@async haskey(task_local_storage(), Ebbtide.STORAGE_KEY)) == false
    @test default_buffer() isa SlabBuffer{1_048_576}
    @test default_buffer(SlabBuffer) === default_buffer()
    @test default_buffer(AllocBuffer) isa AllocBuffer{Vector{UInt8}}
end

@testset "B32 it is the same one every time" begin
    @test default_buffer() === default_buffer()
    @test default_buffer(AllocBuffer) === default_buffer(AllocBuffer)
end

@testset "B33 each task has its own" begin
    @test default_buffer() !== fetch(@async default_buffer())
    @test default_buffer() !== fetch(Threads.@spawn default_buffer())
    @test default_buffer(AllocBuffer) !== fetch(@async default_buffer(AllocBuffer))
end

@testset "B35, B36 with_buffer replaces it for a call, also nested" begin
    outer = default_buffer()
    first, second = SlabBuffer(), SlabBuffer()
    with_buffer(first) do
        @test default_buffer() === first
        with_buffer(second) do
            @test default_buffer() === second
            @test incremented_sum([1, 2, 3]) == 9
        end
        @test default_buffer() === first
    end
    @test default_buffer() === outer
    @test with_buffer(default_buffer, first) === first

    fixed, before = AllocBuffer(100), default_buffer(AllocBuffer)
    with_buffer(fixed) do
        @test default_buffer() === default_buffer(AllocBuffer) === fixed
        @test default_buffer(SlabBuffer) === outer
        with_buffer(first) do
            @test default_buffer() === default_buffer(SlabBuffer) === first
            @test default_buffer(AllocBuffer) === fixed
        end
        @test default_buffer() === fixed
        @test fetch(@async default_buffer()) isa SlabBuffer
    end
    @test default_buffer(AllocBuffer) === before
    @test default_buffer() === outer
    @test_throws String with_buffer(() -> throw("Boo!"), fixed)
    @test default_buffer() === outer
end

sum_on_fixed(x, buffer::AllocBuffer) = incremented_sum(x, buffer)

@testset "B35 a fixed buffer replaces the default one everywhere" begin
    outer, fixed = default_buffer(), AllocBuffer(100)
    before = used(outer)
    result = with_buffer(fixed) do
        @no_escape begin
            y, z = @alloc(Int, 3), alloc(Int, 2)
            @test used(fixed) == 40
            @test used(outer) == before
            @test_throws BufferErrorType alloc(Int, 10)
            @test sum_on_fixed([1], default_buffer()) == 2
            # Both positions are those of the fixed buffer.
            position = Ebbtide.checkpoint_save()
            alloc(UInt8, 5)
            Ebbtide.checkpoint_restore!(position)
            @test Ebbtide.no_escape(() -> (alloc(UInt8, 7); used(fixed))) == 47
            @test used(fixed) == 40
            @test_throws EscapeErrorType @no_escape (@alloc(Int, 1),)
            nothing
        end
        @test used(fixed) == 0
        alloc(Int, 1)
        @test Ebbtide.stats().used == 8
        used(Ebbtide.reset_buffer!())
    end
    @test result == 0

    # In a task whose first default buffer is a replacement.
    slab, again = fetch(@async (with_buffer(() -> default_buffer(SlabBuffer), fixed), default_buffer()))
    @test slab === again
end

# The buffer is in a variable, and has one of two types.
block_on_variable(x) = (buffer = default_buffer(); incremented_sum(x, buffer))
function inner_block_on_variable(x)
    buffer = default_buffer()
    @no_escape buffer sum(fill!(@alloc(Int, length(x)), 2))
end

@testset "B35 blocks on a default buffer allocate nothing" begin
    x = [1, 2, 3]
    for f in (incremented_sum, block_on_variable, inner_block_on_variable)
        bytes() = @allocated f(x)
        bytes()
        @test bytes() == 0
        fixed = AllocBuffer(24)
        @test with_buffer(() -> (bytes(); bytes()), fixed) == 0
        @test used(fixed) == 0
    end
end

@testset "B35 a replacement of another type is refused" begin
    for buffer in (AllocBuffer(Vector{Int}(undef, 10)), SlabBuffer{16_384}(), ResizeBuffer(), "text")
        error = try
            with_buffer(default_buffer, buffer)
        catch error
            error
        end
        @test error isa MethodError
        @test occursin("Pass a buffer of another type as an argument", sprint(showerror, error))
    end
end

@testset "B37 an exception ends a replacement" begin
    outer, buffer = default_buffer(), SlabBuffer()
    @test_throws String with_buffer(() -> throw("Boo!"), buffer)
    @test default_buffer() === outer
end

@testset "B38 other tasks do not see a replacement" begin
    buffer = SlabBuffer()
    with_buffer(buffer) do
        @test fetch(@async default_buffer()) !== buffer
        @test fetch(Threads.@spawn default_buffer()) !== buffer
    end
end

# Runs `f` in one task, with others asking for their buffers in between: the cache of the thread
# then names another task at each step, as after a task has moved.
function with_others_between(f)
    for _ in 1:10
        yield()
        fetch(@async default_buffer())
        f()
    end
end

@testset "B39 a task finds its buffer again after others have run" begin
    tasks = map(1:5) do n
        @async begin
            mine = default_buffer()
            other = SlabBuffer()
            with_others_between(() -> default_buffer() === mine || error("another buffer"))
            with_buffer(other) do
                with_others_between(() -> default_buffer() === other || error("not replaced"))
            end
            with_others_between(() -> default_buffer() === mine || error("another buffer"))
            # Blocks of several tasks are open at the same time, in buffers of their own.
            @no_escape begin
                y = fill!(@alloc(Int, 100), n)
                with_others_between(() -> all(==(n), y) || error("overwritten"))
                sum(y)
            end
        end
    end
    @test fetch.(tasks) == 100 .* (1:5)
end

@testset "B34 threads side by side do not disturb each other" begin
    totals = zeros(Int, 64)
    Threads.@threads for n in 1:64
        for _ in 1:1000
            @no_escape begin
                y = fill!(@alloc(Int, n), 1)
                @no_escape begin
                    z = fill!(@alloc(Int, n), 2)
                    totals[n] += sum(y) + sum(z)
                end
            end
        end
    end
    @test totals == 3000 .* (1:64)

    tasks = [Threads.@spawn incremented_sum(fill(n, 100)) for n in 1:100]
    @test fetch.(tasks) == 100 .* (2:101)
end

@testset "a buffer with the arena of an ended task is like a new one" begin
    arenas = Ptr{Cvoid}[]
    for _ in 1:3
        @sync for _ in 1:20
            @async begin
                buffer = default_buffer()
                push!(arenas, buffer.arena)
                (used(buffer), chunks(buffer), Ebbtide.limit(buffer)) == (0, 1, 0) ||
                    error("not like a new one: $buffer")
                Ebbtide.alloc!(buffer, UInt8, 2_000_000)
                Ebbtide.set_limit!(buffer, 5_000_000)
            end
        end
        GC.gc(); GC.gc()
    end
    @test length(arenas) == 60
    @test length(unique(arenas)) < 60
end

# The resident memory of the process in bytes, without freed memory: what the library keeps warm for up to
# three seconds, and what the C library keeps between blocks in use.
function resident_bytes()
    ccall(Libdl.dlsym(Libdl.dlopen(Ebbtide.LIBRARY.path), :ebb_thread_trim), Cvoid, ())
    try
        ccall(:malloc_trim, Cint, (Csize_t,), 0)
    catch # another C library
    end
    pages = parse(Int, split(read("/proc/self/statm", String))[2])
    pages * Int(ccall(:getpagesize, Cint, ()))
end

function use_in_tasks(count, bytes)
    @sync for _ in 1:count
        @async begin
            @no_escape fill!(@alloc(UInt8, bytes), 1)[end]
        end
    end
end

function use_in_turn(count, bytes)
    for _ in 1:count
        wait(@async @no_escape fill!(@alloc(UInt8, bytes), 1)[end])
    end
end

@testset "the memory of 1,000 tasks comes back" begin
    buffers = WeakRef[]
    @sync for _ in 1:1000
        @async begin
            push!(buffers, WeakRef(default_buffer()))
            incremented_sum([1, 2, 3]) == 9 || error("wrong sum")
        end
    end
    @test length(buffers) == 1000
    # The last task of each thread may still be in the cache.
    incremented_sum([1])
    GC.gc(); GC.gc()
    @test count(b -> b.value !== nothing, buffers) <= 2 * Threads.nthreads() + 2

    if Sys.islinux()
        use_in_tasks(200, 500_000)
        GC.gc(); GC.gc()
        before = resident_bytes()
        for _ in 1:5
            use_in_tasks(200, 500_000)
            GC.gc(); GC.gc()
        end
        # One round alone uses 100 MB.
        @test resident_bytes() - before < 50_000_000
        # Without being asked, the collector runs before the buffers of ended tasks hold 128 MiB and
        # those of a few more.
        use_in_turn(500, 500_000)
        @test resident_bytes() - before < 200_000_000
        peak = before
        for _ in 1:40
            use_in_turn(1, 2^26)
            peak = max(peak, resident_bytes())
        end
        @test peak - before < 400_000_000
    end
end

# The sum over all buffers, as the package counts it.
held_by_all() = Ebbtide.HELD_BYTES[]

@testset "what buffers hold is counted" begin
    # Those of the last task, too.
    Ebbtide.collect_now!(true); GC.gc()
    before = held_by_all()
    slab, learning = SlabBuffer{16_384}(), ResizeBuffer()
    counted() = held_by_all() - before
    @test counted() == held(slab) + held(learning)
    for buffer in (slab, learning)
        @no_escape buffer begin
            for _ in 1:20
                @alloc(UInt8, 3_000_000)
            end
            # Not each chunk is counted at once.
            @test held(slab) + held(learning) - counted() in 0:held(buffer)÷2
            @test buffer.charged >= 40_000_000
        end
    end
    # It has merged its chunks.
    @test learning.charged == held(learning)
    Ebbtide.trim!(slab)
    @test counted() == held(slab) + held(learning)
    # Entering the chunks of a buffer again is no growth.
    for _ in 1:100
        @no_escape learning (@alloc(UInt8, 50_000_000); nothing)
    end
    @test learning.charged == held(learning)
    Ebbtide.free(slab)
    Ebbtide.free(learning)
    Ebbtide.free(learning)
    @test counted() == 0
    @no_escape AllocBuffer(10_000_000) (@alloc(UInt8, 9_000_000); nothing)
    @test counted() == 0
end

collections() = Base.gc_num().pause

function collections_in(f)
    GC.gc(); GC.gc()
    before = collections()
    f()
    collections() - before
end

@testset "buffers that are alive are not looked for again and again" begin
    # A single buffer, however large it grows, is the caller's own.
    buffer = SlabBuffer()
    grown = collections_in() do
        @no_escape buffer for _ in 1:100
            @alloc(UInt8, 10_000_000)
        end
    end
    @test grown == 0
    Ebbtide.free(buffer)
    # Two for each time that the bytes double.
    kept = []
    made = collections_in(() -> append!(kept, [SlabBuffer{10_000_000}() for _ in 1:200]))
    @test 1 <= made <= 12
    foreach(Ebbtide.free, kept)
end
