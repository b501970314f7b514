# Compares Ebbtide with Bumper.jl and with Julia's own arrays, in one process. Prints a table, and
# writes it to the file that is named as an argument. `ci/julia.sh bench` starts it.
#
# The contestants of a workload take turns, a short batch at a time, so that other load on the
# machine slows all of them. Each is compiled several times, and batches rotate through these
# copies, because the position of a short loop in memory changes its time by a third. Times are
# medians of the batches; a ratio is the median of the ratios of batches timed next to each other.

const COPIES = 6

copies_with(package) = map(1:COPIES) do copy
    name = gensym(package)
    Core.eval(Main, :(module $name
        using $package
        include($(joinpath(@__DIR__, "kernels.jl")))
    end))
    getfield(Main, name)
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

"What is timed: a function, in several copies; whom it is compared with; and the largest ratio that is good enough."
struct Contestant
    name::String
    runs::Vector{Function}
    against::String
    bar::Float64
end
Contestant(name, runs; against = "", bar = NaN) = Contestant(name, runs, against, bar)

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

function workloads()
    turns = 1000
    x = rand(1:10, 30)
    lengths = rand(1:1000, 10_000)
    arrays(run) = Contestant("arrays", [run]; against = "Bumper.jl")
    [
        Workload("W1, default buffer", turns,
                 [both(package -> call(package.repeat_sum, turns, x); bar = 1.0);
                  arrays(call(WithArrays.repeat_sum, turns, x))]),
        Workload("W1, slab", turns,
                 both(package -> call(package.repeat_sum, turns, x, package.SlabBuffer()); bar = 1.0)),
        Workload("W1, fixed buffer", turns,
                 both(package -> call(package.repeat_sum, turns, x, package.AllocBuffer(2^20)); bar = 1.0)),
        Workload("8 bytes in a block, slab", turns,
                 both(package -> call(package.blocks_of_8_bytes, turns, package.SlabBuffer()); bar = 0.7)),
        Workload("8 bytes in a block, fixed buffer", turns,
                 both(package -> call(package.blocks_of_8_bytes, turns, package.AllocBuffer(2^20)))),
        Workload("W2, 10 words in a block", turns,
                 both(package -> call(package.blocks_of_10_words, turns, package.SlabBuffer()))),
        slab_boundary(16_384, turns),
        slab_boundary(2^20, turns),
        Workload("W4, 10,000 vectors in a new buffer", length(lengths),
                 [both(package -> call(package.vectors, lengths)); arrays(call(WithArrays.vectors, lengths))]),
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

function report(workload, seconds, lines)
    times = measure(workload, seconds)
    names = [contestant.name for contestant in workload.contestants]
    println(workload.title)
    for (at, contestant) in enumerate(workload.contestants)
        middle, fastest = median(times[:, at]), minimum(times[:, at])
        bytes = bytes_allocated(first(contestant.runs))
        print("  ", rpad(contestant.name, 28), lpad(in_ns(middle), 8), " ns, fastest ", lpad(in_ns(fastest), 8), ", ",
              bytes, " bytes allocated")
        ratio = ""
        if contestant.against != ""
            other = findfirst(==(contestant.against), names)
            value = median(times[:, at] ./ times[:, other])
            ratio = in_ns(value)
            print("; ", ratio, " of ", contestant.against)
            isnan(contestant.bar) || print(round(value; digits = 2) <= contestant.bar ? ", within " : ", ABOVE ", contestant.bar)
        end
        println()
        bar = isnan(contestant.bar) ? "" : string(contestant.bar)
        push!(lines, join([repr(workload.title), repr(contestant.name), in_ns(middle), in_ns(fastest), bytes,
                           repr(contestant.against), ratio, bar], ','))
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
    for workload in workloads()
        Base.invokelatest(report, workload, seconds, lines)
    end
    for file in arguments
        write(file, join(lines, '\n'), '\n')
    end
end

main(ARGS)
