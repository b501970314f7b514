/* Claim: threads with arenas of their own, and their default arenas, do not meet. An arena may move
   to another thread between scopes. */
#define _POSIX_C_SOURCE 200809L
#include "test.h"

#include <pthread.h>

static pthread_key_t at_exit;

static void work(ebb_scope *s, unsigned seed) {
    for (unsigned i = 0; i < 2000; i++) {
        unsigned *value = ebb_new(s, unsigned);
        *value = seed + i;
        const char *text = ebb_sprintf(s, "%u", seed + i);
        EXPECT((unsigned)strtoul(text, NULL, 10) == *value);
    }
}

/* Runs when other destructors of the thread may have run. */
static void in_a_destructor(void *value) {
    (void)value;
    for (int turn = 0; turn < 3; turn++) {
        ebb_scope s = ebb_thread_open();
        EXPECT(ebb_is_open(&s));
        work(&s, 3);
        EXPECT(ebb_close(&s) == EBB_OK);
    }
}

static void *run(void *arena) {
    EXPECT(pthread_setspecific(at_exit, arena) == 0);
    for (unsigned turn = 0; turn < 50; turn++) {
        ebb_scope own = ebb_open(arena);
        ebb_scope local = ebb_thread_open();
        work(&own, turn);
        work(&local, turn + 7);
        EXPECT(ebb_alloc(&local, SIZE_MAX) == NULL && ebb_last_status() == EBB_SIZE);
        EXPECT(ebb_close(&local) == EBB_OK);
        EXPECT(ebb_close(&own) == EBB_OK);
    }
    return arena;
}

static void *close_here(void *scope) {
    EXPECT(ebb_close(scope) == EBB_OK);
    return NULL;
}

int main(void) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    ebb_arena *arenas[THREADS];
    EXPECT(pthread_key_create(&at_exit, in_a_destructor) == 0);
    for (int i = 0; i < THREADS; i++)
        arenas[i] = ebb_arena_new(NULL);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < THREADS; i++)
            EXPECT(pthread_create(&threads[i], NULL, run, arenas[(i + round) % THREADS]) == 0);
        for (int i = 0; i < THREADS; i++)
            EXPECT(pthread_join(threads[i], NULL) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        EXPECT(ebb_arena_free(arenas[i]) == EBB_OK);
    /* A scope that another thread closes leaves its arena to that thread. */
    ebb_scope s = ebb_thread_open();
    work(&s, 1);
    EXPECT(pthread_create(&threads[0], NULL, close_here, &s) == 0);
    EXPECT(pthread_join(threads[0], NULL) == 0);
    EXPECT(!ebb_is_open(&s));
    return 0;
}
