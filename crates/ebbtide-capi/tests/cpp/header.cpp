// Claim: the C headers compile as C++, macros included.
#include "ebbtide_hooks.h"

template <typename T> T *zeroed(ebb_scope *s) { return ebb_new_zeroed(s, T); }

int use(ebb_arena *arena) {
    ebb_scope s = ebb_open(arena);
    int(*pair)[2] = ebb_new(&s, int[2]);
    char(*lines)[80] = ebb_array_zeroed(&s, char[80], 3);
    EBB_ARRAY(char *) words = {nullptr, 0, 0};
    const bool is_there = pair != nullptr && lines != nullptr && zeroed<double>(&s) != nullptr &&
                          ebb_push(&s, &words, *lines) &&
                          ebb_join(&s, " ", words.data, words.length) != nullptr;
    int *value = ebb_new(&s, int);
    double *zeros = ebb_array_zeroed(&s, double, 10);
    EBB_ARRAY(int) numbers = {nullptr, 0, 0};
    const int more[] = {1, 2}, count = 2;
    const bool pushed = ebb_push(&s, &numbers, 7) && ebb_reserve(&s, &numbers, count) &&
                        ebb_append(&s, &numbers, more, count);
    const char *text = ebb_sprintf(&s, "%d", 1);
    ebb_heap heap;
    ebb_heap_init(&heap, &s);
    const struct {
        void *(*allocate)(std::size_t);
        void (*release)(void *);
    } hooks = EBB_CJSON_HOOKS;
    ebb_heap *previous = ebb_heap_use(&heap);
    hooks.release(ebb_hook_realloc(hooks.allocate(8), 9));
    ebb_heap_use(previous);
    const int sum = is_there && value != nullptr && zeros != nullptr && pushed && text != nullptr;
    ebb_close(&s);
    return sum;
}
