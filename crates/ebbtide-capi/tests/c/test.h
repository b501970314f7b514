/* Assertions that also hold with NDEBUG. */
#ifndef TEST_H
#define TEST_H

#include "ebbtide.h"

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The call fails with this status, and with a null pointer. */
#define EXPECT_FAILS(status, call)                                                                 \
    do {                                                                                           \
        EXPECT((call) == NULL);                                                                    \
        EXPECT(ebb_last_status() == (status));                                                     \
    } while (0)

#define EXPECT_TEXT(text, expected) EXPECT(strcmp((text), (expected)) == 0)

/* An arena for a test over every kind: grows, over a buffer, spilling. */
enum { KINDS = 4, BUFFER = 64 * 1024 };

static inline ebb_arena *arena_of_kind(int kind, ebb_arena_storage *storage, void *buffer) {
    switch (kind) {
    case 0: return ebb_arena_new(NULL);
    case 1: return ebb_arena_new_in(storage, NULL);
    case 2: return ebb_fixed_new(storage, buffer, BUFFER);
    default: return ebb_spilling_new(storage, buffer, 1008, NULL);
    }
}

static inline size_t used(const ebb_scope *scope) {
    ebb_stats stats;
    EXPECT(ebb_scope_stats(scope, &stats) == EBB_OK);
    return stats.used;
}

static inline size_t held(const ebb_arena *arena) {
    ebb_stats stats;
    EXPECT(ebb_arena_stats(arena, &stats) == EBB_OK);
    return stats.held;
}

#endif
