# Printing, limits, statistics, and giving memory back.

@testset "S01 an empty buffer" begin
    buffer = SlabBuffer{16_384}()
    @test repr(buffer) == "SlabBuffer{16384}(0 B used of 16.00 KiB in 1 chunk)"
    @test string(ResizeBuffer(1024)) == "ResizeBuffer(0 B used of 1.00 KiB in 1 chunk)"
    @test sprint(show, MIME("text/plain"), buffer) == string(buffer)
end

@testset "S02, S03 used and capacity, and chunks of one large request" begin
    buffer = SlabBuffer{16_384}()
    @no_escape buffer begin
        @alloc(UInt8, 100)
        @test string(buffer) == "SlabBuffer{16384}(100 B used of 16.00 KiB in 1 chunk)"
        @alloc(UInt8, 100_000)
        @test occursin("used of", string(buffer))
        @test occursin("2 chunks", string(buffer))
    end
end

@testset "S04 statistics, and closed buffers" begin
    @test string(Ebbtide.stats(AllocBuffer(96))) == "0 B used of 96 B in 1 chunk"
    closed = SlabBuffer()
    Ebbtide.free(closed)
    @test string(closed) == "SlabBuffer{1048576}(closed)"
    @test Ebbtide.used(closed) == Ebbtide.capacity(closed) == 0
end

@testset "S05 fixed buffers" begin
    @test string(AllocBuffer(96)) == "AllocBuffer{$(Vector{UInt8})}(0 B used of 96 B in 1 chunk)"
    @test occursin("B used of 100 B", string(AllocBuffer(100)))
end

@testset "statistics" begin
    buffer = SlabBuffer{16_384}()
    @no_escape buffer begin
        @alloc(UInt8, 104)
        @alloc(Int, 100_000)
        found = Ebbtide.stats(buffer)
        @test found.used == 800_104
        @test found.capacity >= 816_384
        @test found.held > found.capacity
        @test found.chunks == 2
        @test found.oversize == 1
        @test found.high_water == found.capacity
        @test Ebbtide.used(buffer) === 800_104
        @test Ebbtide.capacity(buffer) === Int(found.capacity)
    end
    @test Ebbtide.stats().used == 0
end

@testset "trim! gives chunks back" begin
    buffer = SlabBuffer{16_384}()
    @no_escape buffer begin
        @alloc(Int, 100_000)
        @test_throws Ebbtide.BufferError Ebbtide.trim!(buffer)
        nothing
    end
    @test held(buffer) > 800_000
    @test Ebbtide.trim!(buffer) === buffer
    @test held(buffer) < 20_000
    @test incremented_sum([1, 2, 3], buffer) == 9
    @test Ebbtide.trim!() === default_buffer()

    # In a block in which nothing is allocated yet.
    @no_escape buffer begin
        Ebbtide.trim!(buffer)
        @alloc(Int, 100_000)
        nothing
    end
    @test used(buffer) == 0

    # Out of order: an outer block, whose chunk is gone, ends at the beginning.
    @no_escape buffer begin
        @alloc(Int, 100_000)
        @no_escape buffer begin
            @alloc(Int, 300_000)
            Ebbtide.reset_buffer!(buffer)
            Ebbtide.trim!(buffer)
            y = fill!(@alloc(Int, 10), 1)
            @test sum(y) == 10
        end
        @test used(buffer) == 0
    end
    @test used(buffer) == 0
    @test incremented_sum([1, 2, 3], buffer) == 9
    fixed = AllocBuffer(96)
    @test Ebbtide.trim!(fixed) === fixed
end

@testset "limits" begin
    buffer = SlabBuffer{16_384}(; limit = 50_000)
    @test Ebbtide.limit(buffer) == 50_000
    @no_escape buffer begin
        @test_throws Ebbtide.BufferError @alloc(UInt8, 100_000)
        @alloc(UInt8, 20_000)
        @test Ebbtide.set_limit!(buffer, 0) === buffer
        @alloc(UInt8, 100_000)
        nothing
    end
    @test Ebbtide.limit(buffer) == 0
    @test_throws ArgumentError Ebbtide.set_limit!(buffer, -1)
    @test_throws ArgumentError SlabBuffer(; limit = -1)
    # The first chunk gets no larger than the limit, which leaves nothing here.
    @test held(SlabBuffer(; limit = 1000)) <= 1000
    @test_throws Ebbtide.BufferError SlabBuffer(; limit = 1)
end
