/* Claim: the macros and functions give no warning in files that ask for many. */
#include "ebbtide_hooks.h"

typedef struct point {
    int x, y;
} point;
typedef EBB_ARRAY(point) points;

int use(ebb_arena *arena, int count);

int use(ebb_arena *arena, int count) {
    ebb_options options = EBB_OPTIONS_INIT;
    ebb_arena_storage storage;
    ebb_arena *other = ebb_arena_new_in(&storage, &options);
    ebb_scope s = ebb_open(arena);
    ebb_scope child = ebb_child(&s);
    const ebb_position start = ebb_mark(&child);
    points array = { 0 };
    ebb_bytes bytes = { 0 };
    bool done = ebb_reserve(&child, &array, 0) && ebb_reserve(&child, &array, count) &&
                ebb_reserve(&child, &array, sizeof bytes);
    done = ebb_push(&child, &array, (point){ 1, count }) && done;
    done = ebb_bytes_printf(&child, &bytes, "%d", count) && done;
    const point *const one = ebb_new_zeroed(&child, point);
    const char *const text = ebb_strdup(&child, "text");
    int(*const pair)[2] = ebb_new(&child, int[2]);
    EBB_ARRAY(char *) words = { 0 };
    done = ebb_push(&child, &words, ebb_sprintf(&child, "%p", (void *)pair)) &&
           ebb_join(&child, NULL, words.data, words.length) != NULL && done;
    if (!done || one == NULL || text == NULL || ebb_array(&child, point, 3) == NULL)
        fputs(ebb_status_text(ebb_last_status()), stderr);
    ebb_heap heap;
    ebb_heap_init(&heap, &child);
    ebb_heap *const previous = ebb_heap_use(&heap);
    void *const block = ebb_hook_realloc(ebb_hook_calloc(1, 8), sizeof heap);
    ebb_hook_free(ebb_hook_strdup("text"));
    ebb_hook_free(block);
    ebb_heap_free(&heap, ebb_heap_resize(&heap, ebb_heap_alloc(&heap, 8), 8, 99), 99);
    ebb_heap_use(previous);
    ebb_rewind(&child, start);
    ebb_close(&child);
    ebb_close_all(&s);
    return ebb_arena_free(other) == EBB_OK;
}
