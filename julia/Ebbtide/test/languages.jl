# One arena across languages: Julia allocates, C or Rust reads and goes on in the same scope, and
# back.

const HEADERS = joinpath(@__DIR__, "..", "..", "..", "crates", "ebbtide-capi", "include")

function compile_c(source)
    library = joinpath(mktempdir(), "shared_scope." * Libdl.dlext)
    # The compiler is the system's, and must not load libraries of Julia's.
    withenv("LD_LIBRARY_PATH" => nothing) do
        run(`cc -std=c11 -Wall -Werror -O2 -shared -fPIC -I $HEADERS -o $library $source $(Ebbtide.LIBRARY.path)`)
    end
    Libdl.dlopen(library)
end

# What both languages have, from the same signatures.
struct SharedScope
    language::String
    handle::Ptr{Cvoid}
    squares::Ptr{Cvoid}
    sum_of_squares::Ptr{Cvoid}
    apply::Ptr{Cvoid}
    SharedScope(language, handle) =
        new(language, handle, Libdl.dlsym.(handle, (:squares, :sum_of_squares, :apply))...)
end

const BY_C = SharedScope("C", compile_c(joinpath(@__DIR__, "shared_scope.c")))
const LANGUAGES = [BY_C]

# `ci/julia.sh` builds the library of `shared_scope/src/lib.rs`, and names it here.
const RUST_LIBRARY = get(ENV, "EBBTIDE_SHARED_SCOPE", "")
if isempty(RUST_LIBRARY)
    get(ENV, "CI", "") == "true" && error("EBBTIDE_SHARED_SCOPE is not set")
    @info "left out: scopes shared with Rust; ci/julia.sh builds the library for that"
else
    push!(LANGUAGES, SharedScope("Rust", Libdl.dlopen(RUST_LIBRARY)))
end

# The array that the other language allocated, as one of Julia's.
squares_by(other, buffer, x) = Ebbtide.with_scope(buffer) do scope
    block = ccall(other.squares, Ptr{Float64}, (Ptr{Cvoid}, Ptr{Float64}, Csize_t), scope, x, length(x))
    block == C_NULL ? nothing : unsafe_wrap(Array, block, length(x))
end
sum_of_squares_by(other, buffer, x) = Ebbtide.with_scope(buffer) do scope
    ccall(other.sum_of_squares, Float64, (Ptr{Cvoid}, Ptr{Float64}, Csize_t), scope, x, length(x))
end

shared_buffers() = (SlabBuffer{16_384}(), SlabBuffer(), AllocBuffer(100_000), ResizeBuffer(16_384))

@testset "Julia allocates, $(other.language) goes on in the same scope, and back: $(typeof(b))" for
        other in LANGUAGES, b in shared_buffers()
    # The larger ones take the other language to other chunks than the one that Julia began in.
    for n in (0, 1, 7, 1000, 3000), turn in 1:3
        @no_escape b begin
            before = used(b)
            x = @alloc(Float64, n)
            x .= 1:n
            y = squares_by(other, b, x)
            after = used(b)
            @test after >= before + 16n
            z = @alloc(Float64, n)
            z .= -1
            @test sum_of_squares_by(other, b, z) == n
            @test used(b) >= after + 8n
            @test x == 1:n && y == (1:n) .^ 2 && all(==(-1), z)
            @no_escape b begin
                inner = squares_by(other, b, x)
                @test inner == y
            end
            @test y == (1:n) .^ 2
        end
        @test used(b) == 0
    end
end

@testset "$(other.language) calls Julia back, which allocates in the scope that it was lent" for other in LANGUAGES
    b = SlabBuffer()
    function sum_in_the_scope(::Ptr{Cvoid}, n::Csize_t)
        @no_escape b sum(fill!(@alloc(Float64, n), 2))
    end
    called = @cfunction($sum_in_the_scope, Float64, (Ptr{Cvoid}, Csize_t))
    @no_escape b begin
        kept = @alloc(Int, 10)
        kept .= 1:10
        total = Ebbtide.with_scope(b) do scope
            ccall(other.apply, Float64, (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), scope, called, 5_000)
        end
        @test total == 10_000 && kept == 1:10
    end
    @test used(b) == 0
end

@testset "a block in a function that $(other.language) calls back ends what $(other.language) allocated in it: $(typeof(b))" for
        other in LANGUAGES, b in shared_buffers()
    # The larger ones take the other language to other chunks than the one that the block began in.
    function sums_in_blocks(scope::Ptr{Cvoid}, n::Csize_t)
        total = 0.0
        for turn in 1:3
            before = Ebbtide.words(b)
            @no_escape b begin
                x = fill!(@alloc(Float64, n), 2)
                y = ccall(other.squares, Ptr{Float64}, (Ptr{Cvoid}, Ptr{Float64}, Csize_t), scope, x, n)
                total += sum(unsafe_wrap(Array, y, n))
            end
            Ebbtide.words(b) === before || return NaN
        end
        total
    end
    called = @cfunction($sums_in_blocks, Float64, (Ptr{Cvoid}, Csize_t))
    for n in (1, 7, 1_500, 3_000)
        total = @no_escape b begin
            kept = fill!(@alloc(Int, 10), n)
            total = Ebbtide.with_scope(b) do scope
                ccall(other.apply, Float64, (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), scope, called, n)
            end
            @test kept == fill(n, 10)
            total
        end
        @test total == 12n
        @test used(b) == 0
    end
end

@testset "a buffer without room, or closed, is an error that $(other.language) sees" for other in LANGUAGES
    b = AllocBuffer(100)
    @test squares_by(other, b, ones(100)) === nothing
    @test used(b) == 0 && squares_by(other, b, ones(5)) == ones(5)
    Ebbtide.reset_buffer!(b)
    Ebbtide.free(b)
    @test squares_by(other, b, ones(5)) === nothing
end

@testset "all languages take turns in one scope: $(typeof(b))" for b in shared_buffers()
    for turn in 1:3
        @no_escape b begin
            x = @alloc(Float64, 500)
            x .= 1
            arrays = [squares_by(LANGUAGES[mod1(i, end)], b, fill!(@alloc(Float64, 500), i)) for i in 1:6]
            @test all(all(==(i^2), arrays[i]) for i in 1:6) && all(==(1), x)
        end
        @test used(b) == 0
    end
end

# As `Word` in Rust.
struct RustWord
    data::Ptr{UInt8}
    bytes::Csize_t
end

isempty(RUST_LIBRARY) || @testset "Rust's own vectors and text in the scope of a block: $count" for count in (20, 2_000)
    shouted_words = Libdl.dlsym(last(LANGUAGES).handle, :shouted_words)
    text = join(("word$i" for i in 1:count), ' ') * " straße"
    expected = split(uppercase(join(("word$i" for i in 1:count), ' ')) * " STRASSE")
    b = SlabBuffer{16_384}()
    for turn in 1:3
        @no_escape b begin
            before = fill!(@alloc(Int, 10), turn)
            found = Ref{Csize_t}()
            words = Ebbtide.with_scope(b) do scope
                ccall(shouted_words, Ptr{RustWord}, (Ptr{Cvoid}, Ptr{UInt8}, Csize_t, Ref{Csize_t}), scope,
                    text, sizeof(text), found)
            end
            after = fill!(@alloc(Int, 1_000), -turn)
            read_word(word) = unsafe_string(word.data, word.bytes)
            @test [read_word(unsafe_load(words, i)) for i in 1:found[]] == expected
            @test all(==(turn), before) && all(==(-turn), after)
        end
        @test used(b) == 0
    end
end
