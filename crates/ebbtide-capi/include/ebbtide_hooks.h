/**
 * @file ebbtide_hooks.h malloc, realloc and free over a scope of ebbtide.h, for libraries whose
 * allocator can be replaced: Lua, SQLite, libxml2, expat, cJSON, yyjson, zlib, stb, Duktape, MuJS and
 * others. C11 and C++17.
 *
 * A *heap* takes its blocks from a scope and recycles the ones that are freed, so a queue or an
 * interpreter in a scope needs bounded memory. When the scope closes, all blocks are free.
 *
 * @code
 * ebb_arena *arena = ebb_arena_new(NULL);
 * ebb_scope s = ebb_open(arena);
 * ebb_heap heap;
 * ebb_heap_init(&heap, &s);
 * lua_State *lua = lua_newstate(ebb_lua_alloc, &heap);
 * run(lua);
 * ebb_close(&s); // lua_close is needed only for its finalizers
 * ebb_arena_free(arena);
 * @endcode
 *
 * There are two kinds of functions. With `ebb_heap_alloc`, `ebb_heap_resize` and `ebb_heap_free`,
 * the caller passes the heap, and the size of a block to free. `ebb_hook_malloc` and its siblings
 * have the signatures of the C library's functions. They take new blocks from the thread's current
 * heap (`ebb_heap_use`), and keep the owner and the size of each block in 16 bytes before it.
 *
 * ### Lifetime
 * - A heap and its blocks must not be used after its scope was closed, or rewound to a position
 *   after which the heap was used: the blocks that it has resized or recycled since then, or would
 *   recycle next, may lie in memory that the rewind freed. A library that keeps blocks for the rest
 *   of the program must allocate them while no heap is current.
 * - A heap must not be used while a child of its scope is open. The scope may be used otherwise.
 * - A heap must not be copied or moved: its blocks have its address.
 *
 * ### Sizes Sizes are rounded up to classes: multiples of 16 up to 128, then four classes for each
 * doubling. A freed block is used again for its class only, so a heap takes at most as much as if
 * the blocks of each class were all in use at their peak. The last block at the low end of the
 * scope grows in place, and its memory goes back to the scope when it is freed.
 *
 * ### Errors, checks, sanitizers
 * As in ebbtide.h. With EBB_CHECKS, freeing or resizing a block that was freed aborts, unless its
 * memory has been used again, and so does taking a freed block from a heap whose scope was closed,
 * or rewound to before it. Under AddressSanitizer, and under Valgrind with EBB_VALGRIND, these are
 * reported without EBB_CHECKS as well, and so are accesses past the requested size, and to a freed
 * block until its memory is used again.
 *
 * ### Threads
 * One thread at a time uses a heap and its scope. So a block must not be freed by one thread while
 * another uses its heap.
 */
#ifndef EBBTIDE_HOOKS_H
#define EBBTIDE_HOOKS_H

#include "ebbtide.h"

/* The language is one that ebbtide.h supports. */
#ifdef EBB_VERSION

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
extern "C" {
#endif

/* The classes of all sizes up to PTRDIFF_MAX. */
#define EBB_CLASSES_ (4 * sizeof(size_t) * CHAR_BIT - 24)

/* A freed block of a heap. */
typedef struct ebb_free_block_ {
    struct ebb_free_block_ *next;
    uintptr_t mark; /* of the list that it is in, for the checks */
} ebb_free_block_;

/** A heap over a scope, of about 2 KiB. */
typedef struct ebb_heap {
    ebb_scope *scope_;
    size_t openings_;                     /* of scopes when it was last checked; or SIZE_MAX */
    ebb_free_block_ *free_[EBB_CLASSES_]; /* the freed blocks of each class */
} ebb_heap;

/* The class of a size, and the bytes of its blocks. */
typedef struct ebb_class_ {
    size_t index;
    size_t capacity;
} ebb_class_;

/* The number of the highest bit that is set. */
EBB_INLINE_ unsigned ebb_highest_bit_(size_t number) {
#if defined(__GNUC__)
    return (unsigned)__builtin_clzll(number) ^ 63;
#else
    unsigned bit = 0;
    while ((number >>= 1) != 0)
        bit++;
    return bit;
#endif
}

/* The class of a size up to PTRDIFF_MAX. The two bits below the highest one of `last` select one of
   four classes. Up to 128, that would be finer than 16. */
EBB_INLINE_ ebb_class_ ebb_class_of_(size_t size) {
    const size_t last = size - (size != 0);
    const unsigned shift = ebb_highest_bit_(last | 64) - 2;
    ebb_class_ found;
    found.index = (last >> shift) + 4 * (size_t)(shift - 4);
    found.capacity = ((last >> shift) + 1) << shift;
    return found;
}

/* Checks that a heap may be used. */
#define EBB_CHECK_HEAP_(heap)                                                                      \
    do {                                                                                           \
        EBB_CHECK_((heap) != NULL, "a heap is null");                                              \
        EBB_CHECK_USABLE_((heap)->scope_);                                                         \
    } while (0)

/* Makes a block accessible up to its size. */
EBB_INLINE_ void ebb_guard_block_(void *block, size_t size, size_t capacity) {
    ebb_poison_(block, ebb_padded_(capacity));
    ebb_unpoison_(block, size);
}

/* The mark of the blocks in a list. As the size of a hook block, which is in the same place, it would
 * be too large. */
EBB_INLINE_ uintptr_t ebb_mark_of_(ebb_free_block_ *const *list) {
    return ~(uintptr_t)list;
}

/* What a freed block contains, which is guarded. */
EBB_INLINE_ ebb_free_block_ ebb_read_free_(const ebb_free_block_ *block) {
    ebb_free_block_ copy;
#if EBB_ASAN_
    ebb_unpoison_(block, sizeof *block);
#elif EBB_VALGRIND
    VALGRIND_MAKE_MEM_DEFINED(block, sizeof *block);
#endif
    copy = *block;
    ebb_poison_(block, sizeof *block);
    return copy;
}

/* ----------------------------------------------------- the checks of heaps and blocks */

#if EBB_PARENTS_
/* Reports the wrong use of a block: by a message, and with guards by an access that the tool
 * reports. */
#if EBB_CHECKS
EBB_NORETURN_
#endif
EBB_COLD_ void ebb_misuse_of_block_(const void *block, const char *what) {
    if (EBB_CHECKS)
        fprintf(stderr, "ebbtide: %s\n", what);
    ebb_poison_(block, 8); /* AddressSanitizer's granule */
#if EBB_GUARDS_
    (void)*(const volatile char *)block;
#endif
#if EBB_CHECKS
    abort();
#endif
}
#define EBB_CHECK_BLOCK_(block, holds, what)                                                       \
    ((holds) ? (void)0 : ebb_misuse_of_block_((block), (what)))

/* Whether the scope of a heap is open and, as far as this thread knows, the one that was open when
 * the heap was initialised. */
EBB_STATIC_ bool ebb_is_of_scope_(ebb_heap *heap) {
    const size_t now = ebb_openings_();
    if (!ebb_is_open(heap->scope_))
        return false;
    if (heap->openings_ != now) {
        if (heap->openings_ != SIZE_MAX &&
            ebb_opened_since_(ebb_owner_(heap->scope_), heap->openings_))
            return false;
        heap->openings_ = now;
    }
    return true;
}

/* Whether a tool knows which bytes are accessible, and whether a byte is. */
#if EBB_ASAN_
#define EBB_TOOL_RUNS_ true
EBB_INLINE_ bool ebb_is_accessible_(const void *byte) {
    return __asan_address_is_poisoned(byte) == 0;
}
#elif EBB_VALGRIND
#define EBB_TOOL_RUNS_ (RUNNING_ON_VALGRIND != 0)
EBB_INLINE_ bool ebb_is_accessible_(const void *byte) {
    unsigned char bits;
    return VALGRIND_GET_VBITS(byte, &bits, 1) == 1;
}
#else
#define EBB_TOOL_RUNS_ false
#define ebb_is_accessible_(byte) ((void)(byte), true)
#endif

/* Whether a block of a list is still the heap's. A block after which the scope was rewound is not,
 * and may have been allocated again. */
EBB_STATIC_ bool ebb_is_recyclable_(ebb_heap *heap, const ebb_free_block_ *block,
                                    ebb_free_block_ **list) {
    if (!ebb_is_of_scope_(heap) || !ebb_owns(heap->scope_, block))
        return false;
    if (EBB_TOOL_RUNS_ && ebb_is_accessible_(block))
        return false;
    return ebb_read_free_(block).mark == ebb_mark_of_(list);
}

/* Whether a block that the program passes is in use. */
EBB_STATIC_ bool ebb_is_in_use_(ebb_heap *heap, const void *block, size_t size) {
    ebb_free_block_ **const list = &heap->free_[ebb_class_of_(size).index];
    const ebb_free_block_ *at = *list;
    if (!ebb_is_of_scope_(heap) || !ebb_owns(heap->scope_, block))
        return false;
    if (EBB_TOOL_RUNS_) {
        if (size > 0)
            return ebb_is_accessible_(block);
    } else {
        /* The block can contain anything, also what a freed one does. */
        ebb_free_block_ contents;
        memcpy(&contents, block, sizeof contents);
        if (contents.mark != ebb_mark_of_(list))
            return true;
    }
    while (at != NULL && (const void *)at != block)
        at = ebb_read_free_(at).next;
    return at == NULL;
}
#else
#define EBB_CHECK_BLOCK_(block, holds, what) ((void)0)
#endif

/* ------------------------------------------------------------------ a heap */

/** Initialises a heap over a scope, which may be closed: allocating then fails. */
EBB_INLINE_ void ebb_heap_init(ebb_heap *heap, ebb_scope *scope) {
    EBB_CHECK_(scope != NULL, "a scope is null");
    memset(heap, 0, sizeof *heap);
    heap->scope_ = scope;
    heap->openings_ = EBB_CHECKS ? ebb_openings_() : SIZE_MAX;
}

/** A block of `size` bytes, aligned to 16: a freed one of the same class, or one from the low end
 * of the scope. */
EBB_INLINE_ void *ebb_heap_alloc(ebb_heap *heap, size_t size) {
    ebb_class_ class_of_size;
    ebb_free_block_ **list;
    void *block;
    EBB_CHECK_HEAP_(heap);
    if (!EBB_LIKELY_(size <= (size_t)PTRDIFF_MAX)) {
        ebb_fail_(EBB_SIZE);
        return NULL;
    }
    class_of_size = ebb_class_of_(size);
    list = &heap->free_[class_of_size.index];
    block = *list;
    if (EBB_LIKELY_(block != NULL)) {
        EBB_CHECK_BLOCK_(block, ebb_is_recyclable_(heap, *list, list),
                         "a heap is used after its scope was closed or rewound, or a freed block "
                         "was written to");
        *list = ebb_read_free_(*list).next;
    } else {
        block = ebb_refill_low_(heap->scope_, ebb_padded_(class_of_size.capacity), 16);
        if (block == NULL)
            return NULL;
    }
#if EBB_CHECKS && !EBB_GUARDS_
    ((ebb_free_block_ *)block)->mark = 0;
#endif
    ebb_guard_block_(block, size, class_of_size.capacity);
    return block;
}

/** Frees a block of this heap, whose size was `size`. No-op for NULL. */
EBB_INLINE_ void ebb_heap_free(ebb_heap *heap, void *block, size_t size) {
    const ebb_class_ class_of_size = ebb_class_of_(size);
    EBB_CHECK_HEAP_(heap);
    if (block == NULL)
        return;
    EBB_CHECK_BLOCK_(block, ebb_is_in_use_(heap, block, size),
                     "a block is freed twice, or after its scope was closed or rewound");
    if (ebb_is_last_(heap->scope_, block, class_of_size.capacity)) {
        heap->scope_->low_ = (char *)block;
    } else {
        ebb_free_block_ *const freed = (ebb_free_block_ *)block;
        ebb_unpoison_(freed, sizeof *freed); /* The block may be smaller. */
        freed->next = heap->free_[class_of_size.index];
        freed->mark = ebb_mark_of_(&heap->free_[class_of_size.index]);
        heap->free_[class_of_size.index] = freed;
    }
    ebb_poison_(block, class_of_size.capacity);
}

/** Resizes a block of this heap: in place within its class, or if no block of the new class is
 * free, the block is the last one at the low end, and there is room; otherwise by copying. If the
 * block is NULL, allocates one. On failure the block is unchanged. Shrinking never fails. A
 * `new_size` of 0 leaves a block, too. */
EBB_STATIC_ void *ebb_heap_resize(ebb_heap *heap, void *block, size_t old_size, size_t new_size) {
    ebb_class_ from, to;
    ebb_status before;
    void *moved;
    EBB_CHECK_HEAP_(heap);
    if (block == NULL)
        return ebb_heap_alloc(heap, new_size);
    EBB_CHECK_BLOCK_(block, ebb_is_in_use_(heap, block, old_size),
                     "a block is resized after it was freed, or its scope closed or rewound");
    if (new_size > (size_t)PTRDIFF_MAX) {
        ebb_fail_(EBB_SIZE);
        return NULL;
    }
    from = ebb_class_of_(old_size);
    to = ebb_class_of_(new_size);
    if (from.index != to.index) {
        /* A free block of the class is used first. Otherwise blocks that change their class in
         * place
           would add up, and those that they could use would stay free. */
        if (heap->free_[to.index] == NULL &&
            ebb_is_last_(heap->scope_, block, from.capacity) &&
            ebb_padded_(to.capacity) <= heap->scope_->top_ - (uintptr_t)block) {
            heap->scope_->low_ = (char *)block + ebb_padded_(to.capacity);
        } else {
            before = ebb_last_status();
            moved = ebb_heap_alloc(heap, new_size);
            if (moved != NULL) {
                memcpy(moved, block, old_size < new_size ? old_size : new_size);
                ebb_heap_free(heap, block, old_size);
                return moved;
            }
            if (new_size > old_size)
                return NULL;
            /* The bytes behind the smaller class are lost until the scope ends. */
            ebb_fail_((int)before);
        }
    }
    if (new_size > old_size) {
        ebb_poison_((char *)block + old_size, ebb_padded_(to.capacity) - old_size);
        ebb_unpoison_((char *)block + old_size, new_size - old_size);
    } else {
        ebb_poison_((char *)block + new_size, old_size - new_size);
    }
    return block;
}

/* ------------------------------------------------------- the C library's functions */

/* The header of a hook block. */
typedef struct ebb_hook_ {
    ebb_heap *heap; /* NULL if the C library owns the block */
    size_t size;    /* without the header */
} ebb_hook_;

/* The bytes of a header, for blocks to be aligned to 16. */
#define EBB_HOOK_ ((size_t)16)

/* The size that a freed block has with EBB_CHECKS. */
#define EBB_FREED_ SIZE_MAX

/** Makes a heap the current one of this thread, and returns the previous one. With NULL, as at the
 * start of a thread, hook blocks come from the C library. Make the previous heap the current one
 * again before the scope closes. If a shared library contains a copy of this library, it has a
 * current heap of its own. */
EBB_INLINE_ ebb_heap *ebb_heap_use(ebb_heap *heap) {
    return (ebb_heap *)ebb_replace_current_heap_(heap);
}

EBB_INLINE_ ebb_hook_ *ebb_hook_of_(const void *block) {
    return (ebb_hook_ *)(uintptr_t)((const char *)block - EBB_HOOK_);
}

/* Writes the header of a new or resized block, and returns the bytes behind it. */
EBB_INLINE_ void *ebb_hooked_(void *start, ebb_heap *heap, size_t size) {
    ebb_hook_ *const hook = (ebb_hook_ *)start;
    if (hook == NULL) {
        if (heap == NULL)
            ebb_fail_(EBB_NO_MEMORY);
        return NULL;
    }
    hook->heap = heap;
    hook->size = size;
    return (char *)start + EBB_HOOK_;
}

/* Whether a block with a header may have this size. A freed one has another. */
EBB_INLINE_ bool ebb_is_hook_size_(size_t size) {
    return size <= (size_t)PTRDIFF_MAX - EBB_HOOK_;
}

/* Whether a block can have a header; otherwise records why not. */
EBB_INLINE_ bool ebb_can_hook_(size_t size) {
    if (EBB_LIKELY_(ebb_is_hook_size_(size)))
        return true;
    ebb_fail_(EBB_SIZE);
    return false;
}

/* A block of a heap or, if that is NULL, of the C library. */
EBB_INLINE_ void *ebb_hook_malloc_in_(ebb_heap *heap, size_t size) {
    void *start;
    if (!ebb_can_hook_(size))
        return NULL;
    start = heap != NULL ? ebb_heap_alloc(heap, EBB_HOOK_ + size) : malloc(EBB_HOOK_ + size);
    return ebb_hooked_(start, heap, size);
}

/** A block of `size` bytes of the current heap, aligned like malloc's. */
EBB_STATIC_ void *ebb_hook_malloc(size_t size) {
    return ebb_hook_malloc_in_((ebb_heap *)ebb_current_heap_(), size);
}

/** Frees a block of any heap, or of the C library, that these functions returned. No-op for NULL.
 * */
EBB_STATIC_ void ebb_hook_free(void *block) {
    ebb_hook_ *hook;
    if (block == NULL)
        return;
    hook = ebb_hook_of_(block);
    EBB_CHECK_(ebb_is_hook_size_(hook->size), "a block is freed twice");
    if (hook->heap == NULL) {
        free(hook);
    } else {
        ebb_heap *const heap = hook->heap;
        const size_t size = hook->size;
#if EBB_CHECKS
        hook->size = EBB_FREED_;
#endif
        ebb_heap_free(heap, hook, EBB_HOOK_ + size);
    }
}

/** Resizes a block of any heap, or of the C library, where it then still belongs. If the block is
 * NULL, allocates one from the current heap. On failure the block is unchanged. A size of 0 leaves
 * a block. */
EBB_STATIC_ void *ebb_hook_realloc(void *block, size_t size) {
    ebb_hook_ *hook;
    ebb_heap *heap;
    void *start;
    if (block == NULL)
        return ebb_hook_malloc(size);
    if (!ebb_can_hook_(size))
        return NULL;
    hook = ebb_hook_of_(block);
    EBB_CHECK_(ebb_is_hook_size_(hook->size), "a freed block is resized");
    heap = hook->heap;
    start = heap != NULL
                ? ebb_heap_resize(heap, hook, EBB_HOOK_ + hook->size, EBB_HOOK_ + size)
                : realloc(hook, EBB_HOOK_ + size);
    return ebb_hooked_(start, heap, size);
}

/** A block for `count` elements of `size` bytes, all 0. ::EBB_SIZE if the product is too large. */
EBB_STATIC_ void *ebb_hook_calloc(size_t count, size_t size) {
    ebb_heap *const heap = (ebb_heap *)ebb_current_heap_();
    void *block;
    if (size != 0 && count > (size_t)PTRDIFF_MAX / size) {
        ebb_fail_(EBB_SIZE);
        return NULL;
    }
    if (!ebb_can_hook_(count * size))
        return NULL;
    if (heap == NULL)
        return ebb_hooked_(calloc(1, EBB_HOOK_ + count * size), NULL, count * size);
    block = ebb_hook_malloc_in_(heap, count * size);
    return block == NULL ? NULL : memset(block, 0, count * size);
}

/** The size that was requested for a block; 0 for NULL. */
EBB_STATIC_ size_t ebb_hook_size(const void *block) {
    return block == NULL ? 0 : ebb_hook_of_(block)->size;
}

/** A copy of a string, in a block of the current heap. */
EBB_STATIC_ char *ebb_hook_strdup(const char *from) {
    char *copy;
    size_t size;
    if (from == NULL) {
        ebb_fail_(EBB_NULL);
        return NULL;
    }
    size = strlen(from) + 1;
    copy = (char *)ebb_hook_malloc(size);
    return copy == NULL ? NULL : (char *)memcpy(copy, from, size);
}

/* ------------------------------------------------------------ hooks of libraries */

/** Lua's `lua_Alloc`: `lua_newstate(ebb_lua_alloc, &heap)`. */
EBB_STATIC_ void *ebb_lua_alloc(void *heap, void *block, size_t old_size, size_t new_size) {
    if (new_size == 0) {
        ebb_heap_free((ebb_heap *)heap, block, block == NULL ? 0 : old_size);
        return NULL;
    }
    /* Without a block, Lua passes the kind of the new object as its old size. */
    return ebb_heap_resize((ebb_heap *)heap, block, old_size, new_size);
}

/** zlib's `alloc_func`: `stream.zalloc = ebb_zlib_alloc; stream.zfree = ebb_zlib_free;
 *  stream.opaque = &heap;`. With a null heap, blocks come from the C library. */
EBB_STATIC_ void *ebb_zlib_alloc(void *heap, unsigned count, unsigned size) {
    if (size != 0 && count > (size_t)PTRDIFF_MAX / size) {
        ebb_fail_(EBB_SIZE);
        return NULL;
    }
    return ebb_hook_malloc_in_((ebb_heap *)heap, (size_t)count * size);
}

/** zlib's `free_func`; see ::ebb_zlib_alloc. */
EBB_STATIC_ void ebb_zlib_free(void *heap, void *block) {
    (void)heap;
    ebb_hook_free(block);
}

/** For libraries that pass a context first and no size to free or resize, such as Duktape:
 *  `duk_create_heap(ebb_context_malloc, ebb_context_realloc, ebb_context_free, &heap, NULL)`. The
 *  blocks have headers like hook blocks, and may be passed to their functions. With a null heap,
 *  blocks come from the C library. */
EBB_STATIC_ void *ebb_context_malloc(void *heap, size_t size) {
    return ebb_hook_malloc_in_((ebb_heap *)heap, size);
}

/** Resizes a block of any heap, or allocates one in this heap; see ::ebb_context_malloc. */
EBB_STATIC_ void *ebb_context_realloc(void *heap, void *block, size_t size) {
    return block == NULL ? ebb_context_malloc(heap, size) : ebb_hook_realloc(block, size);
}

/** Frees a block; see ::ebb_context_malloc. */
EBB_STATIC_ void ebb_context_free(void *heap, void *block) {
    (void)heap;
    ebb_hook_free(block);
}

/** MuJS's `js_Alloc`: `js_newstate(ebb_mujs_alloc, &heap, 0)`. */
EBB_STATIC_ void *ebb_mujs_alloc(void *heap, void *block, int size) {
    if (size > 0)
        return ebb_context_realloc(heap, block, (size_t)size);
    ebb_hook_free(block);
    return NULL;
}

/* yyjson passes the old size. */
EBB_STATIC_ void *ebb_yyjson_realloc_(void *heap, void *block, size_t old_size, size_t size) {
    (void)old_size;
    return ebb_context_realloc(heap, block, size);
}

/** yyjson: `yyjson_alc alc = EBB_YYJSON_ALC(&heap);`, to pass to the functions that take one. */
#define EBB_YYJSON_ALC(heap)                                                                       \
    { ebb_context_malloc, ebb_yyjson_realloc_, ebb_context_free, (heap) }

/* SQLite's sizes are ints. It asks for no block of 2^31 bytes. */
EBB_STATIC_ void *ebb_sqlite_malloc_(int size) {
    return ebb_hook_malloc((size_t)size);
}
EBB_STATIC_ void *ebb_sqlite_realloc_(void *block, int size) {
    return ebb_hook_realloc(block, (size_t)size);
}
EBB_STATIC_ int ebb_sqlite_size_(void *block) {
    return (int)ebb_hook_size(block);
}
EBB_STATIC_ int ebb_sqlite_roundup_(int size) {
    return (size + 7) & ~7;
}
EBB_STATIC_ int ebb_sqlite_init_(void *data) {
    (void)data;
    return 0;
}
EBB_STATIC_ void ebb_sqlite_shutdown_(void *data) {
    (void)data;
}

/** SQLite: `sqlite3_mem_methods methods = EBB_SQLITE_METHODS;`, then
 *  `sqlite3_config(SQLITE_CONFIG_MALLOC, &methods)` and `sqlite3_initialize()` before any heap is
 *  current. Databases that are opened while a heap is current must be closed before its scope. */
#define EBB_SQLITE_METHODS                                                                         \
    {                                                                                              \
        ebb_sqlite_malloc_, ebb_hook_free, ebb_sqlite_realloc_, ebb_sqlite_size_,                  \
            ebb_sqlite_roundup_, ebb_sqlite_init_, ebb_sqlite_shutdown_, NULL                      \
    }

/** libxml2: `xmlMemSetup(EBB_XML_FUNCTIONS)`, then `xmlInitParser()` before any heap is current.
 *  Call `xmlResetLastError()` before the heap's scope closes. */
#define EBB_XML_FUNCTIONS ebb_hook_free, ebb_hook_malloc, ebb_hook_realloc, ebb_hook_strdup

/** expat: `XML_Memory_Handling_Suite suite = EBB_EXPAT_SUITE;`, for `XML_ParserCreate_MM`. */
#define EBB_EXPAT_SUITE                                                                            \
    { ebb_hook_malloc, ebb_hook_realloc, ebb_hook_free }

/** cJSON: `cJSON_Hooks hooks = EBB_CJSON_HOOKS;`, then `cJSON_InitHooks(&hooks)`. */
#define EBB_CJSON_HOOKS                                                                            \
    { ebb_hook_malloc, ebb_hook_free }

/* stb: `#define EBB_STB` before `#include <ebbtide_hooks.h>`, and both before stb's headers. The
 * end
   of this file then defines the macros by which those allocate. */

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__) && defined(__cplusplus)
#pragma GCC diagnostic pop
#endif

#endif /* EBB_VERSION */

#endif

/* Outside of the guard: another file may have included this one without EBB_STB. */
#if defined(EBB_STB) && !defined(STBI_MALLOC)
#define STBI_MALLOC(size) ebb_hook_malloc(size)
#define STBI_REALLOC(block, size) ebb_hook_realloc((block), (size))
#define STBI_FREE(block) ebb_hook_free(block)
#define STBIW_MALLOC(size) ebb_hook_malloc(size)
#define STBIW_REALLOC(block, size) ebb_hook_realloc((block), (size))
#define STBIW_FREE(block) ebb_hook_free(block)
#define STBIR_MALLOC(size, context) ((void)(context), ebb_hook_malloc(size))
#define STBIR_FREE(block, context) ((void)(context), ebb_hook_free(block))
#define STBTT_malloc(size, context) ((void)(context), ebb_hook_malloc(size))
#define STBTT_free(block, context) ((void)(context), ebb_hook_free(block))
#define STBDS_REALLOC(context, block, size) ((void)(context), ebb_hook_realloc((block), (size)))
#define STBDS_FREE(context, block) ((void)(context), ebb_hook_free(block))
#endif
