// With LIBRARY defined a library, else a program that opens the library it gets, and calls `work` in it.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef LIBRARY
__attribute__((noinline)) long work(long n) {
    char *blocks[64];
    long sum = 0;
    for (int i = 0; i < 64; i++) {
        blocks[i] = malloc(i + 8);
        blocks[i][0] = (char)n;
    }
    for (int i = 0; i < 64; i++) {
        sum += blocks[i][0];
        free(blocks[i]);
    }
    return sum;
}
#else
int main(int count, char **arguments) {
    void *library = dlopen(arguments[count - 1], RTLD_NOW);
    long (*work)(long) = (long (*)(long))dlsym(library, "work");
    long sum = 0;
    for (long i = 0; i < 2000; i++) {
        sum += work(i);
    }
    printf("sum %ld\n", sum);
    return 0;
}
#endif
