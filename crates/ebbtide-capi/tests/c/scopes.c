/* Claim: whatever lies beneath, blocks of a scope are aligned, disjoint and stay as they are until
   the scope closes, and their memory serves the next scope. */
#include "test.h"

static void fill_and_check(ebb_scope *scope, unsigned char seed) {
    static const size_t aligns[] = {1, 2, 4, 8, 16, 32, 64};
    unsigned char *blocks[300];
    size_t sizes[300];
    for (size_t i = 0; i < 300; i++) {
        const size_t align = aligns[i % 7];
        sizes[i] = i * 7 % 97;
        blocks[i] = i % 3 == 0 ? ebb_alloc_low(scope, sizes[i], align)
                               : ebb_alloc_aligned(scope, sizes[i], align);
        EXPECT(blocks[i] != NULL && (uintptr_t)blocks[i] % align == 0);
        memset(blocks[i], (int)(seed + i), sizes[i]);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t at = 0; at < sizes[i]; at++)
            EXPECT(blocks[i][at] == (unsigned char)(seed + i));
}

static void scopes_end_in_order(ebb_arena *arena) {
    size_t before = 0;
    for (int turn = 0; turn < 10; turn++) {
        ebb_scope s = ebb_open(arena);
        int *kept = ebb_new(&s, int);
        *kept = turn;
        for (int inner = 0; inner < 5; inner++) {
            ebb_scope child = ebb_child(&s);
            fill_and_check(&child, (unsigned char)inner);
            ebb_scope grandchild = ebb_child(&child);
            fill_and_check(&grandchild, 7);
            EXPECT(ebb_close(&grandchild) == EBB_OK);
            fill_and_check(&child, 9);
            EXPECT(ebb_close(&child) == EBB_OK);
        }
        EXPECT(*kept == turn);
        EXPECT(used(&s) < 64);
        EXPECT(ebb_close(&s) == EBB_OK);
        if (turn == 0)
            before = held(arena);
        EXPECT(held(arena) == before);
    }
}

static void marks_end_what_came_after(ebb_arena *arena) {
    ebb_scope s = ebb_open(arena);
    char *kept = ebb_strdup(&s, "kept");
    const ebb_position start = ebb_mark(&s);
    const size_t at_start = used(&s);
    for (int turn = 0; turn < 20; turn++) {
        fill_and_check(&s, (unsigned char)turn);
        const ebb_position inner = ebb_mark(&s);
        fill_and_check(&s, 3);
        ebb_rewind(&s, inner);
        ebb_rewind(&s, start);
        EXPECT(used(&s) == at_start);
    }
    EXPECT_TEXT(kept, "kept");
    EXPECT(ebb_close(&s) == EBB_OK);
}

static void typed_blocks(ebb_arena *arena) {
    struct node {
        struct node *next;
        double value;
    };
    ebb_scope s = ebb_open(arena);
    struct node *list = NULL;
    for (int i = 0; i < 100; i++) {
        struct node *node = ebb_new(&s, struct node);
        node->next = list;
        node->value = i;
        list = node;
    }
    double sum = 0;
    for (struct node *node = list; node != NULL; node = node->next)
        sum += node->value;
    EXPECT(sum == 4950);
    const struct node *zero = ebb_new_zeroed(&s, struct node);
    EXPECT(zero->next == NULL && zero->value == 0);
    const int *zeros = ebb_array_zeroed(&s, int, 1000);
    for (int i = 0; i < 1000; i++)
        EXPECT(zeros[i] == 0);
    double *row = ebb_array(&s, double, 100);
    for (int i = 0; i < 100; i++)
        row[i] = i;
    const double *copy = ebb_memdup(&s, row, 100 * sizeof *row, sizeof *row);
    EXPECT(memcmp(copy, row, 100 * sizeof *row) == 0);
    EXPECT((uintptr_t)ebb_alloc(&s, 1) % 16 == 0);
    const unsigned char *bytes = ebb_alloc_zeroed(&s, 33);
    EXPECT((uintptr_t)bytes % 16 == 0 && bytes[32] == 0);
    EXPECT(ebb_alloc(&s, 0) != NULL);
    EXPECT(ebb_alloc_low(&s, 0, 1) != NULL);
    EXPECT(ebb_close(&s) == EBB_OK);
}

/* Sizes that the compiler does not know, around the ends of a region. */
static void every_byte_of_a_buffer_serves(void) {
    enum { SIZE = 1000 };
    _Alignas(16) unsigned char all[SIZE + 24];
    unsigned char *const buffer = all + 7; /* begins at an odd address, ends at a multiple of 16 */
    ebb_arena_storage storage;
    for (volatile size_t size = 1; size < SIZE; size += 13) {
        memset(all, 0xEE, sizeof all);
        ebb_arena *arena = ebb_fixed_new(&storage, buffer + 1, SIZE);
        ebb_scope s = ebb_open(arena);
        size_t got = 0;
        for (unsigned char *block; (block = ebb_alloc_aligned(&s, size, 1)) != NULL;
             got += size) {
            EXPECT(block > buffer && block + size <= buffer + 1 + SIZE);
            memset(block, 0xAB, size);
        }
        EXPECT(ebb_last_status() == EBB_NO_MEMORY);
        EXPECT(got == SIZE / size * size);
        EXPECT(ebb_alloc_low(&s, SIZE - got, 1) != NULL || SIZE == got);
        EXPECT_FAILS(EBB_NO_MEMORY, ebb_alloc_low(&s, 1, 1));
        EXPECT(ebb_close(&s) == EBB_OK);
        EXPECT(ebb_arena_free(arena) == EBB_OK);
        arena = ebb_fixed_new(&storage, buffer + 1, SIZE - 9); /* ends at an odd address */
        s = ebb_open(arena);
        EXPECT(ebb_alloc_aligned(&s, SIZE - 16, 1) == buffer + 1);
        EXPECT_FAILS(EBB_NO_MEMORY, ebb_alloc_aligned(&s, 1, 1));
        EXPECT(ebb_close(&s) == EBB_OK);
        EXPECT(ebb_arena_free(arena) == EBB_OK);
        EXPECT(buffer[0] == 0xEE && buffer[SIZE + 1] == 0xEE);
    }
}

/* The last few bytes of a region, where rounding passes the other end. */
static void blocks_at_the_end_of_a_region_do_not_overlap(void) {
    _Alignas(16) char buffer[32];
    ebb_arena_storage storage;
    ebb_arena *arena = ebb_fixed_new(&storage, buffer, sizeof buffer);
    {
        ebb_scope s = ebb_open(arena);
        EXPECT(ebb_alloc_low(&s, 29, 1) == buffer);
        EXPECT_FAILS(EBB_NO_MEMORY, ebb_alloc_low(&s, 1, 16));
        EXPECT(ebb_alloc_low(&s, 3, 1) == buffer + 29);
        EXPECT(ebb_close(&s) == EBB_OK);
    }
    {
        ebb_scope s = ebb_open(arena);
        EXPECT(ebb_alloc_aligned(&s, 19, 1) == buffer + 13);
        char *low = ebb_alloc_low(&s, 10, 1);
        EXPECT(low == buffer);
        EXPECT_FAILS(EBB_NO_MEMORY, ebb_new(&s, uint64_t));
        /* The rounding may have cost the three bytes between the two. */
        const char *last = ebb_alloc_low(&s, 1, 1);
        EXPECT(last == NULL || last == buffer + 10);
        const char *grown = ebb_grow(&s, low, 10, 14, 1);
        EXPECT(grown == NULL);
        EXPECT(ebb_close(&s) == EBB_OK);
    }
    EXPECT(ebb_arena_free(arena) == EBB_OK);
}

static void a_full_scope_moves_on_when_it_is_marked(void) {
    ebb_options options = EBB_OPTIONS_INIT;
    options.first_chunk = 4096;
    ebb_arena *arena = ebb_arena_new(&options);
    ebb_scope s = ebb_open(arena);
    EXPECT(ebb_alloc_aligned(&s, 4060, 1) != NULL);
    const ebb_position before = ebb_mark(&s); /* there is no other chunk yet */
    EXPECT(ebb_alloc_aligned(&s, 1000, 1) != NULL);
    ebb_rewind(&s, before);
    const void *full = s.chunk_;
    (void)ebb_mark(&s);
    EXPECT(s.chunk_ != full);
    ebb_rewind(&s, before);
    ebb_scope child = ebb_child(&s);
    EXPECT(s.chunk_ != full && child.chunk_ == s.chunk_);
    EXPECT(ebb_close(&child) == EBB_OK);
    EXPECT(ebb_close(&s) == EBB_OK);
    EXPECT(ebb_arena_free(arena) == EBB_OK);
}

static void scopes_of_a_thread_nest(void) {
    ebb_scope outer = ebb_thread_open();
    char *text = ebb_strdup(&outer, "outer");
    for (int turn = 0; turn < 3; turn++) {
        ebb_scope inner = ebb_thread_open();
        EXPECT(ebb_is_open(&inner));
        fill_and_check(&inner, 1);
        fill_and_check(&outer, 2);
        EXPECT(ebb_close(&inner) == EBB_OK);
    }
    /* In whatever order. */
    ebb_scope another = ebb_thread_open();
    EXPECT_TEXT(text, "outer");
    EXPECT(ebb_close(&outer) == EBB_OK);
    fill_and_check(&another, 3);
    EXPECT(ebb_close(&another) == EBB_OK);
    ebb_thread_trim();
    ebb_scope fresh = ebb_thread_open();
    EXPECT(used(&fresh) == 0);
    EXPECT(ebb_close(&fresh) == EBB_OK);
}

int main(void) {
    _Alignas(16) static unsigned char buffer[BUFFER];
    for (int kind = 0; kind < KINDS; kind++) {
        ebb_arena_storage storage;
        ebb_arena *arena = arena_of_kind(kind, &storage, buffer);
        EXPECT(arena != NULL);
        scopes_end_in_order(arena);
        marks_end_what_came_after(arena);
        typed_blocks(arena);
        EXPECT(ebb_arena_free(arena) == EBB_OK);
    }
    every_byte_of_a_buffer_serves();
    blocks_at_the_end_of_a_region_do_not_overlap();
    a_full_scope_moves_on_when_it_is_marked();
    scopes_of_a_thread_nest();
    return 0;
}
