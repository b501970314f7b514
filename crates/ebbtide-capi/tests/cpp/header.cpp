// Claim: the C header compiles as C++, macros included.
#include "ebbtide.h"

int use(ebb_arena *arena) {
    ebb_scope s = ebb_open(arena);
    int *value = ebb_new(&s, int);
    double *zeros = ebb_array_zeroed(&s, double, 10);
    EBB_ARRAY(int) numbers = {nullptr, 0, 0};
    const int more[] = {1, 2}, count = 2;
    const bool pushed = ebb_push(&s, &numbers, 7) && ebb_reserve(&s, &numbers, count) &&
                        ebb_append(&s, &numbers, more, count);
    const char *text = ebb_sprintf(&s, "%d", 1);
    const int sum = value != nullptr && zeros != nullptr && pushed && text != nullptr;
    ebb_close(&s);
    return sum;
}
