/* Runs functions one instruction at a time, and unwinds the stack after each: `main` must be on it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#define NEVER_INLINED __attribute__((noinline, noclone))

int main(void);
static volatile long cut, steps;
static long seen[64];
static volatile long global = 3;

static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *found) {
    int before = 0;
    void *address = (void *)(_Unwind_GetIPInfo(context, &before) - !before);
    if (_Unwind_FindEnclosingFunction(address) == (void *)main) *(int *)found = 1;
    return _URC_NO_REASON;
}

static void stepped(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    ucontext_t *at = context;
    int found = 0;
    _Unwind_Backtrace(frame, &found);
    steps++;
    if (!found && cut < 64) seen[cut++] = (long)at->uc_mcontext.gregs[REG_RIP];
}

#define STEP(on)                                                                                  \
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; " on "; popfq; lea 128(%%rsp), %%rsp" ::: "cc", \
                     "memory")

NEVER_INLINED long pushes(long n) {
    char *block = malloc((size_t)n + 1);
    block[n] = (char)n;
    long sum = block[n] + global;
    free(block);
    return sum;
}

NEVER_INLINED long calls(void) {
    void *block = malloc(5);
    memset(block, 1, 5);
    free(block);
    return pushes(7);
}

NEVER_INLINED long jumps(long n) {
    return pushes(n + 1);
}

NEVER_INLINED long tests(long n, long a, long b, long c, long d, long e, long on_stack) {
    if (n == 0) return on_stack;
    return pushes(n + a + b + c + d + e) + on_stack;
}

NEVER_INLINED __attribute__((optimize("no-omit-frame-pointer"))) long framed(long n) {
    volatile char array[64];
    memset((void *)array, (int)n, sizeof array);
    return array[n] + pushes(n);
}

NEVER_INLINED long reads(void) {
    global += 1;
    return pushes(global);
}

NEVER_INLINED long wide(long n) {
    volatile _Alignas(64) char array[64];
    array[n] = 3;
    return pushes(array[n]);
}

int main(void) {
    struct sigaction action = {.sa_sigaction = stepped, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    int found = 0;
    _Unwind_Backtrace(frame, &found);
    long sum = 0;
    for (int round = 0; round < 2; round++) {
        STEP("orq $0x100, (%%rsp)");
        sum += pushes(3) + calls() + jumps(4) + tests(0, 1, 2, 3, 4, 5, 6) + tests(1, 2, 3, 4, 5, 6, 7);
        sum += framed(5) + reads() + wide(2);
        STEP("andq $~0x100, (%%rsp)");
    }
    printf("%ld, cut %ld, %s\n", sum, cut, steps > 1000 ? "stepped" : "not stepped");
    for (int index = 0; index < cut; index++) fprintf(stderr, "%lx\n", seen[index]);
    return 0;
}
