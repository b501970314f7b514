/* Memory and scopes for C: the functions of `ebbtide_new.h`, each with the owner of its thread. */
#define _POSIX_C_SOURCE 200112L
#include "thread.h"

#include <errno.h>
#include <stdlib.h>

__attribute__((tls_model("initial-exec"), visibility("hidden")))
_Thread_local struct ebb_owner ebb_owner_;

/* The C library may return null for 0 bytes. */
static void *outside(size_t size) { return malloc(size > 0 ? size : 1); }

static void *failed(int error) {
    errno = error;
    return NULL;
}

void *ebb_malloc(size_t size) { return ebb_begin_(ebb_alloc_(size, &ebb_owner_, outside)); }

void *ebb_calloc(size_t count, size_t size) {
    if (size > 0 && count > SIZE_MAX / size) return failed(ENOMEM);
    void *block = ebb_begin_zeros_(count * size);
    if (block) return block;
    return count * size > 0 ? calloc(count, size) : calloc(1, 1);
}

void *ebb_aligned_alloc(size_t align, size_t size) {
    if (align == 0 || (align & (align - 1))) return failed(EINVAL);
    void *block = ebb_alloc_aligned_(size, align, &ebb_owner_);
    if (block) return ebb_begin_(block);
    if (align < sizeof(void *)) align = sizeof(void *);
    int error = posix_memalign(&block, align, size > 0 ? size : 1);
    return error ? failed(error) : block;
}

void *ebb_realloc(void *block, size_t size) {
    if (!block) return ebb_malloc(size);
    block = ebb_resize_(block, size);
    return block ? block : failed(ENOMEM);
}

void ebb_free(void *block) { ebb_end_(block); }

size_t ebb_usable_size(void *block) { return ebb_usable_size_(block, &ebb_owner_); }

ebb_ticket ebb_enter(void) { return ebb_enter_(&ebb_owner_); }

ebb_ticket ebb_enter_with(const ebb_scope_options *options) {
    return ebb_enter_with_(options, &ebb_owner_);
}

ebb_ticket ebb_enter_outside(void) { return ebb_enter_outside_(&ebb_owner_); }

void ebb_leave(ebb_ticket ticket) { ebb_leave_(ticket, &ebb_owner_); }

void ebb_report(ebb_figures *figures) {
    if (figures) ebb_report_(figures, &ebb_owner_);
}

size_t ebb_report_text(char *buffer, size_t size) {
    return ebb_report_text_(buffer, buffer ? size : 0, &ebb_owner_);
}

void ebb_release(void) { ebb_release_(&ebb_owner_); }
