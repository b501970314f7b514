// Computes for long, and allocates 16 blocks for each step of 400,000 operations.

#include <stdio.h>
#include <stdlib.h>

#define NEVER_INLINED __attribute__((noinline))

NEVER_INLINED unsigned long mix(unsigned long seed) {
    for (int round = 0; round < 400000; round++) {
        seed = seed * 6364136223846793005ul + (seed >> 29);
    }
    return seed;
}

NEVER_INLINED unsigned long step(unsigned long seed) {
    unsigned long *blocks[16];
    for (int index = 0; index < 16; index++) {
        blocks[index] = malloc(64);
        *blocks[index] = seed + (unsigned long)index;
    }
    for (int index = 0; index < 16; index++) {
        seed += *blocks[index];
        free(blocks[index]);
    }
    return mix(seed);
}

int main(void) {
    unsigned long seed = 1;
    for (int number = 0; number < 300; number++) {
        seed = step(seed);
    }
    printf("%lu\n", seed);
    return 0;
}
