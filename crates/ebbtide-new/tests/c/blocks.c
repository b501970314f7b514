/* Claims: the functions of C do what ebbtide_new.h says, for bad input too. */
#include "ebbtide_new.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int holds, const char *what, int line) {
    if (holds) return;
    fprintf(stderr, "line %d: not so: %s\n", line, what);
    exit(1);
}
#define CHECK(holds) check(!!(holds), #holds, __LINE__)

/* The compiler must not see a size that cannot be served: it would warn. */
static size_t hidden(size_t size) {
    volatile size_t copy = size;
    return copy;
}

static void blocks(int inside) {
    for (size_t size = 0; size < 20000; size = size * 3 / 2 + 1) {
        unsigned char *block = ebb_malloc(size);
        CHECK(block && (uintptr_t)block % 16 == 0);
        CHECK(ebb_usable_size(block) >= size && ebb_is_in_arena(block) == inside);
        memset(block, 0xAB, size);
        block = ebb_realloc(block, 3 * size);
        CHECK(block && (size == 0 || (block[0] == 0xAB && block[size - 1] == 0xAB)));
        block = ebb_realloc(block, size / 2);
        CHECK(block && (size < 2 || block[size / 2 - 1] == 0xAB));
        block = ebb_realloc(block, 0);
        CHECK(block);
        ebb_free(block);

        unsigned char *zeros = ebb_calloc(size, 3);
        CHECK(zeros);
        for (size_t i = 0; i < 3 * size; i++) CHECK(zeros[i] == 0);
        ebb_free(zeros);
    }
    for (size_t align = 1; align <= 65536; align *= 2) {
        void *block = ebb_aligned_alloc(align, 100);
        CHECK(block && (uintptr_t)block % align == 0 && (uintptr_t)block % 16 == 0);
        CHECK(ebb_usable_size(block) >= 100);
        CHECK(ebb_is_in_arena(block) == (inside && align <= 4096));
        block = ebb_realloc(memset(block, 5, 100), 100000);
        CHECK(block && ((char *)block)[99] == 5);
        ebb_free(block);
    }
}

static void bad_input(void) {
    const size_t too_large[] = {SIZE_MAX, SIZE_MAX - 8, SIZE_MAX - 23, SIZE_MAX / 2};
    for (size_t i = 0; i < 4; i++) {
        size_t size = hidden(too_large[i]);
        errno = 0;
        CHECK(!ebb_malloc(size) && errno == ENOMEM);
        errno = 0;
        CHECK(!ebb_calloc(size, 1) && errno == ENOMEM);
        errno = 0;
        CHECK(!ebb_calloc(size / 2, 5) && errno == ENOMEM);
        errno = 0;
        CHECK(!ebb_aligned_alloc(64, size) && errno == ENOMEM);
        char *block = ebb_malloc(10);
        CHECK(block);
        memcpy(block, "unchanged", 10);
        errno = 0;
        CHECK(!ebb_realloc(block, size) && errno == ENOMEM);
        CHECK(strcmp(block, "unchanged") == 0);
        ebb_free(block);
    }
    const size_t aligns[] = {0, 3, 24, SIZE_MAX};
    for (size_t i = 0; i < 4; i++) {
        errno = 0;
        CHECK(!ebb_aligned_alloc(hidden(aligns[i]), 8) && errno == EINVAL);
    }
    ebb_free(NULL);
    CHECK(ebb_usable_size(NULL) == 0 && !ebb_is_in_arena(NULL));
    void *block = ebb_realloc(NULL, 10);
    CHECK(block);
    ebb_free(block);
    const ebb_ticket tickets[] = {0, 1, 2, 15, 16, UINT64_MAX, (uint64_t)1 << 63};
    for (size_t i = 0; i < 7; i++) ebb_leave(tickets[i]);
}

static void crossing(void) {
    ebb_ticket outer = ebb_enter();
    CHECK(outer);
    char *inside = ebb_malloc(100);
    ebb_ticket closed = ebb_enter_outside();
    CHECK(closed);
    char *outside = ebb_malloc(100);
    CHECK(ebb_is_in_arena(inside) && !ebb_is_in_arena(outside));
    CHECK(ebb_usable_size(inside) >= 100 && ebb_usable_size(outside) >= 100);
    CHECK(malloc_usable_size(outside) > 0);
    ebb_leave(closed);
    CHECK(!ebb_is_in_arena(outside = ebb_realloc(outside, 5000)));
    ebb_leave(outer);
    strcpy(inside, "it grows outside");
    inside = ebb_realloc(inside, 5000);
    CHECK(!ebb_is_in_arena(inside) && strcmp(inside, "it grows outside") == 0);
    ebb_free(inside);
    ebb_free(outside);
}

static void figures(void) {
    ebb_scope_options options = {0};
    options.label = "in C";
    ebb_ticket scope = ebb_enter_with(&options);
    ebb_free(ebb_malloc(10));
    ebb_leave(scope);
    ebb_leave(ebb_enter_with(NULL));
    ebb_figures figures;
    ebb_report(&figures);
    CHECK(figures.scopes >= 2 && figures.blocks >= 1 && figures.held <= figures.bound);
    CHECK(figures.live == 0);
    char text[2000];
    size_t length = ebb_report_text(text, sizeof text);
    CHECK(length == strlen(text) && ebb_report_text(NULL, 0) == length);
    text[0] = 'x';
    ebb_report_text(text, 0);
    CHECK(text[0] == 'x');
    ebb_report_text(text, 1);
    CHECK(text[0] == 0);
    ebb_retain(0);
    ebb_release();
    ebb_report(&figures);
    CHECK(figures.kept == 0);
}

/* Callers of an earlier and of a later version have a smaller and a larger struct. */
static void figures_have_the_size_of_the_callers_struct(void) {
    struct {
        ebb_figures known;
        size_t later[2];
    } figures;
    ebb_report(&figures.known);
    CHECK(figures.known.size == sizeof(ebb_figures) && figures.known.scopes > 0);
    for (size_t size = 0; size <= sizeof figures; size++) {
        memset(&figures, 0x5A, sizeof figures);
        figures.known.size = size;
        (ebb_report)(&figures.known);
        CHECK(figures.known.size == size);
        for (size_t at = size < sizeof size ? sizeof size : size; at < sizeof figures; at++)
            CHECK(((unsigned char *)&figures)[at] == 0x5A);
        CHECK(figures.later[1] == figures.later[0]);
        if (size >= sizeof(ebb_figures)) CHECK(figures.known.bound > 0 && figures.known.scopes > 0);
    }
}

/* Scopes that keep a tenth of their blocks, and with these nearly all of their chunks. */
static void leaking_labels(void) {
    enum { SCOPES = 100, BLOCKS = 1000 };
    static void *kept[SCOPES * BLOCKS / 10];
    ebb_scope_options options = {0};
    options.label = "keeps a tenth";
    char text[2000];
    for (int i = 0; i < SCOPES; i++) {
        ebb_ticket scope = ebb_enter_with(&options);
        for (int j = 0; j < BLOCKS; j++) {
            void *block = ebb_malloc(100);
            if (j % 10 == 0)
                kept[(i * BLOCKS + j) / 10] = block;
            else
                ebb_free(block);
        }
        ebb_leave(scope);
        ebb_report_text(text, sizeof text);
        CHECK(i > 5 || !strstr(text, "keeps a tenth")); /* up to 1 MiB is no trouble */
    }
    CHECK(strstr(text, "`keeps a tenth`: 10.0 %") && !strstr(text, "in C"));
    for (int i = 0; i < SCOPES * BLOCKS / 10; i++)
        ebb_free(kept[i]);
}

int main(void) {
    ebb_set_skipping(false);
    blocks(0);
    bad_input();
    ebb_ticket scope = ebb_enter();
    CHECK(scope);
    blocks(1);
    bad_input();
    ebb_leave(scope);
    crossing();
    figures();
    figures_have_the_size_of_the_callers_struct();
    leaking_labels();
    puts("all of it");
    return 0;
}
