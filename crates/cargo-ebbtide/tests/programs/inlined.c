/* A function that exists only in its caller. */
#include <stdio.h>
#include <stdlib.h>

static inline __attribute__((always_inline)) int parse(int number) {
    char *block = malloc((size_t)number + 1);
    block[number] = 3;
    int sum = block[number];
    free(block);
    return sum;
}

__attribute__((noinline)) int handle(int number) {
    return parse(number) * 3;
}

int main(void) {
    printf("%d\n", handle(100) + handle(7));
    return 0;
}
