# The measured programs. Included once for each contestant, with Bumper.jl's names in scope.

"Makes the compiler believe that the pointer is used, and that any memory may have changed."
@inline keep(p::Ptr) = Base.llvmcall(
    """call void asm sideeffect "", "r,~{memory}"(i64 %0)
       ret void""",
    Cvoid, Tuple{UInt}, UInt(p))

@noinline function sum_of_successors(x)
    @no_escape begin
        y = @alloc(eltype(x), length(x))
        y .= x .+ 1
        sum(y)
    end
end

@noinline function sum_of_successors(x, buffer)
    @no_escape buffer begin
        y = @alloc(eltype(x), length(x))
        y .= x .+ 1
        sum(y)
    end
end

function repeat_sum(turns, arguments...)
    total = 0
    for _ in 1:turns
        total += sum_of_successors(arguments...)
    end
    total
end

function blocks_of_8_bytes(turns, buffer)
    for _ in 1:turns
        @no_escape buffer begin
            keep(@alloc_ptr(8))
        end
    end
end

function blocks_of_10_words(turns, buffer)
    for _ in 1:turns
        @no_escape buffer begin
            keep(pointer(@alloc(Int, 10)))
        end
    end
end

"Blocks of 10 bytes, after two allocations of `before` bytes."
function blocks_behind(before, turns, buffer)
    @no_escape buffer begin
        keep(@alloc_ptr(before))
        keep(@alloc_ptr(before))
        for _ in 1:turns
            @no_escape buffer begin
                keep(@alloc_ptr(10))
            end
        end
    end
end

"One block around a vector of each length, in a new buffer."
function vectors(lengths)
    buffer = SlabBuffer()
    @no_escape buffer begin
        for n in lengths
            y = @alloc(UInt32, n)
            @inbounds y[1] = n
            keep(pointer(y))
        end
    end
end

"A new buffer each turn, filled with words and dropped at once."
function made_anew(turns, words)
    for _ in 1:turns
        buffer = SlabBuffer()
        @no_escape buffer begin
            for i in 1:words
                y = @alloc(Int, 1)
                @inbounds y[1] = i
                keep(pointer(y))
            end
        end
        finalize(buffer)
    end
end
