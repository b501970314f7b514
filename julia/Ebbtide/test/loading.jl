# How the package finds its library, and what precompiled modules may hold.

# Runs a program in another process with a package `Holder` in the load path. Returns what it
# printed.
function run_with_holder(program; library = Ebbtide.LIBRARY.path)
    mktempdir() do folder
        write(mkpath(joinpath(folder, "Holder", "src")) * "/Holder.jl", """
            module Holder
            using Ebbtide
            const SLAB = SlabBuffer()
            const FIXED = AllocBuffer(1000)
            const POSITION = Ebbtide.checkpoint_save(SLAB)
            const SEEN = Ebbtide.used(default_buffer())
            sum_in(b) = @no_escape b sum(fill!(@alloc(Int, 3), 1))
            end
            """)
        write(joinpath(folder, "Holder", "Project.toml"), """
            name = "Holder"
            uuid = "8a8df1f5-9a0e-4c22-9c34-1f2ef5f8a111"
            [deps]
            Ebbtide = "$(Base.PkgId(Ebbtide).uuid)"
            """)
        separator = Sys.iswindows() ? ";" : ":"
        # Packages before the standard libraries that they use.
        path = join((dirname(pkgdir(Ebbtide)), folder, "@stdlib"), separator)
        # The first depot is the user's; the others are Julia's own and have its compiled libraries.
        depots = join((folder, DEPOT_PATH[2:end]...), separator)
        output_of(`$(Base.julia_cmd()) --startup-file=no -e $program`,
            "JULIA_LOAD_PATH" => path, "JULIA_DEPOT_PATH" => depots, "EBBTIDE_LIBRARY" => library)
    end
end

# What a command prints, with these variables in its environment.
function output_of(command, variables...)
    output = IOBuffer()
    command = addenv_(command, variables...)
    run(pipeline(ignorestatus(command); stdout = output, stderr = output))
    String(take!(output))
end

# `addenv`, which later versions have.
addenv_(command, pairs...) = setenv(command, merge(Dict(ENV), Dict(pairs...)))

@testset "a buffer of a precompiled module is closed, not wild" begin
    output = run_with_holder("""
        using Holder, Ebbtide
        function fails(b)
            try
                Holder.sum_in(b)
            catch error
                println(sprint(showerror, error))
            end
        end
        fails(Holder.SLAB)
        Ebbtide.checkpoint_restore!(Holder.POSITION)
        fails(Holder.SLAB)
        for b in (Holder.SLAB, Holder.FIXED)
            fails(b)
            fails(Ebbtide.reset_buffer!(b))
        end
        println(Holder.sum_in(default_buffer()))
        """)
    @test count("the buffer is closed", output) == 6
    @test endswith(output, "3\n")
end

@testset "a library that is not there" begin
    output = run_with_holder("using Ebbtide"; library = "/nowhere/libebbtide.so")
    @test occursin("/nowhere/libebbtide.so", output)
    @test occursin("EBBTIDE_LIBRARY", output)
end

@testset "an empty EBBTIDE_LIBRARY is an unset one" begin
    candidates(variable) = withenv(Ebbtide.library_candidates, "EBBTIDE_LIBRARY" => variable)
    @test candidates("") == candidates(nothing)
    @test candidates("/a/library.so") == ["/a/library.so"]
    # The build either needs cargo, which is not found, or has nothing to do.
    script = joinpath(dirname(@__DIR__), "deps", "build.jl")
    command = `$(Base.julia_cmd()) --startup-file=no $script`
    build(library) = output_of(command, "PATH" => "", "EBBTIDE_LIBRARY" => library)
    @test occursin(r"cargo|the source of libebbtide", build(""))
    @test build("/a/library.so") == ""
end
