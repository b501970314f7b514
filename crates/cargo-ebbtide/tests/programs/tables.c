/* Functions that jump to addresses in tables, some of them to their own first instructions. */
#include <stdio.h>
#include <stdlib.h>

#define OUT __attribute__((noinline, noclone))

static long count;

OUT long step(void) {
    char *block = malloc(5);
    block[0] = 1;
    count += block[0];
    free(block);
    return count;
}

OUT long labels(const unsigned char *at) {
    static const void *const labels[] = {&&end, &&one, &&two, &&three};
one:
    step();
    goto *labels[*at++ & 3];
two:
    step();
    step();
    goto *labels[*at++ & 3];
three:
    step();
    step();
    step();
    goto *labels[*at++ & 3];
end:
    return count;
}

OUT long cases(const unsigned char *at) {
    for (;;) {
        switch (*at++) {
        case 0: return count + 1;
        case 1: continue;
        case 2: return step() + 3;
        case 3: return step() * 7;
        case 4: return count + step() * 2;
        case 5: return count ^ step();
        case 6: return count | step();
        default: return 0;
        }
    }
}

int main(void) {
    unsigned char codes[64] = {0};
    long sum = 0;
    for (int i = 0; i < 1000; i++) {
        for (int j = 0; j < 60; j++) codes[j] = (unsigned char)(j < i % 9 ? 1 + j * i % 3 : 0);
        sum += labels(codes);
        for (int j = 0; j < 60; j++) codes[j] = (unsigned char)(j < i % 9 ? 1 : i % 7);
        sum += cases(codes);
    }
    printf("%ld\n", sum);
    return 0;
}
