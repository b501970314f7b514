// Checks what each function of the allocator promises.

#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                   \
    do {                                                                   \
        if (!(condition)) {                                                \
            printf("line %d, round %d: %s\n", __LINE__, round, #condition); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static int round;
static void *volatile kept;
static volatile size_t huge = SIZE_MAX / 2, overflowing = SIZE_MAX / 4;

static int is_filled(const unsigned char *block, int byte, size_t size) {
    for (size_t index = 0; index < size; index++) {
        if (block[index] != (unsigned char)byte) {
            return 0;
        }
    }
    return 1;
}

static void resizes(void) {
    unsigned char *block = realloc(NULL, 1 + (size_t)round % 50);
    CHECK(block != NULL);
    size_t size = 1 + (size_t)round % 50;
    memset(block, round, size);
    const size_t sizes[] = {100, 90, 5000, 70, 300000, 299999, 400, 3, 3000000, 17};
    for (size_t index = 0; index < sizeof sizes / sizeof *sizes; index++) {
        unsigned char *moved = realloc(block, sizes[index]);
        CHECK(moved != NULL && (uintptr_t)moved % 16 == 0);
        CHECK(malloc_usable_size(moved) >= sizes[index]);
        CHECK(is_filled(moved, round, size < sizes[index] ? size : sizes[index]));
        size = sizes[index];
        memset(moved, round, size);
        block = moved;
    }
    // A block that cannot grow is as it was.
    errno = 0;
    CHECK(realloc(block, huge) == NULL && errno == ENOMEM);
    CHECK(is_filled(block, round, size));
    block = reallocarray(block, 10, 100);
    CHECK(block != NULL && is_filled(block, round, 17));
    errno = 0;
    CHECK(reallocarray(block, overflowing, 8) == NULL && errno == ENOMEM);
    CHECK(realloc(block, 0) == NULL);
}

static void zeroes(void) {
    const size_t sizes[] = {1, 40, 1000, 70000, 140000, 1000000};
    for (size_t index = 0; index < sizeof sizes / sizeof *sizes; index++) {
        unsigned char *used = malloc(sizes[index]);
        CHECK(used != NULL);
        memset(used, 0xAB, malloc_usable_size(used));
        kept = used;
        free(used);
        unsigned char *block = calloc(sizes[index], 1);
        CHECK(block != NULL && is_filled(block, 0, sizes[index]));
        memset(block, 0xCD, sizes[index]);
        free(block);
        block = calloc(7, sizes[index]);
        CHECK(block != NULL && is_filled(block, 0, 7 * sizes[index]));
        kept = block;
        free(block);
    }
    errno = 0;
    CHECK(calloc(overflowing, 8) == NULL && errno == ENOMEM);
    void *none = calloc(0, 8), *other = malloc(0);
    CHECK(none != NULL && other != NULL && none != other);
    free(none);
    free(other);
    free(NULL);
    errno = 0;
    CHECK(malloc(huge) == NULL && errno == ENOMEM);
}

static void aligns(void) {
    void *blocks[3 * 13];
    int count = 0;
    for (size_t align = 1; align <= 4096; align *= 2) {
        size_t size = align * 3;
        if (align >= sizeof(void *)) {
            CHECK(posix_memalign(&blocks[count], align, size + 1) == 0);
            CHECK((uintptr_t)blocks[count] % align == 0);
            memset(blocks[count++], (int)align, size + 1);
        }
        blocks[count] = aligned_alloc(align, size);
        CHECK(blocks[count] != NULL && (uintptr_t)blocks[count] % align == 0);
        memset(blocks[count++], (int)align, size);
        blocks[count] = memalign(align, 5);
        CHECK(blocks[count] != NULL && (uintptr_t)blocks[count] % align == 0);
        CHECK(malloc_usable_size(blocks[count]) >= 5);
        memset(blocks[count], round, malloc_usable_size(blocks[count]));
        count++;
    }
    // An aligned block keeps its contents when it is resized.
    unsigned char *block = memalign(1024, 100);
    CHECK(block != NULL);
    memset(block, 0x5A, 100);
    block = realloc(block, 10000);
    CHECK(block != NULL && is_filled(block, 0x5A, 100));
    free(block);
    while (count > 0) {
        free(blocks[--count]);
    }
    void *untouched = &count;
    CHECK(posix_memalign(&untouched, 3, 8) == EINVAL && untouched == &count);
    CHECK(posix_memalign(&untouched, 0, 8) == EINVAL && untouched == &count);
    CHECK(posix_memalign(&untouched, 4, 8) == EINVAL && untouched == &count);
    CHECK(posix_memalign(&untouched, 64, huge) == ENOMEM);
    void *page = valloc(10);
    CHECK(page != NULL && (uintptr_t)page % 4096 == 0);
    free(page);
    CHECK(malloc_usable_size(NULL) == 0);
}

// Blocks that live at the same time do not overlap.
static void lie_apart(void) {
    enum { COUNT = 200 };
    unsigned char *blocks[COUNT];
    for (int index = 0; index < COUNT; index++) {
        blocks[index] = malloc((size_t)(index * index));
        CHECK(blocks[index] != NULL && (uintptr_t)blocks[index] % 16 == 0);
        memset(blocks[index], index, (size_t)(index * index));
    }
    for (int index = 0; index < COUNT; index++) {
        CHECK(is_filled(blocks[index], index, (size_t)(index * index)));
        free(blocks[index]);
    }
}

// `free` and the functions that succeed do not change `errno`.
static void leave_errno(void) {
    errno = 77;
    void *block = malloc(30);
    CHECK(block != NULL && errno == 77);
    block = realloc(block, 9000);
    CHECK(block != NULL && errno == 77);
    free(block);
    CHECK(errno == 77);
}

int main(void) {
    for (round = 1; round <= 12; round++) {
        resizes();
        zeroes();
        aligns();
        lie_apart();
        leave_errno();
    }
    char *text = strdup("a copy");
    CHECK(text != NULL && strcmp(text, "a copy") == 0);
    free(text);
    printf("all of it\n");
    return 0;
}
