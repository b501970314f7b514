# What the C library does with the memory of arrays that the collector frees.

# The numbers of these parameters in the GNU C library's malloc.h.
const M_TRIM_THRESHOLD = Cint(-1)
const M_MMAP_THRESHOLD = Cint(-3)

# The largest threshold that older versions accept.
const OLD_MOST = Cint(2^22 * sizeof(Clong))

# Whether `keep_freed_memory!` has been called in this process.
const FREED_MEMORY_IS_KEPT = Ref(false)

# The address of a function of the GNU C library, or null with another one.
function gnu_function(name)
    library = Sys.islinux() ? Libdl.dlopen("libc.so.6"; throw_error = false) : nothing
    library === nothing ? C_NULL : something(Libdl.dlsym(library, name; throw_error = false), C_NULL)
end

"""
    Ebbtide.keep_freed_memory!(bytes = 2^31 - 1) -> Bool

Makes the C library keep the memory of large arrays when the garbage collector frees them, and use it
for the next arrays. It keeps arrays smaller than `bytes`, and up to `bytes` in all; older versions of
the library keep arrays smaller than 32 MiB. Otherwise, the system maps and clears new pages for each
array above a threshold, which the C library adapts between 128 KiB and 32 MiB.

It applies to the whole process from then on. The first [`@arena`](@ref) of a process calls it, unless
the program has done so. [`release_freed_memory!`](@ref) returns the memory that is kept at the moment.
Returns `false`, and changes nothing, if the C library is not the GNU one.
"""
function keep_freed_memory!(bytes::Integer = typemax(Cint))
    most = min(checked_bytes(bytes), typemax(Cint))
    FREED_MEMORY_IS_KEPT[] = true
    mallopt = gnu_function(:mallopt)
    mallopt != C_NULL && set_thresholds(most) do parameter, value
        ccall(mallopt, Cint, (Cint, Cint), parameter, value) == 1
    end
end

set_thresholds(set, most) =
    (set(M_MMAP_THRESHOLD, most) || set(M_MMAP_THRESHOLD, min(most, OLD_MOST))) && set(M_TRIM_THRESHOLD, most)

"""
    Ebbtide.release_freed_memory!() -> Bool

Collects garbage, and gives the freed memory that the C library keeps back to the system. Returns whether
there was any. See [`keep_freed_memory!`](@ref).
"""
function release_freed_memory!()
    GC.gc()
    malloc_trim = gnu_function(:malloc_trim)
    malloc_trim != C_NULL && ccall(malloc_trim, Cint, (Csize_t,), 0) == 1
end
