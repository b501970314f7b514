// Calls a function from one line. Arguments: the number of calls, the blocks of each, and the seconds that
// a child computes meanwhile.

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 2048

__attribute__((noinline)) long work(long number, long count) {
    char *blocks[MOST];
    long sum = 0;
    for (long index = 0; index < count; index++) {
        blocks[index] = malloc((size_t)(24 + index % 64));
        blocks[index][0] = (char)(number + index);
    }
    for (long index = 0; index < count; index++) {
        sum += blocks[index][0];
        free(blocks[index]);
    }
    return sum;
}

int main(int count, char **arguments) {
    long calls = count > 2 ? atol(arguments[1]) : 0, blocks = count > 2 ? atol(arguments[2]) : 0;
    long seconds = count > 3 ? atol(arguments[3]) : 0, sum = 0;
    if (blocks > MOST) {
        return 1;
    }
    if (seconds > 0 && fork() == 0) {
        while (clock() < seconds * CLOCKS_PER_SEC) {
        }
        _exit(0);
    }
    for (long call = 0; call < calls; call++) {
        sum += work(call, blocks);
    }
    while (seconds > 0 && wait(NULL) > 0) {
    }
    printf("sum %ld\n", sum);
    return 0;
}
