# A search for the parameters of a curve: each of 27,000 evaluations allocates several temporary
# vectors. Serial and threaded, with and without `@arena`.

using Ebbtide

function distance(x, y, (a, b, c))
    curve = a .* sin.(b .* x) .+ c
    difference = curve .- y
    sum(difference .* difference)
end

function run(; small = false)
    n, steps = small ? (10_000, 3) : (100_000, 30)
    x = collect(range(0, 10; length = n))
    y = 1.5 .* sin.(0.7 .* x) .+ 0.2
    parameters = [(a, b, c) for a in range(1, 2; length = steps) for b in range(0, 1; length = steps)
                  for c in range(-1, 1; length = steps)]
    search(map_over) = parameters[last(findmin(map_over(p -> distance(x, y, p), parameters)))]
    report(f) = small ? f() : @time f()
    plain = report(() -> search(map))
    serial = report(() -> search(map_arena))
    threaded = report(() -> search(mtmap_arena))
    plain == serial == threaded || error("the results differ")
    true
end

abspath(PROGRAM_FILE) == @__FILE__() && run()
run
