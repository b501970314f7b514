# Runs the programs of Bumper.jl's README, in their order, and compares their results with those
# printed there. `ci/julia.sh others` starts it.
#
# Usage: readme.jl FILE

using Test

# Replacements for BenchmarkTools.jl's macros, which run their expression once.
macro benchmark(expression, setup)
    esc(:(let; $(setup.args[2]); $expression; end))
end
macro btime(expression)
    esc(without_dollars(expression))
end
without_dollars(x) = x isa Expr ? x.head === :$ ? x.args[1] : Expr(x.head, map(without_dollars, x.args)...) : x

# Definitions that the examples assume.
N = 16_384
T, n, m, o = Int, 3, 2, 1
x = rand(1:10, 30)
const OPEN = ["f(y)" => "sum(fill!(y, 1))", "using BenchmarkTools" => ""]

const PROMPT = r"^julia> |^ {7}"m
const UNAVAILABLE = r"StaticCompiler|StaticTools"

"The expressions of a program, and the lines that a prompt printed after the first of them."
function parse_program(text)
    startswith(text, "julia> ") || return Meta.parse("begin $text\nend"), nothing
    text = replace(text, PROMPT => "")
    expression, stop = Meta.parse(text, 1)
    expression, last(split(strip(text[stop:end]), '\n'))
end

function main(file)
    text = foldl(replace, OPEN; init = read(file, String))
    @testset "README of Bumper.jl" begin
        for block in eachmatch(r"```\s*julia\n(.*?)```(?:\s*```\n(.*?)```)?"s, text)
            program, result = block.captures
            if occursin(UNAVAILABLE, program)
                println("left out, needs another compiler: ", first(split(program, '\n')))
                continue
            end
            parsed, printed = parse_program(program)
            value = nothing
            for statement in (printed === nothing ? parsed.args : [parsed])
                value = Core.eval(Main, statement)
            end
            printed = printed === nothing ? result : printed
            comparable = printed !== nothing && !occursin('\n', strip(printed))
            println("ran: ", first(split(strip(program), '\n')), comparable ? " -> $(repr(value))" : "")
            @test !comparable || string(value) == strip(printed)
        end
    end
end

main(only(ARGS))
