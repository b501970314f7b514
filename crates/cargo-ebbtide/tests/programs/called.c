/* Prints the name that it is called by. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) char *work(int round) {
    char *block = malloc(16 + round % 8);
    sprintf(block, "%d", round);
    return block;
}

int main(int count, char **names) {
    puts(names[0]);
    for (int round = 0; round < count * 1000; round++)
        free(work(round));
    return 0;
}
