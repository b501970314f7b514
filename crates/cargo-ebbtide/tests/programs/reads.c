// Reads lines up to one that says `end`, and prints their number. Each line is a call of `handle`.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 64

__attribute__((noinline)) long handle(const char *line) {
    char *words[WORDS];
    long sum = 0;
    for (int i = 0; i < WORDS; i++) {
        words[i] = strdup(line);
    }
    for (int i = 0; i < WORDS; i++) {
        sum += words[i][0];
        free(words[i]);
    }
    return sum;
}

int main(void) {
    char line[256];
    long lines = 0, sum = 0;
    fprintf(stderr, "begins\n");
    while (fgets(line, sizeof line, stdin) != NULL && strcmp(line, "end\n") != 0) {
        sum += handle(line);
        lines++;
    }
    printf("lines %ld\n", lines);
    return sum == 1;
}
