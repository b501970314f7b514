/* A library for LD_PRELOAD that counts the live blocks of each size over glibc's allocator. At the
   end of the program, it writes the counts at the peak to the file named by RECORD. */
#define _GNU_SOURCE
#include "classes.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static size_t live, peak, counts[CLASSES], peak_counts[CLASSES];

/* By usable size, because `free` does not know the size that was asked for. It is 8 bytes above a
   multiple of 16 in glibc. */
static size_t *count_of(void *block) {
    const size_t class = malloc_usable_size(block) / STEP;
    return block != NULL && class < CLASSES ? &counts[class] : NULL;
}

static void *add(void *block) {
    size_t *count = count_of(block);
    if (count == NULL)
        return block;
    __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
    /* Copying the counts at each step towards the peak would take too long. */
    if (__atomic_add_fetch(&live, 1, __ATOMIC_RELAXED) > peak + peak / 64) {
        peak = live;
        memcpy(peak_counts, counts, sizeof counts);
    }
    return block;
}

static void remove_(void *block) {
    size_t *count = count_of(block);
    if (count == NULL)
        return;
    __atomic_sub_fetch(count, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size) {
    return add(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
    return add(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size) {
    remove_(block);
    return add(__libc_realloc(block, size));
}

void free(void *block) {
    remove_(block);
    __libc_free(block);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return add(__libc_memalign(alignment, size));
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    *block = aligned_alloc(alignment, size);
    return *block == NULL ? ENOMEM : 0;
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("RECORD");
    FILE *file = path == NULL ? NULL : fopen(path, "w");
    if (file == NULL)
        return;
    for (size_t i = 0; i < CLASSES; i++)
        fprintf(file, "%s%zu", i == 0 ? "" : ",", peak_counts[i]);
    fclose(file);
}
