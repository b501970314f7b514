/* Callers that know more about a function than its type: which registers it leaves alone, that it needs
 * no aligned stack, that it takes the arguments of its caller. To be compiled for the processor that is
 * there. */
#include <stdio.h>
#include <stdlib.h>

#define OUT __attribute__((noinline, noclone))

typedef double vector __attribute__((vector_size(32)));

/* Named like a type in the names of C++. */
OUT static long f(long n) {
    return n * 3;
}

OUT long unaligned(long n) {
    return f(n) + 1;
}

#define ALL(do) do(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) \
    do(14) do(15) do(16) do(17) do(18) do(19) do(20) do(21) do(22) do(23)

/* More numbers than there are registers without AVX-512. */
OUT double keeps(long n, const double *from) {
#define READ(i) double number##i = from[i] * 1.5 + (double)n;
#define MIX(i) number##i = number##i * 1.01 + from[(i + 5) % 24] * number0;
#define ADD(i) sum = sum * 1.0001 + number##i;
    ALL(READ)
    for (int i = 0; i < 3; i++) {
        ALL(MIX)
        n += f(n);
    }
    double sum = (double)n;
    ALL(ADD)
    return sum;
}

OUT vector wide(vector a, vector b, vector c, vector d, vector e, vector f, vector g, vector h, vector i,
                vector j) {
    return a + b * c + d * e + f * g + h * i - j;
}

OUT long eight(long a, long b, long c, long d, long e, long f, long g, long h) {
    char *block = malloc((size_t)(a % 100 + 1));
    block[0] = (char)a;
    long sum = block[0] + b + 2 * c + 3 * d + 4 * e + 5 * f + 6 * g + 7 * h;
    free(block);
    return sum;
}

/* Jumps to `eight`, with the arguments where they are. */
OUT long passed(long a, long b, long c, long d, long e, long f, long g, long h) {
    return eight(a + 1, b, c, d, e, f, g, h);
}

static long (*volatile chosen)(long, long, long, long, long, long, long, long) = eight;

OUT long passed_to_chosen(long a, long b, long c, long d, long e, long f, long g, long h) {
    return chosen(a + 1, b, c, d, e, f, g, h);
}

__attribute__((noinline, cold)) void report(long first, long last) {
    printf("%ld %ld\n", first, last);
}

/* Reads its last argument in a part of its own. */
OUT long seldom(long a, long b, long c, long d, long e, long f, long g, long h) {
    if (__builtin_expect(a == 1234, 0)) report(a, h);
    return a + b + c + d + e + f;
}

int main(void) {
    double numbers[24], real = 0;
    long sum = 0;
    for (int i = 0; i < 24; i++) numbers[i] = i * 0.01;
    for (volatile long i = 0; i < 2000; i++) {
        long n = i;
        vector v = {(double)n, 1, 2, 3};
        real += keeps(n, numbers);
        v = wide(v, v, v, v, v, v, v, v, v + 1, v + 2);
        real += v[0] + v[3];
        sum += unaligned(n);
        sum += passed(n, 2, 3, 4, 5, 6, n, n) + passed_to_chosen(n, 2, 3, 4, 5, 6, n, n);
        sum += seldom(n, 2, 3, 4, 5, 6, n, n + 7);
    }
    printf("%ld %.17g\n", sum, real);
    return 0;
}
