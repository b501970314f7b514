/* Claim: with EBB_CHECKS, misuse of scopes prints what is wrong and aborts. The argument is the
   case; without one, prints how many there are. Each case ends with "not caught" if it is not. */
#include "ebbtide_hooks.h"
#include "test.h"

static ebb_arena *arena;
static ebb_scope parent, child;

static void allocate(void) { ebb_new(&parent, int); }
static void allocate_unknown(void) {
    volatile size_t size = 100;
    ebb_alloc(&parent, size);
}
static void allocate_low(void) { ebb_alloc_low(&parent, 8, 8); }
static void print(void) { ebb_sprintf(&parent, "%d", 1); }
static void grow(void) { ebb_grow(&parent, NULL, 0, 8, 8); }
static void give_back(void) { ebb_free_last(&parent, NULL, 0); }
static void mark(void) { (void)ebb_mark(&parent); }
static void go_back(void) {
    const ebb_position start = {parent.top_, parent.chunk_, parent.low_};
    ebb_rewind(&parent, start);
}
static void open_second_child(void) { (void)ebb_child(&parent); }
static void close_parent_first(void) { (void)ebb_close(&parent); }
static void rewind_in_wrong_order(void) {
    const ebb_position first = ebb_mark(&child);
    ebb_new(&child, double);
    const ebb_position second = ebb_mark(&child);
    ebb_rewind(&child, first);
    ebb_rewind(&child, second);
}
static void rewind_to_another_arena(void) {
    ebb_arena *other = ebb_arena_new(NULL);
    ebb_scope scope = ebb_open(other);
    const ebb_position position = ebb_mark(&scope);
    ebb_rewind(&child, position);
}
static void rewind_a_full_chunk_to_another_arena(void) {
    ebb_alloc(&child, 100000);
    rewind_to_another_arena();
}
static void rewind_a_closed_scope(void) {
    const ebb_position start = ebb_mark(&child);
    (void)ebb_close(&child);
    ebb_rewind(&child, start);
}
static void use_a_copy_of_a_closed_child(void) {
    ebb_scope copy = child;
    (void)ebb_close(&child);
    ebb_new(&copy, int);
}
static void close_a_copy_of_a_closed_child(void) {
    ebb_scope copy = child;
    (void)ebb_close(&child);
    (void)ebb_close(&copy);
}
static void use_a_copy_of_a_closed_scope(void) {
    ebb_scope copy = parent;
    (void)ebb_close(&child);
    copy.state_ = parent.state_;
    (void)ebb_close(&parent);
    ebb_alloc_low(&copy, 8, 8);
}
static void use_a_copy_of_a_scope_of_the_thread(void) {
    ebb_scope local = ebb_thread_open();
    ebb_scope copy = local;
    (void)ebb_close(&local);
    ebb_new(&copy, int);
}
static void use_a_scope_after_a_reset(void) {
    (void)ebb_close(&child);
    (void)ebb_arena_reset(arena);
    ebb_new(&parent, int);
}
static void use_null(void) { ebb_new((ebb_scope *)NULL, int); }
static void close_null(void) { (void)ebb_close(NULL); }
static void use_the_heap_of_a_parent(void) {
    ebb_heap heap;
    ebb_heap_init(&heap, &parent);
    ebb_heap_alloc(&heap, 8);
}
static void free_to_a_heap_after_its_scope(void) {
    ebb_heap heap;
    ebb_heap_init(&heap, &child);
    void *block = ebb_heap_alloc(&heap, 8);
    (void)ebb_close(&child);
    ebb_heap_free(&heap, block, 8);
}
/* A heap over the child with a freed block of 100 bytes that is not the last one. */
static ebb_heap recycling;
static void *freed, *unfreed;
static void recycle(void) {
    ebb_heap_init(&recycling, &child);
    freed = ebb_heap_alloc(&recycling, 100);
    unfreed = ebb_heap_alloc(&recycling, 100);
    ebb_heap_free(&recycling, freed, 100);
}
static void reopen(void) {
    (void)ebb_close(&child);
    child = ebb_child(&parent);
}
static void allocate_from_a_heap_after_its_scope(void) {
    recycle();
    (void)ebb_close(&child);
    ebb_heap_alloc(&recycling, 100);
}
static void allocate_from_a_heap_after_a_reset(void) {
    recycle();
    (void)ebb_arena_reset(arena);
    child = ebb_open(arena);
    ebb_heap_alloc(&recycling, 100);
}
static void allocate_from_a_heap_of_the_scope_before(void) {
    recycle();
    reopen();
    ebb_heap_alloc(&recycling, 100);
}
static void allocate_where_the_next_scope_has_a_block(void) {
    recycle();
    reopen();
    ebb_alloc_low(&child, 1000, 16);
    ebb_heap_alloc(&recycling, 100);
}
static void allocate_where_the_next_scope_has_written(void) {
    recycle();
    const ebb_position position = ebb_mark(&child);
    void *first = ebb_heap_alloc(&recycling, 3000);
    ebb_heap_alloc(&recycling, 3000);
    ebb_heap_free(&recycling, first, 3000);
    ebb_rewind(&child, position);
    memset(ebb_alloc_low(&child, 5000, 16), 1, 5000);
    ebb_heap_alloc(&recycling, 3000);
}
static void allocate_from_a_heap_after_a_rewind(void) {
    ebb_heap_init(&recycling, &child);
    const ebb_position position = ebb_mark(&child);
    freed = ebb_heap_alloc(&recycling, 100);
    ebb_heap_alloc(&recycling, 100);
    ebb_heap_free(&recycling, freed, 100);
    ebb_rewind(&child, position);
    ebb_heap_alloc(&recycling, 100);
}
static void free_to_a_heap_of_the_scope_before(void) {
    recycle();
    reopen();
    ebb_alloc_low(&child, 1000, 16);
    ebb_heap_free(&recycling, unfreed, 100);
}
static void resize_in_a_heap_of_the_scope_before(void) {
    recycle();
    reopen();
    ebb_alloc_low(&child, 1000, 16);
    ebb_heap_resize(&recycling, unfreed, 100, 200);
}
static void write_to_a_freed_block(void) {
    recycle();
    memset(freed, 1, 100);
    ebb_heap_alloc(&recycling, 100);
}
/* Blocks of the sized interface, which have no header. */
static void free_twice(size_t size, bool is_last, bool is_another_freed) {
    ebb_heap_init(&recycling, &child);
    void *block = ebb_heap_alloc(&recycling, size);
    void *next = is_last ? NULL : ebb_heap_alloc(&recycling, size);
    if (!is_last)
        ebb_heap_alloc(&recycling, size);
    ebb_heap_free(&recycling, block, size);
    if (is_another_freed)
        ebb_heap_free(&recycling, next, size);
    ebb_heap_free(&recycling, block, size);
}
static void free_a_block_twice(void) { free_twice(100, false, false); }
static void free_a_small_block_twice(void) { free_twice(1, false, true); }
static void free_an_empty_block_twice(void) { free_twice(0, false, true); }
static void free_a_large_block_twice(void) { free_twice(100000, false, true); }
static void free_the_last_block_twice(void) { free_twice(100, true, false); }
static void free_the_empty_last_block_twice(void) { free_twice(0, true, false); }
static void free_a_block_that_moved(void) {
    ebb_heap_init(&recycling, &child);
    void *block = ebb_heap_alloc(&recycling, 100);
    ebb_heap_alloc(&recycling, 100);
    ebb_heap_resize(&recycling, block, 100, 1000);
    ebb_heap_free(&recycling, block, 100);
}
static void resize_a_freed_block(void) {
    recycle();
    ebb_heap_resize(&recycling, freed, 100, 110);
}
static void free_a_block_of_lua_twice(void) {
    ebb_heap_init(&recycling, &child);
    void *block = ebb_lua_alloc(&recycling, NULL, 0, 40);
    ebb_lua_alloc(&recycling, NULL, 0, 40);
    ebb_lua_alloc(&recycling, block, 40, 0);
    ebb_lua_alloc(&recycling, block, 40, 0);
}

/* The first of three blocks is not the last one at the low end, the last one is. */
static void free_a_hook_block_twice(int which) {
    ebb_heap heap;
    void *blocks[3];
    ebb_heap_init(&heap, &child);
    (void)ebb_heap_use(&heap);
    for (int i = 0; i < 3; i++)
        blocks[i] = ebb_hook_malloc(100);
    ebb_hook_free(blocks[which]);
    ebb_hook_free(blocks[which]);
}
static void free_a_recycled_hook_block_twice(void) { free_a_hook_block_twice(0); }
static void free_the_last_hook_block_twice(void) { free_a_hook_block_twice(2); }
static void resize_a_freed_hook_block(void) {
    ebb_heap heap;
    ebb_heap_init(&heap, &child);
    (void)ebb_heap_use(&heap);
    void *volatile block = ebb_hook_malloc(8);
    ebb_hook_free(block);
    ebb_hook_realloc(block, 9);
}

static void (*const cases[])(void) = {
    allocate,  allocate_unknown,  allocate_low,       print,
    grow,      give_back,         mark,               go_back,
    open_second_child, close_parent_first, rewind_in_wrong_order,
    rewind_to_another_arena, rewind_a_full_chunk_to_another_arena,
    rewind_a_closed_scope, use_null,  close_null,
    use_a_copy_of_a_closed_child, close_a_copy_of_a_closed_child, use_a_copy_of_a_closed_scope,
    use_a_copy_of_a_scope_of_the_thread, use_a_scope_after_a_reset,
    use_the_heap_of_a_parent, free_to_a_heap_after_its_scope, free_a_recycled_hook_block_twice,
    free_the_last_hook_block_twice, resize_a_freed_hook_block,
    allocate_from_a_heap_after_its_scope, allocate_from_a_heap_after_a_reset,
    allocate_from_a_heap_of_the_scope_before, allocate_where_the_next_scope_has_a_block,
    allocate_where_the_next_scope_has_written, allocate_from_a_heap_after_a_rewind,
    free_to_a_heap_of_the_scope_before, resize_in_a_heap_of_the_scope_before,
    write_to_a_freed_block, free_a_block_twice, free_a_small_block_twice,
    free_an_empty_block_twice, free_a_large_block_twice, free_the_last_block_twice,
    free_the_empty_last_block_twice, free_a_block_that_moved, resize_a_freed_block,
    free_a_block_of_lua_twice,
};

int main(int count, char **arguments) {
    if (count == 1) {
        printf("%zu\n", sizeof cases / sizeof *cases);
        return 0;
    }
    arena = ebb_arena_new(NULL);
    parent = ebb_open(arena);
    child = ebb_child(&parent);
    ebb_new(&child, int);
    cases[strtoul(arguments[1], NULL, 10)]();
    fprintf(stderr, "not caught\n");
    return 0;
}
