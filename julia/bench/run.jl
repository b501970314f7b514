# Compares Ebbtide with Bumper.jl and with Julia's own arrays, in one process. Prints a table, and
# writes it to the file that is named as an argument. `ci/julia.sh bench` starts it.
#
# The contestants of a workload take turns, a short batch at a time, so that other load on the
# machine slows all of them. Each is compiled several times, and batches rotate through these
# copies, because the position of a short loop in memory changes its time by a third. Times are
# medians of the batches; a ratio is the median of the ratios of batches timed next to each other.

include("loops.jl")

const COPIES = 6
# The largest ratio that is good enough for a loop over arrays.
const LOOP_BAR = 1.1

copies_with(package) = map(1:COPIES) do copy
    name = gensym(package)
    Core.eval(Main, :(module $name
        using $package
        using $package: alloc!
        include($(joinpath(@__DIR__, "kernels.jl")))
    end))
end

const BUMPER = copies_with(:Bumper)
const EBBTIDE = copies_with(:Ebbtide)

module WithArrays
using ..Main: EBBTIDE
const keep = first(EBBTIDE).keep
@noinline sum_of_successors(x) = sum(x .+ 1)
function repeat_sum(turns, x)
    total = 0
    for _ in 1:turns
        total += sum_of_successors(x)
    end
    total
end
function vectors(lengths)
    for n in lengths
        y = Vector{UInt32}(undef, n)
        @inbounds y[1] = n
        keep(pointer(y))
    end
end
end

"What is timed: a function, in several copies; and whom it is compared with, each with the largest ratio that is good enough."
struct Contestant
    name::String
    runs::Vector{Function}
    against::Vector{Pair{String,Float64}}
end
Contestant(name, runs; against = "", bar = NaN) = Contestant(name, runs, against == "" ? [] : [against => bar])

"Contestants that do the same. A call of each makes so many turns."
struct Workload
    title::String
    turns::Int
    contestants::Vector{Contestant}
end

"A call to time. The types of the function and its arguments are known, so that calling it allocates nothing."
call(f, arguments...) = () -> (f(arguments...); nothing)

"Bumper.jl and Ebbtide, each with buffers of its own: `prepare(package)` returns what to time."
function both(prepare; bar = NaN)
    [Contestant("Bumper.jl", map(prepare, BUMPER)),
     Contestant("Ebbtide", map(prepare, EBBTIDE); against = "Bumper.jl", bar = bar)]
end

"The same blocks in the middle of a slab and at its end, where two blocks of just under half a slab fill it."
function slab_boundary(size, turns)
    blocks(before) = package -> call(package.blocks_behind, before, turns, package.SlabBuffer{size}())
    away, at = blocks(100), blocks(size ÷ 2 - 1)
    contestants = [
        Contestant("Bumper.jl, away", map(away, BUMPER)),
        Contestant("Bumper.jl, at the boundary", map(at, BUMPER); against = "Bumper.jl, away"),
        Contestant("Ebbtide, away", map(away, EBBTIDE); against = "Bumper.jl, away"),
        Contestant("Ebbtide, at the boundary", map(at, EBBTIDE); against = "Ebbtide, away", bar = 1.05),
    ]
    Workload("W3, slabs of $(size ÷ 1024) KiB", turns, contestants)
end

"The same loop over arrays of `n` elements: Julia's own, and those of a buffer."
function loop(title, f, shapes, n)
    turns = max(1, 20_000 ÷ n)
    sizes = map(shape -> shape(n), shapes)
    on(make) = (arrays = map(make, sizes); foreach(array -> fill!(array, 1.0), arrays); call(repeat_on, f, turns, arrays...))
    in_buffer(package) = (buffer = package.SlabBuffer();
        push!(BUFFERS, buffer);
        on(size -> package.alloc!(buffer, Float64, size...)))
    Workload("$title, $n elements", turns, [
        Contestant("arrays", [on(size -> zeros(size...))]),
        Contestant("Bumper.jl", [in_buffer(first(BUMPER))]; against = "arrays"),
        Contestant("Ebbtide", [in_buffer(first(EBBTIDE))], ["Bumper.jl" => LOOP_BAR, "arrays" => LOOP_BAR]),
    ])
end
# The buffers of arrays that are measured.
const BUFFERS = []

loops() = [loop(title, f, shapes, n) for (title, f, shapes) in LOOPS for n in (64, 1_000, 30_000)]

"Buffers that are made, filled and dropped. The first chunk of each is a mebibyte."
function made_anew(bytes)
    turns = max(1, 2^16 ÷ max(bytes, 2^10))
    bar = bytes < 2^20 ? 1.0 : 0.5
    Workload("made anew, $bytes bytes", turns, both(package -> call(package.made_anew, turns, bytes ÷ 8); bar = bar))
end

arrays(run) = Contestant("arrays", [run]; against = "Bumper.jl")

"The block that the documentation begins with, on vectors of other lengths."
function blocks_of(n)
    turns = max(1, 30_000 ÷ n)
    x = rand(1:10, n)
    [Workload("W1, $n elements, default buffer", turns,
              [both(package -> call(package.repeat_sum, turns, x); bar = 1.0);
               arrays(call(WithArrays.repeat_sum, turns, x))]),
     Workload("W1, $n elements, slab", turns,
              both(package -> call(package.repeat_sum, turns, x, package.SlabBuffer()); bar = 1.0)),
     Workload("W1, $n elements, fixed buffer", turns,
              both(package -> call(package.repeat_sum, turns, x, package.AllocBuffer(2^20)); bar = 1.0))]
end

function workloads()
    turns = 1000
    lengths = rand(1:1000, 10_000)
    [
        reduce(vcat, map(blocks_of, (3, 30, 300, 3_000, 100_000)))...,
        Workload("8 bytes in a block, slab", turns,
                 both(package -> call(package.blocks_of_8_bytes, turns, package.SlabBuffer()); bar = 0.7)),
        Workload("8 bytes in a block, fixed buffer", turns,
                 both(package -> call(package.blocks_of_8_bytes, turns, package.AllocBuffer(2^20)); bar = 1.05)),
        Workload("W2, 10 words in a block", turns,
                 both(package -> call(package.blocks_of_10_words, turns, package.SlabBuffer()); bar = 1.0)),
        slab_boundary(16_384, turns),
        slab_boundary(2^20, turns),
        Workload("W4, 10,000 vectors in a new buffer", length(lengths),
                 [both(package -> call(package.vectors, lengths)); arrays(call(WithArrays.vectors, lengths))]),
        map(made_anew, (0, 8, 2^10, 2^16, 2^20, 2^24))...,
        loops()...,
    ]
end

function median(values)
    sorted = sort(values)
    (sorted[(end + 1) ÷ 2] + sorted[end ÷ 2 + 1]) / 2
end

function nanoseconds(run::F, turns) where {F}
    start = time_ns()
    run()
    (time_ns() - start) / turns
end

"The time of a turn: a row for each batch, a column for each contestant."
function measure(workload, seconds)
    contestants = workload.contestants
    foreach(contestant -> foreach(run -> (run(); run()), contestant.runs), contestants)
    once = sum(nanoseconds(first(contestant.runs), 1) for contestant in contestants)
    batches = clamp(round(Int, seconds * 1e9 / once), 5, 20_000)
    times = zeros(batches, length(contestants))
    for batch in 1:batches, at in eachindex(contestants)
        # Another contestant begins each time.
        one = mod1(at + batch, length(contestants))
        runs = contestants[one].runs
        times[batch, one] = nanoseconds(runs[mod1(batch, length(runs))], workload.turns)
    end
    times
end

bytes_allocated(run::F) where {F} = @allocated run()
in_ns(time) = string(round(time; digits = 2))

function report(workload, seconds, lines, ratios)
    times = measure(workload, seconds)
    names = [contestant.name for contestant in workload.contestants]
    println(workload.title)
    for (at, contestant) in enumerate(workload.contestants)
        middle, fastest = median(times[:, at]), minimum(times[:, at])
        bytes = bytes_allocated(first(contestant.runs))
        print("  ", rpad(contestant.name, 28), lpad(in_ns(middle), 8), " ns, fastest ", lpad(in_ns(fastest), 8), ", ",
              bytes, " bytes allocated")
        for (against, bar) in (isempty(contestant.against) ? ["" => NaN] : contestant.against)
            ratio = ""
            if against != ""
                other = findfirst(==(against), names)
                value = median(times[:, at] ./ times[:, other])
                ratio = in_ns(value)
                print("; ", ratio, " of ", against)
                isnan(bar) || print(round(value; digits = 2) <= bar ? ", within " : ", ABOVE ", bar)
                bar == LOOP_BAR && push!(get!(ratios, against, Float64[]), value)
            end
            push!(lines, join([repr(workload.title), repr(contestant.name), in_ns(middle), in_ns(fastest), bytes,
                               repr(against), ratio, isnan(bar) ? "" : string(bar)], ','))
        end
        println()
    end
end

"The geometric mean of the ratios of all loops, compared with whom, and its bar."
function report_means(ratios, lines)
    for (against, bar) in ("Bumper.jl" => 1.0, "arrays" => 1.05)
        values = get(ratios, against, Float64[])
        isempty(values) && continue
        mean = exp(sum(log, values) / length(values))
        println("geometric mean of ", length(values), " loops: ", in_ns(mean), " of ", against,
                round(mean; digits = 2) <= bar ? ", within " : ", ABOVE ", bar)
        push!(lines, join([repr("geometric mean of $(length(values)) loops"), repr("Ebbtide"), "", "", "", repr(against),
                           in_ns(mean), bar], ','))
    end
end

function version_of(package)
    project = joinpath(dirname(dirname(Base.find_package(string(package)))), "Project.toml")
    match(r"^version *= *\"(.*)\""m, read(project, String)).captures[1]
end

function main(arguments)
    lines = ["# cpu: $(first(Sys.cpu_info()).model), $(Sys.CPU_THREADS) threads",
             "# toolchain: Julia $VERSION, Bumper.jl $(version_of(:Bumper))",
             "# how: ci/julia.sh bench; medians of short batches that take turns, with other programs running",
             "workload,contestant,median_ns,fastest_ns,bytes_allocated,compared_with,ratio,bar"]
    seconds = parse(Float64, get(ENV, "SECONDS_A_WORKLOAD", "2"))
    only = get(ENV, "ONLY", "")
    ratios = Dict{String,Vector{Float64}}()
    for workload in workloads()
        occursin(only, workload.title) && Base.invokelatest(report, workload, seconds, lines, ratios)
    end
    report_means(ratios, lines)
    for file in arguments
        write(file, join(lines, '\n'), '\n')
    end
end

main(ARGS)
