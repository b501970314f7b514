# Builds the reference: `julia --project=julia/Ebbtide/docs julia/Ebbtide/docs/make.jl`. Needs
# Documenter.

using Documenter, Ebbtide

DocMeta.setdocmeta!(Ebbtide, :DocTestSetup, :(using Ebbtide); recursive = true)

makedocs(
    sitename = "Ebbtide",
    modules = [Ebbtide],
    pages = ["index.md", "Blocks and arrays" => "blocks.md", "Buffers" => "buffers.md",
        "Buffers of your own" => "own.md", "Arrays that may escape" => "arena.md",
        "Programs written for Bumper.jl" => "bumper.md"],
)
