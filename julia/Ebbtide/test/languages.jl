# One arena across languages: Julia allocates, C reads and goes on in the same scope, and back.

const HEADERS = joinpath(@__DIR__, "..", "..", "..", "crates", "ebbtide-capi", "include")

function compile_c(source)
    library = joinpath(mktempdir(), "shared_scope." * Libdl.dlext)
    # The compiler is the system's, and must not load libraries of Julia's.
    withenv("LD_LIBRARY_PATH" => nothing) do
        run(`cc -std=c11 -Wall -Werror -O2 -shared -fPIC -I $HEADERS -o $library $source $(Ebbtide.LIBRARY.path)`)
    end
    Libdl.dlopen(library)
end

const SHARED_SCOPE = compile_c(joinpath(@__DIR__, "shared_scope.c"))
const SQUARES, SUM_OF_SQUARES, APPLY = Libdl.dlsym.(Ref(SHARED_SCOPE), (:squares, :sum_of_squares, :apply))

# The array that C allocated, as one of Julia's.
squares_by_c(buffer, x) = Ebbtide.with_scope(buffer) do scope
    block = ccall(SQUARES, Ptr{Float64}, (Ptr{Cvoid}, Ptr{Float64}, Csize_t), scope, x, length(x))
    block == C_NULL ? nothing : unsafe_wrap(Array, block, length(x))
end
sum_of_squares_by_c(buffer, x) = Ebbtide.with_scope(buffer) do scope
    ccall(SUM_OF_SQUARES, Float64, (Ptr{Cvoid}, Ptr{Float64}, Csize_t), scope, x, length(x))
end

@testset "Julia allocates, C goes on in the same scope, and back: $(typeof(b))" for b in
        (SlabBuffer{16_384}(), SlabBuffer(), AllocBuffer(100_000), ResizeBuffer(16_384))
    # The larger ones take C to other chunks than the one that Julia began in.
    for n in (0, 1, 7, 1000, 3000), turn in 1:3
        @no_escape b begin
            before = used(b)
            x = @alloc(Float64, n)
            x .= 1:n
            y = squares_by_c(b, x)
            after_c = used(b)
            @test after_c >= before + 16n
            z = @alloc(Float64, n)
            z .= -1
            @test sum_of_squares_by_c(b, z) == n
            @test used(b) >= after_c + 8n
            @test x == 1:n && y == (1:n) .^ 2 && all(==(-1), z)
            @no_escape b begin
                inner = squares_by_c(b, x)
                @test inner == y
            end
            @test y == (1:n) .^ 2
        end
        @test used(b) == 0
    end
end

@testset "C calls Julia back, which allocates in the scope that C was lent" begin
    b = SlabBuffer()
    function sum_in_the_scope(::Ptr{Cvoid}, n::Csize_t)
        @no_escape b sum(fill!(@alloc(Float64, n), 2))
    end
    called = @cfunction($sum_in_the_scope, Float64, (Ptr{Cvoid}, Csize_t))
    @no_escape b begin
        kept = @alloc(Int, 10)
        kept .= 1:10
        total = Ebbtide.with_scope(b) do scope
            ccall(APPLY, Float64, (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), scope, called, 5_000)
        end
        @test total == 10_000 && kept == 1:10
    end
    @test used(b) == 0
end

@testset "a buffer without room, or closed, is an error that C sees" begin
    b = AllocBuffer(100)
    @test squares_by_c(b, ones(100)) === nothing
    @test used(b) == 0 && squares_by_c(b, ones(5)) == ones(5)
    Ebbtide.reset_buffer!(b)
    Ebbtide.free(b)
    @test squares_by_c(b, ones(5)) === nothing
end
