// Builds one document, adds it up, and frees it.

#include <stdio.h>
#include <stdlib.h>

#define NEVER_INLINED __attribute__((noinline))

struct element {
    struct element *child, *next;
    long value;
};

NEVER_INLINED struct element *parse(int depth, int number) {
    struct element *element = malloc(sizeof *element);
    element->value = number;
    element->next = NULL;
    element->child = NULL;
    for (int child = 0; depth > 0 && child < 8; child++) {
        struct element *parsed = parse(depth - 1, child);
        parsed->next = element->child;
        element->child = parsed;
    }
    return element;
}

NEVER_INLINED long drop(struct element *element) {
    long sum = element->value;
    for (struct element *child = element->child; child != NULL;) {
        struct element *next = child->next;
        sum += drop(child);
        child = next;
    }
    free(element);
    return sum;
}

NEVER_INLINED long process(int depth) {
    return drop(parse(depth, 1)) + depth;
}

int main(void) {
    printf("sum %ld\n", process(6));
    return 0;
}
