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

# What the READMEs of Bumper.jl show, of the present version and of older ones: in other words, with
# the results that they print. `ci/julia.sh others` runs the programs of the present one themselves.

function older_sum(x::Vector{Int})
    @no_escape begin
        y = alloc(Int, length(x))
        y .= x .+ 1
        sum(y)
    end
end
function older_sum(x, buffer::AllocBuffer)
    @no_escape buffer begin
        y = alloc(Int, buffer, length(x))
        y .= x .+ 1
        sum(y)
    end
end

@testset "the first programs of older READMEs" begin
    @test older_sum([1, 2, 3]) == 9
    @test older_sum([1, 2, 3], default_buffer(AllocBuffer)) == 9
    x = rand(1:10, 30)
    on_default() = @allocated older_sum(x)
    on_fixed() = @allocated older_sum(x, default_buffer(AllocBuffer))
    on_default(), on_fixed()
    @test on_default() == on_fixed() == 0
    # In those versions, each default buffer was a fixed one.
    with_buffer(AllocBuffer(1000)) do
        @test older_sum([1, 2, 3], default_buffer()) == 9
    end
    @test 10 == with_buffer(AllocBuffer(100)) do
        @no_escape begin
            y = alloc(Int, 10) .= 1
            sum(y)
        end
    end
    x = rand(1:100, 1_000_000)
    @test older_sum(x, AllocBuffer(2 * sizeof(x))) == sum(x) + 1_000_000
end

@testset "which buffer is the default one, in the READMEs" begin
    buffer = default_buffer()
    @test buffer === default_buffer()
    @test buffer !== fetch(@async default_buffer())
    @test !with_buffer(() -> buffer === default_buffer(), AllocBuffer(100))
    fixed = AllocBuffer(10_000)
    @test with_buffer(() -> default_buffer() == fixed, fixed)
    @test default_buffer() == buffer
end

# Memory of the C library, as programs without Julia's runtime used it.
struct MallocBytes
    start::Ptr{UInt8}
    bytes::Int
end
Base.pointer(storage::MallocBytes) = storage.start
Base.sizeof(storage::MallocBytes) = storage.bytes

function sum_of_ones(io, n, buffer)
    total = 0
    for _ in 1:10_000
        @no_escape buffer begin
            x = alloc_nothrow(Int, buffer, n)
            x .= 1
            total += sum(x)
        end
    end
    io === nothing || print(io, "The sum is: ", total, '\n')
    total
end
function sum_of_ones_by_macro(n, buffer)
    total = 0
    for _ in 1:10_000
        @no_escape buffer begin
            x = @alloc_nothrow(Int, n)
            x .= 1
            total += sum(x)
        end
    end
    total
end

@testset "E09 the sum of ten thousand blocks, over memory of the C library" begin
    storage = MallocBytes(Libc.malloc(100), 100)
    buffer = AllocBuffer(storage)
    @test sprint(sum_of_ones, 5, buffer) == "The sum is: 50000\n"
    @test sum_of_ones_by_macro(5, buffer) == 50_000
    @test used(buffer) == 0
    by_function() = @allocated sum_of_ones(nothing, 5, buffer)
    by_macro() = @allocated sum_of_ones_by_macro(5, buffer)
    by_function(), by_macro()
    @test by_function() == by_macro() == 0
    # Beyond the 100 bytes, where the older versions went on.
    @test_throws MethodError sum_of_ones(nothing, 13, buffer)
    Libc.free(storage.start)
end

function times_table(io, rows, columns)
    buffer = SlabBuffer()
    @no_escape buffer begin
        table = @alloc(Int, rows, columns)
        for i in 1:rows, j in 1:columns
            table[i, j] = i * j
        end
        for i in 1:rows
            println(io, join(table[i, :], "  "))
        end
    end
    Ebbtide.free(buffer)
end

@testset "E10 a table of products" begin
    lines = split(chomp(sprint(times_table, 12, 7)), '\n')
    @test length(lines) == 12
    @test lines[1] == "1  2  3  4  5  6  7"
    @test lines[12] == "12  24  36  48  60  72  84"
end

# A kind of buffer of one's own that each task has a default one of.
mutable struct Notebook
    bytes::Vector{UInt8}
    at::Int
    Notebook(bytes = 16_000) = new(zeros(UInt8, bytes), 0)
end
struct NotebookPosition
    notebook::Notebook
    at::Int
end
function Ebbtide.alloc_ptr!(b::Notebook, bytes::Int)::Ptr{Cvoid}
    b.at + bytes <= sizeof(b.bytes) || error("the notebook is full")
    b.at += bytes
    pointer(b.bytes) + b.at - bytes
end
Ebbtide.checkpoint_save(b::Notebook) = NotebookPosition(b, b.at)
Ebbtide.checkpoint_restore!(position::NotebookPosition) =
    (position.notebook.at = position.at; nothing)
Ebbtide.default_buffer(::Type{Notebook}) =
    get!(Notebook, task_local_storage(), :notebook)::Notebook

@testset "a buffer of one's own, as in the READMEs" begin
    @test incremented_sum([1, 2, 3], Notebook(100)) == 9
    @test incremented_sum([1, 2, 3], default_buffer(Notebook)) == 9
    @test default_buffer(Notebook) === default_buffer(Notebook)
    @test default_buffer(Notebook) !== fetch(@async default_buffer(Notebook))
    @test_throws ErrorException incremented_sum(1:13, Notebook(100))
    # What a block is short for.
    buffer = Notebook(100)
    position = Ebbtide.checkpoint_save(buffer)
    y = Ebbtide.alloc!(buffer, Int, 2, 3, 1)
    @test size(fill!(y, 1)) == (2, 3, 1)
    Ebbtide.checkpoint_restore!(position)
    @test buffer.at == 0
end
