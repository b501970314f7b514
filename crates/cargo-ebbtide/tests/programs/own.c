// A program with an allocator of its own.

#include <stddef.h>

static _Alignas(16) char memory[1 << 20];
static size_t used;

void *malloc(size_t size) {
    size_t start = used;
    used += (size + 15) / 16 * 16;
    return memory + start;
}

void free(void *block) {
    (void)block;
}

int main(void) {
    char *block = malloc(10);
    *(volatile char *)block = 0;
    free(block);
    return 0;
}
