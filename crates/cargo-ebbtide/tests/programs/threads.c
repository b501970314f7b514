// "handed": one thread makes blocks, another frees them.
// "four": four threads call handlers at the same time.
// "small": a thread with the smallest stack allocates.

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEVER_INLINED __attribute__((noinline))
#define BLOCKS 1000
#define CALLS 50

static void *blocks[BLOCKS];
static pthread_barrier_t barrier;

NEVER_INLINED void *make(void *nothing) {
    for (int index = 0; index < BLOCKS; index++) {
        blocks[index] = malloc(24 + (size_t)index);
        memset(blocks[index], index, 24);
    }
    return nothing;
}

NEVER_INLINED void *drop(void *nothing) {
    for (int index = 0; index < BLOCKS; index++) {
        free(blocks[index]);
    }
    return nothing;
}

NEVER_INLINED long handle(int number) {
    long *own[20], sum = 0;
    for (int index = 0; index < 20; index++) {
        own[index] = malloc(sizeof(long) * (size_t)(index + 1));
        own[index][index] = number + index;
    }
    for (int index = 0; index < 20; index++) {
        sum += own[index][index];
        free(own[index]);
    }
    return sum;
}

static void *serve(void *first) {
    long sum = 0;
    pthread_barrier_wait(&barrier);
    for (int number = 0; number < CALLS; number++) {
        sum += handle((int)(long)first + number);
    }
    return (void *)sum;
}

static void *on_a_small_stack(void *number) {
    return (void *)handle((int)(long)number);
}

static long run(void *(*body)(void *), void *argument, const pthread_attr_t *attributes) {
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, attributes, body, argument) != 0 || pthread_join(thread, &result) != 0) {
        abort();
    }
    return (long)result;
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    if (strcmp(mode, "handed") == 0) {
        run(make, NULL, NULL);
        run(drop, NULL, NULL);
        printf("blocks %d\n", BLOCKS);
    } else if (strcmp(mode, "small") == 0) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
        long sum = 0;
        for (long number = 0; number < 50; number++) {
            sum += run(on_a_small_stack, (void *)number, &attributes);
        }
        printf("sum %ld\n", sum);
    } else {
        pthread_t threads[4];
        long sum = 0;
        pthread_barrier_init(&barrier, NULL, 4);
        for (long index = 0; index < 4; index++) {
            if (pthread_create(&threads[index], NULL, serve, (void *)(index * 1000)) != 0) {
                abort();
            }
        }
        for (int index = 0; index < 4; index++) {
            void *result = NULL;
            pthread_join(threads[index], &result);
            sum += (long)result;
        }
        printf("sum %ld calls %d blocks %d\n", sum, 4 * CALLS, 4 * CALLS * 20);
    }
    return 0;
}
