# Runs a test file that was written for Bumper.jl, without the lines that read Bumper.jl's private
# fields or call its private functions. It loads the package called Bumper in the load path.
# `ci/julia.sh others` starts it.
#
# Usage: tests.jl FILE

const PRIVATE_FIELDS = [:current, :slab_end, :slabs, :custom_slabs, :offset, :buf]
const PRIVATE_MODULES = [:Internals]

"Reads `.name`, for a private name."
is_private_access(x) = x.head === :. && length(x.args) == 2 && x.args[2] isa QuoteNode &&
    (x.args[2].value in PRIVATE_FIELDS || x.args[2].value in PRIVATE_MODULES)

"Whether an expression reads something private, or a variable that has what was read."
is_private(x::Expr, names) = is_private_access(x) || any(argument -> is_private(argument, names), x.args)
is_private(x, names) = x isa Symbol && x in names

is_block(x) = x isa Expr && x.head in (:block, :toplevel)
contains_block(x) = x isa Expr && (is_block(x) || any(contains_block, x.args))

# A statement that contains statements is kept, without those of them that are private.
function without_private(x, names, line)
    x isa Expr || return x
    is_block(x) || return Expr(x.head, (without_private(argument, names, line) for argument in x.args)...)
    kept = []
    names = copy(names)
    for statement in x.args
        if statement isa LineNumberNode
            line[] = statement.line
            push!(kept, statement)
        elseif !contains_block(statement) && is_private(statement, names)
            println("left out, line ", line[], ": ", oneline(statement))
            assigned(statement) === nothing || push!(names, assigned(statement))
        else
            setdiff!(names, [assigned(statement)])
            push!(kept, without_private(statement, names, line))
        end
    end
    Expr(x.head, kept...)
end

assigned(x) = x isa Expr && x.head === :(=) && x.args[1] isa Symbol ? x.args[1] : nothing

function oneline(x)
    x = Base.remove_linenums!(deepcopy(x))
    text = replace(replace(string(x), r"#= .*? =#" => ""), r"\s+" => " ")
    length(text) > 100 ? first(text, 100) * " ..." : text
end

function main(file)
    program = Meta.parse("begin " * read(file, String) * "\nend")
    println(file)
    for statement in without_private(program, Symbol[], Ref(0)).args
        Core.eval(Main, statement)
    end
end

main(only(ARGS))
