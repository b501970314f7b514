# Times programs with large temporary arrays: without `@arena`, with Ebbtide's, or with that of
# ArenaPirate.jl, which replaces a method of Julia's, so that each needs a process of its own.
# `ci/julia.sh arena` lets the processes take turns. Prints a line for each program: the mean time of a
# call in milliseconds, the collections in a call, and last the peak of resident memory.

const WITH = ARGS[1]
if WITH == "Ebbtide"
    using Ebbtide
elseif WITH == "ArenaPirate.jl"
    using ArenaPirate
else
    macro arena(expression)
        esc(expression)
    end
    mtmap_arena(f, items) = fetch.([Threads.@spawn f(item) for item in items])
end
using Statistics

sum_of_one(n) = sum(collect(1:n))
sum_of_two(n) = sum(collect(1:n) + collect(1:n))
function four_temporaries(n)
    x = collect(1.0:n)
    y = x .* 2
    z = sqrt.(y) .+ 1
    sum(z ./ y)
end
function twenty_broadcasts(x)
    total = 0.0
    for i in 1:20
        x = x .+ i
        total += x[end]
    end
    total
end

with_arena(f::F) where {F} = x -> @arena f(x)
in_threads(f::F, times) where {F} = x -> mtmap_arena(f, fill(x, times))

const PROGRAMS = Threads.nthreads() == 1 ?
    [[("sum of two", with_arena(sum_of_two), 10^k) for k in 4:7];
     [("sum of one", with_arena(sum_of_one), 10^k) for k in 6:7];
     [("four temporaries", with_arena(four_temporaries), 10^k) for k in 4:7];
     ("twenty broadcasts", with_arena(twenty_broadcasts), rand(10^6));
     ("median", with_arena(median), rand(10^7))] :
    [("16 times sum of one", in_threads(sum_of_one, 16), 10^6);
     ("16 times four temporaries", in_threads(four_temporaries, 16), 10^6);
     ("4 times median", in_threads(median, 4), rand(10^7))]

function measure(f::F, x, seconds) where {F}
    foreach(_ -> f(x), 1:3)
    GC.gc()
    collections, calls, start = Base.gc_num().pause, 0, time_ns()
    while time_ns() - start < 1e9 * seconds
        foreach(_ -> f(x), 1:cld(100_000, length_of(x)))
        calls += cld(100_000, length_of(x))
    end
    ((time_ns() - start) / 1e6 / calls, (Base.gc_num().pause - collections) / calls)
end
length_of(x) = x isa Int ? x : length(x)

const SECONDS = parse(Float64, get(ENV, "SECONDS_A_PROGRAM", "0.5"))
for (title, f, x) in PROGRAMS
    time, collections = Base.invokelatest(measure, f, x, SECONDS)
    println(join([repr(title), length_of(x), Threads.nthreads(), repr(WITH), round(time; sigdigits = 3),
                  round(collections; digits = 2)], ','))
end
println(join([repr("peak in MiB"), "", Threads.nthreads(), repr(WITH), Sys.maxrss() >> 20, ""], ','))
