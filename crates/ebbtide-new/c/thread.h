/* The owner of each thread, and the library's functions for `malloc.c` and `operators.cpp`. Not
 * installed. */
#ifndef EBB_NEW_THREAD_H
#define EBB_NEW_THREAD_H

#include "ebbtide_new.h"

#ifdef __cplusplus
#define EBB_ALIGN_(n) alignas(n)
extern "C" {
#else
#define EBB_ALIGN_(n) _Alignas(n)
#endif

/* The library checks that an owner is not larger. All-zero bytes are an owner that has not opened a
 * scope yet. */
struct ebb_owner {
    EBB_ALIGN_(64) unsigned char bytes[768];
};

/* With this TLS model, its address takes one addition, as long as the library is linked into the
 * program or into a shared library that is loaded at program start. */
extern __attribute__((tls_model("initial-exec"), visibility("hidden")))
#ifdef __cplusplus
__thread
#else
_Thread_local
#endif
struct ebb_owner ebb_owner_;

/* The bytes to request from the C library. Some allocators align a block of fewer than 16 bytes to
 * less than 16, and return null for 0 bytes. */
#define EBB_LEAST_ ((size_t)16)
#define EBB_AT_LEAST_(size) ((size) > EBB_LEAST_ ? (size) : EBB_LEAST_)

/* Only `ebb_alloc_`, which ends with a call of `outside`, may throw. */
#define EBB_NOTHROW_ __attribute__((nothrow))

typedef void *ebb_outside_function(size_t size);

void *ebb_alloc_(size_t size, struct ebb_owner *owner, ebb_outside_function *outside);
void *ebb_alloc_aligned_(size_t size, size_t align, struct ebb_owner *owner) EBB_NOTHROW_;
void *ebb_alloc_zeroed_(size_t size, struct ebb_owner *owner) EBB_NOTHROW_;
void ebb_free_(void *block, struct ebb_owner *owner) EBB_NOTHROW_;
void ebb_free_outside_(void *block) EBB_NOTHROW_;
void *ebb_realloc_(void *block, size_t size, struct ebb_owner *owner) EBB_NOTHROW_;
size_t ebb_usable_size_(void *block, struct ebb_owner *owner) EBB_NOTHROW_;
/* `site` is where the program opens the scope. */
uint64_t ebb_enter_(const void *site, struct ebb_owner *owner) EBB_NOTHROW_;
uint64_t ebb_enter_with_(const ebb_scope_options *options, const void *site,
                         struct ebb_owner *owner) EBB_NOTHROW_;
uint64_t ebb_enter_outside_(struct ebb_owner *owner) EBB_NOTHROW_;
void ebb_leave_(uint64_t ticket, struct ebb_owner *owner) EBB_NOTHROW_;
void ebb_report_(ebb_figures *figures, struct ebb_owner *owner) EBB_NOTHROW_;
size_t ebb_report_text_(char *buffer, size_t size, struct ebb_owner *owner) EBB_NOTHROW_;
void ebb_release_(struct ebb_owner *owner) EBB_NOTHROW_;

#ifdef __cplusplus
}
#endif

/* Tells the sanitizers when a block begins to belong to the program, and when it no longer does.
 * The library itself is not instrumented, but the C library's functions with which it fills and
 * copies blocks are.
 *
 * ThreadSanitizer does not see how the library orders freeing a block in one thread before reusing
 * its memory in another. Any two blocks in a chunk of 64 KiB may share memory one after the other,
 * so the chunk's address represents all of them.
 *
 * AddressSanitizer lets clang poison the length in front of an array of objects, and leaves
 * unpoisoning it to the allocator. */
#if defined(__has_feature)
#define EBB_HAS_FEATURE_(name) __has_feature(name)
#else
#define EBB_HAS_FEATURE_(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || EBB_HAS_FEATURE_(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#ifdef __cplusplus
extern "C" {
#endif
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#ifdef __cplusplus
}
#endif
#define EBB_CHUNK_OF_(block) ((void *)((uintptr_t)(block) & ~(uintptr_t)0xFFFF))
static inline void *ebb_begin_(void *block) {
    __tsan_acquire(EBB_CHUNK_OF_(block));
    return block;
}
static inline void *ebb_begin_zeros_(size_t size) {
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    void *block = ebb_alloc_zeroed_(size, &ebb_owner_);
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    return ebb_begin_(block);
}
static inline void *ebb_resize_(void *block, size_t size) {
    __tsan_release(EBB_CHUNK_OF_(block));
    int is_ours = ebb_usable_size_(block, &ebb_owner_) > 0;
    if (is_ours) AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    block = ebb_realloc_(block, size, &ebb_owner_);
    if (is_ours) AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    return ebb_begin_(block);
}
static inline void ebb_end_(void *block) {
    __tsan_release(EBB_CHUNK_OF_(block));
    int is_ours = ebb_usable_size_(block, &ebb_owner_) > 0;
    if (is_ours) AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    ebb_free_(block, &ebb_owner_);
    if (is_ours) AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}
#else
#define ebb_begin_(block) (block)
#define ebb_begin_zeros_(size) ebb_alloc_zeroed_(size, &ebb_owner_)
#if defined(__SANITIZE_ADDRESS__) || EBB_HAS_FEATURE_(address_sanitizer)
#include <sanitizer/asan_interface.h>
static inline void *ebb_unpoison_(void *block) {
    __asan_unpoison_memory_region(block, ebb_usable_size_(block, &ebb_owner_));
    return block;
}
#else
#define ebb_unpoison_(block) (block)
#endif
#define ebb_resize_(block, size) ebb_realloc_(ebb_unpoison_(block), size, &ebb_owner_)
#define ebb_end_(block) ebb_free_(ebb_unpoison_(block), &ebb_owner_)
#endif

#endif
