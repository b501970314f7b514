/* A library for LD_PRELOAD that makes a heap like that of a process that has run for long, before
   `main`. It does what `../litter.rs` does for programs in Rust, and takes the allocator from the
   program, or from a library that is preloaded after this one.

   LITTER is "SEED COUNTS BLOCKS PERCENT", where the counts are what `recorder.c` writes. Serves this
   many blocks with the sizes of the record in random order, and frees all but a share of them, in
   random order too. Then scatters up to 512 blocks, as in `../child.rs`. Without anything behind the
   seed, it does only that. */
#define _GNU_SOURCE
#include "classes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t state;

static size_t below(size_t bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state >> 11) % bound;
}

/* Drawn by order of magnitude. */
static size_t up_to(unsigned bits) {
    const size_t magnitude = below(bits + 1);
    return 1 + below((size_t)1 << magnitude);
}

static void *used_block(size_t size) {
    void *block = malloc(size);
    if (block == NULL)
        abort();
    return memset(block, 1, size);
}

static void scatter(void) {
    void *blocks[512];
    const size_t count = up_to(9);
    for (size_t i = 0; i < count; i++)
        blocks[i] = used_block(up_to(8));
    for (size_t i = 0; i < count; i++)
        if (below(2) == 0)
            free(blocks[i]);
}

/* The first class with a sum above `drawn`. */
static size_t class_of(const size_t *sums, size_t drawn) {
    size_t low = 0, high = CLASSES - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (sums[middle] > drawn)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void litter(const size_t *sums, size_t count, size_t percent) {
    /* Not on the heap. */
    void **blocks = mmap(NULL, count * sizeof *blocks, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (blocks == MAP_FAILED)
        abort();
    for (size_t i = 0; i < count; i++)
        blocks[i] = used_block(class_of(sums, below(sums[CLASSES - 1])) * STEP + STEP / 2);
    for (size_t i = count; i > 1; i--) {
        const size_t other = below(i);
        void *block = blocks[i - 1];
        blocks[i - 1] = blocks[other];
        blocks[other] = block;
    }
    for (size_t i = count * percent / 100; i < count; i++)
        free(blocks[i]);
    munmap(blocks, count * sizeof *blocks);
}

__attribute__((constructor)) static void prepare(void) {
    const char *text = getenv("LITTER");
    char *next;
    if (text == NULL)
        return;
    state = strtoull(text, &next, 10) * 0x9E3779B97F4A7C15U | 1;
    if (*next == ' ') {
        size_t sums[CLASSES], sum = 0;
        /* Behind a space or a comma. */
        for (size_t i = 0; i < CLASSES; i++)
            sums[i] = sum += strtoull(next + 1, &next, 10);
        const size_t count = strtoull(next, &next, 10);
        litter(sums, count, strtoull(next, NULL, 10));
    }
    scatter();
}
