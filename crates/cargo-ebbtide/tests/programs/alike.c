// Calls of one function from a loop whose variables lie in memory, so that all calls look like one.

#include <stdio.h>
#include <stdlib.h>

static volatile long round_number, sum;

__attribute__((noinline)) void handle(void) {
    char *blocks[64];
    for (int block = 0; block < 64; block++) {
        blocks[block] = malloc(100);
        blocks[block][0] = (char)round_number;
    }
    for (int block = 0; block < 64; block++) {
        sum += blocks[block][0];
        free(blocks[block]);
    }
}

int main(void) {
    for (round_number = 0; round_number < 20000; round_number++)
        handle();
    printf("sum %ld\n", sum);
    return 0;
}
