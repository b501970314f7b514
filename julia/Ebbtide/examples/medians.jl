# Medians of large arrays, each computed on a copy. Serial and threaded, with and without `@arena`.

using Ebbtide, Statistics

function run(; small = false)
    x = [sin(1.7 * i) for i in 1:(small ? 20_000 : 10_000_000)]
    repeats = 1:(small ? 8 : 32)
    report(f) = small ? f() : @time f()
    plain = report(() -> map(_ -> median(x), repeats))
    serial = report(() -> map_arena(_ -> median(x), repeats))
    threaded = report(() -> mtmap_arena(_ -> median(x), repeats))
    plain == serial == threaded || error("the medians differ")
    true
end

abspath(PROGRAM_FILE) == @__FILE__() && run()
run
