# What several files use.

# The example that Bumper.jl's documentation begins with.
function incremented_sum(x, buffer = default_buffer())
    @no_escape buffer begin
        y = @alloc(eltype(x), length(x))
        y .= x .+ 1
        sum(y)
    end
end

function incremented_sum_by_function(x, buffer)
    @no_escape buffer begin
        y = Ebbtide.alloc!(buffer, eltype(x), length(x))
        y .= x .+ 1
        sum(y)
    end
end

const BufferErrorType = Ebbtide.BufferError
const EscapeErrorType = Ebbtide.EscapeError

used(buffer) = Ebbtide.used(buffer)
chunks(buffer) = Int(Ebbtide.stats(buffer).chunks)
held(buffer) = Int(Ebbtide.stats(buffer).held)

# The blocks of Julia code in a page of the package, but for those that leave something out.
function code_blocks(page)
    text = read(joinpath(dirname(@__DIR__), page), String)
    blocks = [block.captures[1] for block in eachmatch(r"```julia\n(.*?)```"s, text)]
    filter(block -> !occursin('…', block), blocks)
end

address(x) = UInt(pointer(x))

# The error of a macro, as the user meets it.
function expansion_error(ex)
    try
        macroexpand(@__MODULE__, ex)
        "nothing was thrown"
    catch error
        sprint(showerror, error)
    end
end
