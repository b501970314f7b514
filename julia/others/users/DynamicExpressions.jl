# The extension of the package for Bumper.jl.
load("$FOLDER/ext/DynamicExpressionsBumperExt.jl")

using Main.DynamicExpressions: Node, OperatorEnum, EvalContext
using Main.DynamicExpressions.ExtensionInterfaceModule: _bumper_eval_tree_array

const OPERATORS = OperatorEnum(((cos, exp), (+, -, *)))

evaluate(tree, data, early_exit) =
    _bumper_eval_tree_array(tree, data, OPERATORS, EvalContext{false,true,early_exit}())

let x = Node{Float64}(1), y = Node{Float64}(2), data = rand(2, 1_000)
    tree = Node(1, Node(3, x, Node(1, y)), Node(2, Node(0.5), Node(2, x)))
    for early_exit in (true, false)
        values, is_finite = evaluate(tree, data, early_exit)
        @test is_finite
        @test values ≈ data[1, :] .* cos.(data[2, :]) .+ 0.5 .- exp.(data[1, :])
    end
    @test !last(evaluate(Node(2, Node(1e9)), data, true))
    @test !last(evaluate(Node(3, Node(NaN), x), data, true))
end
