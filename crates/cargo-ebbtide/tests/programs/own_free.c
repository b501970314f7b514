/* A program with a function of the C library's allocator, which calls the public one. */
#include <stdlib.h>

void __libc_free(void *block) {
    free(block);
}

int main(void) {
    for (size_t size = 1; size < 100; size++) free(malloc(size));
    return 0;
}
