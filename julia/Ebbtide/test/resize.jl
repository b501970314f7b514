# Buffers that learn their peak, B40 to B52.

function run_blocks(buffer, sizes)
    @no_escape buffer begin
        total = 0
        for size in sizes
            total += sum(fill!(@alloc(UInt8, size), 1))
        end
        total
    end
end

@testset "B40-B45 the first run overflows, the next ones fit one chunk" begin
    buffer = ResizeBuffer(1000)
    sizes = (500, 2000, 30_000, 7, 100_000)
    @test chunks(buffer) == 1
    @test run_blocks(buffer, sizes) == sum(sizes)
    @test used(buffer) == 0
    @test chunks(buffer) == 1
    @test Ebbtide.capacity(buffer) >= sum(sizes)
    learned = held(buffer)
    @no_escape buffer begin
        run_blocks(buffer, sizes)
        @test chunks(buffer) == 1
    end
    @test held(buffer) == learned
    run_blocks(buffer, sizes)
    @test @allocated(run_blocks(buffer, sizes)) == 0
end

@testset "B46-B49 only the outermost block replaces chunks" begin
    buffer = ResizeBuffer(1000)
    @no_escape buffer begin
        y = fill!(@alloc(Int, 10), 1)
        run_blocks(buffer, (10_000,))
        @test chunks(buffer) > 1
        @test sum(y) == 10
    end
    @test chunks(buffer) == 1

    # A block around it in which nothing is allocated yet goes on in the new chunk.
    buffer = ResizeBuffer(1000)
    @no_escape buffer begin
        run_blocks(buffer, (10_000,))
        @test chunks(buffer) == 1
        y = fill!(@alloc(Int, 1000), 1)
        @test sum(y) == 1000
        @no_escape buffer begin
            @alloc(Int, 100_000)
            nothing
        end
        @test sum(y) == 1000
    end
    @test used(buffer) == 0
    @test chunks(buffer) == 1
end

@testset "B50-B52 limits, exceptions and resets of a buffer that resizes" begin
    buffer = ResizeBuffer(1000; limit = 60_000)
    for _ in 1:3
        @test_throws Ebbtide.BufferError run_blocks(buffer, (10_000, 100_000))
        Ebbtide.reset_buffer!(buffer)
        @test used(buffer) == 0
        @test run_blocks(buffer, (10_000, 10_000)) == 20_000
        @test held(buffer) <= 60_000
    end
    @no_escape buffer begin
        try
            @no_escape buffer begin
                @alloc(UInt8, 15_000)
                throw("Boo!")
            end
        catch
        end
    end
    @test used(buffer) == 0
    @test_throws ArgumentError ResizeBuffer(0)
    @test_throws ArgumentError ResizeBuffer(-1)
end
