// Forks three children, each of which answers as many requests as the first argument says. "threads" as the second
// one: while other threads allocate. "daemon": goes on in the background, and does the same there.

#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEVER_INLINED __attribute__((noinline))
#define BLOCKS 60
#define CHILDREN 3

static volatile int is_over;

NEVER_INLINED long request(long number) {
    char *blocks[BLOCKS];
    long sum = 0;
    for (int index = 0; index < BLOCKS; index++) {
        blocks[index] = malloc((size_t)(24 + index));
        blocks[index][0] = (char)(number + index);
    }
    for (int index = 0; index < BLOCKS; index++) {
        sum += blocks[index][0];
        free(blocks[index]);
    }
    return sum;
}

// The sum of what a parent has allocated, which its children free.
NEVER_INLINED long loads(char **settings, int count) {
    long sum = 0;
    for (int index = 0; index < count; index++) {
        sum += settings[index][0];
        free(settings[index]);
    }
    return sum;
}

static void *allocates(void *unused) {
    while (!is_over) {
        free(malloc(64));
    }
    return unused;
}

int main(int count, char **arguments) {
    long requests = count > 1 ? atol(arguments[1]) : 0;
    const char *mode = count > 2 ? arguments[2] : "";
    pthread_t threads[2];
    char *settings[1000];
    for (int index = 0; index < 1000; index++) {
        settings[index] = malloc(32);
        settings[index][0] = (char)index;
    }
    if (strcmp(mode, "daemon") == 0 && daemon(1, 1) != 0) {
        return 1;
    }
    for (int index = 0; index < 2 && strcmp(mode, "threads") == 0; index++) {
        pthread_create(&threads[index], NULL, allocates, NULL);
    }
    for (int child = 0; child < CHILDREN; child++) {
        if (fork() == 0) {
            long sum = loads(settings, 1000);
            for (long number = 0; number < requests; number++) {
                sum += request(number);
            }
            _exit(sum == 7);
        }
    }
    int status = 0, all = 0;
    while (wait(&status) > 0) {
        all |= status;
    }
    is_over = 1;
    for (int index = 0; index < 2 && strcmp(mode, "threads") == 0; index++) {
        pthread_join(threads[index], NULL);
    }
    long sum = loads(settings, 1000);
    char line[80];
    int length = snprintf(line, sizeof line, "status %d sum %ld\n", all, sum);
    if (write(1, line, (size_t)length) != length) {
        return 1;
    }
    _exit(0);
}
