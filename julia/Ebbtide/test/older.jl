# The interface of Bumper.jl before version 0.5, O01 to O05.

@testset "O01 set_default_buffer_size!" begin
    found = fetch(@async try
        (set_default_buffer_size!(1000), Ebbtide.capacity(default_buffer()),
            Ebbtide.capacity(default_buffer(AllocBuffer)), incremented_sum([1, 2, 3]),
            fetch(@async Ebbtide.capacity(default_buffer())))
    finally
        set_default_buffer_size!(1_048_576)
    end)
    @test found[1] == 1000
    @test found[2] in 1000:1023
    @test found[3] in 992:1000
    @test found[4] == 9
    @test found[5] == found[2]
    @test_throws ArgumentError set_default_buffer_size!(0)
    @test_throws ArgumentError set_default_buffer_size!(-1)
end

@testset "O02 with_buffer" begin
    @test default_buffer() !== with_buffer(default_buffer, SlabBuffer())
    @test with_buffer(() -> alloc(Int, 10) isa ArenaArray, SlabBuffer())
end

@testset "O03 alloc_nothrow returns nothing" begin
    buffer = AllocBuffer(100)
    @no_escape buffer begin
        @test alloc_nothrow(Int, buffer, 100_000) === nothing
        @test used(buffer) == 0
        y = alloc_nothrow(Int, buffer, 3)
        @test sum(fill!(y, 2)) == 6
        @test @alloc_nothrow(Int, 100_000) === nothing
        z = @alloc_nothrow(Int8, 2, 2)
        @test size(z) == (2, 2)
    end
    @test used(buffer) == 0
    @test_throws ArgumentError alloc_nothrow(Int, buffer, -1)
    @test_throws ArgumentError alloc_nothrow(Any, buffer, 1)
    @test alloc_nothrow(Int, SlabBuffer{64}(), 100_000) isa ArenaArray{Int,1}
end

@testset "the older functions alloc, alloc_ptr and no_escape as functions" begin
    buffer = AllocBuffer(96)
    result = Ebbtide.no_escape(buffer) do
        y = alloc(Int, buffer, 3)
        y .= [1, 2, 3] .+ 1
        @test UInt(Ebbtide.alloc_ptr(buffer, 16)) % 16 == 0
        sum(y)
    end
    @test result == 9
    @test used(buffer) == 0
    @test 9 == Ebbtide.no_escape() do
        sum(fill!(alloc(Int, 3, 3), 1))
    end
end

@testset "O05 resizing is refused while in use" begin
    @no_escape begin
        @alloc(Int, 3)
        @test_throws Ebbtide.BufferError set_default_buffer_size!(2000)
        nothing
    end
    @test_throws Ebbtide.BufferError with_buffer(() -> set_default_buffer_size!(2000), SlabBuffer())
    # The bytes of a buffer cannot be resized away either.
    buffer = AllocBuffer(96)
    resized = try
        resize!(buffer.buf, 10_000_000)
        true
    catch
        false
    end
    @test !resized || VERSION >= v"1.11" # where the old bytes stay alive instead
    @test incremented_sum([1, 2, 3], buffer) == 9
    @test Ebbtide.DEFAULT_BUFFER_SIZE[] == 1_048_576
end
