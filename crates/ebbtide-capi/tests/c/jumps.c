/* Claim: a longjmp over open children, and over the functions that opened them, leaves nothing
   behind if the scope that was opened before the setjmp is closed by ebb_close_all, or its arena
   reset: also the functions that they deferred have run. */
#include "test.h"

#include <setjmp.h>

static jmp_buf out;
static int deferred, in_a_child;

static void count_down(void *depth) {
    EXPECT(deferred-- > 0);
    /* The innermost first. */
    EXPECT(depth == NULL || *(int *)depth == in_a_child++);
}

/* Compilers may see that it never returns. */
static void (*volatile again)(ebb_scope *s, int depth);

static void fail(ebb_scope *s, int depth) {
    ebb_scope child = ebb_child(s);
    EXPECT(ebb_alloc(&child, 3000) != NULL);
    EXPECT(ebb_sprintf(&child, "%d", depth) != NULL);
    int *kept = ebb_new(&child, int);
    EXPECT(kept != NULL && ebb_defer(&child, count_down, kept));
    *kept = depth;
    deferred++;
    if (depth == 0)
        longjmp(out, 1);
    again(&child, depth - 1);
    ebb_close(&child);
}

static void jumped(ebb_scope *s, int depth) {
    if (depth % 2 == 0) {
        EXPECT(ebb_defer(s, count_down, NULL));
        deferred++;
    }
    const int before = deferred;
    in_a_child = 0;
    if (setjmp(out) == 0)
        fail(s, depth);
    EXPECT(deferred == before + depth + 1);
    EXPECT(ebb_close_all(s) == EBB_OK);
    EXPECT(deferred == before - (depth % 2 == 0) && in_a_child == depth + 1);
    EXPECT(!ebb_is_open(s));
    EXPECT(ebb_close_all(s) == EBB_CLOSED);
}

/* As the guide recommends: the function that calls setjmp opens the scope and passes its address to
   what may jump. GCC has nothing to warn about, with -Wclobbered as well. */
static bool answered(ebb_arena *arena, int depth) {
    ebb_scope s = ebb_open(arena);
    volatile bool answered = false;
    in_a_child = 0;
    if (setjmp(out) == 0) {
        EXPECT(ebb_new(&s, double) != NULL && ebb_sprintf(&s, "%d", depth) != NULL);
        fail(&s, depth);
        answered = true;
    }
    EXPECT(ebb_close_all(&s) == EBB_OK);
    return answered;
}

static void reset_after_a_jump(ebb_arena *arena) {
    ebb_scope s = ebb_open(arena);
    in_a_child = 0;
    if (setjmp(out) == 0)
        fail(&s, 3);
    EXPECT(deferred == 4 && ebb_arena_reset(arena) == EBB_OK);
}

int main(void) {
    again = fail;
    ebb_arena *arena = ebb_arena_new(NULL);
    uintptr_t before = 0;
    for (int round = 0; round < 100; round++) {
        ebb_scope of_thread = ebb_thread_open();
        EXPECT(before == 0 || before == of_thread.state_); /* The same arena again. */
        before = of_thread.state_;
        EXPECT(ebb_alloc_zeroed(&of_thread, 16) != NULL);
        jumped(&of_thread, round % 50);

        ebb_scope s = ebb_open(arena);
        EXPECT(ebb_is_open(&s));
        char *kept = ebb_strdup(&s, "kept");
        ebb_scope child = ebb_child(&s);
        jumped(&child, round % 50);
        /* The parent goes on. */
        EXPECT_TEXT(kept, "kept");
        EXPECT(ebb_alloc(&s, 100) != NULL);
        EXPECT(used(&s) < 1000);
        EXPECT(ebb_close(&s) == EBB_OK);
        EXPECT(!answered(arena, round % 50) && deferred == 0);
    }
    reset_after_a_jump(arena);
    EXPECT(deferred == 0);
    EXPECT(held(arena) < 1 << 20);
    EXPECT(ebb_arena_free(arena) == EBB_OK);
    return 0;
}
