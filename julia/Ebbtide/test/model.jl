# Random blocks, allocations, exceptions and failures. Whatever is alive keeps its contents, and
# memory goes back as documented.

using Random: MersenneTwister

struct Live
    bytes::ArenaArray{UInt8,1}
    tag::UInt8
end

is_intact(live) = all(entry -> all(==(entry.tag), entry.bytes), live)

struct Abandoned <: Exception end

random_size(rng) = rand(rng, (0, 1, 7, 64, 1000, 5000, 40_000)) + rand(rng, 0:20)

function random_block(buffer, rng, depth, live)
    known = length(live)
    start = used(buffer)
    left_behind = false
    @no_escape buffer begin
        for _ in 1:rand(rng, 0:8)
            choice = rand(rng, 1:10)
            if choice <= 5
                try
                    push!(live, Live(@alloc(UInt8, random_size(rng)), rand(rng, UInt8)))
                    fill!(last(live).bytes, last(live).tag)
                catch error
                    error isa Ebbtide.BufferError || rethrow()
                end
            elseif choice == 6
                words = @alloc_nothrow(UInt64, rand(rng, 0:100))
                words === nothing || UInt(pointer(words)) % 8 == 0 || error("not aligned")
                words === nothing || fill!(words, typemax(UInt64))
            elseif choice <= 8 && depth < 5
                before = length(live)
                try
                    random_block(buffer, rng, depth + 1, live)
                catch error
                    error isa Abandoned || rethrow()
                    resize!(live, before)
                end
            elseif choice == 9 && depth > 0 && rand(rng, Bool)
                throw(Abandoned())
            elseif choice == 10 && rand(rng, Bool)
                is_intact(live) || error("overwritten before an early end")
                resize!(live, known)
                return nothing
            end
        end
        # To the last byte, where that is possible.
        while buffer isa AllocBuffer
            bytes = @alloc_nothrow(UInt8, 24)
            bytes === nothing && break
            fill!(bytes, 0xff)
        end
        is_intact(live) || error("overwritten")
        nothing
    end
    resize!(live, known)
    # A full chunk may have been left: less than 64 bytes of it count as used then, and padding.
    abs(used(buffer) - start) < 128 || error("not rewound")
    nothing
end

@testset "random blocks keep what is alive" begin
    for seed in 1:60
        rng = MersenneTwister(seed)
        # A fixed buffer in the middle of bytes that must stay as they are.
        guarded = fill(0xa5, 20_200)
        for buffer in (SlabBuffer{1024}(), ResizeBuffer(512), AllocBuffer(view(guarded, 101:20_100)),
            SlabBuffer{4096}(; limit = 60_000))
            for _ in 1:3
                random_block(buffer, rng, 0, Live[])
                @test used(buffer) == 0
                rand(rng, Bool) && Ebbtide.trim!(buffer)
            end
        end
        @test all(==(0xa5), guarded[1:100]) && all(==(0xa5), guarded[20_101:end])
    end
end
