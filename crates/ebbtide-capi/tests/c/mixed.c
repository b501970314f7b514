/* Claim: files that were compiled with EBB_CHECKS and without it may use the same scopes. Compiled
   once either way, and linked. */
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
} part;
extern const part part_with_checks, part_without;

static ebb_scope open_scope(ebb_arena *arena) { return ebb_open(arena); }
static ebb_scope open_child(ebb_scope *parent) { return ebb_child(parent); }
static void *use(ebb_scope *scope, size_t size) { return ebb_alloc(scope, size); }
static ebb_status close_scope(ebb_scope *scope) { return ebb_close(scope); }

const part MINE(part) = {open_scope, open_child, use, close_scope};

#if EBB_CHECKS
int main(void) {
    const part *parts[] = {&part_with_checks, &part_without};
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
    EXPECT(ebb_arena_free(arena) == EBB_OK);
    EXPECT(memcmp(&storage[0], &around, sizeof around) == 0);
    EXPECT(memcmp(&storage[2], &around, sizeof around) == 0);
    return 0;
}
#endif
