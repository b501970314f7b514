/* Memory and scopes for C: the functions of `ebbtide_new.h`, each with the owner of its thread; and
 * the C library's functions for blocks of scopes. */
#define _GNU_SOURCE
#include "thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

__attribute__((tls_model("initial-exec"), visibility("hidden")))
_Thread_local struct ebb_owner ebb_owner_;

static void *outside(size_t size) { return malloc(EBB_AT_LEAST_(size)); }

static void *failed(int error) {
    errno = error;
    return NULL;
}

void *ebb_malloc(size_t size) { return ebb_begin_(ebb_alloc_(size, &ebb_owner_, outside)); }

void *ebb_calloc(size_t count, size_t size) {
    if (size > 0 && count > SIZE_MAX / size) return failed(ENOMEM);
    void *block = ebb_begin_zeros_(count * size);
    if (block) return block;
    return calloc(1, EBB_AT_LEAST_(count * size));
}

void *ebb_aligned_alloc(size_t align, size_t size) {
    if (align == 0 || (align & (align - 1))) return failed(EINVAL);
    void *block = ebb_alloc_aligned_(size, align, &ebb_owner_);
    if (block) return ebb_begin_(block);
    if (align < EBB_LEAST_) align = EBB_LEAST_;
    int error = posix_memalign(&block, align, size > 0 ? size : 1);
    return error ? failed(error) : block;
}

void *ebb_realloc(void *block, size_t size) {
    if (!block) return ebb_malloc(size);
    block = ebb_resize_(block, size);
    return block ? block : failed(ENOMEM);
}

void ebb_free(void *block) { ebb_end_(block); }

bool ebb_is_in_arena(const void *block) {
    return ebb_usable_size_((void *)(uintptr_t)block, &ebb_owner_) > 0;
}

size_t malloc_usable_size(void *block);

size_t ebb_usable_size(void *block) {
    size_t size = ebb_usable_size_(block, &ebb_owner_);
    return size > 0 ? size : malloc_usable_size(block);
}

ebb_ticket ebb_enter(void) { return ebb_enter_(__builtin_return_address(0), &ebb_owner_); }

ebb_ticket ebb_enter_with(const ebb_scope_options *options) {
    return ebb_enter_with_(options, __builtin_return_address(0), &ebb_owner_);
}

ebb_ticket ebb_enter_outside(void) { return ebb_enter_outside_(&ebb_owner_); }

void ebb_leave(ebb_ticket ticket) { ebb_leave_(ticket, &ebb_owner_); }

/* Called by the header, which sets the size. */
void(ebb_report)(ebb_figures *figures) {
    if (!figures) return;
    ebb_figures all;
    ebb_report_(&all, &ebb_owner_);
    all.size = figures->size;
    memcpy(figures, &all, all.size < sizeof all ? all.size : sizeof all);
}

size_t ebb_report_text(char *buffer, size_t size) {
    return ebb_report_text_(buffer, buffer ? size : 0, &ebb_owner_);
}

void ebb_release(void) { ebb_release_(&ebb_owner_); }

/* `free`, `realloc`, `reallocarray` and `malloc_usable_size` serve blocks of scopes, too: a program
 * may free by `free` what it allocated by `new`, as long as both take memory from the C library, and
 * ask for the usable size of such a block. Any other block is passed on: to the C library, or to an
 * allocator that is preloaded.
 *
 * They are weak: if the program contains an allocator, that has its own, and does not change. Nor
 * does a sanitizer, which reports a block of a scope as one that was not allocated. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    EBB_HAS_FEATURE_(address_sanitizer) || EBB_HAS_FEATURE_(thread_sanitizer) ||                   \
    EBB_HAS_FEATURE_(memory_sanitizer)

void ebb_free_outside_(void *block) { free(block); }

#else

/* Whether this thread calls `dlsym`, which may free the text of an earlier error. Volatile, because
 * the C library declares that `dlsym` does not call back into this file. */
__attribute__((tls_model("initial-exec"))) static _Thread_local volatile int is_searching;

static void *find(const char *name) {
    is_searching = 1;
    void *found = dlsym(RTLD_NEXT, name);
    is_searching = 0;
    return found;
}

/* Sets a function of another allocator: the program's, if that is not ours, or else the next one
 * that the dynamic linker finds, if any. Threads that come here together find the same. */
#define FIND_(next, function, ours)                                                                \
    do {                                                                                           \
        __typeof__(&(function)) found_ = (function);                                               \
        if (found_ == (ours)) {                                                                    \
            void *address_ = find(#function);                                                      \
            memcpy(&found_, &address_, sizeof found_);                                             \
        }                                                                                          \
        if (found_) __atomic_store_n(&(next), found_, __ATOMIC_RELAXED);                           \
    } while (0)

static void find_free(void *block);
static void *find_realloc(void *block, size_t size);
static size_t find_usable_size(void *block);

static void (*next_free)(void *block) = find_free;
static void *(*next_realloc)(void *block, size_t size) = find_realloc;
static size_t (*next_usable_size)(void *block) = find_usable_size;

void ebb_free_outside_(void *block) { __atomic_load_n(&next_free, __ATOMIC_RELAXED)(block); }

static void our_free(void *block) { ebb_free_(block, &ebb_owner_); }

/* For a size of 0, C libraries differ: some free the block and return null, others keep a block. So
 * this one is asked to resize a block of its own, and the block of the scope is freed. */
static void *our_realloc(void *block, size_t size) {
    if (ebb_usable_size_(block, &ebb_owner_) > 0) {
        if (size > 0) return ebb_realloc(block, size);
        void *of_the_library = malloc(1);
        if (!of_the_library) return failed(ENOMEM);
        ebb_free(block);
        block = of_the_library;
    }
    return __atomic_load_n(&next_realloc, __ATOMIC_RELAXED)(block, size);
}

static void *our_reallocarray(void *block, size_t count, size_t size) {
    if (size > 0 && count > SIZE_MAX / size) return failed(ENOMEM);
    return realloc(block, count * size);
}

static size_t our_usable_size(void *block) {
    size_t size = ebb_usable_size_(block, &ebb_owner_);
    return size > 0 ? size : __atomic_load_n(&next_usable_size, __ATOMIC_RELAXED)(block);
}

void free(void *block) __attribute__((weak, alias("our_free")));
void *realloc(void *block, size_t size) __attribute__((weak, alias("our_realloc")));
void *reallocarray(void *block, size_t count, size_t size)
    __attribute__((weak, alias("our_reallocarray")));
size_t malloc_usable_size(void *block) __attribute__((weak, alias("our_usable_size")));

/* The C library's other name for its own function: in a static executable, its `malloc_usable_size`
 * is weak as well, and ours comes first. */
size_t __malloc_usable_size(void *block) __attribute__((weak));

/* Before `main`, because `dlsym` drops the text of an error that the program has not read yet. Other
 * libraries, whose constructors run earlier, may already free blocks. */
__attribute__((constructor(101))) static void find_all(void) {
    FIND_(next_free, free, our_free);
    FIND_(next_realloc, realloc, our_realloc);
    if (__malloc_usable_size)
        next_usable_size = __malloc_usable_size;
    else
        FIND_(next_usable_size, malloc_usable_size, our_usable_size);
}

static void find_free(void *block) {
    if (is_searching) return; /* This text, once in a process, is not freed. */
    find_all();
    if (next_free == find_free) abort();
    next_free(block);
}

static void *find_realloc(void *block, size_t size) {
    find_all();
    if (next_realloc == find_realloc) abort();
    return next_realloc(block, size);
}

static size_t find_usable_size(void *block) {
    find_all();
    if (next_usable_size == find_usable_size) abort();
    return next_usable_size(block);
}

#endif
