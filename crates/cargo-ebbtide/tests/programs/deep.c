// Allocates in each of 100,000 calls that lie in one another.

#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) long descend(long depth) {
    long *block = malloc(sizeof *block);
    *block = depth;
    long below = depth == 0 ? 0 : descend(depth - 1);
    long sum = below + *block;
    free(block);
    return sum;
}

int main(void) {
    printf("sum %ld\n", descend(100000) + descend(50000));
    return 0;
}
