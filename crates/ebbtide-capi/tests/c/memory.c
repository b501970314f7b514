/* Claim: an arena holds what it was allowed to, from the backing it was given, and gives it
 * back. */
#include "test.h"

#ifdef _WIN32
#include <malloc.h>
#define allocate_aligned _aligned_malloc
#define free_aligned _aligned_free
#else
static void *allocate_aligned(size_t size, size_t align) {
    return aligned_alloc(align, (size + align - 1) / align * align);
}
#define free_aligned free
#endif

struct counter {
    size_t blocks, bytes, calls;
};

static void *count_allocate(void *context, size_t size, size_t align) {
    struct counter *counter = context;
    EXPECT(align >= 16 && (align & (align - 1)) == 0);
    counter->blocks++;
    counter->bytes += size;
    counter->calls++;
    return allocate_aligned(size, align);
}

static void count_release(void *context, void *block, size_t size, size_t align) {
    struct counter *counter = context;
    EXPECT((uintptr_t)block % align == 0);
    counter->blocks--;
    counter->bytes -= size;
    memset(block, 0xDD, size); /* all of it is the backing's again */
    free_aligned(block);
}

static void every_block_goes_back_to_the_backing(void) {
    struct counter counter = {0, 0, 0};
    ebb_options options = EBB_OPTIONS_INIT;
    options.backing.allocate = count_allocate;
    options.backing.release = count_release;
    options.backing.context = &counter;
    static unsigned char buffer[1000];
    for (int kind = 0; kind < 3; kind++) {
        ebb_arena_storage storage;
        ebb_arena *arena = kind == 0   ? ebb_arena_new(&options)
                           : kind == 1 ? ebb_arena_new_in(&storage, &options)
                                       : ebb_spilling_new(&storage, buffer, sizeof buffer, &options);
        const size_t handle = counter.bytes;
        EXPECT((handle > 0) == (kind == 0));
        for (int turn = 0; turn < 3; turn++) {
            ebb_scope s = ebb_open(arena);
            for (int i = 0; i < 1000; i++)
                memset(ebb_alloc(&s, 500), i, 500);
            memset(ebb_alloc(&s, 1 << 20), 1, 1 << 20);
            EXPECT(held(arena) == counter.bytes - handle);
            EXPECT(ebb_close(&s) == EBB_OK);
        }
        const size_t calls = counter.calls;
        ebb_scope s = ebb_open(arena);
        for (int i = 0; i < 1000; i++)
            EXPECT(ebb_alloc(&s, 500) != NULL);
        EXPECT(ebb_close(&s) == EBB_OK);
        EXPECT(counter.calls == calls);
        if (kind != 2) {
            EXPECT(ebb_arena_shrink(arena, 100000) == EBB_OK);
            EXPECT(counter.bytes - handle <= 100000 && counter.bytes > handle);
        }
        EXPECT(ebb_arena_trim(arena) == EBB_OK);
        EXPECT(counter.blocks == (kind == 0 ? 2u : kind == 1 ? 1u : 0u));
        EXPECT(ebb_arena_shrink(arena, 0) == EBB_OK);
        EXPECT(counter.bytes == handle && held(arena) == 0);
        s = ebb_open(arena);
        for (int i = 0; i < 1000; i++)
            memset(ebb_alloc(&s, 500), i, 500);
        EXPECT(ebb_close(&s) == EBB_OK);
        EXPECT(ebb_arena_merge(arena) == EBB_OK);
        s = ebb_open(arena);
        for (int i = 0; i < 1000; i++)
            EXPECT(ebb_alloc(&s, 500) != NULL);
        ebb_stats stats;
        EXPECT(ebb_scope_stats(&s, &stats) == EBB_OK);
        EXPECT(stats.chunks == 1 || kind == 2);
        EXPECT(ebb_close(&s) == EBB_OK);
        EXPECT(ebb_arena_free(arena) == EBB_OK);
        EXPECT(counter.blocks == 0 && counter.bytes == 0);
    }
}

static void the_limit_is_exact(void) {
    ebb_options options = EBB_OPTIONS_INIT;
    options.limit = 10000;
    ebb_arena *arena = ebb_arena_new(&options);
    EXPECT(ebb_arena_limit(arena) == 10000);
    ebb_scope s = ebb_open(arena);
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_alloc(&s, 20000));
    EXPECT(ebb_alloc(&s, 5000) != NULL);
    EXPECT(held(arena) <= 10000);
    EXPECT(ebb_arena_set_limit(arena, 0) == EBB_OK && ebb_arena_limit(arena) == 0);
    EXPECT(ebb_alloc(&s, 20000) != NULL);
    EXPECT(ebb_close(&s) == EBB_OK);
    EXPECT(ebb_arena_free(arena) == EBB_OK);
    EXPECT(ebb_arena_limit(NULL) == 0);
}

static void statistics_are_numbers_and_text(void) {
    _Alignas(16) char buffer[992];
    char text[100];
    ebb_arena_storage storage;
    ebb_arena *arena = ebb_fixed_new(&storage, buffer, sizeof buffer);
    ebb_scope s = ebb_open(arena);
    ebb_alloc_aligned(&s, 600, 1);
    ebb_stats stats;
    EXPECT(ebb_scope_stats(&s, &stats) == EBB_OK);
    EXPECT(stats.used == 600 && stats.capacity == 992 && stats.chunks == 1 && stats.held == 0);
    const char *expected = "600 B used of 992 B in 1 chunk";
    const size_t length = strlen(expected);
    EXPECT(ebb_stats_text(&stats, text, sizeof text) == length);
    EXPECT_TEXT(text, expected);
    memset(text, '#', sizeof text);
    EXPECT(ebb_stats_text(&stats, text, 6) == length && strcmp(text, "600 B") == 0);
    EXPECT(text[6] == '#');
    EXPECT(ebb_stats_text(&stats, text, 1) == length && text[0] == 0);
    EXPECT(ebb_stats_text(&stats, NULL, 0) == length);
    EXPECT(ebb_stats_text(&stats, text, 0) == length);
    EXPECT(ebb_close(&s) == EBB_OK);
    EXPECT(ebb_arena_stats(arena, &stats) == EBB_OK && stats.used == 0);
    EXPECT(ebb_arena_free(arena) == EBB_OK);
}

/* A program of a later version has a larger struct. What the library does not know stays as it is. */
static void statistics_have_the_size_of_the_callers_struct(void) {
    struct {
        ebb_stats known;
        size_t later[2];
    } stats;
    char text[100];
    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_scope s = ebb_open(arena);
    ebb_alloc_aligned(&s, 600, 1);
    EXPECT(ebb_scope_stats(&s, &stats.known) == EBB_OK);
    EXPECT(stats.known.size == sizeof(ebb_stats) && stats.known.used == 600);
    for (int call = 0; call < 2; call++) {
        memset(&stats, 0x5A, sizeof stats);
        stats.known.size = sizeof stats;
        const size_t later = stats.later[0];
        /* Not by the macros. */
        EXPECT((call == 0 ? (ebb_arena_stats)(arena, &stats.known)
                          : (ebb_scope_stats)(&s, &stats.known)) == EBB_OK);
        EXPECT(stats.known.size == sizeof stats && stats.known.chunks == 1);
        EXPECT(stats.later[0] == later && stats.later[1] == later);
        EXPECT(ebb_stats_text(&stats.known, text, sizeof text) > 0);
    }
    for (size_t size = 0; size < sizeof(ebb_stats); size++) {
        memset(&stats, 0x5A, sizeof stats);
        stats.known.size = size;
        EXPECT((ebb_arena_stats)(arena, &stats.known) == EBB_OPTIONS);
        EXPECT((ebb_scope_stats)(&s, &stats.known) == EBB_OPTIONS);
        EXPECT(stats.known.size == size && stats.known.capacity == stats.later[0]);
        EXPECT(ebb_stats_text(&stats.known, text, sizeof text) == 0);
    }
    EXPECT(ebb_close(&s) == EBB_OK);
    EXPECT(ebb_arena_free(arena) == EBB_OK);
}

int main(void) {
    EXPECT(ebb_version() == EBB_VERSION);
    EXPECT_TEXT(ebb_version_text(), EBB_VERSION_TEXT);
    EXPECT(EBB_VERSION ==
           1000000 * EBB_VERSION_MAJOR + 1000 * EBB_VERSION_MINOR + EBB_VERSION_PATCH);
    every_block_goes_back_to_the_backing();
    the_limit_is_exact();
    statistics_are_numbers_and_text();
    statistics_have_the_size_of_the_callers_struct();
    return 0;
}
