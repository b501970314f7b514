/* `foo 5` sums five ones ten thousand times, each time in a scope over a 100-byte buffer on the
   stack. No heap is involved. */
#include "program.h"

enum { TURNS = 10000 };

static int foo(size_t count) {
    ebb_arena_storage storage;
    _Alignas(16) unsigned char buffer[100];
    ebb_arena *arena = ebb_fixed_new(&storage, buffer, sizeof buffer);
    uint64_t sum = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        ebb_scope s = ebb_open(arena);
        uint64_t *ones = ebb_array(&s, uint64_t, count);
        if (ones == NULL)
            return end_with(REFUSED, "foo: that many words do not fit in 100 bytes");
        for (size_t i = 0; i < count; i++)
            ones[i] = 1;
        for (size_t i = 0; i < count; i++)
            sum += ones[i];
        ebb_close(&s);
    }
    ebb_arena_free(arena);
    printf("The sum is: %llu\n", (unsigned long long)sum);
    return DONE;
}

int main(int argument_count, char **arguments) {
    size_t count;
    if (argument_count != 2 || !parse_count(arguments[1], &count))
        return end_with(USAGE, "usage: foo COUNT");
    return foo(count);
}
