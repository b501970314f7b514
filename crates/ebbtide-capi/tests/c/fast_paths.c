/* The fast paths, for tests/counts.rs: `fast_paths ROW COUNT`, and for benches/c, which calls
   `fast_path`. Each loop has a twin in examples/fast_paths.rs. */
#include "test.h"

/* Keeps the compiler from leaving out what was written to the block. */
#define USED(block) __asm__ volatile("" : : "r"(block) : "memory")

__attribute__((noinline)) static uint64_t *by_reference(ebb_scope *s, uint64_t value) {
    uint64_t *block = ebb_new(s, uint64_t);
    if (block != NULL)
        *block = value;
    return block;
}

__attribute__((noinline)) static char *copy(ebb_scope *s, const char *text, size_t length) {
    return ebb_memdup(s, text, length, 1);
}

/* Runs the loop of a row this often, in an arena without an open scope. False if there is none. */
#ifndef FAST_PATH
#define FAST_PATH fast_path
#endif
bool FAST_PATH(ebb_arena *arena, const char *row, uint64_t turns);

bool FAST_PATH(ebb_arena *arena, const char *row, uint64_t turns) {
    if (strcmp(row, "local") == 0) {
        ebb_scope s = ebb_open(arena);
        for (uint64_t i = 0; i < turns; i++) {
            uint64_t *block = ebb_new(&s, uint64_t);
            if (block != NULL)
                *block = i;
            USED(block);
        }
        ebb_close(&s);
    } else if (strcmp(row, "reference") == 0) {
        ebb_scope s = ebb_open(arena);
        for (uint64_t i = 0; i < turns; i++)
            USED(by_reference(&s, i));
        ebb_close(&s);
    } else if (strcmp(row, "open") == 0) {
        for (uint64_t i = 0; i < turns; i++) {
            ebb_scope s = ebb_open(arena);
            uint64_t *block = ebb_new(&s, uint64_t);
            if (block != NULL)
                *block = i;
            USED(block);
            ebb_close(&s);
        }
    } else if (strcmp(row, "child") == 0) {
        ebb_scope parent = ebb_open(arena);
        for (uint64_t i = 0; i < turns; i++) {
            ebb_scope s = ebb_child(&parent);
            uint64_t *block = ebb_new(&s, uint64_t);
            if (block != NULL)
                *block = i;
            USED(block);
            ebb_close(&s);
        }
        ebb_close(&parent);
    } else if (strcmp(row, "string") == 0) {
        const char *volatile text = "twelve bytes";
        ebb_scope s = ebb_open(arena);
        for (uint64_t i = 0; i < turns; i++)
            USED(copy(&s, text, 12));
        ebb_close(&s);
    } else if (strcmp(row, "push") == 0) {
        ebb_scope s = ebb_open(arena);
        EBB_ARRAY(uint64_t) values = {0};
        for (uint64_t i = 0; i < turns; i++)
            EXPECT(ebb_push(&s, &values, i));
        USED(values.data);
        ebb_close(&s);
    } else {
        return false;
    }
    return true;
}

#ifndef WITHOUT_MAIN
int main(int count, char **arguments) {
    EXPECT(count == 3);
    ebb_options options = EBB_OPTIONS_INIT;
    options.first_chunk = 64 << 20;
    ebb_arena *arena = ebb_arena_new(&options);
    EXPECT(fast_path(arena, arguments[1], strtoull(arguments[2], NULL, 10)));
    return ebb_arena_free(arena);
}
#endif
