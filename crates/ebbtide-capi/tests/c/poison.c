/* Claim: with guards, an access to memory of an ended scope or a freed arena is reported, and unless
   EBB_REDZONE is 0, so is an access beyond a block. The wrong use of a heap is reported by the call. The
   argument is the case; without one, prints how many there are. */
#include "ebbtide_hooks.h"
#include "test.h"
#if !EBB_VALGRIND
#include <sanitizer/asan_interface.h>
#endif

static ebb_arena *arena;
static ebb_scope s;
static volatile char *stale;

static void after_close(void) {
    stale = ebb_alloc(&s, 100);
    (void)ebb_close(&s);
}
static void after_child(void) {
    ebb_scope child = ebb_child(&s);
    stale = ebb_strdup(&child, "gone");
    (void)ebb_close(&child);
}
static void low_end_after_child(void) {
    ebb_scope child = ebb_child(&s);
    stale = ebb_sprintf(&child, "%d and more than a granule", 7);
    (void)ebb_close(&child);
}
static void after_all_were_closed(void) {
    ebb_scope child = ebb_child(&s);
    ebb_scope grandchild = ebb_child(&child);
    stale = ebb_alloc(&grandchild, 100);
    (void)ebb_close_all(&child);
}
static void after_rewind(void) {
    const ebb_position start = ebb_mark(&s);
    stale = (char *)ebb_array(&s, double, 10);
    ebb_rewind(&s, start);
}
static void in_a_chunk_behind(void) {
    ebb_scope child = ebb_child(&s);
    for (int i = 0; i < 100; i++)
        stale = ebb_alloc(&child, 1000);
    (void)ebb_close(&child);
}
static void in_an_oversize_chunk(void) {
    ebb_scope child = ebb_child(&s);
    ebb_new(&child, int);
    stale = ebb_alloc(&child, 1 << 20);
    (void)ebb_close(&child);
}
static void end_of_a_shrunk_block(void) {
    char *block = ebb_alloc_low(&s, 100, 8);
    ebb_grow(&s, block, 100, 16, 8);
    stale = block + 32;
}
static void freed_last_block(void) {
    stale = ebb_alloc_low(&s, 100, 8);
    ebb_free_last(&s, (void *)(uintptr_t)stale, 100);
}
static void after_reset(void) {
    stale = ebb_alloc(&s, 100);
    (void)ebb_arena_reset(arena);
}
static void after_free(void) {
    ebb_arena *other = ebb_arena_new(NULL);
    ebb_scope of_other = ebb_open(other);
    stale = ebb_alloc(&of_other, 100);
    (void)ebb_close(&of_other);
    (void)ebb_arena_free(other);
}
static void of_a_thread(void) {
    ebb_scope local = ebb_thread_open();
    stale = ebb_alloc(&local, 100);
    (void)ebb_close(&local);
}
static void in_a_buffer(void) {
    static char buffer[1000];
    static ebb_arena_storage storage;
    ebb_scope fixed = ebb_open(ebb_fixed_new(&storage, buffer, sizeof buffer));
    stale = ebb_alloc(&fixed, 100);
    (void)ebb_close(&fixed);
}

/* The current heap of the thread, in the scope. */
static ebb_heap *current_heap(void) {
    static ebb_heap heap;
    ebb_heap_init(&heap, &s);
    (void)ebb_heap_use(&heap);
    return &heap;
}
static void in_a_freed_hook_block(void) {
    (void)current_heap();
    stale = ebb_hook_malloc(100);
    ebb_hook_malloc(1);
    ebb_hook_free((void *)(uintptr_t)stale);
}
/* Where the heap keeps its link. */
static void in_the_link_of_a_freed_block(void) {
    ebb_heap *heap = current_heap();
    void *before = ebb_heap_alloc(heap, 100);
    stale = ebb_heap_alloc(heap, 100);
    ebb_heap_alloc(heap, 1);
    ebb_heap_free(heap, (void *)(uintptr_t)stale, 100);
    ebb_heap_free(heap, before, 100);
    EXPECT(ebb_heap_alloc(heap, 100) == before);
}
static void in_a_freed_last_hook_block(void) {
    (void)current_heap();
    stale = ebb_hook_malloc(100);
    ebb_hook_free((void *)(uintptr_t)stale);
}
static void in_a_hook_block_that_moved(void) {
    (void)current_heap();
    stale = ebb_hook_malloc(100);
    ebb_hook_malloc(1);
    ebb_hook_realloc((void *)(uintptr_t)stale, 1000);
}
static void in_a_hook_block_after_close(void) {
    (void)current_heap();
    stale = ebb_hook_malloc(100);
    (void)ebb_heap_use(NULL);
    (void)ebb_close(&s);
}
static void end_of_a_shrunk_hook_block(void) {
    (void)current_heap();
    stale = ebb_hook_malloc(100);
    stale = (char *)ebb_hook_realloc((void *)(uintptr_t)stale, 98) + 98;
}
static void past_a_recycled_hook_block(void) {
    (void)current_heap();
    stale = ebb_hook_malloc(100);
    ebb_hook_malloc(1);
    ebb_hook_free((void *)(uintptr_t)stale);
    EXPECT(ebb_hook_malloc(97) == stale);
    stale += 97;
}

/* The heap has a freed block that is not the last one, and the scope ends. The call that uses the
   heap is reported. */
static void *recycle(ebb_heap *heap) {
    void *block = ebb_heap_alloc(heap, 100);
    ebb_heap_alloc(heap, 100);
    ebb_heap_free(heap, block, 100);
    return block;
}
static void allocated_from_a_heap_after_close(void) {
    ebb_heap *heap = current_heap();
    recycle(heap);
    (void)ebb_close(&s);
    stale = ebb_heap_alloc(heap, 100);
}
static void allocated_from_a_heap_of_the_scope_before(void) {
    ebb_heap *heap = current_heap();
    recycle(heap);
    (void)ebb_close(&s);
    s = ebb_open(arena);
    stale = ebb_heap_alloc(heap, 100);
}
static void allocated_where_the_next_scope_has_a_block(void) {
    ebb_heap *heap = current_heap();
    recycle(heap);
    (void)ebb_close(&s);
    s = ebb_open(arena);
    ebb_alloc_low(&s, 1000, 16);
    stale = ebb_heap_alloc(heap, 100);
}
static void allocated_from_a_heap_after_rewind(void) {
    ebb_heap *heap = current_heap();
    const ebb_position start = ebb_mark(&s);
    recycle(heap);
    ebb_rewind(&s, start);
    stale = ebb_alloc_low(&s, 1000, 16);
    stale = ebb_heap_alloc(heap, 100);
}
static void freed_twice(size_t size, bool is_last) {
    ebb_heap *heap = current_heap();
    void *block = ebb_heap_alloc(heap, size);
    if (!is_last)
        ebb_heap_alloc(heap, size);
    ebb_heap_free(heap, block, size);
    ebb_heap_free(heap, block, size);
    stale = ebb_alloc(&s, 1);
}
static void freed_twice_in_a_heap(void) { freed_twice(100, false); }
static void empty_and_freed_twice(void) { freed_twice(0, false); }
static void last_and_freed_twice(void) { freed_twice(100, true); }
static void empty_and_last_and_freed_twice(void) { freed_twice(0, true); }
static void freed_after_it_moved(void) {
    ebb_heap *heap = current_heap();
    void *block = ebb_heap_alloc(heap, 100);
    ebb_heap_alloc(heap, 100);
    ebb_heap_resize(heap, block, 100, 1000);
    ebb_heap_free(heap, block, 100);
    stale = ebb_alloc(&s, 1);
}
static void resized_after_it_was_freed(void) {
    ebb_heap *heap = current_heap();
    void *block = recycle(heap);
    stale = ebb_heap_resize(heap, block, 100, 110);
}
static void freed_after_close(void) {
    ebb_heap *heap = current_heap();
    void *block = ebb_heap_alloc(heap, 100);
    (void)ebb_close(&s);
    ebb_heap_free(heap, block, 100);
    s = ebb_open(arena);
    stale = ebb_alloc(&s, 1);
}

#if EBB_REDZONE > 0
static void past_a_hook_block(void) {
    (void)current_heap();
    stale = (char *)ebb_hook_malloc(13) + 13;
    ebb_hook_malloc(1);
}
static void past_a_full_hook_block(void) {
    (void)current_heap();
    stale = (char *)ebb_hook_malloc(16) + 16;
    ebb_hook_malloc(1);
}
static void past_a_block(void) { stale = (char *)ebb_alloc(&s, 16) + 16; }
static void past_an_odd_block(void) { stale = (char *)ebb_alloc_aligned(&s, 13, 1) + 13; }
static void past_a_low_block(void) {
    stale = (char *)ebb_alloc_low(&s, 13, 1) + 13;
    ebb_alloc_low(&s, 100, 1);
}
static void past_a_text(void) {
    char *text = ebb_sprintf(&s, "%d", 1234567);
    stale = text + strlen(text) + 1;
    ebb_strdup(&s, "the next block");
}
static void past_a_shrunk_block(void) {
    char *block = ebb_alloc_low(&s, 64, 1);
    ebb_alloc_low(&s, 8, 8);
    stale = (char *)ebb_grow(&s, block, 64, 13, 1) + 13;
}
static void past_an_array(void) {
    EBB_ARRAY(short) numbers = {0};
    for (short n = 0; n < 100; n++)
        ebb_push(&s, &numbers, n);
    stale = (char *)(numbers.data + numbers.capacity);
}
static void where_a_block_was_before_it_grew(void) {
    stale = ebb_alloc_low(&s, 64, 1);
    ebb_alloc_low(&s, 8, 8);
    ebb_grow(&s, (void *)(uintptr_t)stale, 64, 100, 1);
}
static void a_block_of_no_bytes(void) { stale = ebb_alloc(&s, 0); }
#endif

static void (*const cases[])(void) = {
#if EBB_REDZONE > 0
    past_a_block,         past_an_odd_block,     past_a_low_block,    past_a_text,
    past_a_shrunk_block,  past_an_array,         a_block_of_no_bytes,
    where_a_block_was_before_it_grew,            past_a_full_hook_block,
    past_a_hook_block,
#endif
    after_close,          after_child,           low_end_after_child, after_rewind,
    in_a_chunk_behind,    in_an_oversize_chunk,  end_of_a_shrunk_block, freed_last_block,
    after_reset,          after_free,            of_a_thread,         in_a_buffer,
    after_all_were_closed,
    in_a_freed_hook_block, in_the_link_of_a_freed_block, in_a_freed_last_hook_block,
    in_a_hook_block_that_moved, in_a_hook_block_after_close, end_of_a_shrunk_hook_block,
    past_a_recycled_hook_block, allocated_from_a_heap_after_close,
    allocated_from_a_heap_of_the_scope_before, allocated_where_the_next_scope_has_a_block,
    allocated_from_a_heap_after_rewind, freed_twice_in_a_heap, empty_and_freed_twice,
    last_and_freed_twice, empty_and_last_and_freed_twice, freed_after_it_moved,
    resized_after_it_was_freed, freed_after_close,
};

/* A buffer is the caller's again, and memory that is allocated anew may be used. */
static void nothing_is_reported_without_reason(void) {
    char buffer[1000];
    ebb_arena_storage storage;
    ebb_arena *fixed = ebb_fixed_new(&storage, buffer, sizeof buffer);
    for (int turn = 0; turn < 3; turn++) {
        ebb_scope scope = ebb_open(fixed);
        memset(ebb_alloc(&scope, 100), turn, 100);
        memset(ebb_alloc_low(&scope, 100, 1), turn, 100);
        (void)ebb_close(&scope);
    }
    (void)ebb_arena_free(fixed);
    memset(buffer, 1, sizeof buffer);
}

#if EBB_REDZONE > 0
static bool is_poisoned(const char *byte) {
#if EBB_VALGRIND
    unsigned char known;
    return VALGRIND_GET_VBITS(byte, &known, 1) == 3;
#else
    return __asan_address_is_poisoned(byte) != 0;
#endif
}

/* Whether the byte after a block is guarded, and none of the block. */
static bool is_guarded(const char *block, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (is_poisoned(block + i))
            return false;
    return is_poisoned(block + size);
}

static void each_size_of_a_heap_is_guarded_to_the_byte(ebb_scope *scope) {
    ebb_heap heap;
    ebb_heap_init(&heap, scope);
    for (int turn = 0; turn < 2; turn++) {
        char *last_size = NULL;
        for (size_t size = 0; size <= 400; size++) {
            char *block = ebb_heap_alloc(&heap, size), *other = ebb_heap_alloc(&heap, size);
            EXPECT(is_guarded(block, size) && is_guarded(other, size));
            for (size_t next = size + 7; next < size + 30; next += 11) {
                block = ebb_heap_resize(&heap, block, size, next);
                EXPECT(is_guarded(block, next) && is_guarded(other, size));
                block = ebb_heap_resize(&heap, block, next, size);
                EXPECT(is_guarded(block, size) && is_guarded(other, size));
            }
            ebb_heap_free(&heap, block, size);
            EXPECT(is_poisoned(block) && is_guarded(other, size));
            if (last_size != NULL)
                ebb_heap_free(&heap, last_size, size - 1);
            last_size = other;
        }
    }
}

static void each_size_is_guarded_to_the_byte(void) {
    ebb_arena *fresh = ebb_arena_new(NULL);
    for (int turn = 0; turn < 2; turn++) {
        ebb_scope scope = ebb_open(fresh);
        for (size_t size = 1; size <= 64; size++) {
            for (size_t align = 1; align <= 32; align *= 2) {
                char *high = ebb_alloc_aligned(&scope, size, align);
                char *low = ebb_alloc_low(&scope, size, align);
                char *grown = ebb_alloc_low(&scope, size, align);
                EXPECT(is_guarded(high, size) && is_guarded(low, size) && is_guarded(grown, size));
                grown = ebb_grow(&scope, grown, size, size + 3, align);
                EXPECT(is_guarded(grown, size + 3));
                grown = ebb_grow(&scope, grown, size + 3, size, align);
                EXPECT(is_guarded(grown, size));
                low = ebb_grow(&scope, low, size, size + 1, align);
                EXPECT(is_guarded(low, size + 1) && is_guarded(grown, size));
            }
        }
        each_size_of_a_heap_is_guarded_to_the_byte(&scope);
        (void)ebb_close(&scope);
    }
    (void)ebb_arena_free(fresh);
}
#else
/* Where hardly anything is free, a child's top and that of a failed allocation are rounded down
   into a block that lives on. */
static void blocks_at_the_end_of_a_region_are_not_poisoned(void) {
    _Alignas(16) char buffer[64];
    ebb_arena_storage storage;
    ebb_arena *fixed = ebb_fixed_new(&storage, buffer, sizeof buffer);
    ebb_scope parent = ebb_open(fixed);
    char *high = ebb_alloc_aligned(&parent, 1, 1);
    volatile char *low = ebb_alloc_low(&parent, 60, 1);
    ebb_scope child = ebb_child(&parent);
    (void)ebb_close(&child);
    for (int i = 0; i < 60; i++)
        low[i] = 1;
    const ebb_position position = ebb_mark(&parent);
    void *volatile refused = ebb_alloc(&parent, 32);
    ebb_rewind(&parent, position);
    for (int i = 0; i < 60; i++)
        low[i] = 1;
    *high = refused == NULL;
    (void)ebb_close(&parent);
    (void)ebb_arena_free(fixed);
}
#endif

int main(int count, char **arguments) {
    if (count == 1) {
        nothing_is_reported_without_reason();
#if EBB_REDZONE > 0
        each_size_is_guarded_to_the_byte();
#else
        blocks_at_the_end_of_a_region_are_not_poisoned();
#endif
        printf("%zu\n", sizeof cases / sizeof *cases);
        return 0;
    }
    arena = ebb_arena_new(NULL);
    s = ebb_open(arena);
    ebb_new(&s, int);
    cases[strtoul(arguments[1], NULL, 10)]();
    *stale = 1;
    fprintf(stderr, "not caught\n");
    return 0;
}
