# Julia's own large arrays: what the C library does with their memory when they are freed.

# The numbers of these parameters in the GNU C library's malloc.h.
const M_TRIM_THRESHOLD = Cint(-1)
const M_MMAP_THRESHOLD = Cint(-3)

# The address of a function of the GNU C library, or null with another one.
function gnu_function(name)
    library = Sys.islinux() ? Libdl.dlopen("libc.so.6"; throw_error = false) : nothing
    library === nothing ? C_NULL : something(Libdl.dlsym(library, name; throw_error = false), C_NULL)
end

"""
    Ebbtide.keep_freed_memory!(bytes = 2^31 - 1) -> Bool

Makes the C library keep the memory of Julia's own arrays when the garbage collector frees them, and use
it for the next arrays. It keeps arrays smaller than `bytes`, and up to `bytes` in all. Without this
call, the system maps and clears new pages for each array above a threshold, which the C library adapts
between 128 KiB and 32 MiB.

It pays off in programs that create one array of a megabyte or more after another; see the page on
arrays that may leave. It applies to the whole process from then on: call it once, when the program
starts. [`release_freed_memory!`](@ref) returns the memory that is kept at the moment. Returns `false`,
and changes nothing, if the C library is not the GNU one, or does not accept such a number.
"""
function keep_freed_memory!(bytes::Integer = typemax(Cint))
    most = min(checked_bytes(bytes), typemax(Cint))
    mallopt = gnu_function(:mallopt)
    mallopt != C_NULL && all((M_MMAP_THRESHOLD, M_TRIM_THRESHOLD)) do parameter
        ccall(mallopt, Cint, (Cint, Cint), parameter, most) == 1
    end
end

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
