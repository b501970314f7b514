// Calls of one function from a loop whose variables lie in memory, so that all calls look like one.

#include <stdio.h>
#include <stdlib.h>

#define MOST 20000

static volatile long turn, turns, count, sum;
static char *blocks[MOST];

__attribute__((noinline)) void work(void) {
    for (int block = 0; block < count; block++) {
        blocks[block] = malloc(100);
        blocks[block][0] = (char)turn;
    }
    for (int block = 0; block < count; block++) {
        sum += blocks[block][0];
        free(blocks[block]);
    }
}

int main(int argc, char **argv) {
    turns = argc > 2 ? atol(argv[1]) : 0;
    count = argc > 2 ? atol(argv[2]) : 0;
    for (turn = 0; turn < turns && count <= MOST; turn++)
        work();
    printf("sum %ld\n", sum);
    return 0;
}
