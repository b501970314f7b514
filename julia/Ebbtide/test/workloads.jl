# The workloads with published figures. Here they show that the results are right and that nothing
# is allocated; how long they take is a benchmark's matter.

@testset "W1 scope, array, sum" begin
    x = rand(1:10, 30)
    @test incremented_sum(x) == sum(x) + 30
    fixed, slab = AllocBuffer(240), SlabBuffer()
    @test incremented_sum(x, fixed) == sum(x) + 30
    @test incremented_sum(x, slab) == sum(x) + 30
    on_default() = @allocated incremented_sum(x)
    on(buffer) = @allocated incremented_sum(x, buffer)
    on_default(), on(fixed), on(slab)
    @test on_default() == on(fixed) == on(slab) == 0
end

function nested_blocks(buffer, turns)
    total = 0
    @no_escape buffer begin
        for turn in 1:turns
            @no_escape buffer begin
                y = @alloc(Int, 10)
                y[10] = turn
                total += y[10]
            end
        end
    end
    total
end

@testset "W2 a million nested scopes of 10 words" begin
    for buffer in (SlabBuffer(), AllocBuffer(80))
        @test nested_blocks(buffer, 1_000_000) == 500_000_500_000
        @test (@allocated nested_blocks(buffer, 1000)) <= 16
        @test held(buffer) <= 1_100_000
    end
end

function blocks_behind(buffer, before, turns)
    total = 0
    @no_escape buffer begin
        @alloc(Int8, before)
        @alloc(Int8, before)
        moves = 0
        for turn in 1:turns
            at = buffer.moves
            @no_escape buffer begin
                y = @alloc(Int8, 10)
                y[1] = 1
                total += y[1]
            end
            moves += buffer.moves - at
        end
        total, moves
    end
end

@testset "W3 the loop at a slab's boundary enters the next chunk once" begin
    for size in (16_384, 1_048_576)
        buffer = SlabBuffer{size}()
        @test blocks_behind(buffer, 1, 1000) == (1000, 0)
        @test blocks_behind(buffer, size ÷ 2 - 1, 1000) == (1000, 1)
        @test chunks(buffer) == 2
        # Again, without anything from the heap.
        before = held(buffer)
        @test blocks_behind(buffer, size ÷ 2 - 1, 1000) == (1000, 1)
        @test held(buffer) == before
    end
end

# Fills a buffer in the middle of `bytes` with small arrays. Whether it took all of its bytes and no
# others.
function fills_exactly(bytes, range, size)
    fill!(bytes, 0)
    buffer = AllocBuffer(view(bytes, range))
    taken = 0
    while (block = alloc_nothrow(UInt8, buffer, size)) !== nothing
        fill!(block, 1)
        taken += size
    end
    taken == length(range) ÷ size * size && sum(bytes) == taken == sum(bytes[range])
end

@testset "W6 a buffer fits exactly, wherever it begins" begin
    bytes = zeros(UInt8, 100)
    for first in 20:37, length in 0:40, size in (1, 3)
        @test fills_exactly(bytes, first:first+length-1, size)
    end
end

@testset "W6 a buffer fits exactly" begin
    # A hundredth of the published sizes in the first test; the real ones where there is memory.
    for (edge, bytes) in ((60, 60^3 * 8 + 60^2 * 8), (300, 216_720_000))
        buffer = AllocBuffer(bytes)
        for _ in 1:(edge == 60 ? 100 : 2)
            @no_escape buffer begin
                cube = @alloc(Float64, edge, edge, edge)
                square = @alloc(Float64, edge, edge)
                cube[end] = 1
                square[1] = 2
                @test cube[end] + square[1] == 3
                @test_throws Ebbtide.BufferError @alloc(UInt8, 1)
            end
        end
    end
end
