/* Claim: the macros and functions give no warning in files that ask for many. */
#include "ebbtide.h"

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
    if (!done || one == NULL || text == NULL || ebb_array(&child, point, 3) == NULL)
        fputs(ebb_status_text(ebb_last_status()), stderr);
    ebb_rewind(&child, start);
    ebb_close(&child);
    ebb_close_all(&s);
    return ebb_arena_free(other) == EBB_OK;
}
