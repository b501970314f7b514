/* ebbtide_new.h: transparent arenas for C (C11) and C++ (C++17, in ebbtide_new.hpp).
 *
 * Between `ebb_enter` and `ebb_leave`, `ebb_malloc` and its siblings take memory from an arena of
 * the calling thread; so do the operators `new` and `delete` of a C++ program that is linked to
 * this library. When the scope ends, chunks without live blocks can be reused immediately. A block
 * that is still alive stays valid until it is freed, by any thread, inside a scope or outside.
 *
 *     ebb_ticket scope = ebb_enter();
 *     answer = handle(request);        // allocates with ebb_malloc
 *     ebb_leave(scope);
 *     ...
 *     ebb_free(answer);
 *
 * Outside of scopes, and whenever a scope does not serve a request, the C library does: malloc,
 * free.
 *
 * A program passes to `ebb_free` every block that came from `ebb_malloc`, `ebb_calloc`,
 * `ebb_realloc` or `ebb_aligned_alloc`. It links the library once, into the executable or into a
 * shared library that is there from the start. Then `free`, `realloc`, `reallocarray` and
 * `malloc_usable_size` take blocks of scopes as well, and pass any other block on to the C library
 * or to a preloaded allocator. If the program contains an allocator of its own, or is linked
 * statically, that has its own `free`, which must not get a block of a scope.
 *
 * Any thread may call any function. Nothing here throws. The first scope of a thread, a new label
 * and a report take a few hundred bytes; the program aborts if even these cannot be allocated.
 */
#ifndef EBBTIDE_NEW_H
#define EBBTIDE_NEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define EBB_MALLOC_LIKE_(...) __attribute__((malloc, __VA_ARGS__))
#else
#define EBB_MALLOC_LIKE_(...)
#endif

/* In C++, members that are not initialised have their defaults. */
#ifdef __cplusplus
#define EBB_DEFAULT_(value) = value
#else
#define EBB_DEFAULT_(value)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Blocks. All of them are aligned to at least 16 bytes, whichever allocator serves them. Where these
 * functions fail, they return NULL and set `errno` to ENOMEM, or to EINVAL for an alignment that is
 * not a power of two. */

/** A block of `size` bytes. A size of 0 also returns a block. Costs about twenty instructions
 * inside a scope. */
void *ebb_malloc(size_t size) EBB_MALLOC_LIKE_(alloc_size(1));

/** A block of `count * size` bytes that are zero. Fails if the product overflows. */
void *ebb_calloc(size_t count, size_t size) EBB_MALLOC_LIKE_(alloc_size(1, 2));

/** A block that is aligned to `align`, any power of two. Arenas serve alignments up to 4,096. */
void *ebb_aligned_alloc(size_t align, size_t size) EBB_MALLOC_LIKE_(alloc_align(1), alloc_size(2));

/** Resizes a block: in place, or by moving it. Keeps the contents up to the smaller size, and an
 * alignment of 16; a large or an aligned block also keeps its own alignment as long as it stays in
 * its arena. If the block is NULL, works like `ebb_malloc`. Unlike glibc's `realloc`, a size of 0
 * does not free the block: the result is a block, never NULL. On failure the block is unchanged;
 * shrinking never fails. A block of the C library stays there, even inside a scope. */
void *ebb_realloc(void *block, size_t size)
#if defined(__GNUC__)
    __attribute__((alloc_size(2)))
#endif
    ;

/** Frees a block. No-op for NULL. */
void ebb_free(void *block);

/** The bytes that a block has room for, at least the size requested; 0 for NULL. Call
 * `ebb_realloc`, which resizes it in place, before you use more than you requested: the compiler
 * checks accesses against that (`_FORTIFY_SOURCE`). */
size_t ebb_usable_size(void *block);

/** Whether a block lies in an arena: false for NULL and for a block of the C library. The block
 * must be alive. */
bool ebb_is_in_arena(const void *block);

/* Scopes */

/** Names a scope. 0 is none. */
typedef uint64_t ebb_ticket;

/** Which requests a scope serves; all others go to the C library. Zeros are the defaults. */
typedef struct ebb_scope_options {
    /** The C library serves smaller blocks. Sizes include a header of at least 8 bytes. */
    size_t min_size EBB_DEFAULT_(0);
    /** The C library serves larger blocks. 0: those above 1 GiB. A block that is in the arena
     * already may grow beyond it. */
    size_t max_size EBB_DEFAULT_(0);
    /** The most bytes that the scope takes. 0: no limit. */
    size_t byte_limit EBB_DEFAULT_(0);
    /** The name under which the report's text lists these scopes if they keep too much: more than
     * one block in twenty was alive at the end of its scope, and more than 1 MiB is pinned now. It
     * must be a string that is never freed or changed, such as a literal in code that is never
     * unloaded. NULL: no name. */
    const char *label EBB_DEFAULT_(nullptr);
    /** A number for scopes that do the same work: they are measured together, and skipped while they
     * are slower than the C library. 0: the place of the call. */
    uint32_t site EBB_DEFAULT_(0);
} ebb_scope_options;

/** Opens a scope of the calling thread. Scopes nest, and the innermost one serves requests. Returns
 * 0 if no scope can be opened, or if the scopes of this place are slower than the C library, which
 * is measured now and then; requests are then served as before. Costs about ten instructions for
 * an outermost scope, a few tens of nanoseconds for a nested one, and a few microseconds for a
 * thread's first. */
ebb_ticket ebb_enter(void);

/** Like `ebb_enter`, with options; NULL for the defaults. */
ebb_ticket ebb_enter_with(const ebb_scope_options *options);

/** The C library serves the calling thread until `ebb_leave` is called with the result: for a cache
 * or a long-lived result. Calls nest: each one needs an `ebb_leave`. Returns 0 if no scope is
 * open. */
ebb_ticket ebb_enter_outside(void);

/** Ends a scope, and those that were opened inside it and are still open. Does nothing for 0, for a
 * scope of another thread, and for one that has ended with an outer one. A ticket is for one call: a
 * later scope may have an equal one. A scope that is never ended costs memory until its thread ends. */
void ebb_leave(ebb_ticket ticket);

/* Statistics */

/** Statistics of all scopes since the program started. Those of the calling thread are complete; up
 * to 63 of the last scopes of each other thread may be missing. Later versions have more fields at
 * the end. */
typedef struct ebb_figures {
    /** The size of this struct. `ebb_report` sets it. */
    size_t size;
    /** Scopes that have ended. */
    uint64_t scopes;
    /** Blocks that arenas served, and the bytes that scopes took. */
    uint64_t blocks;
    uint64_t bytes;
    /** Calls to the C library that arenas saved. */
    uint64_t calls_saved;
    /** Requests inside scopes that the C library served. */
    uint64_t fallbacks;
    /** Scopes that were not opened, because those of their place are slower than the C library. */
    uint64_t skipped_scopes;
    /** Blocks that were alive when their scope ended. */
    uint64_t escaped_blocks;
    /** The most bytes that one scope took. */
    uint64_t high_water;
    /** The bytes of the chunks in which such blocks are alive now. */
    size_t pinned_bytes;
    /** The bytes of live blocks in arenas, as last published by each thread, and the peak of that
     * in the last second or two. */
    size_t live;
    size_t live_peak;
    /** The bytes that arenas hold, and the bound up to which they take more: one and a half times
     * `live_peak`, 16 MiB, and 4 MiB for each running thread that has opened a scope. Beyond it the
     * C library serves requests. When `live_peak` falls, `held` stays above the bound as long as
     * blocks are alive in nearly every chunk. `ebb_retain` may raise the bound. */
    size_t held;
    size_t bound;
    /** The part of `held` that is kept for the next scopes. */
    size_t kept;
} ebb_figures;

/** Writes the statistics to `figures`. No-op for NULL. Costs a few microseconds. */
void ebb_report(ebb_figures *figures);

/* The library fills the struct that the caller has in its version of this header. */
static inline void ebb_report_sized_(ebb_figures *figures) {
    if (!figures) return;
    memset(figures, 0, sizeof *figures);
    figures->size = sizeof *figures;
    ebb_report(figures);
}
#define ebb_report(figures) ebb_report_sized_(figures)

/** Writes the statistics as text with a terminating zero, truncated to `size` bytes. Returns the
 * length of the whole text. The buffer may be NULL if `size` is 0. */
size_t ebb_report_text(char *buffer, size_t size);

/** Returns the memory that the calling thread and the shared pool keep for the next scopes to the
 * system. */
void ebb_release(void);

/** Sets how many unused bytes the pool keeps for the next scopes. By default, it keeps 6 MiB and
 * the memory that was in use in the last second or two. */
void ebb_retain(size_t bytes);

/** Sets whether scopes of a place may be skipped while they are slower than the C library, as they
 * may by default. Turn it off for tests that must not depend on time. */
void ebb_set_skipping(bool is_on);

#ifdef __cplusplus
}
#endif

#endif
