/* Functions that are hard to give a scope: with arguments on the stack, results of every kind, and
 * other ways to end than a return. With an argument, a program that ends or prints as it says. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUT __attribute__((noinline, noclone))

struct large { long words[9]; };
struct pair { double number; long word; };

static char *kept[16];
static long calls;

/* Allocates, frees, and keeps a block now and then. */
static long work(long n) {
    long sum = 0;
    for (long i = 0; i < n % 7 + 1; i++) {
        char *block = malloc((size_t)(n * 31 % 300 + 1));
        memset(block, (int)n, 1);
        block = realloc(block, (size_t)(n * 17 % 900 + 1));
        sum += block[0];
        if (n % 5 == 0) {
            free(kept[n % 16]);
            kept[n % 16] = block;
        } else {
            free(block);
        }
    }
    return sum;
}

OUT long many(long a, long b, long c, long d, long e, long f, long g, long h, double x, double y) {
    calls++;
    return work(a) + a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + (long)(x * y);
}

OUT long by_value(struct large large, long last) {
    calls++;
    large.words[0] += work(last);
    return large.words[0] + large.words[1] * large.words[8] + last;
}

OUT struct large returned(long n) {
    calls++;
    struct large large = {{n, work(n), n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8}};
    return large;
}

OUT struct pair two(long n, float f) {
    calls++;
    struct pair pair = {(double)f * (double)n, work(n)};
    return pair;
}

OUT long double extended(long double x, long n) {
    calls++;
    return x * 3 + (long double)work(n);
}

OUT __int128 wide(__int128 x, long n) {
    calls++;
    return x * x + work(n);
}

typedef double vector __attribute__((vector_size(32)));

__attribute__((target("avx"))) OUT vector packed(vector one, vector other, long n) {
    calls++;
    return one * other + (double)work(n);
}

OUT long various(int count, ...) {
    va_list list;
    long sum = work(count);
    va_start(list, count);
    for (int i = 0; i < count; i++) sum += va_arg(list, long);
    va_end(list);
    calls++;
    return sum;
}

static jmp_buf out;

OUT long left(long n) {
    calls++;
    long sum = work(n);
    if (n % 3 == 0) longjmp(out, (int)(sum & 7) + 1);
    return sum;
}

OUT long nested(long n) {
    calls++;
    return n > 0 ? work(n) + nested(n - 1) * 3 : 1;
}

static long in_thread_sum;

OUT long in_thread(long n) {
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    long sum = 0;
    for (long i = 0; i < 20; i++) {
        char *block = malloc((size_t)(i * n % 500 + 1));
        block[0] = (char)i;
        sum += block[0];
        free(block);
    }
    return sum;
}

static void *thread(void *number) {
    long sum = 0;
    for (long i = 0; i < 300; i++) sum += in_thread(i + (long)number);
    __atomic_add_fetch(&in_thread_sum, sum, __ATOMIC_RELAXED);
    if ((long)number == 2) pthread_exit(NULL);
    return NULL;
}

/* 256 bits in registers, which the C library's functions do not keep. */
__attribute__((target("avx"))) OUT static long packed_sum(long n) {
    vector one = {1, 2, 3, (double)n}, other = {4, 3, 2, 1};
    vector result = packed(one, other, n);
    return (long)(result[0] + result[1] + result[2] + result[3]);
}

/* Frees what the C library has allocated by the C library's own `free`. */
OUT long in_library(void) {
    void *library = dlopen("libc.so.6", RTLD_LAZY);
    void (*release)(void *) = (void (*)(void *))dlsym(library, "free");
    long length = 0;
    for (int i = 0; i < 50; i++) {
        char *copy = strdup("a string");
        length += (long)strlen(copy);
        release(copy);
    }
    dlclose(library);
    return length;
}

/* What depends on how the program was started, or on chance. */
static int other(const char *what) {
    if (!strcmp(what, "library")) return printf("%ld\n", in_library()) < 0;
    int is_preloaded = getenv("LD_PRELOAD") != NULL;
    long sum = 0;
    int letter;
    for (long i = 0; i < 50; i++) sum += left(3 * i + 1);
    if (!strcmp(what, "status")) return is_preloaded ? 3 : 0;
    if (!strcmp(what, "differs")) printf("%d\n", is_preloaded);
    if (!strcmp(what, "process")) printf("%d\n", (int)getpid());
    while (!strcmp(what, "input") && (letter = getchar()) != EOF) putchar(letter);
    return sum < 0 ? 1 : 0;
}

int main(int count, char **arguments) {
    if (count > 1) return other(arguments[1]);
    long sum = 0;
    for (volatile long i = 0; i < 2000; i++) {
        long n = i;
        struct large large = {{n, 2, 3, 4, 5, 6, 7, 8, 9}};
        sum += many(n, n + 1, 3, 4, 5, 6, 7, n, 0.5, 8.0);
        sum += by_value(large, n);
        large = returned(n);
        sum += large.words[1] + large.words[8];
        struct pair pair = two(n, 1.5f);
        sum += (long)pair.number + pair.word;
        sum += (long)extended(1.25L * (long double)n, n);
        sum += (long)(wide((__int128)n << 40, n) >> 70);
        sum += various(3, n, 2L, 3L);
        sum += nested(n % 40);
        if (__builtin_cpu_supports("avx")) sum += packed_sum(n);
        volatile int jumped = setjmp(out);
        sum += jumped ? jumped : left(n);
    }
    pthread_t threads[4];
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread, (void *)i);
    for (long i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 16; i++) free(kept[i]);
    printf("sum %ld threads %ld calls %ld\n", sum, in_thread_sum, calls);
    return 0;
}
