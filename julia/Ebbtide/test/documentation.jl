# The documentation is whole, and its programs run.

module Examples end

# The text of a docstring. `Docs.doc` needs the package REPL since Julia 1.11.
docstring(name) = join(only(values(Docs.meta(Ebbtide)[Docs.Binding(Ebbtide, name)].docs)).text)

@testset "the programs of the README and of the docstrings run" begin
    for block in code_blocks("README.md")
        include_string(Examples, block)
    end
    @test Examples.f([1, 2, 3]) == 9
    project = joinpath("..", "..", "README.md") # of the repository; the package may be alone
    if isfile(joinpath(dirname(@__DIR__), project))
        include_string(Examples, only(code_blocks(project)))
        @test Examples.f([1, 2, 3]) == 9
    end
    for block in eachmatch(r"```julia\n(.*?)```"s, docstring(Symbol("@no_escape")))
        include_string(Examples, block.captures[1])
    end
    @test Examples.normalised_sum([1, 2, 4]) == 1.75
    @test Examples.normalised_sum([0, 0]) == 0
end

@testset "the programs of the pages run, $page" for page in ("arena.md", "own.md")
    examples = Module()
    Core.eval(examples, :(using Ebbtide))
    blocks = code_blocks(joinpath("docs", "src", page))
    @test !isempty(blocks)
    for block in blocks
        include_string(examples, block)
    end
end

const WideElement = NTuple{8,VecElement{Float64}} # aligned to 64 bytes

function elements_are_aligned(tape)
    @no_escape tape begin
        for T in (UInt8, Int32, UInt8, Float64, UInt8, WideElement)
            y = @alloc(T, 1)
            @test address(y) % Ebbtide.alignment(T) == 0
            # Only the bytes that align it are lost.
            @test address(y) + sizeof(T) == address(tape.bytes) + tape.at
        end
        before = tape.at
        z = @alloc(WideElement, 2)
        @test tape.at == before + sizeof(z)
        nothing
    end
end

@testset "a buffer of one's own, as its page has it" begin
    examples = Module()
    Core.eval(examples, :(using Ebbtide))
    include_string(examples, first(code_blocks(joinpath("docs", "src", "own.md"))))
    @test Core.eval(examples, quote
        tape = Tape(zeros(UInt8, 1000), 0)
        sums = [@no_escape(tape, sum(fill!(@alloc(Int, 100), turn))) for turn in 1:3]
        sums == [100, 200, 300] && tape.at == 0
    end)
    tape = Core.eval(examples, :(Tape(zeros(UInt8, 400), 0)))
    Base.invokelatest(elements_are_aligned, tape)
end

# A buffer whose blocks do not lie side by side, and are not aligned either.
struct Scatter
    blocks::Vector{Vector{UInt8}}
end
function Ebbtide.alloc_ptr!(b::Scatter, bytes::Int)::Ptr{Cvoid}
    push!(b.blocks, zeros(UInt8, bytes + 20))
    pointer(last(b.blocks)) + 17
end

@testset "a buffer of one's own has aligned elements, wherever its blocks lie" begin
    scatter = Scatter([])
    GC.@preserve scatter for T in (Int32, Float64, WideElement), n in (1, 5)
        y = Ebbtide.alloc!(scatter, T, n)
        @test address(y) % Ebbtide.alignment(T) == 0
        within = filter(scatter.blocks) do block
            address(block) + 17 <= address(y) && address(y) + sizeof(y) <= address(block) + length(block) - 3
        end
        @test length(within) == 1
    end
end

@testset "each public name has a docstring, and each docstring a place in the pages" begin
    documented = Set(string(binding.var) for binding in keys(Docs.meta(Ebbtide)))
    for name in names(Ebbtide)
        @test string(name) in documented
    end
    # Documented names are public, as later versions know it.
    isdefined(Base, :ispublic) && @test documented == Set(string.(names(Ebbtide)))
    pages = joinpath(dirname(@__DIR__), "docs", "src")
    listed = Set{String}()
    for page in readdir(pages), block in eachmatch(r"```@docs\n(.*?)```"s, read(joinpath(pages, page), String))
        union!(listed, replace.(split(block.captures[1]), "Ebbtide." => ""))
    end
    @test listed == documented
end

# Examples with their results: ```jldoctest blocks, as Documenter knows them.
function doctests(text)
    [Tuple(strip.(split(block.captures[1], "\n# output\n"))) for block in eachmatch(r"```jldoctest\n(.*?)```"s, text)]
end

@testset "the examples of docstrings give the results that stand there" begin
    sources = joinpath(dirname(@__DIR__), "src")
    count = 0
    for file in readdir(sources), (program, expected) in doctests(read(joinpath(sources, file), String))
        page = Module()
        Core.eval(page, :(using Ebbtide))
        value = include_string(page, program)
        @test sprint(show, MIME("text/plain"), value) == expected
        count += 1
    end
    @test count >= 20
end

# The pairs of a method of ours and another one of which neither is more specific. Julia's own
# `detect_ambiguities` compares all methods with each other, which takes a minute.
function ambiguities_of_ours(mod)
    is_ours(method) = parentmodule(method.module) === Ebbtide
    found = Any[]
    for name in names(mod; all = true, imported = true)
        isdefined(mod, name) && !Base.isdeprecated(mod, name) || continue
        f = getfield(mod, name)
        f isa Union{Function,DataType,UnionAll} || continue
        known = methods(f)
        for ours in filter(is_ours, collect(known)), other in known
            ours !== other && Base.isambiguous(ours, other) && push!(found, (ours, other))
        end
    end
    found
end

@testset "no call is ambiguous because of our methods, $mod" for mod in (Ebbtide, Ebbtide.Expansion, Base,
    Base.Broadcast, Base.PermutedDimsArrays, LinearAlgebra, Random, Serialization)

    @test isempty(ambiguities_of_ours(mod))
    mod === Ebbtide && @test isempty(Test.detect_unbound_args(mod))
end
