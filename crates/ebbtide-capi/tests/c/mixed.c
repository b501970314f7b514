/* Claim: files that were compiled with EBB_CHECKS and without it may use the same scopes and heaps.
   Compiled once either way, and linked. */
#include "ebbtide_hooks.h"
#include "test.h"

#if EBB_CHECKS
#define MINE(name) name##_with_checks
#else
#define MINE(name) name##_without
#endif

/* What crosses from one file to the other. */
typedef struct part {
    ebb_scope (*open)(ebb_arena *arena);
    ebb_scope (*open_child)(ebb_scope *parent);
    void *(*use)(ebb_scope *scope, size_t size);
    ebb_status (*close)(ebb_scope *scope);
    void (*init)(ebb_heap *heap, ebb_scope *scope);
    void *(*resize)(ebb_heap *heap, void *block, size_t old_size, size_t new_size);
    void (*free)(ebb_heap *heap, void *block, size_t size);
    void *(*hook)(void *block, size_t size);
    void (*unhook)(void *block);
} part;
extern const part part_with_checks, part_without;

static ebb_scope open_scope(ebb_arena *arena) { return ebb_open(arena); }
static ebb_scope open_child(ebb_scope *parent) { return ebb_child(parent); }
static void *use(ebb_scope *scope, size_t size) { return ebb_alloc(scope, size); }
static ebb_status close_scope(ebb_scope *scope) { return ebb_close(scope); }
static void init(ebb_heap *heap, ebb_scope *scope) { ebb_heap_init(heap, scope); }
static void *resize(ebb_heap *heap, void *block, size_t old_size, size_t new_size) {
    return ebb_heap_resize(heap, block, old_size, new_size);
}
static void free_block(ebb_heap *heap, void *block, size_t size) {
    ebb_heap_free(heap, block, size);
}

const part MINE(part) = {open_scope, open_child, use,        close_scope,     init,
                         resize,     free_block, ebb_hook_realloc, ebb_hook_free};

#if EBB_CHECKS
static const part *const parts[] = {&part_with_checks, &part_without};

/* Each call is of one file or the other. Blocks are hardly written to: memory that one file recycles
   still contains what the other one put there. */
static void share_heaps(ebb_arena *arena) {
    enum { SLOTS = 50, STEPS = 20000 };
    unsigned random = 1;
    for (unsigned turn = 0; turn < 8; turn++) {
        void *blocks[SLOTS] = {NULL}, *hooks[SLOTS] = {NULL};
        size_t sizes[SLOTS] = {0};
        ebb_heap heap;
        ebb_scope s = parts[turn & 1]->open(arena), other = parts[turn & 1]->open_child(&s);
        EXPECT(parts[turn >> 1 & 1]->close(&other) == EBB_OK);
        parts[turn >> 2 & 1]->init(&heap, &s);
        (void)ebb_heap_use(&heap);
        for (int step = 0; step < STEPS; step++) {
            random = random * 1664525 + 1013904223;
            const part *const who = parts[random >> 30 & 1];
            const size_t i = (random >> 8) % SLOTS, size = (random >> 16) % 300;
            if (step % 500 == 0) { /* Scopes of others open meanwhile. */
                ebb_scope local = ebb_thread_open();
                EXPECT(ebb_close(&local) == EBB_OK);
            }
            if (random >> 28 & 1) {
                void *block = who->resize(&heap, blocks[i], sizes[i], size);
                EXPECT(block != NULL);
                blocks[i] = block;
                sizes[i] = size;
                hooks[i] = who->hook(hooks[i], size);
                EXPECT(hooks[i] != NULL);
            } else {
                who->free(&heap, blocks[i], sizes[i]);
                blocks[i] = NULL;
                who->unhook(hooks[i]);
                hooks[i] = NULL;
            }
        }
        (void)ebb_heap_use(NULL);
        EXPECT(parts[turn & 1]->close(&s) == EBB_OK);
    }
}

int main(void) {
    ebb_arena_storage storage[3];
    memset(storage, 0x5A, sizeof storage);
    const ebb_arena_storage around = storage[0];
    ebb_arena *arena = ebb_arena_new_in(&storage[1], NULL);
    for (unsigned who = 0; who < 1u << 8; who++) {
        ebb_scope s = parts[who & 1]->open(arena);
        EXPECT(parts[who >> 1 & 1]->use(&s, 100) != NULL);
        ebb_scope child = parts[who >> 2 & 1]->open_child(&s);
        EXPECT(parts[who >> 3 & 1]->use(&child, 100000) != NULL);
        EXPECT(parts[who >> 4 & 1]->close(&child) == EBB_OK);
        EXPECT(parts[who >> 5 & 1]->use(&s, 100) != NULL);
        EXPECT(parts[who >> 6 & 1]->close(&s) == EBB_OK);
        EXPECT(parts[who >> 7 & 1]->close(&s) == EBB_CLOSED);
        /* A parent that ends before its child, which only the other file checks. */
        s = part_with_checks.open(arena);
        child = part_with_checks.open_child(&s);
        EXPECT(part_without.close(&s) == EBB_OK);
    }
    EXPECT(ebb_arena_reset(arena) == EBB_OK);
    share_heaps(arena);
    EXPECT(ebb_arena_free(arena) == EBB_OK);
    EXPECT(memcmp(&storage[0], &around, sizeof around) == 0);
    EXPECT(memcmp(&storage[2], &around, sizeof around) == 0);
    return 0;
}
#endif
