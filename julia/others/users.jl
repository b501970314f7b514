# Runs tests of a package that uses Bumper.jl, on Julias that are older than the package, and
# without its other dependencies: modules of stubs.jl stand in for them. users/NAME.jl says what is
# run. It loads the package called Bumper in the load path. `ci/julia.sh others` starts it.
#
# Usage: users.jl NAME FOLDER

using Test

include("stubs.jl")

# Syntax and functions of newer versions, in the terms of Julia 1.5.
const FIELD_CONST = r"^( +)const (\w+::[^=\n]*)$"m

function parse_file(path)
    text = replace(read(path, String), FIELD_CONST => s"\1\2")
    Base.parse_input_line(text; filename = path)
end

older_syntax(x, folder) = x
function older_syntax(x::Expr, folder)
    x.head in (:using, :import) && return Expr(x.head, map(from_main, x.args)...)
    x = Expr(x.head, (older_syntax(argument, folder) for argument in x.args)...)
    if x.head === :(=) && is_destructuring(x.args[1])
        names = x.args[1].args[1].args
        whole = gensym()
        return Expr(:block, :($whole = $(x.args[2])), (:($name = $whole.$name) for name in names)..., whole)
    elseif x.head === :call && x.args[1] === :include
        return :($load($joinpath($folder, $(x.args[2])), $CURRENT_MODULE))
    elseif x.head === :macrocall && x.args[1] === Symbol("@lock")
        return Expr(:macrocall, GlobalRef(Base, Symbol("@lock")), x.args[2:end]...)
    elseif x.head === :macrocall && x.args[1] === Symbol("@showtime")
        return x.args[end]
    elseif x.head === :call && x.args[1] === :sum && x.args[2] isa Expr && x.args[2].head === :parameters
        return Expr(:call, :mapreduce, x.args[2:3]..., :+, x.args[4:end]...)
    elseif x.head === :macrocall && x.args[1] === Symbol("@testset") && x.args[end].head === :call
        return Expr(:macrocall, x.args[1:end-1]..., Expr(:block, x.args[end]))
    end
    x
end

const CURRENT_MODULE = Expr(:macrocall, Symbol("@__MODULE__"), LineNumberNode(0))

is_destructuring(x) = x isa Expr && x.head === :tuple && length(x.args) == 1 &&
    x.args[1] isa Expr && x.args[1].head === :parameters

# What this program defines comes from Main, not from a package.
from_main(x) = x
function from_main(x::Expr)
    x.head === :(:) && return Expr(x.head, from_main(x.args[1]), x.args[2:end]...)
    name = x.args[1]
    is_loaded = x.head === :. && name !== :Main && isdefined(Main, name) &&
        getfield(Main, name) isa Module && parentmodule(getfield(Main, name)) === Main
    is_loaded ? Expr(:., :Main, x.args...) : x
end

# Evaluates the statements of a file that `only` accepts, and the files that it includes.
function load(path, mod = Main; only = statement -> true)
    for statement in filter(only, parse_file(path).args)
        Core.eval(mod, older_syntax(statement, dirname(path)))
    end
end

const NAME, FOLDER = ARGS

@testset "$NAME" begin
    include("users/$NAME.jl")
end
