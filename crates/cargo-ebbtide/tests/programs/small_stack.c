/* Calls in calls, in a thread with the smallest stack. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline, noclone)) long deeper(volatile long n) {
    char *block = malloc((size_t)n + 1);
    block[0] = (char)n;
    long sum = n > 0 ? deeper(n - 1) : 1;
    sum += block[0];
    free(block);
    return sum;
}

static void *thread(void *nothing) {
    (void)nothing;
    return (void *)deeper(12);
}

int main(void) {
    pthread_attr_t small;
    pthread_t started;
    void *sum = NULL;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    if (pthread_create(&started, &small, thread, NULL) == 0) pthread_join(started, &sum);
    printf("%ld\n", (long)sum);
    return 0;
}
