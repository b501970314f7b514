# Bad input: a clear error each, and the buffer as it was.

# Runs `f` on a buffer with something in it; the message of what it throws.
function message_of(f, buffer)
    @no_escape buffer begin
        y = fill!(@alloc(Int, 4), 5)
        before = used(buffer)
        message = try
            f()
            "nothing was thrown"
        catch error
            sprint(showerror, error)
        end
        @test used(buffer) == before
        @test sum(y) == 20
        z = fill!(@alloc(Int, 1), 6)
        @test sum(y) + z[1] == 26
        message
    end
end

abstract type AbstractThing end
mutable struct MutableThing
    x::Int
end

buffers() = (SlabBuffer{16_384}(), AllocBuffer(1024), ResizeBuffer())

@testset "element types that are no plain bits" begin
    for buffer in buffers(), T in (Any, String, Vector{Int}, AbstractThing, MutableThing, Integer,
        Union{Int,Nothing}, Union{}, Tuple{Any}, Symbol, BigInt)
        @test occursin("plain bits", message_of(() -> Ebbtide.alloc!(buffer, T, 3), buffer))
    end
    @test_throws MethodError Ebbtide.alloc!(AllocBuffer(96), 3, 4)

    @no_escape begin
        y = fill!(@alloc(Int, 3), 1)
        buffer = SlabBuffer()
        message = message_of(() -> Ebbtide.alloc!(buffer, typeof(y), 2), buffer)
        @test occursin("a tuple or a Vector", message)
        @test sum(sum, [y, y]) == 6
    end
end

# Calls `f` while the process may map only so many bytes more.
function with_address_space(f, bytes)
    kind, limits = Cint(9), Ref((Culong(0), Culong(0))) # RLIMIT_AS
    @test ccall(:getrlimit, Cint, (Cint, Ptr{Cvoid}), kind, limits) == 0
    mapped = parse(Int, first(split(read("/proc/self/statm", String)))) * ccall(:getpagesize, Cint, ())
    lower = Ref((Culong(mapped + bytes), limits[][2]))
    @test ccall(:setrlimit, Cint, (Cint, Ptr{Cvoid}), kind, lower) == 0
    try
        f()
    finally
        ccall(:setrlimit, Cint, (Cint, Ptr{Cvoid}), kind, limits)
    end
end

@testset "negative and enormous sizes" begin
    for buffer in buffers()
        for dims in ((-1,), (typemin(Int),), (typemax(Int),), (typemax(UInt),), (big(2)^100,),
            (-1, -1), (2, -1), (-1, 0), (typemax(Int), 2), (2^(Sys.WORD_SIZE - 3),),
            (2^(Sys.WORD_SIZE ÷ 2), 2^(Sys.WORD_SIZE ÷ 2)), (0, -1))
            message = message_of(() -> Ebbtide.alloc!(buffer, Int, dims...), buffer)
            @test occursin("negative", message) || occursin("too large", message)
        end
        # So that the length of an array is an Int, even if its elements have no bytes.
        @test_throws ArgumentError Ebbtide.alloc!(buffer, Nothing, typemax(Int) ÷ 2, 4)
        @test length(Ebbtide.alloc!(buffer, Nothing, typemax(Int) ÷ 4, 2)) == typemax(Int) ÷ 4 * 2
        for bytes in (-1, typemin(Int), typemax(Int), typemax(UInt), big(2)^100)
            message = message_of(() -> Ebbtide.alloc_ptr!(buffer, bytes), buffer)
            @test occursin("too large", message)
        end
        # Possible, but nobody has so much.
        for bytes in (typemax(Int) - 4096, typemax(Int) ÷ 2)
            message = message_of(() -> Ebbtide.alloc!(buffer, UInt8, bytes), buffer)
            @test occursin("do not fit", message)
        end
    end
    for bytes in (-1, typemax(Int), big(2)^100)
        @test_throws ArgumentError AllocBuffer(bytes)
        @test_throws ArgumentError ResizeBuffer(bytes)
    end
    for slab in (0, -1, 1.5, :a, typemax(Int))
        @test_throws ArgumentError SlabBuffer{slab}()
    end
    # More than the machine has.
    memory = Int(Sys.total_memory())
    for bytes in (2^50, memory + 1)
        for make in (bytes -> SlabBuffer{bytes}(), ResizeBuffer, AllocBuffer, set_default_buffer_size!)
            message = message_of(() -> make(bytes), SlabBuffer())
            @test occursin("cannot have $bytes bytes", message)
            @test occursin("the most is $memory, the memory of this machine", message)
        end
    end
    @test Ebbtide.DEFAULT_BUFFER_SIZE[] == 1_048_576
    if Sys.islinux()
        for make in (bytes -> SlabBuffer{bytes}(), ResizeBuffer)
            make(1000) # compiled
            message = message_of(() -> with_address_space(() -> make(2^30), 2^29), SlabBuffer())
            @test occursin("there is no memory for a buffer of $(2^30) bytes, only for", message)
        end
    end
    # A limit is no such promise.
    @test Ebbtide.capacity(SlabBuffer{1_048_576}(limit = 100_000)) < 100_000
    @test_throws ArgumentError AllocBuffer("text")
    @test_throws ArgumentError AllocBuffer(codeunits("text"))
    @test_throws ArgumentError AllocBuffer(view(codeunits("text"), 1:4))
    @test_throws ArgumentError AllocBuffer(reshape(view(codeunits("text"), 1:4), 2, 2))
    @test_throws ArgumentError AllocBuffer(Any[1])
    bytes = zeros(UInt8, 64)
    @test_throws ArgumentError AllocBuffer(view(bytes, 64:-1:1))
    @test_throws ArgumentError AllocBuffer(view(bytes, 1:2:63))
    @test incremented_sum([1, 2, 3], AllocBuffer(view(bytes, 33:64))) == 9
    @test bytes[1:32] == zeros(UInt8, 32)
    if isdefined(Core, :GenericMemory)
        for (show, size) in ((identity, 80), (memoryref, 80), (memory -> memoryref(memory, 11), 40),
            (memory -> view(memory, 11:20), 40), (_ -> AtomicMemory{Int}(undef, 5), 40))
            memory = fill!(Memory{Int32}(undef, 20), 7)
            storage = show(memory)
            @test Ebbtide.capacity(AllocBuffer(storage)) == size
            @no_escape (buffer = AllocBuffer(storage)) begin
                @test sizeof(fill!(@alloc(UInt8, size), 1)) == size
                @test_throws Ebbtide.BufferError @alloc(UInt8, 1)
                nothing
            end
            @test all(==(7), memory[1:10]) || size == 80
        end
        @test_throws ArgumentError AllocBuffer(Memory{Any}(undef, 1))
        @test_throws ArgumentError AllocBuffer(memoryref(Memory{Any}(undef, 1)))
    end
    @test_throws ErrorException AllocBuffer(1:3) # Julia's own, which names the type
    empty = AllocBuffer(0)
    @test isempty(Ebbtide.alloc!(empty, Int, 0))
    @test_throws Ebbtide.BufferError Ebbtide.alloc!(empty, UInt8, 1)
end

# Whether a vector with `bytes` bytes can be moved.
function is_moved(bytes::Vector)
    before = pointer(bytes)
    try
        resize!(bytes, 10_000_000)
    catch
    end
    pointer(bytes) != before
end

@testset "the vector behind a view stays where it is" begin
    for storage in (bytes -> view(bytes, 1:500), bytes -> reinterpret(Int, bytes),
        bytes -> reshape(view(bytes, 1:500), 50, 10), bytes -> reinterpret(Int, view(bytes, 9:504)))
        bytes = zeros(UInt8, 1000)
        buffer = AllocBuffer(storage(bytes))
        @test !is_moved(bytes) || VERSION >= v"1.11" # where the old bytes stay alive instead
        @test incremented_sum([1, 2, 3], buffer) == 9
    end
end

@testset "macros outside of a block, and wrong arguments" begin
    for ex in (:(@alloc(Int, 3)), :(@alloc_ptr(8)), :(@alloc_nothrow(Int, 3)))
        @test occursin("inside of a @no_escape block", expansion_error(ex))
    end
    @test occursin("needs a block", expansion_error(:(@no_escape)))
    @test occursin("takes a buffer", expansion_error(:(@no_escape a b 1)))
    @test_throws MethodError @no_escape begin
        @alloc_ptr()
    end
    @test_throws MethodError @no_escape @alloc(Int, 1.5)
    Ebbtide.reset_buffer!()
    @test_throws MethodError @no_escape 3 begin
        nothing
    end
end

@testset "closed buffers" begin
    for buffer in (SlabBuffer{16_384}(), AllocBuffer(1024), ResizeBuffer(),
        SlabBuffer{16_384}(; finalize = false))
        @test Ebbtide.free(buffer) === nothing
        @test Ebbtide.free(buffer) === nothing
        for use in (() -> Ebbtide.alloc!(buffer, Int, 3), () -> Ebbtide.alloc!(buffer, Int, 0),
            () -> Ebbtide.alloc_ptr!(buffer, 1), () -> Ebbtide.trim!(buffer),
            () -> Ebbtide.set_limit!(buffer, 1), () -> incremented_sum([1, 2, 3], buffer))
            failed = try
                use()
            catch error
                error
            end
            @test occursin("closed", sprint(showerror, failed))
        end
        @test alloc_nothrow(Int, buffer, 3) === nothing
        @test Ebbtide.reset_buffer!(buffer) === buffer
        @test (@no_escape buffer 1) == 1
    end

    # Inside of a block.
    buffer = SlabBuffer{16_384}()
    @no_escape buffer begin
        y = fill!(@alloc(Int, 3), 1)
        @test_throws Ebbtide.BufferError Ebbtide.free(buffer)
        @test sum(y) == 3
    end
    @no_escape buffer begin
        Ebbtide.free(buffer)
        @test_throws Ebbtide.BufferError @alloc(Int, 3)
        nothing
    end
    @test string(buffer) == "SlabBuffer{16384}(closed)"
end

@testset "buffers are not copied" begin
    for buffer in buffers()
        @test_throws ArgumentError deepcopy(buffer)
        @test_throws ArgumentError deepcopy((1, buffer))
    end
end

@testset "an interrupt leaves the buffer usable" begin
    buffer = SlabBuffer{16_384}()
    interrupted() = @no_escape buffer begin
        @alloc(Int, 5000)
        throw(InterruptException())
    end
    @test_throws InterruptException interrupted()
    @test used(buffer) == 40_000
    @test incremented_sum([1, 2, 3], buffer) == 9
    @no_escape buffer begin
        @test_throws InterruptException interrupted()
    end
    @test used(buffer) == 40_000
    @test Ebbtide.reset_buffer!(buffer) === buffer
    @test used(buffer) == 0
    @test_throws InterruptException @no_escape buffer strict = true interrupted()
    @test used(buffer) == 0
end

# Blocks that check their arrays, for five minutes at most.
function blocks_until_interrupted(buffer)
    stop = time() + 300
    opened = 0
    while time() < stop
        opened += 1
        @no_escape buffer begin
            y = fill!(@alloc(Int, opened % 3000), opened)
            @no_escape buffer begin
                fill!(@alloc(Int, opened % 5000), 0)
                all(==(opened), y) || error("overwritten")
                # Julia throws a pending InterruptException when something is allocated on its heap.
                string(opened)
            end
        end
    end
end

@testset "an interrupt waits until a buffer has replaced its chunks" begin
    if Sys.isunix()
        Base.exit_on_sigint(false)
        buffer = SlabBuffer{16_384}()
        @no_escape buffer sum(fill!(@alloc(Int, 10_000), 1))
        @test_throws InterruptException begin
            Ebbtide.rebuild!(buffer) do arena
                merged = ccall(Ebbtide.LIBRARY.ebb_arena_merge, Cint, (Ptr{Cvoid},), arena)
                ccall(:kill, Cint, (Cint, Cint), getpid(), Base.SIGINT)
                sleep(0.1)
                merged
            end
            sleep(1)
        end
        @test buffer.root_chunk == buffer.chunk && Int(Ebbtide.stats(buffer).chunks) == 1
        @test incremented_sum([1, 2, 3], Ebbtide.reset_buffer!(buffer)) == 9
        @test used(buffer) == 0
        Base.exit_on_sigint(true)
    end
end

@testset "interrupts from outside" begin
    if Sys.isunix()
        Base.exit_on_sigint(false)
        for buffer in (SlabBuffer{16_384}(), AllocBuffer(100_000), ResizeBuffer())
            held_after = map(1:100) do _
                @test_throws InterruptException begin
                    ccall(:kill, Cint, (Cint, Cint), getpid(), Base.SIGINT)
                    blocks_until_interrupted(buffer)
                end
                @test incremented_sum([1, 2, 3], Ebbtide.reset_buffer!(buffer)) == 9
                @test used(buffer) == 0
                held(buffer)
            end
            @test maximum(held_after) < 500_000
        end
        Base.exit_on_sigint(true)
    end
end

@testset "an interrupt of a task that waits in a block" begin
    buffer, started = SlabBuffer{16_384}(), Channel{Bool}(1)
    wait_in_block() = @no_escape buffer begin
        y = @alloc(Int, 5000)
        put!(started, true)
        wait(Condition())
    end
    @no_escape buffer begin
        task = @async wait_in_block()
        take!(started)
        schedule(task, InterruptException(); error = true)
        @test_throws TaskFailedException wait(task)
        @test used(buffer) == 40_000
        nothing
    end
    @test used(buffer) == 0
    @test incremented_sum([1, 2, 3], buffer) == 9
end

@testset "another task or thread" begin
    buffer = SlabBuffer()
    in_task(start) = @no_escape buffer begin
        task = start(() -> @alloc(Int, 3))
        try
            fetch(task)
            "nothing was thrown"
        catch error
            sprint(showerror, error)
        end
    end
    @test occursin("another task", in_task(f -> @async f()))
    @test occursin("another task", in_task(f -> Threads.@spawn f()))
    @test used(buffer) == 0
end
