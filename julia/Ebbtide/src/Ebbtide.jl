"""
Temporary arrays that cost next to nothing to make and nothing to collect: arena memory over
libebbtide, under the names of Bumper.jl.

```julia
using Ebbtide

function f(x)
    @no_escape begin
        y = @alloc(eltype(x), length(x))
        y .= x .+ 1
        sum(y)
    end
end
```

See [`@no_escape`](@ref) and [`SlabBuffer`](@ref).
"""
module Ebbtide

export @no_escape, @alloc, @alloc_ptr, @alloc_nothrow
export AllocBuffer, ResizeBuffer, SlabBuffer, ArenaArray
export default_buffer, with_buffer
export @arena, @noarena, clear_arena_pool!, copyfromarena, map_arena, mtmap_arena
export alloc, alloc_nothrow, set_default_buffer_size!

# Documented as well, and used with the name of the package.
@static if VERSION >= v"1.11.0-DEV.469"
    eval(Expr(:public, :AbstractBuffer, :BufferError, :Checkpoint, :EscapeError, :Stats, :alloc!, :alloc_ptr!,
        :allow_ptr_array_to_escape, :capacity, :checkpoint_restore!, :checkpoint_save, :free, :keep_freed_memory!,
        :limit, :no_escape, :release_freed_memory!, :reset_buffer!, :set_limit!, :stats, :trim!, :used, :with_scope))
end

# Bottom up: a file uses only the files above it.
include("versions.jl")
include("errors.jl")
include("library.jl")
include("arrays.jl")
include("aliasing.jl")
include("standard.jl")
include("held.jl")
include("cursor.jl")
include("buffers.jl")
include("allocate.jl")
include("statistics.jl")
include("task.jl")
include("escape.jl")
include("expansion.jl")
include("no_escape.jl")
include("older.jl")
include("malloc.jl")
include("collect.jl")
include("arena.jl")

function __init__()
    load_library!()
    init_task_cache!()
    FREED_MEMORY_IS_KEPT[] = false
    DUE_AT[] = 0
end

include("precompile.jl")

end
