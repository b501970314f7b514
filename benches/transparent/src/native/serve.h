/* Programs of C and C++ as contestants of the driver: like `../child.rs`, for each line of the
   standard input, runs a batch and prints its nanoseconds, page faults and result. */
#ifndef SERVE_H
#define SERVE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static inline uint64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline long page_faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

/* True after the next line. Prints what the batch since the last line took. */
static inline int next_batch(uint64_t result) {
    static uint64_t start;
    static long faults;
    if (start != 0) {
        printf("%llu %ld %llu\n", (unsigned long long)(nanoseconds() - start),
               page_faults() - faults, (unsigned long long)result);
        fflush(stdout);
    }
    for (int c; (c = getchar()) != '\n';)
        if (c == EOF)
            return 0;
    faults = page_faults();
    start = nanoseconds();
    return 1;
}

#endif
