/* Claim: under AddressSanitizer, an access to memory of an ended scope is reported. The argument is
   the case; without one, prints how many there are. */
#include "test.h"

static ebb_arena *arena;
static ebb_scope s;
static volatile char *stale;

static void after_close(void) {
    stale = ebb_alloc(&s, 100);
    (void)ebb_close(&s);
}
static void after_child(void) {
    ebb_scope child = ebb_child(&s);
    stale = ebb_strdup(&child, "gone");
    (void)ebb_close(&child);
}
static void low_end_after_child(void) {
    ebb_scope child = ebb_child(&s);
    stale = ebb_sprintf(&child, "%d and more than a granule", 7);
    (void)ebb_close(&child);
}
static void after_all_were_closed(void) {
    ebb_scope child = ebb_child(&s);
    ebb_scope grandchild = ebb_child(&child);
    stale = ebb_alloc(&grandchild, 100);
    (void)ebb_close_all(&child);
}
static void after_rewind(void) {
    const ebb_position start = ebb_mark(&s);
    stale = (char *)ebb_array(&s, double, 10);
    ebb_rewind(&s, start);
}
static void in_a_chunk_behind(void) {
    ebb_scope child = ebb_child(&s);
    for (int i = 0; i < 100; i++)
        stale = ebb_alloc(&child, 1000);
    (void)ebb_close(&child);
}
static void in_an_oversize_chunk(void) {
    ebb_scope child = ebb_child(&s);
    ebb_new(&child, int);
    stale = ebb_alloc(&child, 1 << 20);
    (void)ebb_close(&child);
}
static void end_of_a_shrunk_block(void) {
    char *block = ebb_alloc_low(&s, 100, 8);
    ebb_grow(&s, block, 100, 16, 8);
    stale = block + 32;
}
static void freed_last_block(void) {
    stale = ebb_alloc_low(&s, 100, 8);
    ebb_free_last(&s, (void *)(uintptr_t)stale, 100);
}
static void after_reset(void) {
    stale = ebb_alloc(&s, 100);
    (void)ebb_arena_reset(arena);
}
static void of_a_thread(void) {
    ebb_scope local = ebb_thread_open();
    stale = ebb_alloc(&local, 100);
    (void)ebb_close(&local);
}
static void in_a_buffer(void) {
    static char buffer[1000];
    static ebb_arena_storage storage;
    ebb_scope fixed = ebb_open(ebb_fixed_new(&storage, buffer, sizeof buffer));
    stale = ebb_alloc(&fixed, 100);
    (void)ebb_close(&fixed);
}

static void (*const cases[])(void) = {
    after_close,          after_child,           low_end_after_child, after_rewind,
    in_a_chunk_behind,    in_an_oversize_chunk,  end_of_a_shrunk_block, freed_last_block,
    after_reset,          of_a_thread,           in_a_buffer,         after_all_were_closed,
};

/* A buffer is the caller's again, and memory that is allocated anew may be used. */
static void nothing_is_reported_without_reason(void) {
    char buffer[1000];
    ebb_arena_storage storage;
    ebb_arena *fixed = ebb_fixed_new(&storage, buffer, sizeof buffer);
    for (int turn = 0; turn < 3; turn++) {
        ebb_scope scope = ebb_open(fixed);
        memset(ebb_alloc(&scope, 100), turn, 100);
        memset(ebb_alloc_low(&scope, 100, 1), turn, 100);
        (void)ebb_close(&scope);
    }
    (void)ebb_arena_free(fixed);
    memset(buffer, 1, sizeof buffer);
}

/* Where hardly anything is free, a child's top and that of a failed allocation are rounded down
   into a block that lives on. */
static void blocks_at_the_end_of_a_region_are_not_poisoned(void) {
    _Alignas(16) char buffer[64];
    ebb_arena_storage storage;
    ebb_arena *fixed = ebb_fixed_new(&storage, buffer, sizeof buffer);
    ebb_scope parent = ebb_open(fixed);
    char *high = ebb_alloc_aligned(&parent, 1, 1);
    volatile char *low = ebb_alloc_low(&parent, 60, 1);
    ebb_scope child = ebb_child(&parent);
    (void)ebb_close(&child);
    for (int i = 0; i < 60; i++)
        low[i] = 1;
    const ebb_position position = ebb_mark(&parent);
    void *volatile refused = ebb_alloc(&parent, 32);
    ebb_rewind(&parent, position);
    for (int i = 0; i < 60; i++)
        low[i] = 1;
    *high = refused == NULL;
    (void)ebb_close(&parent);
    (void)ebb_arena_free(fixed);
}

int main(int count, char **arguments) {
    if (count == 1) {
        nothing_is_reported_without_reason();
        blocks_at_the_end_of_a_region_are_not_poisoned();
        printf("%zu\n", sizeof cases / sizeof *cases);
        return 0;
    }
    arena = ebb_arena_new(NULL);
    s = ebb_open(arena);
    ebb_new(&s, int);
    cases[strtoul(arguments[1], NULL, 10)]();
    *stale = 1;
    fprintf(stderr, "not caught\n");
    return 0;
}
