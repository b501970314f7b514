/**
 * @file ebbtide.h
 * Scoped arena memory for C: temporary memory that costs a few instructions to allocate and nothing
 * to free. C11, and C++17 (see ebbtide.hpp for RAII and containers).
 *
 * Code opens a *scope* and allocates in it. When it closes the scope, all of that memory is free
 * again. The fast paths are the inline functions of this file; the library has the rest.
 *
 * @code
 * ebb_arena *arena = ebb_arena_new(NULL);
 * ebb_scope s = ebb_open(arena);
 * double *row = ebb_array(&s, double, 1000);
 * char *name = ebb_sprintf(&s, "row %d", 7);
 * if (row == NULL || name == NULL)
 *     fprintf(stderr, "%s\n", ebb_status_text(ebb_last_status()));
 * ebb_close(&s);
 * ebb_arena_free(arena);
 * @endcode
 *
 * ### Errors
 * When it fails, a function that returns a pointer returns NULL, one that returns a bool returns
 * false, and ::ebb_last_status says why. The others return an ::ebb_status. A failed call changes
 * nothing, except that a failed allocation may round the end of the free bytes down to its
 * alignment, up to 16. No function of the library aborts or throws.
 *
 * ### Sizes
 * A size of 0 is allowed everywhere: the block is not NULL, and must not be read or written.
 *
 * ### Scopes
 * - An arena has at most one open scope, and a scope at most one open child. Close them in reverse
 *   order of opening. To open a scope without knowing which ones are open, call ::ebb_thread_open.
 * - A scope is a struct to keep in a local variable. It must not be copied while it is open. As
 *   long as its address is used only by inlined code, the compiler keeps it in registers.
 * - A scope that could not be opened is closed: allocating from it fails for the same reason, so
 *   opening needs no test. A zeroed scope is closed, too.
 *
 * ### Checks
 * With EBB_CHECKS (the default unless NDEBUG is defined), an allocation from a scope whose child is
 * open, a scope that closes before its child, marks in the wrong order or of another arena, a copy
 * of a scope that was closed (until another scope opens there), and a null scope print a message
 * and abort. The message says where the scope in question was opened and closed, if this thread
 * still knows. Without EBB_CHECKS these are undefined behaviour. Files compiled with and without it
 * may use the same arenas; only the former are checked.
 *
 * ### AddressSanitizer and Valgrind
 * With `-fsanitize=address`, or under Valgrind if EBB_VALGRIND is defined as 1, accesses to memory
 * of an ended scope are reported, until it is allocated again, and so are those past the end of a
 * block. For that, EBB_REDZONE bytes follow each block: 16, unless it is defined as another
 * multiple of 8. So less fits into a buffer; 0 leaves blocks where they are otherwise. An arena
 * over a buffer must be freed before the buffer is used for anything else. All files that use an
 * arena must be compiled with the same settings.
 *
 * ### Threads
 * One thread at a time uses an arena and its scopes. Different arenas are independent.
 */
#ifndef EBBTIDE_H
#define EBBTIDE_H

/* With an older standard, one error instead of hundreds. */
#if defined(__cplusplus) && __cplusplus < 201103L && !defined(_MSC_VER)
#error "ebbtide.h requires C11, or C++11 or later"
#elif !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "ebbtide.h requires C11, or C++11 or later"
#else

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(EBB_VALGRIND) && EBB_VALGRIND
#include <valgrind/memcheck.h>
#endif

/** The version of this header: a million for the major version, a thousand for the minor one. */
#define EBB_VERSION 1000
#define EBB_VERSION_MAJOR 0
#define EBB_VERSION_MINOR 1
#define EBB_VERSION_PATCH 0
#define EBB_VERSION_TEXT "0.1.0"

#if defined(__SANITIZE_ADDRESS__)
#define EBB_ASAN_ 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EBB_ASAN_ 1
#endif
#endif
#ifndef EBB_ASAN_
#define EBB_ASAN_ 0
#endif

/** Whether Valgrind is told which bytes may be accessed; see the head of this file. */
#ifndef EBB_VALGRIND
#define EBB_VALGRIND 0
#endif

/* Whether memory that is not allocated is guarded. */
#define EBB_GUARDS_ (EBB_ASAN_ || EBB_VALGRIND)

/** The bytes after each block that are guarded. */
#ifndef EBB_REDZONE
#define EBB_REDZONE 16
#endif
#if EBB_REDZONE % 8 != 0
#error "EBB_REDZONE must be a multiple of 8"
#endif

/** Whether misuse of scopes is detected; see the head of this file. */
#ifndef EBB_CHECKS
#ifdef NDEBUG
#define EBB_CHECKS 0
#else
#define EBB_CHECKS 1
#endif
#endif

/* Scopes know their parents for the checks, and for the guards. */
#define EBB_PARENTS_ (EBB_CHECKS || EBB_GUARDS_)

#if defined(__GNUC__)
#define EBB_INLINE_ static inline __attribute__((always_inline, unused))
#define EBB_STATIC_ static __attribute__((unused))
#define EBB_COLD_ static __attribute__((cold, noinline, unused))
#define EBB_NORETURN_ __attribute__((noreturn))
#define EBB_LIKELY_(x) __builtin_expect(!!(x), 1)
#define EBB_CONSTANT_(x) __builtin_constant_p(x)
#define EBB_PRINTF_(text, first) __attribute__((format(printf, text, first)))
/* A type to which a * can be appended, even if it is that of an array. */
#define EBB_TYPE_(type) __typeof__(type)
/* Keeps the compiler from packing two words of a scope into one vector register. */
#define EBB_SCALAR_(x) __asm__("" : "+r"(x))
/* Scopes that could not be opened share an arena that is never read. */
#define EBB_STORE_(word, value) __atomic_store_n((word), (value), __ATOMIC_RELAXED)
/* Whether the compiler sees the variable that a pointer points to. */
#define EBB_IS_LOCAL_(pointer) (__builtin_object_size((pointer), 0) != (size_t)-1)
#if defined(__clang__)
#define EBB_ASSUME_(holds) __builtin_assume(holds)
#else
#define EBB_ASSUME_(holds) ((holds) ? (void)0 : __builtin_unreachable())
#endif
#if defined(__clang__)
/* Makes the compiler forget what it knows of a word. */
#define EBB_FORGET_(x) EBB_SCALAR_(x)
/* An assumption about a word that comes from two branches. GCC joins what it knows of each, and an
 * assumption makes its code worse. */
#define EBB_ASSUME_JOINED_(holds) EBB_ASSUME_(holds)
#define EBB_KNOWS_JOINED_ 0
#else
#define EBB_FORGET_(x) ((void)0)
#define EBB_ASSUME_JOINED_(holds) ((void)0)
#define EBB_KNOWS_JOINED_ 1
#endif
/* Assumes that a pointer is not null. It becomes a value of its own: an assumption about the number
 * that it was made of, or about a value that other branches use, does not reach the caller's test.
 */
#define EBB_ASSUME_NOT_NULL_(pointer)                                                              \
    do {                                                                                           \
        EBB_SCALAR_(pointer);                                                                      \
        EBB_ASSUME_((pointer) != NULL);                                                            \
    } while (0)
#else
#define EBB_INLINE_ static inline
#define EBB_STATIC_ static
#define EBB_COLD_ static
#define EBB_NORETURN_
#define EBB_LIKELY_(x) (x)
#define EBB_CONSTANT_(x) 0
#define EBB_PRINTF_(text, first)
#define EBB_TYPE_(type) type
#define EBB_SCALAR_(x) ((void)0)
#define EBB_STORE_(word, value) (*(word) = (value))
#define EBB_IS_LOCAL_(pointer) 0
#define EBB_ASSUME_(holds) ((void)0)
#define EBB_FORGET_(x) ((void)0)
#define EBB_ASSUME_JOINED_(holds) ((void)0)
#define EBB_KNOWS_JOINED_ 1
#define EBB_ASSUME_NOT_NULL_(pointer) ((void)0)
#endif

/* This is C, even if C++ includes it. */
#if defined(__GNUC__) && defined(__cplusplus)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuseless-cast"
#endif
#endif

#ifdef __cplusplus
#define EBB_ALIGNOF_(type) alignof(type)
#define EBB_ALIGNED_ alignas(64)
#define EBB_SCOPE_ALIGNED_ alignas(8)
#define EBB_STATIC_ASSERT_(what, text) static_assert(what, text)
#define EBB_CAST_LIKE_(pointer, value) static_cast<decltype(pointer)>(value)
#define EBB_AS_(type, value) static_cast<type>(value)
extern "C" {
#else
#define EBB_ALIGNOF_(type) _Alignof(type)
#define EBB_ALIGNED_ _Alignas(64)
#define EBB_SCOPE_ALIGNED_ _Alignas(8)
#define EBB_STATIC_ASSERT_(what, text) _Static_assert(what, text)
#define EBB_CAST_LIKE_(pointer, value) (value)
#define EBB_AS_(type, value) ((type)(value))
#endif

/** The result of a call. */
typedef enum ebb_status {
    EBB_OK = 0,        /**< It succeeded. */
    EBB_NO_MEMORY = 1, /**< The backing, the limit or the buffer has no room for the request. */
    EBB_SIZE = 2,      /**< A size exceeds half of the address space. */
    EBB_ALIGNMENT = 3, /**< An alignment is not a power of two, or a block is not aligned. */
    EBB_NULL = 4,      /**< A pointer is null where a value is needed. */
    EBB_CLOSED = 5,    /**< The scope is closed. */
    EBB_OPEN = 6,      /**< The arena has an open scope. */
    EBB_FORMAT = 7,    /**< The format or one of its values cannot be printed. */
    EBB_OPTIONS = 8,   /**< A struct is of another version, or its options contradict each other. */
    EBB_LENT = 9       /**< The scope belongs to Rust, which does not run deferred functions. */
} ebb_status;

/** Two functions that an arena gets its memory from. They must not throw or jump out. They are
 * called on the thread that uses the arena, and must not use the arena themselves. */
typedef struct ebb_backing {
    /** Returns a block of `size` bytes, aligned to `align` (16 to 64), or NULL. */
    void *(*allocate)(void *context, size_t size, size_t align);
    /** Frees a block that `allocate` returned for the same size and alignment. */
    void (*release)(void *context, void *block, size_t size, size_t align);
    /** Passed to both functions. */
    void *context;
} ebb_backing;

/** The options of an arena. Begin with ::EBB_OPTIONS_INIT. */
typedef struct ebb_options {
    size_t size;         /**< The size of this struct. */
    size_t first_chunk;  /**< The capacity of the first chunk; 0 for the default, 16 KiB. It is
                              halved until there is memory for the chunk. */
    size_t limit;        /**< The most bytes to take from the backing; 0 for no limit. */
    ebb_backing backing; /**< Where chunks come from; two NULLs for the heap. */
} ebb_options;

/** The default options. */
#define EBB_OPTIONS_INIT                                                                           \
    { sizeof(ebb_options), 0, 0, { NULL, NULL, NULL } }

/** The memory that an arena holds and uses, in bytes. Later versions have more fields at the end. */
typedef struct ebb_stats {
    size_t size;       /**< The size of this struct. ::ebb_arena_stats and ::ebb_scope_stats set it. */
    size_t capacity;   /**< The capacity of all chunks and of the buffer, without headers. */
    size_t used;       /**< In use by the scope and its ancestors; 0 for an arena. */
    size_t high_water; /**< The maximum capacity of the chunks that scopes have entered. */
    size_t held;       /**< Bytes taken from the backing. */
    size_t chunks;     /**< The number of chunks; the buffer counts as one. */
    size_t oversize;   /**< The number of those that serve a single large request. */
} ebb_stats;

/** An arena: owns memory and lends it to one scope at a time. Only the library creates one; the
 * inline functions read its first words. */
typedef struct ebb_arena {
    uintptr_t open_; /* 0 if a scope may open with the words below */
    uintptr_t top_;
    void *chunk_;
    char *low_;
} ebb_arena;

/** The bytes of an arena's handle. */
#define EBB_ARENA_SIZE 512

/** Memory for the handle of an arena that does not call the heap. */
typedef struct ebb_arena_storage {
    EBB_ALIGNED_ unsigned char bytes_[EBB_ARENA_SIZE];
} ebb_arena_storage;

/** A scope: the bytes from `low_` to `top_` are free. Blocks of known size are taken from the high
 *  end, blocks that may grow from the low end. */
typedef struct ebb_scope {
    EBB_SCOPE_ALIGNED_ uintptr_t top_;
    void *chunk_;
    char *low_;
    uintptr_t state_; /* what it was opened from, and flags */
} ebb_scope;

/** A position in a scope to go back to; see ::ebb_mark. */
typedef struct ebb_position {
    uintptr_t top_;
    void *chunk_;
    char *low_;
} ebb_position;

/* A function that runs when memory of its scope is freed. */
typedef struct ebb_cleanup_ {
    struct ebb_cleanup_ *older_;
    void (*run_)(void *argument);
    void *argument_;
    bool is_first_; /* of its scope */
} ebb_cleanup_;

/* Where the last scope of an arena or a parent was opened and closed; null if that is unknown. */
typedef struct ebb_places_ {
    const void *owner_;
    const char *opened_file_;
    const char *closed_file_;
    unsigned opened_line_;
    unsigned closed_line_;
} ebb_places_;

EBB_STATIC_ASSERT_(sizeof(uintptr_t) == sizeof(void *), "a word holds an address");
EBB_STATIC_ASSERT_(offsetof(ebb_scope, chunk_) == sizeof(void *), "top, chunk, low");
EBB_STATIC_ASSERT_(offsetof(ebb_scope, low_) == 2 * sizeof(void *), "top, chunk, low");
EBB_STATIC_ASSERT_(offsetof(ebb_scope, state_) == 3 * sizeof(void *), "top, chunk, low, state");
EBB_STATIC_ASSERT_(sizeof(ebb_scope) == 4 * sizeof(void *), "four words");
EBB_STATIC_ASSERT_(offsetof(ebb_arena, top_) == sizeof(void *), "open, top, chunk, low");

/* Generated from the library's source by `cargo xtask header`: begin. */

/** The version of the library at run time; `EBB_VERSION` is the version of the header. A million
 * for each major version, plus a thousand for each minor version, plus the patch version. */
uint32_t ebb_version(void);

/** The version of the library as text, such as "1.2.3". */
const char *ebb_version_text(void);

/** The reason for this thread's last failed call. A successful call does not change it. */
ebb_status ebb_last_status(void);

/** The text of a status, for a message; never null. It takes a number, so that a status of a later
 * version can be passed too. */
const char *ebb_status_text(unsigned status);

/** Records why a function of the header failed. */
void ebb_fail_(int status);

/** A new arena that grows, in chunks of its backing. It holds no chunk until the first scope opens.
 * Null options mean the defaults. Null if the options are wrong or there is no memory for the
 * handle. */
ebb_arena *ebb_arena_new(const ebb_options *options);

/** Like `ebb_arena_new`, with the handle in the caller's storage, which must not move. The arena
 * still has to be ended by `ebb_arena_free`, which leaves the storage to the caller. */
ebb_arena *ebb_arena_new_in(ebb_arena_storage *storage, const ebb_options *options);

/** A new arena over the caller's buffer of `size` bytes, which serve allocations up to the last
 * multiple of 16. When they are used up, allocations fail. The arena never calls the heap. The
 * buffer belongs to the arena until `ebb_arena_free`. */
ebb_arena *ebb_fixed_new(ebb_arena_storage *storage, void *buffer, size_t size);

/** Like `ebb_fixed_new`, but when the buffer is full, the arena continues in chunks of its backing.
 * `first_chunk` of the options is not used. */
ebb_arena *ebb_spilling_new(ebb_arena_storage *storage, void *buffer, size_t size,
                            const ebb_options *options);

/** Ends an arena and frees all its memory. No-op for null. Fails with `EBB_OPEN` if a scope is
 * open. */
ebb_status ebb_arena_free(ebb_arena *arena);

/** Ends the open scope and its children, if any, for instance after a longjmp has left them. Their
 * deferred functions run, and all allocations are freed; the scopes must not be used again, not
 * even to close them. Keeps the chunks. */
ebb_status ebb_arena_reset(ebb_arena *arena);

/** Frees every chunk but the first. */
ebb_status ebb_arena_trim(ebb_arena *arena);

/** Frees chunks until the arena holds at most `keep` bytes of its backing; 0 frees all chunks. */
ebb_status ebb_arena_shrink(ebb_arena *arena, size_t keep);

/** Frees the chunks, and makes the next first chunk as large as all of them together. If an arena
 * is merged after its first run, its peak then fits into one chunk. No-op for an arena over a
 * buffer. */
ebb_status ebb_arena_merge(ebb_arena *arena);

/** Limits the bytes that the arena may hold of its backing, headers included; 0 for no limit.
 * Memory that it holds already stays. A scope may be open. */
ebb_status ebb_arena_set_limit(ebb_arena *arena, size_t bytes);

/** The limit of an arena; 0 if there is none, and for null. */
size_t ebb_arena_limit(const ebb_arena *arena);

/** Opens a scope of an arena of this thread. */
void ebb_thread_open_(ebb_scope *opened);

/** Frees the idle arenas of this thread, as the end of the thread does, and the memory of freed arenas
 * that is kept for the next ones. */
void ebb_thread_trim(void);

/** Limits the memory of freed arenas that is kept for the next ones of any thread, besides up to 64 KiB
 * for each thread. 0 turns keeping off. Unless set, what is kept and what arenas use are together at
 * most what arenas used in the last two seconds, and an idle program keeps nothing of it. */
void ebb_warm_set_limit(size_t bytes);

/** Ends the scope of an arena of this thread. */
void ebb_thread_close_(ebb_arena *arena);

/** Statistics of an arena, whether or not a scope is open. Walks the chunks: the fast paths keep no
 * counters. The header sets the `size` of the struct. In other languages, the caller does;
 * `EBB_OPTIONS` if it is smaller than that of the first version. */
ebb_status ebb_arena_stats(const ebb_arena *arena, ebb_stats *stats);

/** Statistics of a scope's arena, like `ebb_arena_stats`. `used` counts the bytes of the scope and its
 * ancestors. */
ebb_status ebb_scope_stats(const ebb_scope *scope, ebb_stats *stats);

/** Statistics as text, such as "100 B used of 16.0 KiB in 1 chunk". Writes at most `size` bytes to
 * `buffer`, the last of which is 0, and returns the length of the whole text, as snprintf does; 0
 * if `stats` is null or was not filled. The buffer may be null if `size` is 0. */
size_t ebb_stats_text(const ebb_stats *stats, char *buffer, size_t size);

/** Opens a scope of an arena that is not ready, or records why that fails. */
void ebb_open_slowly_(ebb_arena *arena, ebb_scope *opened);

/** Moves a nearly full scope to the next chunk, before it is marked or a child opens. The child
 * begins with the words that the scope then has. If the scope is closed, records the reason. */
void ebb_make_room_(ebb_scope *scope);

/** Allocates a block at the high end that does not fit, or whose size or alignment has to be
 * checked. */
void *ebb_alloc_slowly_(ebb_scope *scope, size_t size, size_t align);

/** The same at the low end. */
void *ebb_alloc_low_slowly_(ebb_scope *scope, size_t size, size_t align);

/** Whether a scope that is open can be rewound to a position. For the header, to check it. */
bool ebb_is_position_(const ebb_scope *scope, const ebb_scope *position);

/** Whether an address lies in memory that was allocated from a scope or its ancestors, and not
 * freed since; false for null, and if the scope is closed. Bytes that did not fit at the end of an
 * earlier chunk count as allocated, and so does a low-end block that was freed before the scope
 * was rewound to a position from before that. Costs a few comparisons, and one more for each
 * earlier chunk. */
bool ebb_owns(const ebb_scope *scope, const void *address);

/** Where a new deferred function is linked, or null, with the reason recorded. For the header. */
ebb_cleanup_ **ebb_cleanups_(ebb_scope *scope);

/** Runs the deferred functions that were allocated since a position, the newest first, and returns
 * whether the first of the scope was among them. If `all` is true, then runs those of the scope
 * from before the position, too. For the header. */
bool ebb_run_cleanups_(const ebb_scope *position, bool all);

/** Calls `each` with every range of bytes that is free as seen from a scope or, if that is null,
 * from an arena without open scopes. For the header, to poison and unpoison memory. From the first
 * call for an arena on, no memory of freed arenas is kept, so that their use is reported as well. */
void ebb_free_ranges_(const ebb_arena *arena, const ebb_scope *scope,
                      void (*each)(const void *start, size_t size));

/** Remembers where a scope of an owner was opened. For the header, with checks. */
void ebb_opened_(const void *owner, const char *file, unsigned line);

/** Remembers where the scope of an owner was closed. For the header, with checks. */
void ebb_closed_(const void *owner, const char *file, unsigned line);

/** Where the last scope of an owner was opened and closed, as far as this thread remembers. For the
 * header, with checks. */
ebb_places_ ebb_places_of_(const void *owner);

/** The number of scopes that were opened by code with checks. For the header, with checks. */
size_t ebb_openings_(void);

/** Whether this thread knows that a scope of an owner was opened after so many scopes. For the
 * header, with checks. */
bool ebb_opened_since_(const void *owner, size_t openings);

/** The current heap of this thread; null for the C library's. */
void *ebb_current_heap_(void);

/** Makes another heap the current one of this thread, and returns the previous one. */
void *ebb_replace_current_heap_(void *heap);
/* Generated: end. */

/* The size that the caller has room for is that of the struct in its version of this header. */
EBB_STATIC_ ebb_status ebb_arena_stats_sized_(const ebb_arena *arena, ebb_stats *stats) {
    ebb_stats found;
    ebb_status status;
    memset(&found, 0, sizeof found);
    found.size = sizeof found;
    status = ebb_arena_stats(arena, stats == NULL ? NULL : &found);
    if (status == EBB_OK)
        *stats = found;
    return status;
}
EBB_STATIC_ ebb_status ebb_scope_stats_sized_(const ebb_scope *scope, ebb_stats *stats) {
    ebb_stats found;
    ebb_status status;
    memset(&found, 0, sizeof found);
    found.size = sizeof found;
    status = ebb_scope_stats(scope, stats == NULL ? NULL : &found);
    if (status == EBB_OK)
        *stats = found;
    return status;
}
#define ebb_arena_stats(arena, stats) ebb_arena_stats_sized_((arena), (stats))
#define ebb_scope_stats(scope, stats) ebb_scope_stats_sized_((scope), (stats))

/* Flags in the state of a scope: it is a child (with the parent's address if that is stored); a
   child of it is open; it has deferred functions; it is a scope of one of the thread's arenas. The
   state of a scope of an arena is the arena's address. */
#define EBB_CHILD_ ((uintptr_t)1)
#define EBB_FROZEN_ ((uintptr_t)2)
#define EBB_DEFERS_ ((uintptr_t)4)
#define EBB_THREAD_ ((uintptr_t)8)
#define EBB_FLAGS_ (EBB_CHILD_ | EBB_FROZEN_ | EBB_DEFERS_)

/* An arena's address is a multiple of 16. */
#define EBB_ARENA_ADDRESS_(state) ((state) & ~(uintptr_t)15)

/* Up to this size and alignment, one comparison decides whether a block fits. */
#define EBB_SMALL_ ((size_t)4096)

/* Where a closed scope is: it has no free bytes. */
#define EBB_NOWHERE_ ((uintptr_t)8192)

/* Below this many free bytes, a child or a mark moves its scope on to the next chunk. */
#define EBB_CHILD_ROOM_ ((uintptr_t)64)

/* A zeroed scope has no room: it would begin at address 0, and a block below that. So addresses are
   compared as signed numbers where no user address has the highest bit. Elsewhere, every address is
   below 0. */
#if UINTPTR_MAX > 0xFFFFFFFFu
#define EBB_BELOW_(a, b) ((intptr_t)(a) < (intptr_t)(b))
#else
#define EBB_BELOW_(a, b) ((a) <= (b) - 1)
#endif

/* What a scope was opened from: its parent, or its arena. */
EBB_INLINE_ const void *ebb_owner_(const ebb_scope *scope) {
    return (const void *)((scope->state_ & EBB_CHILD_) != 0 ? scope->state_ & ~EBB_FLAGS_
                                                            : EBB_ARENA_ADDRESS_(scope->state_));
}

#if EBB_CHECKS
/* Prints what is wrong, and where the last scope of an owner was opened and closed; null stands for
 * none. */
EBB_COLD_ EBB_NORETURN_ void ebb_misuse_(const char *what, const void *owner) {
    const ebb_places_ places = ebb_places_of_(owner);
    fprintf(stderr, "ebbtide: %s\n", what);
    if (places.opened_file_ != NULL)
        fprintf(stderr, "  opened at %s:%u\n", places.opened_file_, places.opened_line_);
    if (places.closed_file_ != NULL)
        fprintf(stderr, "  closed at %s:%u\n", places.closed_file_, places.closed_line_);
    abort();
}
#define EBB_CHECK_OF_(owner, holds, what) ((holds) ? (void)0 : ebb_misuse_((what), (owner)))
#else
#define EBB_CHECK_OF_(owner, holds, what) ((void)0)
#endif
#define EBB_CHECK_(holds, what) EBB_CHECK_OF_(NULL, holds, what)

/* Whether a scope, if it is not closed, is what its arena or parent has open: not a copy of one
 * that was closed. What it was opened from is unknown if a file without checks opened it. */
EBB_INLINE_ bool ebb_is_current_(const ebb_scope *scope) {
    if (scope->chunk_ == NULL || (scope->state_ & ~EBB_FLAGS_) == 0)
        return true;
    if ((scope->state_ & EBB_CHILD_) != 0)
        return (((const ebb_scope *)(scope->state_ & ~EBB_FLAGS_))->state_ & EBB_FROZEN_) != 0;
    return ((const ebb_arena *)EBB_ARENA_ADDRESS_(scope->state_))->open_ != 0;
}

/* Checks that the scope may be used: it is not null nor a copy of a closed scope, and no child is
 * open. */
#define EBB_CHECK_USABLE_(scope)                                                                   \
    (EBB_CHECK_((scope) != NULL, "a scope is null"),                                               \
     EBB_CHECK_OF_((scope), ((scope)->state_ & EBB_FROZEN_) == 0,                                  \
                   "a scope is used while its child is open"),                                     \
     EBB_CHECK_OF_(ebb_owner_(scope), ebb_is_current_(scope),                                      \
                   "a copy of a scope is used after the scope was closed"))

#if EBB_ASAN_
void __asan_poison_memory_region(const volatile void *start, size_t size);
void __asan_unpoison_memory_region(const volatile void *start, size_t size);
int __asan_address_is_poisoned(const volatile void *address);
EBB_STATIC_ void ebb_poison_(const void *start, size_t size) {
    __asan_poison_memory_region(start, size);
}
EBB_STATIC_ void ebb_unpoison_(const void *start, size_t size) {
    __asan_unpoison_memory_region(start, size);
}
#elif EBB_VALGRIND
EBB_STATIC_ void ebb_poison_(const void *start, size_t size) {
    VALGRIND_MAKE_MEM_NOACCESS(start, size);
}
EBB_STATIC_ void ebb_unpoison_(const void *start, size_t size) {
    VALGRIND_MAKE_MEM_UNDEFINED(start, size);
}
#else
#define ebb_poison_(start, size) ((void)(start), (void)(size))
#define ebb_unpoison_(start, size) ((void)(start), (void)(size))
#endif

/* Copies field by field, here and below: a copy of the whole struct would read by one wide load
   what was just written by narrow stores, and wait for them. */
#define EBB_COPY_WORDS_(to, from)                                                                  \
    do {                                                                                           \
        void *chunk_word_ = (from)->chunk_;                                                        \
        char *low_word_ = (from)->low_;                                                            \
        EBB_SCALAR_(chunk_word_);                                                                  \
        EBB_SCALAR_(low_word_);                                                                    \
        (to)->top_ = (from)->top_;                                                                 \
        (to)->chunk_ = chunk_word_;                                                                \
        (to)->low_ = low_word_;                                                                    \
    } while (0)

EBB_INLINE_ uintptr_t ebb_low_(const ebb_scope *scope) {
    return (uintptr_t)scope->low_;
}

/* The bytes that a block takes: with guards, up to a multiple of 8, which is the sanitizer's
   granule, and the redzone. A size that no scope serves stays as it is. */
EBB_INLINE_ size_t ebb_padded_(size_t size) {
    if (!EBB_GUARDS_ || EBB_REDZONE == 0 || size > (size_t)PTRDIFF_MAX - EBB_REDZONE - 8)
        return size;
    return ((size + 7) & ~(size_t)7) + EBB_REDZONE;
}

/* Whether a block is the last one at the low end. */
EBB_INLINE_ bool ebb_is_last_(const ebb_scope *scope, const void *block, size_t size) {
    return (uintptr_t)block + ebb_padded_(size) == ebb_low_(scope);
}

/* The alignment with which a block begins at a granule; an invalid one stays as it is. */
EBB_INLINE_ size_t ebb_granular_(size_t align) {
    const bool is_finer = align != 0 && align < 8 && (align & (align - 1)) == 0;
    return EBB_GUARDS_ && EBB_REDZONE > 0 && is_finer ? 8 : align;
}

/* Makes a new block accessible, but not its redzone. */
EBB_INLINE_ void *ebb_guarded_(void *block, size_t size) {
    const size_t padded = ebb_padded_(size);
    if (block != NULL) {
        if (padded > size)
            ebb_poison_(block, padded);
        ebb_unpoison_(block, size);
    }
    return block;
}

/* Guards the bytes by which a block shrank, or makes those accessible by which it grew. */
EBB_INLINE_ void ebb_resized_(void *block, size_t old_size, size_t new_size) {
    if (new_size > old_size) {
        ebb_poison_((char *)block + old_size, ebb_padded_(new_size) - old_size);
        ebb_unpoison_((char *)block + old_size, new_size - old_size);
    } else {
        ebb_poison_((char *)block + new_size, old_size - new_size);
    }
}

#if EBB_GUARDS_
/* Poisons what was allocated between two positions: `now` is the later one. */
EBB_STATIC_ void ebb_poison_since_(const ebb_scope *earlier, const ebb_scope *now) {
    if (now->chunk_ == NULL)
        return;
    if (earlier->chunk_ == now->chunk_) {
        /* If rounding left nothing free, both words are EBB_NOWHERE_. */
        const uintptr_t lowest = ebb_low_(earlier);
        const uintptr_t start = now->top_ < lowest ? lowest : now->top_;
        ebb_poison_((const void *)start, earlier->top_ - start);
        if (ebb_low_(now) > ebb_low_(earlier))
            ebb_poison_(earlier->low_, (size_t)(now->low_ - earlier->low_));
    } else {
        ebb_free_ranges_(NULL, earlier, ebb_poison_);
    }
}

/* Memory that the library frees or returns to the caller must not be poisoned; memory that a reset
 * frees must be. */
EBB_STATIC_ void ebb_unpoison_arena_(const ebb_arena *arena) {
    if (arena != NULL && arena->open_ == 0)
        ebb_free_ranges_(arena, NULL, ebb_unpoison_);
}
EBB_STATIC_ ebb_status ebb_arena_free_guarded_(ebb_arena *arena) {
    ebb_unpoison_arena_(arena);
    return ebb_arena_free(arena);
}
EBB_STATIC_ ebb_status ebb_arena_trim_guarded_(ebb_arena *arena) {
    ebb_unpoison_arena_(arena);
    return ebb_arena_trim(arena);
}
EBB_STATIC_ ebb_status ebb_arena_shrink_guarded_(ebb_arena *arena, size_t keep) {
    ebb_unpoison_arena_(arena);
    return ebb_arena_shrink(arena, keep);
}
EBB_STATIC_ ebb_status ebb_arena_merge_guarded_(ebb_arena *arena) {
    ebb_unpoison_arena_(arena);
    return ebb_arena_merge(arena);
}
EBB_STATIC_ ebb_status ebb_arena_reset_guarded_(ebb_arena *arena) {
    const ebb_status status = ebb_arena_reset(arena);
    if (status == EBB_OK)
        ebb_free_ranges_(arena, NULL, ebb_poison_);
    return status;
}
#define ebb_arena_free ebb_arena_free_guarded_
#define ebb_arena_trim ebb_arena_trim_guarded_
#define ebb_arena_shrink ebb_arena_shrink_guarded_
#define ebb_arena_merge ebb_arena_merge_guarded_
#define ebb_arena_reset ebb_arena_reset_guarded_
#endif

/* ------------------------------------------------------------------ scopes */

/** Whether a scope is open. */
EBB_INLINE_ bool ebb_is_open(const ebb_scope *scope) {
    return scope != NULL && scope->chunk_ != NULL;
}

/* The arena whose words a new scope has: the one passed, which was not ready, or one that stands
 * for the reason why no scope can be opened. */
EBB_COLD_ ebb_arena *ebb_open_cold_(ebb_arena *arena) {
    ebb_scope opened;
    ebb_open_slowly_(arena, &opened);
    return (ebb_arena *)opened.state_;
}

/** Opens a scope of an arena. Closed if the arena is NULL, has an open scope, or has no memory for
 *  its first chunk. */
EBB_INLINE_ ebb_scope ebb_open(ebb_arena *arena) {
    ebb_scope scope;
    if (!EBB_LIKELY_(arena != NULL && arena->open_ == 0))
        arena = ebb_open_cold_(arena);
    EBB_STORE_(&arena->open_, 1);
    /* A multiple of 16. */
    scope.top_ = arena->top_;
    EBB_ASSUME_((scope.top_ & 15) == 0);
    scope.chunk_ = arena->chunk_;
    scope.low_ = arena->low_;
    scope.state_ = (uintptr_t)arena;
    EBB_ASSUME_((scope.state_ & 15) == 0 && scope.state_ != 0);
    return scope;
}

/** Opens a scope of an arena of this thread, which no other open scope uses, so a function may do
 * so without knowing what its callers have open. Costs a call. Such scopes may be closed in any
 * order and by any thread, so nothing closes one that a longjmp leaves open: its arena, of at least
 * 64 KiB, stays in use for ever. Where that can happen, open the scope in the function that calls
 * setjmp, before the call, and close it by ::ebb_close_all. */
EBB_INLINE_ ebb_scope ebb_thread_open(void) {
    ebb_scope scope, opened;
    ebb_thread_open_(&opened);
    EBB_COPY_WORDS_(&scope, &opened);
    scope.state_ = opened.state_;
    return scope;
}

/* Moves a nearly full scope to the next chunk; otherwise every child that a loop opens would
 * move. */
EBB_INLINE_ void ebb_with_room_(ebb_scope *scope) {
    if (!EBB_LIKELY_(!EBB_BELOW_(scope->top_ - EBB_CHILD_ROOM_, ebb_low_(scope)))) {
        ebb_scope copy;
        EBB_COPY_WORDS_(&copy, scope);
        copy.state_ = 0;
        ebb_make_room_(&copy);
        EBB_COPY_WORDS_(scope, &copy);
    }
}

/** Opens a child of a scope, which must not be used until the child is closed. If the scope is
 * closed, so is the child. */
EBB_INLINE_ ebb_scope ebb_child(ebb_scope *parent) {
    ebb_scope scope;
    EBB_CHECK_USABLE_(parent);
    ebb_with_room_(parent);
    EBB_COPY_WORDS_(&scope, parent);
    /* Either 64 bytes are free, or `top_` is already aligned. The compiler then leaves out the
       rounding for types of smaller alignment. */
    scope.top_ &= ~(uintptr_t)15;
    scope.state_ = EBB_CHILD_;
#if EBB_PARENTS_
    if (scope.chunk_ != NULL) {
        scope.state_ |= (uintptr_t)parent;
        parent->state_ |= EBB_FROZEN_;
    }
#endif
    return scope;
}

/* Runs all functions of a scope, after those of children that a longjmp left. A function may defer
 * another. Passes a copy, so that the scope can stay in registers. */
EBB_INLINE_ void ebb_run_deferred_(ebb_scope *scope) {
    ebb_scope copy;
    bool defers;
    do {
        EBB_COPY_WORDS_(&copy, scope);
        copy.state_ = 0;
        defers = (scope->state_ & EBB_DEFERS_) != 0;
        scope->state_ &= ~EBB_DEFERS_;
        ebb_run_cleanups_(&copy, defers);
    } while (defers);
}

/** Closes a scope: its deferred functions run, and everything allocated in it is free again.
 * ::EBB_CLOSED, which ::ebb_last_status does not record, if it is already closed. */
EBB_INLINE_ ebb_status ebb_close(ebb_scope *scope) {
    uintptr_t state;
    ebb_status status;
    EBB_CHECK_USABLE_(scope);
    if (!EBB_LIKELY_((scope->state_ & EBB_DEFERS_) == 0))
        ebb_run_deferred_(scope);
    state = scope->state_;
    status = scope->chunk_ != NULL ? EBB_OK : EBB_CLOSED;
    if ((state & EBB_CHILD_) != 0) {
        /* The parent is known if the code that opened the child has checks or is sanitized. */
        ebb_scope *parent = (ebb_scope *)(state & ~EBB_FLAGS_);
        if (parent != NULL) {
            parent->state_ &= ~EBB_FROZEN_;
#if EBB_GUARDS_
            ebb_poison_since_(parent, scope);
#endif
        }
    } else if (EBB_LIKELY_(state != 0)) {
        /* This scope may be frozen, even if code without checks opened a child: remove the flag
         * from the arena's address. */
        ebb_arena *arena = (ebb_arena *)EBB_ARENA_ADDRESS_(state);
#if EBB_GUARDS_
        if (status == EBB_OK) {
            ebb_scope start;
            EBB_COPY_WORDS_(&start, arena);
            start.state_ = 0;
            ebb_poison_since_(&start, scope);
        }
#endif
        if (EBB_LIKELY_((state & EBB_THREAD_) == 0))
            EBB_STORE_(&arena->open_, 0);
        else
            ebb_thread_close_(arena);
    }
    scope->top_ = EBB_NOWHERE_;
    scope->chunk_ = NULL;
    scope->low_ = (char *)EBB_NOWHERE_;
    scope->state_ = 0;
    return status;
}

/** Like ::ebb_close, for a scope whose children a longjmp may have left open. They end with it,
 * after their deferred functions have run, and must not be used again, not even to close them. */
EBB_INLINE_ ebb_status ebb_close_all(ebb_scope *scope) {
    EBB_CHECK_(scope != NULL, "a scope is null");
    ebb_run_deferred_(scope);
#if EBB_GUARDS_
    if (ebb_is_open(scope))
        ebb_free_ranges_(NULL, scope, ebb_poison_);
#endif
#if EBB_PARENTS_
    scope->state_ &= ~EBB_FROZEN_;
#endif
    return ebb_close(scope);
}

#if EBB_CHECKS
/* Remember the line of a call that opens or closes a scope. */
EBB_INLINE_ ebb_scope ebb_opened_at_(ebb_scope scope, const char *file, unsigned line) {
    if (scope.chunk_ != NULL)
        ebb_opened_(ebb_owner_(&scope), file, line);
    return scope;
}
EBB_INLINE_ ebb_scope *ebb_closed_at_(ebb_scope *scope, const char *file, unsigned line) {
    EBB_CHECK_(scope != NULL, "a scope is null");
    if (ebb_is_open(scope) && ebb_is_current_(scope))
        ebb_closed_(ebb_owner_(scope), file, line);
    return scope;
}
#define ebb_open(arena) ebb_opened_at_((ebb_open)(arena), __FILE__, __LINE__)
#define ebb_thread_open() ebb_opened_at_((ebb_thread_open)(), __FILE__, __LINE__)
#define ebb_child(parent) ebb_opened_at_((ebb_child)(parent), __FILE__, __LINE__)
#define ebb_close(scope) (ebb_close)(ebb_closed_at_((scope), __FILE__, __LINE__))
#define ebb_close_all(scope) (ebb_close_all)(ebb_closed_at_((scope), __FILE__, __LINE__))
#endif

/** Marks a position in a scope for ::ebb_rewind: like a child scope without a variable of its
 * own. */
EBB_INLINE_ ebb_position ebb_mark(ebb_scope *scope) {
    ebb_position position;
    EBB_CHECK_USABLE_(scope);
    ebb_with_room_(scope);
    EBB_COPY_WORDS_(&position, scope);
    return position;
}

/** Rewinds to a position of the same scope: the functions deferred since run, and everything
 * allocated since is free again. Rewind to positions in reverse order of marking. Rewinding to a
 * position more than once is allowed. */
EBB_INLINE_ void ebb_rewind(ebb_scope *scope, ebb_position position) {
    ebb_scope earlier;
    EBB_CHECK_USABLE_(scope);
    EBB_COPY_WORDS_(&earlier, &position);
    earlier.state_ = 0;
#if EBB_PARENTS_
    EBB_CHECK_OF_(ebb_owner_(scope),
                  (position.chunk_ == NULL) == (scope->chunk_ == NULL) &&
                      (scope->chunk_ == NULL || ebb_is_position_(scope, &earlier)),
                  "a scope is rewound to a position that has ended, or to one of another scope");
#endif
    if (!EBB_LIKELY_((scope->state_ & EBB_DEFERS_) == 0) && ebb_run_cleanups_(&earlier, false))
        scope->state_ &= ~EBB_DEFERS_;
#if EBB_GUARDS_
    ebb_poison_since_(&earlier, scope);
#endif
    EBB_COPY_WORDS_(scope, &position);
}

/* -------------------------------------------------- blocks that keep their size */

/* The cold path. x86-64 passes a struct of three words on the stack. So the size and the alignment
 * do not occupy the registers in which a caller has its own arguments, and GCC saves those in the
 * cold branch only. clang calls a function that saves all registers it changes. The block is
 * stored, because before clang 17 such a function restores the register of its result, too. */
#if defined(__GNUC__) && !defined(_WIN32) &&                                                       \
    (defined(__x86_64__) || (defined(__clang__) && defined(__aarch64__)))
typedef struct ebb_request_ {
    size_t size;
    size_t align;
    void **block; /* For clang only. */
} ebb_request_;
#if defined(__clang__)
EBB_COLD_ __attribute__((preserve_most)) void ebb_alloc_saving_(ebb_scope *scope,
                                                                ebb_request_ request) {
    *request.block = ebb_alloc_slowly_(scope, request.size, request.align);
}
EBB_INLINE_ void *ebb_alloc_cold_(ebb_scope *scope, size_t size, size_t align) {
    void *block;
    ebb_request_ request;
    /* Otherwise a loop that allocates keeps both numbers in a vector register all the time. */
    EBB_SCALAR_(align);
    request.size = size;
    request.align = align;
    request.block = &block;
    ebb_alloc_saving_(scope, request);
    return block;
}
#else
/* A clone could take the numbers in registers. */
EBB_COLD_ __attribute__((noclone)) void *ebb_alloc_on_stack_(ebb_scope *scope,
                                                             ebb_request_ request) {
    return ebb_alloc_slowly_(scope, request.size, request.align);
}
EBB_INLINE_ void *ebb_alloc_cold_(ebb_scope *scope, size_t size, size_t align) {
    ebb_request_ request;
    request.size = size;
    request.align = align;
    request.block = NULL;
    return ebb_alloc_on_stack_(scope, request);
}
#endif
#else
#define ebb_alloc_cold_ ebb_alloc_slowly_
#endif

/* A scope that the compiler sees is passed as a copy, so that its address does not escape and it
 * stays in registers. Any other is passed itself, so that the call has no frame in its way. */
EBB_INLINE_ void *ebb_refill_(ebb_scope *scope, size_t size, size_t align, bool is_local) {
    void *block;
    if (is_local) {
        ebb_scope copy;
        EBB_COPY_WORDS_(&copy, scope);
        copy.state_ = 0;
        block = ebb_alloc_cold_(&copy, size, align);
        EBB_COPY_WORDS_(scope, &copy);
        /* A no-op after success; tells the compiler that the next allocation needs no rounding. */
        if (EBB_CONSTANT_(align) && align <= 16 && align != 0) {
            scope->top_ &= ~(uintptr_t)(align - 1);
            /* clang drops an assumption that it can prove, and then cannot prove it in a loop. */
            EBB_FORGET_(scope->top_);
            /* Nothing is free then. `low_` must not move into a block: Rust relies on that. */
            if (EBB_BELOW_(scope->top_, ebb_low_(scope))) {
                scope->top_ = EBB_NOWHERE_;
                scope->low_ = (char *)EBB_NOWHERE_;
            }
        }
    } else {
        block = ebb_alloc_cold_(scope, size, align);
    }
    return block;
}

/* A block at the high end. */
EBB_INLINE_ void *ebb_take_high_(ebb_scope *scope, size_t size, size_t align) {
    /* Evaluated once, so that the assumption below matches the cold path's result. */
    const bool is_local = EBB_IS_LOCAL_(scope);
    /* The library serves empty blocks, because it distinguishes open scopes from closed ones. */
    if (EBB_CONSTANT_(size <= EBB_SMALL_) && size <= EBB_SMALL_ && EBB_CONSTANT_(size != 0) &&
        size != 0 && EBB_CONSTANT_(align) && align <= EBB_SMALL_ && align != 0 &&
        (align & (align - 1)) == 0) {
        const uintptr_t start = (scope->top_ - size) & ~(uintptr_t)(align - 1);
        void *block = (void *)start;
        if (EBB_LIKELY_(!EBB_BELOW_(start, ebb_low_(scope)))) {
            EBB_ASSUME_NOT_NULL_(block);
            /* Stores `block` itself to avoid a copy; GCC tracks alignment only for integers, so
               `start` is stored there. */
            scope->top_ = is_local && EBB_KNOWS_JOINED_ ? start : (uintptr_t)block;
        } else {
            block = ebb_refill_(scope, size, align, is_local);
        }
        if (is_local && align <= 16)
            EBB_ASSUME_JOINED_((scope->top_ & (align - 1)) == 0);
        return block;
    }
    if (EBB_LIKELY_(align <= EBB_SMALL_ && align != 0 && (align & (align - 1)) == 0 &&
                           size - 1 < scope->top_ - ebb_low_(scope))) {
        const uintptr_t start = (scope->top_ - size) & ~(uintptr_t)(align - 1);
        if (EBB_LIKELY_(align == 1 || !EBB_BELOW_(start, ebb_low_(scope)))) {
            void *block = (void *)start;
            EBB_ASSUME_NOT_NULL_(block);
            scope->top_ = (uintptr_t)block;
            return block;
        }
    }
    return ebb_refill_(scope, size, align, is_local);
}

/** A block of `size` bytes, aligned to `align`, a power of two. */
EBB_INLINE_ void *ebb_alloc_aligned(ebb_scope *scope, size_t size, size_t align) {
    EBB_CHECK_USABLE_(scope);
    return ebb_guarded_(ebb_take_high_(scope, ebb_padded_(size), ebb_granular_(align)), size);
}

/** A block of `size` bytes, aligned like malloc's. */
EBB_INLINE_ void *ebb_alloc(ebb_scope *scope, size_t size) {
    return ebb_alloc_aligned(scope, size, 16);
}

/** A block of `size` bytes, all 0, aligned like malloc's. */
EBB_INLINE_ void *ebb_alloc_zeroed(ebb_scope *scope, size_t size) {
    void *block = ebb_alloc_aligned(scope, size, 16);
    return block == NULL ? NULL : memset(block, 0, size);
}

/** A block for `count` elements of `size` bytes. ::EBB_SIZE if the product is too large. */
EBB_INLINE_ void *ebb_alloc_array(ebb_scope *scope, size_t count, size_t size, size_t align) {
    if (EBB_LIKELY_(size == 0 || count <= (size_t)PTRDIFF_MAX / size))
        return ebb_alloc_aligned(scope, count * size, align);
    ebb_fail_(EBB_SIZE);
    return NULL;
}

/** Like ::ebb_alloc_array, but all bytes are 0. */
EBB_INLINE_ void *ebb_alloc_array_zeroed(ebb_scope *scope, size_t count, size_t size,
                                         size_t align) {
    void *block = ebb_alloc_array(scope, count, size, align);
    return block == NULL ? NULL : memset(block, 0, count * size);
}

/** A `type`, uninitialised: `node *n = ebb_new(&s, node);`. With GCC and clang, it may also be the
 * type of an array: `int(*pair)[2] = ebb_new(&s, int[2]);` */
#define ebb_new(scope, type)                                                                       \
    EBB_AS_(EBB_TYPE_(type) *, ebb_alloc_aligned((scope), sizeof(type), EBB_ALIGNOF_(type)))

/** A `type`, all bytes 0. */
#define ebb_new_zeroed(scope, type)                                                                \
    EBB_AS_(EBB_TYPE_(type) *, ebb_alloc_array_zeroed((scope), 1, sizeof(type), EBB_ALIGNOF_(type)))

/** `count` elements of `type`, uninitialised. */
#define ebb_array(scope, type, count)                                                              \
    EBB_AS_(EBB_TYPE_(type) *, ebb_alloc_array((scope), (count), sizeof(type), EBB_ALIGNOF_(type)))

/** `count` elements of `type`, all bytes 0. */
#define ebb_array_zeroed(scope, type, count)                                                       \
    EBB_AS_(EBB_TYPE_(type) *, ebb_alloc_array_zeroed((scope), (count), sizeof(type), EBB_ALIGNOF_(type)))

/** A copy of `size` bytes, aligned to `align`. */
EBB_INLINE_ void *ebb_memdup(ebb_scope *scope, const void *from, size_t size, size_t align) {
    void *block;
    if (from == NULL) {
        ebb_fail_(EBB_NULL);
        return NULL;
    }
    block = ebb_alloc_aligned(scope, size, align);
    return block == NULL ? NULL : memcpy(block, from, size);
}

/** A copy of `length` bytes, which may contain zeros, with a terminating 0. */
EBB_INLINE_ char *ebb_string(ebb_scope *scope, const char *from, size_t length) {
    char *block;
    if (from == NULL || length >= (size_t)PTRDIFF_MAX) {
        ebb_fail_(from == NULL ? EBB_NULL : EBB_SIZE);
        return NULL;
    }
    block = (char *)ebb_alloc_aligned(scope, length + 1, 1);
    if (block != NULL) {
        memcpy(block, from, length);
        block[length] = 0;
    }
    return block;
}

/** A copy of a string. */
EBB_INLINE_ char *ebb_strdup(ebb_scope *scope, const char *from) {
    return ebb_string(scope, from, from == NULL ? 0 : strlen(from));
}

/** A copy of a string, or of its first `most` bytes if it is longer, with a terminating 0. Like
 * strndup, it does not read beyond the end of the string. */
EBB_INLINE_ char *ebb_strndup(ebb_scope *scope, const char *from, size_t most) {
    size_t length = 0;
    if (from != NULL)
        while (length < most && from[length] != 0)
            length++;
    return ebb_string(scope, from, length);
}

/* An array of strings, which may be constants or not: C does not convert `char **` to
 * `const char *const *`, as C++ does. */
#if defined(__GNUC__) && !defined(__cplusplus)
typedef union __attribute__((transparent_union)) ebb_strings_ {
    const char *const *constants_;
    char *const *variables_;
} ebb_strings_;
#define EBB_STRINGS_(given) ((given).constants_)
#else
typedef const char *const *ebb_strings_;
#define EBB_STRINGS_(given) (given)
#endif

/** The strings one after another, with `separator` between them, and a terminating 0. A null
 * separator is an empty one. ::EBB_NULL if a string is null. The strings may also be an array of
 * `char *`. */
EBB_STATIC_ char *ebb_join(ebb_scope *scope, const char *separator, ebb_strings_ given,
                           size_t count) {
    const char *const *const strings = EBB_STRINGS_(given);
    const size_t between = separator == NULL ? 0 : strlen(separator);
    size_t length = 0, i;
    char *text, *end;
    for (i = 0; i < count; i++) {
        if (strings == NULL || strings[i] == NULL) {
            ebb_fail_(EBB_NULL);
            return NULL;
        }
        /* The strings may be one string many times, longer together than the address space. */
        const size_t more = strlen(strings[i]) + (i == 0 ? 0 : between);
        if (more >= (size_t)PTRDIFF_MAX - length) {
            ebb_fail_(EBB_SIZE);
            return NULL;
        }
        length += more;
    }
    text = (char *)ebb_alloc_aligned(scope, length + 1, 1);
    if (text == NULL)
        return NULL;
    for (end = text, i = 0; i < count; i++) {
        if (i > 0 && between > 0) {
            memcpy(end, separator, between);
            end += between;
        }
        const size_t more = strlen(strings[i]);
        memcpy(end, strings[i], more);
        end += more;
    }
    *end = 0;
    return text;
}
#if defined(__GNUC__) && !defined(__cplusplus)
/* With -pedantic, GCC warns of passing a pointer as a union. */
#define ebb_join(...) (__extension__(ebb_join)(__VA_ARGS__))
#endif

/* ------------------------------------------------------------ functions at the end */

/** Calls `run(argument)` when the scope is closed, rewound to before this call, or ended by a
 * reset, before its memory is freed; the last one deferred runs first. The function may use blocks
 * of the scope, and allocate, free and defer there, except in a reset, or if a longjmp has left the
 * scope. It must not open, rewind or close scopes of this arena, throw, or jump out. False if the
 * scope is closed, if there is no memory for the four words that this takes, or if the scope is one
 * of Rust's (::EBB_LENT); then the function will not be called. Running one costs a visit of
 * each chunk of the arena at most. */
EBB_INLINE_ bool ebb_defer(ebb_scope *scope, void (*run)(void *argument), void *argument) {
    ebb_scope copy;
    ebb_cleanup_ **list, *cleanup;
    EBB_CHECK_USABLE_(scope);
    if (run == NULL) {
        ebb_fail_(EBB_NULL);
        return false;
    }
    EBB_COPY_WORDS_(&copy, scope);
    copy.state_ = 0;
    list = ebb_cleanups_(&copy);
    cleanup = list == NULL ? NULL : ebb_new(scope, ebb_cleanup_);
    if (cleanup == NULL)
        return false;
    cleanup->older_ = *list;
    cleanup->run_ = run;
    cleanup->argument_ = argument;
    cleanup->is_first_ = (scope->state_ & EBB_DEFERS_) == 0;
    *list = cleanup;
    scope->state_ |= EBB_DEFERS_;
    return true;
}

/* ------------------------------------------------------------ blocks that grow */

/* A block at the low end, or NULL if it does not fit, is empty, or its alignment is not a power of
   two. An alignment of 0 needs more padding than there are addresses. Nothing fits in a closed
   scope. */
EBB_INLINE_ void *ebb_take_low_(ebb_scope *scope, size_t size, size_t align) {
    const size_t room = scope->top_ - ebb_low_(scope);
    const size_t padding = (0 - ebb_low_(scope)) & (align - 1);
    if (EBB_LIKELY_((align & (align - 1)) == 0 && size - 1 < room && padding <= room - size)) {
        char *start = scope->low_ + padding;
        scope->low_ = start + size;
        return start;
    }
    return NULL;
}

/* The same, from the next chunk if necessary. */
EBB_INLINE_ void *ebb_refill_low_(ebb_scope *scope, size_t size, size_t align) {
    void *block = ebb_take_low_(scope, size, align);
    if (EBB_LIKELY_(block != NULL))
        return block;
    if (EBB_IS_LOCAL_(scope)) {
        ebb_scope copy;
        EBB_COPY_WORDS_(&copy, scope);
        copy.state_ = 0;
        block = ebb_alloc_low_slowly_(&copy, size, align);
        EBB_COPY_WORDS_(scope, &copy);
        return block;
    }
    return ebb_alloc_low_slowly_(scope, size, align);
}

/** A block at the low end of the scope: as long as it is the last one there, ::ebb_grow enlarges it
 * without copying. */
EBB_INLINE_ void *ebb_alloc_low(ebb_scope *scope, size_t size, size_t align) {
    EBB_CHECK_USABLE_(scope);
    return ebb_guarded_(ebb_refill_low_(scope, ebb_padded_(size), ebb_granular_(align)), size);
}

/** Resizes a low-end block of this scope: in place if it is the last one and there is room,
 * otherwise by copying. If the block is NULL, allocates one. The result is aligned to `align`: a
 * block that was allocated with a smaller alignment is copied if necessary, even to shrink. On
 * failure the block is unchanged. */
EBB_INLINE_ void *ebb_grow(ebb_scope *scope, void *block, size_t old_size, size_t new_size,
                           size_t align) {
    const uintptr_t start = (uintptr_t)block;
    void *moved;
    EBB_CHECK_USABLE_(scope);
    /* An alignment that is not a power of two is refused like that of a new block. */
    if (!EBB_LIKELY_(block != NULL && align != 0 && (align & (align - 1)) == 0))
        return ebb_alloc_low(scope, new_size, align);
    if (EBB_LIKELY_((start & (align - 1)) == 0)) {
        if (EBB_LIKELY_(ebb_is_last_(scope, block, old_size)) &&
            EBB_LIKELY_(ebb_padded_(new_size) <= scope->top_ - start)) {
            scope->low_ = (char *)block + ebb_padded_(new_size);
            ebb_resized_(block, old_size, new_size);
            return block;
        }
        if (new_size <= old_size) {
            ebb_resized_(block, old_size, new_size);
            return block;
        }
    }
    moved = ebb_alloc_low(scope, new_size, align);
    if (moved != NULL) {
        memcpy(moved, block, old_size < new_size ? old_size : new_size);
        ebb_poison_(block, old_size);
    }
    return moved;
}

/** Frees a low-end block of this scope if it is the last one; otherwise it is freed when the scope
 * ends. */
EBB_INLINE_ void ebb_free_last(ebb_scope *scope, void *block, size_t size) {
    EBB_CHECK_USABLE_(scope);
    if (block != NULL && ebb_is_last_(scope, block, size)) {
        scope->low_ = (char *)block;
        ebb_poison_(block, size);
    }
}

/* Formats text into the scope, and stores its length. */
EBB_STATIC_ EBB_PRINTF_(3, 0) char *ebb_print_(ebb_scope *scope, int *length, const char *format,
                                               va_list values) {
    va_list again;
    char *text;
    EBB_CHECK_USABLE_(scope);
    if (format == NULL) {
        ebb_fail_(EBB_NULL);
        return NULL;
    }
    if (scope->chunk_ == NULL)
        return (char *)ebb_alloc_low(scope, 1, 1); /* Records the reason. */
    va_copy(again, values);
    {
        /* Directly into the free bytes. Where those are guarded, this call only measures the
         * length. */
        const size_t free_bytes = EBB_GUARDS_ ? 0 : scope->top_ - ebb_low_(scope);
        /* POSIX allows vsnprintf to refuse more. */
        const size_t room = free_bytes < INT_MAX ? free_bytes : INT_MAX;
        *length = vsnprintf(room == 0 ? NULL : scope->low_, room, format, values);
        if (*length < 0) {
            text = NULL;
            ebb_fail_(EBB_FORMAT);
        } else if ((size_t)*length < room) {
            text = scope->low_;
            scope->low_ += *length + 1;
        } else {
            text = (char *)ebb_alloc_low(scope, (size_t)*length + 1, 1);
            if (text != NULL)
                vsnprintf(text, (size_t)*length + 1, format, again);
        }
    }
    va_end(again);
    return text;
}

/** Formats text into the scope. The block is as long as the text with its terminating 0. Fails with
 * ::EBB_FORMAT if `vsnprintf` fails. */
EBB_STATIC_ EBB_PRINTF_(2, 0) char *ebb_vsprintf(ebb_scope *scope, const char *format,
                                                 va_list values) {
    int length;
    return ebb_print_(scope, &length, format, values);
}

/** Formats text into the scope; see ::ebb_vsprintf. */
EBB_STATIC_ EBB_PRINTF_(2, 3) char *ebb_sprintf(ebb_scope *scope, const char *format, ...) {
    va_list values;
    char *text;
    va_start(values, format);
    text = ebb_vsprintf(scope, format, values);
    va_end(values);
    return text;
}

/** A buffer of bytes that grows at the low end of a scope. As long as nothing else is allocated
 * there, it is never copied within a chunk. A zeroed buffer is empty. */
typedef struct ebb_bytes {
    char *data;      /**< The bytes; ::ebb_bytes_text appends a 0. */
    size_t length;   /**< The number of bytes. */
    size_t capacity; /**< The number of bytes that fit before it grows. */
} ebb_bytes;

/* The new capacity for `additional` more elements: at least double the old one, and room for a few
   elements if they are small. 0 on overflow. */
EBB_INLINE_ size_t ebb_next_capacity_(size_t length, size_t capacity, size_t additional,
                                      size_t size) {
    const size_t most = (size_t)PTRDIFF_MAX / (size == 0 ? 1 : size);
    const size_t least = size <= 64 ? 8 : size <= 1024 ? 4 : 1;
    size_t wanted = capacity <= most / 2 ? 2 * capacity : most;
    if (length > most || additional > most - length)
        return 0;
    if (wanted < length + additional)
        wanted = length + additional;
    return wanted < least ? least : wanted;
}

/* The block of an array, and the number of elements that it has room for. */
typedef struct ebb_grown_ {
    void *data;
    size_t capacity;
} ebb_grown_;

/* A larger block for an array, or the old one if there is no memory. All is passed and returned by
   value, for the array to stay in registers. */
EBB_COLD_ ebb_grown_ ebb_grown_array_(ebb_scope *scope, ebb_grown_ array, size_t length,
                                      size_t additional, size_t size, size_t align) {
    size_t wanted = ebb_next_capacity_(length, array.capacity, additional, size);
    const ebb_status before = ebb_last_status();
    void *grown;
    if (wanted == 0) {
        ebb_fail_(EBB_SIZE);
        return array;
    }
    grown = ebb_grow(scope, array.data, array.capacity * size, wanted * size, align);
    if (grown == NULL && wanted > length + additional) {
        /* There is no room for twice as much, but there may be for what is needed. */
        wanted = length + additional;
        grown = ebb_grow(scope, array.data, array.capacity * size, wanted * size, align);
        if (grown != NULL)
            ebb_fail_((int)before); /* The call succeeds after all. */
    }
    if (grown != NULL) {
        array.data = grown;
        array.capacity = wanted;
    }
    return array;
}

/* Makes room in an array. Returns its block and updates its capacity. On failure both
   stay as they are. */
EBB_INLINE_ void *ebb_more_(ebb_scope *scope, void *data, size_t length, size_t *capacity,
                            size_t additional, size_t size, size_t align) {
    const bool is_local = EBB_IS_LOCAL_(scope);
    ebb_grown_ array;
    array.data = data;
    array.capacity = *capacity;
    if (is_local) {
        ebb_scope copy;
        EBB_COPY_WORDS_(&copy, scope);
        copy.state_ = scope->state_;
        array = ebb_grown_array_(&copy, array, length, additional, size, align);
        EBB_COPY_WORDS_(scope, &copy);
    } else {
        array = ebb_grown_array_(scope, array, length, additional, size, align);
    }
    *capacity = array.capacity;
    return array.data;
}

/** Makes room for `additional` more bytes. */
EBB_INLINE_ bool ebb_bytes_reserve(ebb_scope *scope, ebb_bytes *bytes, size_t additional) {
    if (EBB_LIKELY_(additional <= bytes->capacity - bytes->length))
        return true;
    bytes->data = (char *)ebb_more_(scope, bytes->data, bytes->length, &bytes->capacity, additional,
                                    1, 1);
    return additional <= bytes->capacity - bytes->length;
}

/** Appends one byte. */
EBB_INLINE_ bool ebb_bytes_push(ebb_scope *scope, ebb_bytes *bytes, char byte) {
    if (!EBB_LIKELY_(ebb_bytes_reserve(scope, bytes, 1)))
        return false;
    bytes->data[bytes->length++] = byte;
    return true;
}

/** Appends `size` bytes, which must not be the buffer's own. */
EBB_INLINE_ bool ebb_bytes_append(ebb_scope *scope, ebb_bytes *bytes, const void *from,
                                  size_t size) {
    if (from == NULL && size > 0) {
        ebb_fail_(EBB_NULL);
        return false;
    }
    if (!EBB_LIKELY_(ebb_bytes_reserve(scope, bytes, size)))
        return false;
    if (size > 0)
        memcpy(bytes->data + bytes->length, from, size);
    bytes->length += size;
    return true;
}

/** Appends formatted text. The values must not be the buffer's own bytes. */
EBB_STATIC_ EBB_PRINTF_(3, 0) bool ebb_bytes_vprintf(ebb_scope *scope, ebb_bytes *bytes,
                                                     const char *format, va_list values) {
    /* Directly into the unused capacity. POSIX allows vsnprintf to refuse more than INT_MAX. */
    const size_t unused = bytes->capacity - bytes->length;
    const size_t room = unused < INT_MAX ? unused : INT_MAX;
    char *const end = room == 0 ? NULL : bytes->data + bytes->length;
    char after;
    va_list again;
    int length;
    bool done = false;
    if (format == NULL) {
        ebb_fail_(EBB_NULL);
        return false;
    }
    after = room == 0 ? '\0' : *end;
    va_copy(again, values);
    length = vsnprintf(end, room, format, values);
    if (length < 0)
        ebb_fail_(EBB_FORMAT);
    else if ((size_t)length < room)
        done = true;
    else if (ebb_bytes_reserve(scope, bytes, (size_t)length + 1)) {
        vsnprintf(bytes->data + bytes->length, (size_t)length + 1, format, again);
        done = true;
    }
    va_end(again);
    if (done)
        bytes->length += (size_t)length;
    else if (room > 0)
        *end = after; /* It may be the 0 of `ebb_bytes_text`. */
    return done;
}

/** Appends formatted text; see ::ebb_bytes_vprintf. */
EBB_STATIC_ EBB_PRINTF_(3, 4) bool ebb_bytes_printf(ebb_scope *scope, ebb_bytes *bytes,
                                                    const char *format, ...) {
    va_list values;
    bool done;
    va_start(values, format);
    done = ebb_bytes_vprintf(scope, bytes, format, values);
    va_end(values);
    return done;
}

/** The bytes as a string: appends a 0 and frees the unused capacity. NULL if there is no memory for
 * the 0. The buffer may grow afterwards. */
EBB_INLINE_ char *ebb_bytes_text(ebb_scope *scope, ebb_bytes *bytes) {
    if (!ebb_bytes_reserve(scope, bytes, 1))
        return NULL;
    bytes->data[bytes->length] = 0;
    ebb_grow(scope, bytes->data, bytes->capacity, bytes->length + 1, 1);
    bytes->capacity = bytes->length + 1;
    return bytes->data;
}

/** The type of a growing array of `type`; a zeroed array is empty:
 *  `EBB_ARRAY(int) numbers = { 0 }; ebb_push(&s, &numbers, 7);` */
#define EBB_ARRAY(type)                                                                            \
    struct {                                                                                       \
        EBB_TYPE_(type) *data;                                                                     \
        size_t length;                                                                             \
        size_t capacity;                                                                           \
    }

/* The alignment of a value's type or, if the language cannot express it, one that suits any type
   of this size, up to 4096. */
#if defined(__GNUC__)
#define EBB_ALIGN_OF_VALUE_(value) __alignof__(value)
#else
#define EBB_ALIGN_OF_VALUE_(value)                                                                 \
    (sizeof(value) % 4096 == 0 ? 4096 : sizeof(value) & (0 - sizeof(value)))
#endif

/* Whether an array has room for `additional` more elements. A function, so that compilers do not
   warn that a constant 0 always fits. */
EBB_INLINE_ bool ebb_fits_(size_t additional, size_t capacity, size_t length) {
    return additional <= capacity - length;
}

/** Makes room for `additional` elements. False if there is no memory. Evaluates `array` and
 * `additional` more than once. */
#define ebb_reserve(scope, array, additional)                                                      \
    (ebb_fits_(EBB_AS_(size_t, additional), (array)->capacity, (array)->length) ||                 \
     ((array)->data = EBB_CAST_LIKE_(                                                              \
          (array)->data,                                                                           \
          ebb_more_((scope), (array)->data, (array)->length, &(array)->capacity,                   \
                    EBB_AS_(size_t, additional), sizeof *(array)->data,                            \
                    EBB_ALIGN_OF_VALUE_(*(array)->data))),                                         \
      ebb_fits_(EBB_AS_(size_t, additional), (array)->capacity, (array)->length)))

/* Whether `count` elements may be read from a pointer; records why not. */
EBB_INLINE_ bool ebb_may_read_(const void *from, size_t count) {
    if (from == NULL && count > 0) {
        ebb_fail_(EBB_NULL);
        return false;
    }
    return true;
}

/* Copies elements to the end of an array that has room for them. */
EBB_INLINE_ bool ebb_copy_to_end_(void *data, size_t *length, const void *from, size_t count,
                                  size_t size) {
    if (count > 0)
        memcpy((char *)data + *length * size, from, count * size);
    *length += count;
    return true;
}

/** Appends `count` elements, which must not be the array's own:
 * `ebb_append(&s, &numbers, more, 3)`. False if there is no memory. Evaluates its arguments more
 * than once. */
#define ebb_append(scope, array, from, count)                                                      \
    (ebb_may_read_((from), EBB_AS_(size_t, count)) && ebb_reserve((scope), (array), (count)) &&    \
     ebb_copy_to_end_((array)->data, &(array)->length, true ? (from) : (array)->data,              \
                      EBB_AS_(size_t, count), sizeof *(array)->data))

/** Appends a value: `ebb_push(&s, &points, (point){ 1, 2 })`. False if there is no memory.
 * Evaluates `array` more than once. Evaluates the value once, after making room: it must not change
 * the array. */
#define ebb_push(scope, array, ...)                                                                \
    (EBB_LIKELY_(ebb_reserve((scope), (array), 1))                                                 \
         ? ((array)->data[(array)->length++] = (__VA_ARGS__), true)                                \
         : false)

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__) && defined(__cplusplus)
#pragma GCC diagnostic pop
#endif

#endif /* the standard */

#endif
