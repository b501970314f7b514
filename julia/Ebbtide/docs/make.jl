# Builds the reference: `julia --project=julia/Ebbtide/docs julia/Ebbtide/docs/make.jl`. Needs
# Documenter. Fails if the result of an example differs from the one in its docstring, if a
# reference has no target, or if an exported name is not in the pages.

using Documenter, Ebbtide

DocMeta.setdocmeta!(Ebbtide, :DocTestSetup, :(using Ebbtide); recursive = true)

makedocs(
    sitename = "Ebbtide",
    modules = [Ebbtide],
    pages = ["index.md", "Blocks and arrays" => "blocks.md", "Buffers" => "buffers.md",
        "Buffers of your own" => "own.md", "Large temporary arrays" => "arena.md",
        "Programs written for Bumper.jl" => "bumper.md", "Versions of Julia" => "versions.md"],
    format = Documenter.HTML(edit_link = nothing, disable_git = true),
    checkdocs = :exports,
    strict = true,
)
