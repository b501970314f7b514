# Julia's own large arrays, in memory that the C library keeps.

# In another process, because it is for the whole one.
const PAGE_FAULTS = raw"""
    using Ebbtide
    # `ru_minflt` of `struct rusage` on Linux.
    function page_faults()
        usage = zeros(Clong, 18)
        ccall(:getrusage, Cint, (Cint, Ptr{Clong}), 0, usage)
        usage[9]
    end
    # Larger than what the C library keeps by itself.
    filled(turn) = sum(fill(turn, 5 * 2^20))
    turns(n) = for turn in 1:n
        filled(turn)
        GC.gc()
    end
    function faults_of_turns()
        turns(2)
        before = page_faults()
        turns(20)
        page_faults() - before
    end
    resident() = 4096 * parse(Int, split(read("/proc/self/statm", String))[2])
    without = faults_of_turns()
    @arena nothing
    with = faults_of_turns()
    kept = Ebbtide.keep_freed_memory!()
    before = resident()
    released = Ebbtide.release_freed_memory!()
    println((kept, released, 5 * with < without, before - resident() > 2^24))
    """

@testset "freed memory is kept for the next arrays, until it is released" begin
    expected = Sys.islinux() && Ebbtide.gnu_function(:mallopt) != C_NULL
    @test !Sys.islinux() || occursin(string((true, true, true, true)), run_with_holder(PAGE_FAULTS)) == expected
    @test_throws ArgumentError Ebbtide.keep_freed_memory!(-1)
end

@testset "older versions of the C library accept smaller thresholds" begin
    calls = []
    of_old(parameter, value) = (push!(calls, (parameter, value)); parameter != Ebbtide.M_MMAP_THRESHOLD || value <= 2^25)
    @test Ebbtide.set_thresholds(of_old, typemax(Cint))
    @test calls == [(-3, typemax(Cint)), (-3, 2^22 * sizeof(Clong)), (-1, typemax(Cint))]
    @test !Ebbtide.set_thresholds((_, _) -> false, typemax(Cint))
end
