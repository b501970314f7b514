# The documentation is whole, and its programs run.

module Examples end

@testset "the programs of the README and of the docstrings run" begin
    for block in code_blocks("README.md")
        include_string(Examples, block)
    end
    @test Examples.f([1, 2, 3]) == 9
    blocks = [string(Docs.doc(Docs.Binding(Ebbtide, Symbol("@no_escape"))))]
    for text in blocks, block in eachmatch(r"```julia\n(.*?)```"s, text)
        include_string(Examples, block.captures[1])
    end
    @test Examples.normalised_sum([1, 2, 4]) == 1.75
    @test Examples.normalised_sum([0, 0]) == 0
end

@testset "each public name has a docstring, and each docstring a place in the pages" begin
    documented = Set(string(binding.var) for binding in keys(Docs.meta(Ebbtide)))
    for name in names(Ebbtide)
        @test string(name) in documented
    end
    pages = joinpath(dirname(@__DIR__), "docs", "src")
    listed = Set{String}()
    for page in readdir(pages), block in eachmatch(r"```@docs\n(.*?)```"s, read(joinpath(pages, page), String))
        union!(listed, replace.(split(block.captures[1]), "Ebbtide." => ""))
    end
    @test listed == documented
end
