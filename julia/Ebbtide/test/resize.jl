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

@testset "B40 a first run that overflows takes chunks" begin
    buffer = ResizeBuffer(1000)
    @no_escape buffer begin
        @alloc(UInt8, 500)
        @alloc(UInt8, 2000)
        @test chunks(buffer) == 2
    end
end

@testset "B41, B42 the peak is learned as one chunk, which is enough from then on" begin
    buffer = ResizeBuffer(1000)
    sizes = (500, 2000, 30_000, 7)
    @test run_blocks(buffer, sizes) == sum(sizes)
    @test used(buffer) == 0
    @test chunks(buffer) == 1
    learned = held(buffer)
    @test learned >= sum(sizes)
    @no_escape buffer begin
        run_blocks(buffer, sizes)
        @test chunks(buffer) == 1
    end
    run_blocks(buffer, sizes)
    @test held(buffer) == learned
    @test @allocated(run_blocks(buffer, sizes)) == 0
end

@testset "B43, B44 a higher peak is learned again, oversize requests too" begin
    buffer = ResizeBuffer(1000)
    for size in (5000, 50_000, 500_000)
        @test run_blocks(buffer, (size, size)) == 2 * size
        @test chunks(buffer) == 1
        @test Ebbtide.capacity(buffer) >= 2 * size
        @test Ebbtide.stats(buffer).oversize == 0
    end
end

@testset "B45, B46 learning replaces chunks only when nothing is allocated" begin
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
        @no_escape buffer begin
            z = fill!(@alloc(Int, 100_000), 2)
            @test sum(y) + sum(z) == 201_000
        end
        @test sum(y) == 1000
    end
    @test used(buffer) == 0
    @test chunks(buffer) == 1
end

@testset "B47, B48 a buffer whose chunk is enough keeps it, also an unused one" begin
    buffer = ResizeBuffer(1000)
    chunk = buffer.chunk
    run_blocks(buffer, (400, 400))
    run_blocks(buffer, ())
    Ebbtide.reset_buffer!(buffer)
    @test buffer.chunk == chunk
    @test chunks(buffer) == 1
end

@testset "B49, B51 learning keeps to the limit" begin
    buffer = ResizeBuffer(1000; limit = 60_000)
    for _ in 1:3
        @test_throws Ebbtide.BufferError run_blocks(buffer, (10_000, 100_000))
        Ebbtide.reset_buffer!(buffer)
        @test used(buffer) == 0
        @test run_blocks(buffer, (10_000, 10_000)) == 20_000
        @test held(buffer) <= 60_000
    end
    # The limit has no room for as much as was held: a smaller chunk is taken.
    @no_escape buffer begin
        run_blocks(buffer, (20_000, 25_000))
        Ebbtide.set_limit!(buffer, 30_000)
        nothing
    end
    @test held(buffer) <= 60_000
    @test run_blocks(buffer, (1000,)) == 1000
end

@testset "B50 a SlabBuffer does not learn: its chunks stay" begin
    buffer = SlabBuffer{1000}()
    run_blocks(buffer, (500, 2000))
    @test chunks(buffer) == 2
end

@testset "B52 the end of a buffer releases everything" begin
    buffer = ResizeBuffer(1000)
    run_blocks(buffer, (10_000,))
    @test Ebbtide.free(buffer) === nothing
    @test held(buffer) == 0
end

@testset "an exception in a block around which another one goes on" begin
    buffer = ResizeBuffer(1000)
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
    @test chunks(buffer) == 1
end
