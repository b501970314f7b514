/* Makes time pass FACTOR times as fast for a program, as on a machine that runs it that much more
   slowly: preloaded by busy.sh. Deadlines come early, windows of time end between any two steps,
   and threads are late. For 64-bit Linux with glibc. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static long long factor, start;

static long long nanoseconds(const struct timespec *time) {
    return time->tv_sec * SECOND + time->tv_nsec;
}

static struct timespec timespec_of(long long nanoseconds) {
    return (struct timespec){nanoseconds / SECOND, nanoseconds % SECOND};
}

__attribute__((constructor)) static void begin(void) {
    if (factor)
        return;
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    start = nanoseconds(&now);
    const char *text = getenv("FACTOR");
    factor = text ? atoll(text) : 1;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE)) {
        begin();
        *now = timespec_of(start + (nanoseconds(now) - start) * factor);
    }
    return failed;
}

int nanosleep(const struct timespec *wanted, struct timespec *rest) {
    begin();
    struct timespec left = timespec_of(nanoseconds(wanted) / factor);
    if (rest)
        *rest = (struct timespec){0, 0};
    while (syscall(SYS_nanosleep, &left, &left) && errno == EINTR) {
    }
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *rest) {
    if (!(flags & TIMER_ABSTIME))
        return nanosleep(wanted, rest);
    begin();
    struct timespec until = *wanted;
    if (clock == CLOCK_MONOTONIC)
        until = timespec_of(start + (nanoseconds(wanted) - start) / factor);
    return syscall(SYS_clock_nanosleep, clock, flags, &until, NULL) ? errno : 0;
}
