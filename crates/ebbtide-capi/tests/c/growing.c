/* Claim: texts, buffers and arrays grow in place while they are the last block of the low end, and
   by copying where they are not. */
#include <stdio.h>

/* Counts the calls of the header. */
static int prints;
#define vsnprintf(...) (prints++, vsnprintf(__VA_ARGS__))

#include "test.h"

static void printed_text(ebb_scope *s) {
    char *text = ebb_sprintf(s, "%d %s %5.2f", 42, "words", 3.14159);
    EXPECT_TEXT(text, "42 words  3.14");
    char *empty = ebb_sprintf(s, "%s", "");
    EXPECT_TEXT(empty, "");
    EXPECT(empty == text + 15);
    /* Longer than what is free in the chunk. */
    const size_t length = 20000;
    char *long_text = ebb_sprintf(s, "%*d", (int)length, 7);
    EXPECT(strlen(long_text) == length && long_text[length - 1] == '7');
    EXPECT_TEXT(text, "42 words  3.14");
}

static void copied_text(ebb_scope *s) {
    char *text = ebb_strdup(s, "a string");
    EXPECT_TEXT(text, "a string");
    EXPECT_TEXT(ebb_strndup(s, "cut here", 3), "cut");
    EXPECT_TEXT(ebb_strndup(s, "short", 100), "short");
    EXPECT_TEXT(ebb_strndup(s, "short", (size_t)-1), "short");
    EXPECT_TEXT(ebb_strndup(s, "none", 0), "");
    EXPECT(memcmp(ebb_string(s, "a\0b", 3), "a\0b", 4) == 0);
    EXPECT_TEXT(ebb_strdup(s, ""), "");
}

static void bytes_grow_in_place(ebb_scope *s) {
    ebb_bytes bytes = {0};
    EXPECT(ebb_bytes_push(s, &bytes, 'a'));
    const char *first = bytes.data;
    for (int i = 0; i < 1000; i++) {
        EXPECT(ebb_bytes_push(s, &bytes, 'b'));
        if (i % 8 == 0)
            ebb_alloc(s, 8); /* the other end */
    }
    EXPECT(bytes.data == first);
    EXPECT(ebb_bytes_append(s, &bytes, "tail", 4));
    EXPECT(ebb_bytes_printf(s, &bytes, " %d", 12));
    const char *text = ebb_bytes_text(s, &bytes);
    EXPECT(strlen(text) == 1008 && text[0] == 'a');
    EXPECT_TEXT(text + 1001, "tail 12");
    /* What it did not use is free again. */
    EXPECT(ebb_alloc_low(s, 1, 1) == text + 1009);
    /* Now it is not the last one. */
    EXPECT(ebb_bytes_push(s, &bytes, '!') && bytes.data == first); /* in the place of the 0 */
    EXPECT(ebb_bytes_push(s, &bytes, '?') && bytes.data != first);
    EXPECT(bytes.length == 1010 && memcmp(bytes.data + 1001, "tail 12!?", 9) == 0);
}

static void text_is_printed_into_unused_capacity(ebb_scope *s) {
    ebb_bytes bytes = {0};
    EXPECT(ebb_bytes_reserve(s, &bytes, 20));
    const char *first = bytes.data;
    char *other = ebb_alloc_low(s, 1, 1); /* it cannot grow in place */
    *other = 'o';
    prints = 0;
    for (int i = 0; i < 4; i++)
        EXPECT(ebb_bytes_printf(s, &bytes, "%04d", i));
    EXPECT(ebb_bytes_printf(s, &bytes, "abc") && bytes.data == first); /* fits with its 0 */
    EXPECT(prints == 5); /* nothing is printed twice */
    EXPECT_TEXT(bytes.data, "0000000100020003abc");
    EXPECT(ebb_bytes_printf(s, &bytes, "d") && bytes.data != first);
    EXPECT_TEXT(bytes.data, "0000000100020003abcd");
    EXPECT(bytes.length == 20 && *other == 'o');
    EXPECT(ebb_bytes_printf(s, &bytes, "%s", "") && bytes.length == 20);
}

static void arrays_take_several_elements(ebb_scope *s) {
    EBB_ARRAY(int) numbers = {0};
    const int more[] = {1, 2, 3};
    EXPECT(ebb_append(s, &numbers, more, 3) && ebb_append(s, &numbers, more + 1, 2));
    const int *nothing = NULL;
    const volatile size_t huge = SIZE_MAX / 4;
    EXPECT(ebb_append(s, &numbers, nothing, 0) && numbers.length == 5);
    EXPECT(!ebb_append(s, &numbers, nothing, 1) && ebb_last_status() == EBB_NULL);
    EXPECT(!ebb_append(s, &numbers, more, huge) && ebb_last_status() == EBB_SIZE);
    EXPECT(numbers.length == 5 && numbers.data[2] == 3 && numbers.data[4] == 3);
}

static void arrays_grow(ebb_scope *s) {
    EBB_ARRAY(long) numbers = {0};
    EBB_ARRAY(struct { char name[24]; long double value; }) records = {0};
    for (long i = 0; i < 10000; i++) {
        EXPECT(ebb_push(s, &numbers, i));
        if (i % 16 == 0) {
            EXPECT(ebb_reserve(s, &records, 1));
            EXPECT((uintptr_t)records.data % _Alignof(long double) == 0);
            records.data[records.length++].value = (long double)i;
        }
    }
    for (long i = 0; i < 10000; i++)
        EXPECT(numbers.data[i] == i);
    for (size_t i = 0; i < records.length; i++)
        EXPECT(records.data[i].value == 16 * (long double)i);
}

static void arrays_of_structs_and_of_overaligned_types(ebb_scope *s) {
    struct point {
        int x, y;
    };
    struct line {
        _Alignas(128) char text[128];
    };
    EBB_ARRAY(struct point) points = {0};
    EBB_ARRAY(struct line) lines = {0};
    EXPECT(ebb_push(s, &points, (struct point){3, 4}) && points.data[0].y == 4);
    for (int i = 0; i < 40; i++) {
        ebb_alloc_low(s, 64, 64);
        EXPECT(ebb_push(s, &lines, (struct line){"text"}));
        EXPECT((uintptr_t)lines.data % _Alignof(struct line) == 0);
    }
    EXPECT(ebb_next_capacity_(0, 0, 1, 0) > 0); /* a struct without members, as GNU C has them */
}

static void the_last_block_is_freed_and_shrunk_in_place(ebb_scope *s) {
    char *block = ebb_alloc_low(s, 100, 1);
    EXPECT(ebb_grow(s, block, 100, 10, 1) == block);
    char *next = ebb_alloc_low(s, 5, 1);
    EXPECT(next == block + 10);
    ebb_free_last(s, block, 10); /* is not the last one: nothing happens */
    EXPECT(ebb_alloc_low(s, 1, 1) == next + 5);
    ebb_free_last(s, next + 5, 1);
    ebb_free_last(s, next, 5);
    EXPECT(ebb_alloc_low(s, 1, 1) == next);
    EXPECT(ebb_grow(s, block, 10, 5, 1) == block); /* shrinks to where it is */
    ebb_free_last(s, NULL, 0);
    EXPECT(ebb_grow(s, NULL, 0, 3, 1) == next + 1);
}

/* The result has the alignment that the call asks for, also if the block has less. */
static void growing_aligns_the_block(ebb_scope *s) {
    for (size_t align = 1; align <= 4096; align *= 2) {
        for (size_t size = 0; size < 200; size += 25) {
            for (int is_last = 0; is_last < 2; is_last++) {
                while (ebb_low_(s) % 64 != 1)
                    ebb_alloc_low(s, 1, 1);
                char *block = ebb_alloc_low(s, 3, 1);
                memcpy(block, "abc", 3);
                if (!is_last)
                    ebb_alloc_low(s, 1, 1);
                char *grown = ebb_grow(s, block, 3, size, align);
                EXPECT(grown != NULL && (uintptr_t)grown % align == 0);
                EXPECT(memcmp(grown, "abc", size < 3 ? size : 3) == 0);
            }
        }
    }
    /* Shrinking a block in a full chunk that has to move fails. */
    _Alignas(64) char buffer[64];
    ebb_arena_storage storage;
    ebb_arena *arena = ebb_fixed_new(&storage, buffer, sizeof buffer);
    ebb_scope full = ebb_open(arena);
    (void)ebb_alloc_low(&full, 1, 1);
    const size_t size = full.top_ - ebb_low_(&full) - EBB_REDZONE * EBB_GUARDS_;
    char *block = ebb_alloc_low(&full, size, 1);
    EXPECT(block != NULL && memcpy(block, "abc", 3) == block);
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_grow(&full, block, size, 3, 64));
    EXPECT(memcmp(block, "abc", 3) == 0 && ebb_grow(&full, block, size, 3, 1) == block);
    EXPECT(ebb_close(&full) == EBB_OK && ebb_arena_free(arena) == EBB_OK);
}

static void joined_text(ebb_scope *s) {
    EBB_ARRAY(char *) words = {0};
    EBB_ARRAY(const char *) constants = {0};
    char *const fixed[] = {ebb_strdup(s, "goes"), ebb_strdup(s, "out")};
    EXPECT(ebb_push(s, &words, ebb_strdup(s, "the")) && ebb_push(s, &words, ebb_strdup(s, "tide")));
    EXPECT(ebb_push(s, &constants, "comes") && ebb_push(s, &constants, "in"));
    EXPECT_TEXT(ebb_join(s, " ", words.data, words.length), "the tide");
    EXPECT_TEXT(ebb_join(s, " ", constants.data, constants.length), "comes in");
    EXPECT_TEXT(ebb_join(s, " ", fixed, 2), "goes out");
    EXPECT_TEXT(ebb_join(s, " ", (const char *const *)fixed, 2), "goes out");
    EXPECT_TEXT(ebb_join(s, " ", (const char *[]){"a", "b"}, 2), "a b");
    EXPECT_TEXT(ebb_join(s, " ", NULL, 0), "");
}

/* Types after which a * cannot be written. */
static void values_of_any_type(ebb_scope *s) {
    typedef int (*function)(void);
    int(*pair)[2] = ebb_new(s, int[2]);
    int(*zeros)[2] = ebb_new_zeroed(s, int[2]);
    char(*lines)[80] = ebb_array(s, char[80], 3);
    char(*empty)[80] = ebb_array_zeroed(s, char[80], 3);
    int (**pointers)(void) = ebb_new_zeroed(s, function);
    int (**more)(void) = ebb_new_zeroed(s, int (*)(void));
    EBB_ARRAY(int[2]) pairs = {0};
    EXPECT(pair != NULL && lines != NULL && *pointers == NULL && *more == NULL);
    (*pair)[1] = (*zeros)[1] + 7;
    lines[2][79] = empty[2][79];
    EXPECT((*pair)[1] == 7 && lines[2][79] == 0 && sizeof *pair == 2 * sizeof(int));
    EXPECT(ebb_append(s, &pairs, pair, 1) && pairs.data[0][1] == 7);
}

static void what_does_not_fit_stays_as_it_is(void) {
    enum { SIZE = 96 };
    _Alignas(16) char buffer[SIZE];
    ebb_arena_storage storage;
    ebb_arena *arena = ebb_fixed_new(&storage, buffer, SIZE);
    ebb_scope s = ebb_open(arena);
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_sprintf(&s, "%*d", SIZE, 1));
    EXPECT(used(&s) == 0);
    char *text = ebb_sprintf(&s, "%*d", SIZE - 1, 1);
    EXPECT(text != NULL && used(&s) == SIZE);
    EXPECT(ebb_close(&s) == EBB_OK);

    s = ebb_open(arena);
    ebb_bytes bytes = {0};
    ebb_fail_(EBB_FORMAT);
    for (int i = 0; i < SIZE; i++)
        EXPECT(ebb_bytes_push(&s, &bytes, 'x'));
    EXPECT(ebb_last_status() == EBB_FORMAT); /* Twice as much was not there, but that is no failure. */
    EXPECT(!ebb_bytes_push(&s, &bytes, 'x'));
    EXPECT(ebb_last_status() == EBB_NO_MEMORY);
    EXPECT(bytes.length == SIZE && bytes.data[SIZE - 1] == 'x');
    EXPECT(!ebb_bytes_append(&s, &bytes, "yy", 2) && bytes.length == SIZE);
    EXPECT(!ebb_bytes_printf(&s, &bytes, "%d", 1) && bytes.length == SIZE);
    bytes.length = 3;
    bytes.data[3] = 0;
    EXPECT(!ebb_bytes_printf(&s, &bytes, "%*d", SIZE, 1) && bytes.length == 3);
    EXPECT_TEXT(bytes.data, "xxx"); /* and its 0 */
    bytes.length = SIZE;
    bytes.data[3] = 'x';
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_bytes_text(&s, &bytes));
    EBB_ARRAY(int) numbers = {0};
    EXPECT(!ebb_push(&s, &numbers, 1) && numbers.length == 0 && numbers.data == NULL);
    EXPECT(ebb_close(&s) == EBB_OK);

    /* The top is rounded down past the end of a block, which is not free for all that. */
    s = ebb_open(arena);
    char *block = ebb_alloc_low(&s, SIZE - 6, 1);
    EXPECT(block != NULL && ebb_alloc_aligned(&s, 3, 1) != NULL);
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_alloc(&s, 16));
    EXPECT(s.low_ >= block + SIZE - 6 || s.low_ < buffer);
    EXPECT((uintptr_t)s.low_ <= s.top_);
    EXPECT(ebb_close(&s) == EBB_OK);
    EXPECT(ebb_arena_free(arena) == EBB_OK);
}

int main(void) {
    _Alignas(16) static unsigned char buffer[BUFFER];
    void (*tests[])(ebb_scope *) = {printed_text, copied_text, bytes_grow_in_place,
                                    text_is_printed_into_unused_capacity,
                                    arrays_take_several_elements,
                                    the_last_block_is_freed_and_shrunk_in_place, arrays_grow,
                                    arrays_of_structs_and_of_overaligned_types,
                                    growing_aligns_the_block, joined_text, values_of_any_type};
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t test = 0; test < sizeof tests / sizeof *tests; test++) {
            if (kind == 2 && (tests[test] == arrays_grow || tests[test] == growing_aligns_the_block))
                continue; /* needs more than the buffer */
            if (kind == 3 && tests[test] != printed_text && tests[test] != arrays_grow)
                continue; /* the buffer ends in the middle */
            ebb_arena_storage storage;
            ebb_arena *arena = arena_of_kind(kind, &storage, buffer);
            ebb_scope s = ebb_open(arena);
            tests[test](&s);
            EXPECT(ebb_close(&s) == EBB_OK);
            EXPECT(ebb_arena_free(arena) == EBB_OK);
        }
    }
    what_does_not_fit_stays_as_it_is();
    return 0;
}
