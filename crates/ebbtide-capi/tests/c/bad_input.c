/* Claim: wrong input is an error code: nothing is written, nothing is lost. */
#include "test.h"

#include <wchar.h>

static void blocks_of_bad_size_or_alignment(ebb_scope *s) {
    const ebb_scope before = *s;
    const volatile size_t huge = SIZE_MAX, half = (size_t)PTRDIFF_MAX, large = half / 2;
    static const size_t bad[] = {0, 3, 6, 12, 24, 100, 5000, SIZE_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        EXPECT_FAILS(EBB_ALIGNMENT, ebb_alloc_aligned(s, 8, bad[i]));
        EXPECT_FAILS(EBB_ALIGNMENT, ebb_alloc_low(s, 8, bad[i]));
        EXPECT_FAILS(EBB_ALIGNMENT, ebb_grow(s, NULL, 0, 8, bad[i]));
        EXPECT_FAILS(EBB_ALIGNMENT, ebb_alloc_array(s, 2, 4, bad[i]));
        EXPECT_FAILS(EBB_ALIGNMENT, ebb_memdup(s, "abc", 3, bad[i]));
        EXPECT_FAILS(EBB_ALIGNMENT, ebb_alloc_array_zeroed(s, 2, 4, bad[i]));
        EXPECT_FAILS(EBB_ALIGNMENT, ebb_alloc_aligned(s, 0, bad[i]));
        EXPECT_FAILS(EBB_ALIGNMENT, ebb_alloc_low(s, 0, bad[i]));
    }
    EXPECT_FAILS(EBB_ALIGNMENT, ebb_alloc_aligned(s, 8, 3));
    const size_t sizes[] = {huge, huge - 1, huge - 7, huge - 15, huge - 4095, half + 1, half};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        EXPECT_FAILS(EBB_SIZE, ebb_alloc(s, sizes[i]));
        EXPECT_FAILS(EBB_SIZE, ebb_alloc_zeroed(s, sizes[i]));
        EXPECT_FAILS(EBB_SIZE, ebb_alloc_aligned(s, sizes[i], 4096));
        EXPECT_FAILS(EBB_SIZE, ebb_alloc_low(s, sizes[i], 16));
        EXPECT_FAILS(EBB_SIZE, ebb_alloc_array(s, sizes[i], 8, 8));
        EXPECT_FAILS(EBB_SIZE, ebb_alloc_array_zeroed(s, 8, sizes[i], 8));
    }
    EXPECT_FAILS(EBB_SIZE, ebb_alloc_aligned(s, SIZE_MAX, 8)); /* known to the compiler */
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_alloc_aligned(s, large, 1));
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_alloc_aligned(s, 1, (size_t)1 << 62));
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_alloc_low(s, large, 1));
    EXPECT_FAILS(EBB_SIZE, ebb_string(s, "abc", half));
    EXPECT_FAILS(EBB_NULL, ebb_string(s, NULL, 3));
    EXPECT_FAILS(EBB_NULL, ebb_strndup(s, NULL, 3));
    EXPECT_FAILS(EBB_NULL, ebb_strdup(s, NULL));
    EXPECT_FAILS(EBB_NULL, ebb_memdup(s, NULL, 3, 1));
    static const char *const strings[] = {"a", NULL};
    EXPECT_FAILS(EBB_NULL, ebb_join(s, ", ", strings, 2));
    EXPECT_FAILS(EBB_NULL, ebb_join(s, ", ", NULL, 1));
    EXPECT(!ebb_defer(s, NULL, NULL) && ebb_last_status() == EBB_NULL);
    EXPECT(!ebb_owns(s, NULL) && !ebb_owns(NULL, s) && !ebb_owns(s, s));
    const char *volatile no_format = NULL;
    EXPECT_FAILS(EBB_NULL, ebb_sprintf(s, no_format, 1));
    ebb_bytes bytes = {0};
    EXPECT(!ebb_bytes_reserve(s, &bytes, huge) && ebb_last_status() == EBB_SIZE);
    EXPECT(!ebb_bytes_reserve(s, &bytes, large) && ebb_last_status() == EBB_NO_MEMORY);
    EXPECT(!ebb_bytes_append(s, &bytes, NULL, 1) && ebb_last_status() == EBB_NULL);
    EXPECT(bytes.data == NULL && bytes.capacity == 0);
    EBB_ARRAY(double) array = {0};
    EXPECT(!ebb_reserve(s, &array, half / 4) && ebb_last_status() == EBB_SIZE);
    EXPECT(array.data == NULL);
    EXPECT(s->top_ == before.top_ && s->low_ == before.low_ && s->chunk_ == before.chunk_);
}

/* In place, by copying, and to shrink. */
static void growing_with_a_bad_alignment(ebb_scope *s) {
    static const size_t bad[] = {0, 3, 6, 12, 24, 100, 5000, SIZE_MAX}, sizes[] = {0, 5, 8, 100};
    for (int is_last = 0; is_last < 2; is_last++) {
        char *const block = ebb_alloc_low(s, 8, 1);
        strcpy(block, "intact");
        if (!is_last)
            ebb_alloc_low(s, 8, 1);
        const ebb_scope before = *s;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
                EXPECT_FAILS(EBB_ALIGNMENT, ebb_grow(s, block, 8, sizes[j], bad[i]));
        EXPECT(s->top_ == before.top_ && s->low_ == before.low_ && s->chunk_ == before.chunk_);
        EXPECT_TEXT(block, "intact");
    }
}

static void a_format_that_cannot_be_printed(ebb_scope *s) {
#ifndef _WIN32 /* Its C library prints both. */
    const size_t before = used(s);
    ebb_bytes bytes = {0};
    /* No such character in the "C" locale. */
    EXPECT_FAILS(EBB_FORMAT, ebb_sprintf(s, "%lc", (wint_t)0x20AC));
    EXPECT(!ebb_bytes_printf(s, &bytes, "%lc", (wint_t)0x20AC));
    EXPECT(ebb_last_status() == EBB_FORMAT && bytes.length == 0);
    /* Longer than an int can say. */
    const char *volatile too_long = "%2147483648d";
    EXPECT_FAILS(EBB_FORMAT, ebb_sprintf(s, too_long, 1));
    EXPECT(!ebb_bytes_printf(s, &bytes, too_long, 1) && bytes.length == 0);
    EXPECT(used(s) == before);
#else
    (void)s;
#endif
}

/* Every request fails for the reason why the scope is closed. */
static void a_closed_scope(ebb_scope *s, ebb_status why) {
    EXPECT(!ebb_is_open(s));
    EXPECT_FAILS(why, ebb_alloc(s, 8));
    EXPECT_FAILS(why, ebb_new(s, double));
    EXPECT_FAILS(why, ebb_alloc_aligned(s, 1, 1));
    EXPECT_FAILS(why, ebb_alloc_aligned(s, 4096, 4096));
    EXPECT_FAILS(why, ebb_alloc(s, 10000));
    EXPECT_FAILS(why, ebb_alloc_low(s, 8, 8));
    EXPECT_FAILS(why, ebb_alloc_low(s, 0, 1));
    EXPECT_FAILS(why, ebb_grow(s, NULL, 0, 8, 8));
    EXPECT_FAILS(why, ebb_sprintf(s, "%d", 1));
    EXPECT_FAILS(why, ebb_strdup(s, "abc"));
    EXPECT_FAILS(why, ebb_join(s, NULL, NULL, 0));
    EXPECT(!ebb_defer(s, free, NULL) && ebb_last_status() == why);
    EXPECT(!ebb_owns(s, s));
    volatile size_t size = 24;
    EXPECT_FAILS(why, ebb_alloc(s, size));
    ebb_bytes bytes = {0};
    EXPECT(!ebb_bytes_push(s, &bytes, 'x') && ebb_last_status() == why);
    EBB_ARRAY(int) array = {0};
    EXPECT(!ebb_push(s, &array, 1) && ebb_last_status() == why);
    ebb_fail_(EBB_FORMAT);
    EXPECT_FAILS(why, ebb_new(s, char));
    ebb_scope child = ebb_child(s);
    EXPECT(!ebb_is_open(&child) && ebb_last_status() == why);
    EXPECT(ebb_close(&child) == EBB_CLOSED);
    const ebb_position position = ebb_mark(s);
    ebb_rewind(s, position);
    EXPECT(!ebb_is_open(s));
    ebb_stats stats;
    EXPECT(ebb_scope_stats(s, &stats) == why);
    EXPECT(ebb_close(s) == EBB_CLOSED);
}

static void closed_scopes(ebb_arena *arena) {
    ebb_scope s = ebb_open(arena);
    EXPECT(ebb_close(&s) == EBB_OK);
    a_closed_scope(&s, EBB_CLOSED);
    ebb_scope zeroed = {0};
    a_closed_scope(&zeroed, EBB_CLOSED);
    ebb_scope of_null = ebb_open(NULL);
    EXPECT(ebb_last_status() == EBB_NULL);
    a_closed_scope(&of_null, EBB_NULL);
    a_closed_scope(&of_null, EBB_CLOSED); /* closed once more */
    ebb_scope first = ebb_open(arena), second = ebb_open(arena);
    EXPECT(ebb_is_open(&first) && ebb_last_status() == EBB_OPEN);
    ebb_scope child = ebb_child(&second), grandchild = ebb_child(&child);
    a_closed_scope(&grandchild, EBB_OPEN);
    a_closed_scope(&child, EBB_OPEN);
    a_closed_scope(&second, EBB_OPEN);
    second = ebb_open(arena);
    EXPECT(!ebb_is_open(&second)); /* closing the second one has not let go of the arena */
    EXPECT(ebb_close(&first) == EBB_OK);
    first = ebb_open(arena);
    EXPECT(ebb_is_open(&first));
    EXPECT(ebb_close(&first) == EBB_OK);
}

static void an_arena_with_an_open_scope(ebb_arena *arena) {
    ebb_scope s = ebb_open(arena);
    int *value = ebb_new(&s, int);
    *value = 7;
    ebb_scope second = ebb_open(arena);
    EXPECT(!ebb_is_open(&second) && ebb_last_status() == EBB_OPEN);
    EXPECT(ebb_arena_free(arena) == EBB_OPEN);
    EXPECT(ebb_arena_trim(arena) == EBB_OPEN);
    EXPECT(ebb_arena_shrink(arena, 0) == EBB_OPEN);
    EXPECT(ebb_arena_merge(arena) == EBB_OPEN);
    EXPECT(ebb_arena_set_limit(arena, 0) == EBB_OK);
    EXPECT(*value == 7 && ebb_new(&s, int) != NULL);
    /* As after a longjmp. */
    EXPECT(ebb_arena_reset(arena) == EBB_OK);
    s = ebb_open(arena);
    EXPECT(ebb_is_open(&s) && used(&s) == 0);
    EXPECT(ebb_close(&s) == EBB_OK);
    EXPECT(ebb_arena_reset(arena) == EBB_OK);
}

static void null_handles(void) {
    ebb_stats stats;
    char text[8] = "before";
    EXPECT(ebb_arena_free(NULL) == EBB_OK);
    EXPECT(ebb_arena_reset(NULL) == EBB_NULL);
    EXPECT(ebb_arena_trim(NULL) == EBB_NULL);
    EXPECT(ebb_arena_shrink(NULL, 0) == EBB_NULL);
    EXPECT(ebb_arena_merge(NULL) == EBB_NULL);
    EXPECT(ebb_arena_set_limit(NULL, 1) == EBB_NULL);
    EXPECT(ebb_arena_limit(NULL) == 0);
    EXPECT(ebb_arena_stats(NULL, &stats) == EBB_NULL);
    EXPECT(ebb_scope_stats(NULL, &stats) == EBB_NULL);
    EXPECT(ebb_stats_text(NULL, text, sizeof text) == 0 && strcmp(text, "before") == 0);
    EXPECT(!ebb_is_open(NULL));
    ebb_arena *arena = ebb_arena_new(NULL);
    EXPECT(ebb_arena_stats(arena, NULL) == EBB_NULL);
    EXPECT(ebb_arena_free(arena) == EBB_OK);
}

static void bad_storage_and_buffers(void) {
    static ebb_arena_storage storage[2];
    char buffer[16];
    EXPECT_FAILS(EBB_NULL, ebb_arena_new_in(NULL, NULL));
    EXPECT_FAILS(EBB_NULL, ebb_fixed_new(NULL, buffer, sizeof buffer));
    EXPECT_FAILS(EBB_NULL, ebb_fixed_new(storage, NULL, 1));
    EXPECT_FAILS(EBB_SIZE, ebb_fixed_new(storage, buffer, SIZE_MAX));
    EXPECT_FAILS(EBB_ALIGNMENT,
                 ebb_fixed_new((ebb_arena_storage *)(void *)(storage[0].bytes_ + 8), buffer, 16));
    for (size_t i = 0; i < sizeof storage; i++)
        EXPECT(storage[0].bytes_[i % sizeof *storage] == 0);
    ebb_arena *empty = ebb_fixed_new(storage, NULL, 0);
    ebb_scope s = ebb_open(empty);
    EXPECT(ebb_is_open(&s));
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_alloc_aligned(&s, 1, 1));
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_sprintf(&s, "x"));
    EXPECT(ebb_close(&s) == EBB_OK);
    EXPECT(ebb_arena_free(empty) == EBB_OK);
}

static void *refuse(void *context, size_t size, size_t align) {
    (void)size, (void)align;
    ++*(int *)context;
    return NULL;
}

static char crooked_block[1 << 16];
static void *crooked(void *context, size_t size, size_t align) {
    (void)context, (void)size, (void)align;
    return crooked_block + 1;
}
static void take_crooked(void *context, void *block, size_t size, size_t align) {
    (void)size, (void)align;
    EXPECT(block == crooked_block + 1);
    ++*(int *)context;
}

static void bad_options_and_backings(void) {
    int calls = 0;
    ebb_options options = EBB_OPTIONS_INIT;
    options.size = 8;
    EXPECT_FAILS(EBB_OPTIONS, ebb_arena_new(&options));
    options = (ebb_options)EBB_OPTIONS_INIT;
    options.backing.allocate = refuse;
    options.backing.context = &calls;
    EXPECT_FAILS(EBB_OPTIONS, ebb_arena_new(&options)); /* no release */
    options.backing.release = take_crooked;
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_arena_new(&options));
    EXPECT(calls == 1);
    ebb_arena_storage storage;
    ebb_arena *arena = ebb_arena_new_in(&storage, &options);
    ebb_scope s = ebb_open(arena);
    EXPECT(!ebb_is_open(&s) && ebb_last_status() == EBB_NO_MEMORY && calls > 1);
    a_closed_scope(&s, EBB_NO_MEMORY);
    EXPECT(ebb_arena_free(arena) == EBB_OK);
    calls = 0;
    options.backing.allocate = crooked;
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_arena_new(&options));
    EXPECT(calls == 1); /* the block was handed back */
    options = (ebb_options)EBB_OPTIONS_INIT;
    options.first_chunk = SIZE_MAX;
    EXPECT_FAILS(EBB_SIZE, ebb_arena_new(&options));
}

static void every_status_has_a_text(void) {
    for (int status = EBB_OK; status <= EBB_OPTIONS; status++)
        EXPECT(strcmp(ebb_status_text(status), ebb_status_text(1000)) != 0);
    EXPECT(strcmp(ebb_status_text(-1), ebb_status_text(1000)) == 0);
    const ebb_status last = ebb_last_status();
    ebb_fail_(1000); /* is none */
    EXPECT(ebb_last_status() == last);
}

int main(void) {
    _Alignas(16) static unsigned char buffer[BUFFER];
    for (int kind = 0; kind < KINDS; kind++) {
        ebb_arena_storage storage;
        ebb_arena *arena = arena_of_kind(kind, &storage, buffer);
        ebb_scope s = ebb_open(arena);
        blocks_of_bad_size_or_alignment(&s);
        growing_with_a_bad_alignment(&s);
        a_format_that_cannot_be_printed(&s);
        ebb_scope child = ebb_child(&s);
        blocks_of_bad_size_or_alignment(&child);
        EXPECT(ebb_close(&child) == EBB_OK);
        EXPECT(ebb_close(&s) == EBB_OK);
        closed_scopes(arena);
        an_arena_with_an_open_scope(arena);
        EXPECT(ebb_arena_free(arena) == EBB_OK);
    }
    null_handles();
    bad_storage_and_buffers();
    bad_options_and_backings();
    every_status_has_a_text();
    return 0;
}
