/* Functions that exist only in their callers. Arguments: what is called, and how often. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 40
#define KEPT 4096
#define INLINED static inline __attribute__((always_inline))

static long *kept[KEPT];

INLINED int parse(int number) {
    char *block = malloc((size_t)number + 1);
    block[number] = 3;
    int sum = block[number];
    free(block);
    return sum;
}

__attribute__((noinline)) int handle(int number) {
    return parse(number) * 3;
}

/* A list of blocks, and an entry of a ledger, which is kept. */
INLINED long post(long number) {
    long **list = malloc(BLOCKS * sizeof *list), sum = 0;
    for (long i = 0; i < BLOCKS; i++) {
        list[i] = malloc(sizeof *list[i]);
        *list[i] = number + i;
    }
    for (long i = 0; i < BLOCKS; i++) {
        sum += *list[i];
        free(list[i]);
    }
    free(list);
    if (kept[number % KEPT] == NULL) {
        kept[number % KEPT] = malloc(sizeof **kept);
    }
    *kept[number % KEPT] = sum;
    return sum;
}

INLINED long parses(long number) {
    long *list[BLOCKS], sum = 0;
    for (long i = 0; i < BLOCKS; i++) {
        list[i] = malloc(sizeof *list[i]);
        *list[i] = number + i;
    }
    for (long i = 0; i < BLOCKS; i++) {
        sum += *list[i];
        free(list[i]);
    }
    return sum;
}

/* The blocks die where others were allocated, in a later call. */
INLINED long replace_all(long number) {
    for (long i = 0; i < BLOCKS; i++) {
        long **slot = &kept[(number * BLOCKS + i) % KEPT];
        free(*slot);
        *slot = malloc(sizeof **slot);
        **slot = i;
    }
    return number;
}

/* The same, with a block that tells how often it is called. */
INLINED long replace(long number) {
    long *block = malloc(sizeof *block);
    *block = replace_all(number);
    number = *block;
    free(block);
    return number;
}

/* With a page of its own. */
__attribute__((noinline)) long serve(long number) {
    long *page = malloc(4096);
    page[0] = post(number);
    number = page[0] / 2;
    free(page);
    return number;
}

int main(int argc, char **argv) {
    const char *what = argc > 2 ? argv[1] : "";
    long calls = argc > 2 ? atol(argv[2]) : 0, sum = handle(100) + handle(7);
    if (strcmp(what, "post") == 0) {
        for (long i = 0; i < calls; i++) {
            sum += post(i);
        }
    } else if (strcmp(what, "replace") == 0) {
        for (long i = 0; i < calls; i++) {
            sum += replace(i);
        }
    } else if (strcmp(what, "replace_all") == 0) {
        for (long i = 0; i < calls; i++) {
            sum += replace_all(i);
        }
    } else if (strcmp(what, "parses") == 0) {
        for (long i = 0; i < calls; i++) {
            sum += parses(i);
        }
    } else if (strcmp(what, "serve") == 0) {
        for (long i = 0; i < calls; i++) {
            sum += serve(i);
        }
    } else {
        for (long i = 0; i < calls; i++) {
            char *text = malloc(100);
            text[99] = (char)i;

            char *copy = malloc(100);
            memcpy(copy, text, 100);
            sum += copy[99];
            free(copy);
            free(text);
        }
    }
    printf("%ld\n", sum);
    return 0;
}
