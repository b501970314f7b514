// Every block stays in a cache, and is replaced by a later call.

#include <stdio.h>
#include <stdlib.h>

#define NEVER_INLINED __attribute__((noinline))
#define ENTRIES 4096

static char *cache[ENTRIES];

NEVER_INLINED void insert(unsigned slot, unsigned size) {
    free(cache[slot]);
    cache[slot] = malloc(size);
    cache[slot][0] = (char)slot;
}

NEVER_INLINED void update(unsigned number) {
    for (unsigned entry = 0; entry < 32; entry++) {
        unsigned random = (number * 32 + entry) * 2654435761u;
        insert((random >> 8) % ENTRIES, 16 + random % 100);
    }
}

int main(void) {
    for (unsigned number = 0; number < 20000; number++) {
        update(number);
    }
    long sum = 0;
    for (unsigned slot = 0; slot < ENTRIES; slot++) {
        sum += cache[slot] == NULL ? 0 : cache[slot][0];
    }
    printf("%ld\n", sum);
    return 0;
}
