// A server: each request builds a tree, sums it and frees it; one in four leaves a block in a cache.
// Arguments: the number of requests, and how the program ends.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEVER_INLINED __attribute__((noinline))

struct node {
    struct node *left, *right;
    long value;
};

static char *cache[64];
static unsigned long seed = 1;
static long blocks, cached;

static unsigned next_random(void) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(seed >> 33);
}

NEVER_INLINED struct node *build(int depth) {
    struct node *node = malloc(sizeof *node);
    blocks++;
    node->value = next_random();
    node->left = node->right = NULL;
    if (depth > 0) {
        node->left = build(depth - 1);
        node->right = build(depth - 1);
    }
    return node;
}

NEVER_INLINED void drop(struct node *node) {
    if (node != NULL) {
        drop(node->left);
        drop(node->right);
        free(node);
    }
}

NEVER_INLINED long sum(const struct node *node) {
    return node == NULL ? 0 : node->value + sum(node->left) + sum(node->right);
}

NEVER_INLINED void cache_insert(long value) {
    unsigned slot = next_random() % 64;
    free(cache[slot]);
    cache[slot] = malloc(100);
    blocks++;
    cached++;
    snprintf(cache[slot], 100, "%ld", value);
}

NEVER_INLINED long handle(int number) {
    struct node *tree = build(6);
    long result = sum(tree);
    if (number % 4 == 0) {
        cache_insert(result);
    }
    drop(tree);
    return result;
}

int main(int count, char **arguments) {
    int requests = count > 1 ? atoi(arguments[1]) : 100;
    const char *end = count > 2 ? arguments[2] : "return";
    long total = 0;
    for (int number = 0; number < requests; number++) {
        total += handle(number);
    }
    char line[200];
    int length = snprintf(line, sizeof line, "sum %ld calls %d blocks %ld escaped %ld\n", total, requests,
                          blocks, cached);
    if (write(1, line, (size_t)length) != length) {
        return 1;
    }
    if (strcmp(end, "abort") == 0) {
        abort();
    }
    if (strcmp(end, "killed") == 0) {
        raise(SIGKILL);
    }
    if (strcmp(end, "_exit") == 0) {
        _exit(0);
    }
    return strcmp(end, "status") == 0 ? 3 : 0;
}
