/* Frees blocks of `malloc` by another allocator's function. */
#include <stdio.h>
#include <stdlib.h>

void sdallocx(void *block, size_t size, int flags);

int main(void) {
    for (size_t size = 1; size < 100; size++) sdallocx(malloc(size), size, 0);
    puts("all of it");
    return 0;
}
