# What the first block of a program needs, inferred when the package is precompiled.

const EXPANDED_BEFOREHAND = (
    quote
        @no_escape begin
            y = @alloc(eltype(x), length(x))
            y .= x .+ 1
            sum(y)
        end
    end,
    quote
        @no_escape buffer strict = true begin
            for i in 1:2
                y = @alloc_nothrow(Int, 3)
                y === nothing && return 1
                i == 1 && continue
                break
            end
            try
                @inbounds f(() -> @alloc_ptr(8))
            finally
                nothing
            end
        end
    end)

if ccall(:jl_generating_output, Cint, ()) == 1
    foreach(block -> macroexpand(Ebbtide, block), EXPANDED_BEFOREHAND)
    precompile(__init__, ())
    precompile(default_buffer, ())
    precompile(find_buffers, (Int, Task))
    precompile(first_default, ())
    precompile(recycle_arena!, (DefaultSlab,))
    precompile(close_arena!, (DefaultSlab,))
    precompile(SlabBuffer, ())
    precompile(AllocBuffer, (Int,))
    for B in (DefaultSlab, DefaultFixed)
        precompile(alloc_slowly!, (B, Int, UInt))
    end
    precompile(settle!, (DefaultSlab, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, UInt))
    precompile(settle!, (DefaultFixed, Ptr{Cvoid}, Ptr{Cvoid}))
    for T in (Int, Float64)
        precompile(leave!, (Checkpoint{DefaultBuffer}, T))
        for B in (DefaultSlab, DefaultFixed), N in 1:2
            precompile(alloc!, (B, Type{T}, ntuple(_ -> Int, N)...))
        end
    end
end
