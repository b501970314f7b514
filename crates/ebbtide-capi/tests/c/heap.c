/* Claim: heaps and hooks behave like malloc, realloc and free whatever the order of calls, reuse what
   is freed, and fail without losing a block. */
#include "ebbtide_hooks.h"
#include "test.h"

static uint32_t seed = 1;

static size_t below(size_t limit) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % limit;
}

/* Mostly small sizes, and some that need a chunk of their own. */
static size_t some_size(void) {
    static const size_t limits[] = {20, 140, 140, 140, 1000, 1000, 6000, 40000};
    return below(limits[below(sizeof limits / sizeof *limits)]);
}

static void fill(unsigned char *block, size_t from, size_t to, size_t with) {
    for (size_t i = from; i < to; i++)
        block[i] = (unsigned char)(with + i);
}

static bool holds(const unsigned char *block, size_t size, size_t with) {
    for (size_t i = 0; i < size; i++)
        if (block[i] != (unsigned char)(with + i))
            return false;
    return true;
}

static bool is_aligned(const void *block) { return (uintptr_t)block % 16 == 0; }

static bool is_zero(const unsigned char *block, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (block[i] != 0)
            return false;
    return true;
}

enum { SLOTS = 200, STEPS = 30000 };
static unsigned char *blocks[SLOTS];
static size_t sizes[SLOTS];

static void every_class_holds_its_sizes(void) {
    size_t before = 0, capacity = 0;
    for (size_t size = 1; size < 100000; size++) {
        const ebb_class_ found = ebb_class_of_(size);
        EXPECT(size <= found.capacity && found.capacity % 16 == 0);
        EXPECT(size <= 128 ? found.capacity < size + 16 : found.capacity < size + size / 4);
        EXPECT((found.index == before) == (size > 1 ? found.capacity == capacity : true));
        before = found.index;
        capacity = found.capacity;
    }
    EXPECT(ebb_class_of_(0).index == 0);
    EXPECT(ebb_class_of_((size_t)PTRDIFF_MAX).index == EBB_CLASSES_ - 1);
    EXPECT(ebb_class_of_((size_t)PTRDIFF_MAX).capacity == (size_t)PTRDIFF_MAX + 1);
}

/* The sized functions. The scope serves other blocks meanwhile, at both ends. */
static void a_heap_is_like_malloc(ebb_arena *arena) {
    ebb_scope s = ebb_open(arena);
    ebb_heap heap;
    size_t failures = 0;
    ebb_heap_init(&heap, &s);
    for (int step = 0; step < STEPS; step++) {
        const size_t i = below(SLOTS), size = some_size();
        unsigned char *block;
        EXPECT(blocks[i] == NULL || holds(blocks[i], sizes[i], i));
        switch (below(8)) {
        case 0:
        case 1:
        case 2:
            ebb_heap_free(&heap, blocks[i], sizes[i]);
            blocks[i] = NULL;
            break;
        case 3:
            if (below(50) == 0)
                (void)ebb_new(&s, int);
            if (below(50) == 0)
                (void)ebb_alloc_low(&s, 1 + below(20), 1);
            break;
        default:
            block = ebb_heap_resize(&heap, blocks[i], sizes[i], size);
            if (block != NULL) {
                EXPECT(is_aligned(block));
                fill(block, blocks[i] == NULL ? 0 : sizes[i], size, i);
                blocks[i] = block;
                sizes[i] = size;
            } else {
                EXPECT(ebb_last_status() == EBB_NO_MEMORY);
                EXPECT(blocks[i] == NULL || size > sizes[i]);
                failures++;
            }
        }
    }
    for (size_t i = 0; i < SLOTS; i++) {
        EXPECT(blocks[i] == NULL || holds(blocks[i], sizes[i], i));
        blocks[i] = NULL;
    }
    EXPECT(failures < STEPS);
    (void)ebb_close(&s);
}

static void hooks_free_blocks_of_any_heap(void) {
    enum { HEAPS = 4 };
    ebb_arena *arenas[HEAPS];
    ebb_scope scopes[HEAPS];
    ebb_heap heaps[HEAPS];
    EXPECT(ebb_heap_use(NULL) == NULL);
    for (int i = 0; i < HEAPS; i++) {
        arenas[i] = ebb_arena_new(NULL);
        scopes[i] = ebb_open(arenas[i]);
        ebb_heap_init(&heaps[i], &scopes[i]);
    }
    for (int step = 0; step < STEPS; step++) {
        const size_t i = below(SLOTS), size = some_size();
        unsigned char *block = NULL;
        if (below(20) == 0) {
            ebb_heap *const chosen = below(3) == 0 ? NULL : &heaps[below(HEAPS)];
            ebb_heap *const previous = ebb_heap_use(chosen);
            EXPECT(ebb_heap_use(previous) == chosen && ebb_heap_use(chosen) == previous);
        }
        EXPECT(blocks[i] == NULL || holds(blocks[i], sizes[i], i));
        EXPECT(ebb_hook_size(blocks[i]) == (blocks[i] == NULL ? 0 : sizes[i]));
        switch (below(6)) {
        case 0:
        case 1:
            ebb_hook_free(blocks[i]);
            break;
        case 2:
            ebb_hook_free(blocks[i]);
            block = ebb_hook_calloc(size, 3);
            sizes[i] = 3 * size;
            EXPECT(block != NULL && is_zero(block, sizes[i]));
            break;
        default:
            block = ebb_hook_realloc(blocks[i], size);
            EXPECT(block != NULL);
            EXPECT(blocks[i] == NULL || holds(block, size < sizes[i] ? size : sizes[i], i));
            sizes[i] = size;
        }
        blocks[i] = block;
        if (block != NULL) {
            EXPECT(is_aligned(block));
            fill(block, 0, sizes[i], i);
        }
    }
    for (size_t i = 0; i < SLOTS; i++) {
        ebb_hook_free(blocks[i]);
        blocks[i] = NULL;
    }
    (void)ebb_heap_use(NULL);
    for (int i = 0; i < HEAPS; i++) {
        EXPECT(ebb_close(&scopes[i]) == EBB_OK);
        EXPECT(ebb_arena_free(arenas[i]) == EBB_OK);
    }
}

static void a_block_stays_with_its_owner(ebb_heap *heap) {
    const size_t before = used(heap->scope_);
    char *outside = ebb_hook_malloc(100), *inside;
    EXPECT(used(heap->scope_) == before);
    (void)ebb_heap_use(heap);
    outside = ebb_hook_realloc(outside, 100000);
    EXPECT(outside != NULL && used(heap->scope_) == before);
    inside = ebb_hook_strdup("inside");
    EXPECT(used(heap->scope_) > before);
    (void)ebb_heap_use(NULL);
    inside = ebb_hook_realloc(inside, 200);
    EXPECT(inside != NULL);
    EXPECT_TEXT(inside, "inside");
    ebb_hook_free(outside);
    ebb_hook_free(inside);
    EXPECT(used(heap->scope_) == before);
}

/* What a queue takes does not depend on how many blocks went through it. */
static void a_queue_takes_bounded_memory(ebb_heap *heap) {
    enum { LENGTH = 100 };
    static void *queue[LENGTH];
    size_t after_some = 0;
    (void)ebb_heap_use(heap);
    for (size_t i = 0; i < 1000000; i++) {
        ebb_hook_free(queue[i % LENGTH]);
        queue[i % LENGTH] = ebb_hook_malloc(1 + i % 64);
        EXPECT(queue[i % LENGTH] != NULL);
        if (i == 10000)
            after_some = used(heap->scope_);
    }
    EXPECT(used(heap->scope_) == after_some && after_some < 40000);
    /* Blocks that grow and shrink between others. */
    for (size_t i = 0; i < 100000; i++) {
        queue[i % LENGTH] = ebb_hook_realloc(queue[i % LENGTH], i % 3 == 0 ? 16 : 1 + i % 2000);
        EXPECT(queue[i % LENGTH] != NULL);
        if (i == 50000)
            after_some = used(heap->scope_);
    }
    EXPECT(used(heap->scope_) < after_some + 4096); /* One of them may be the last block. */
    (void)ebb_heap_use(NULL);
}

/* A block that is the last one changes its class, and then another one follows it. */
static void blocks_that_change_their_class_take_bounded_memory(ebb_heap *heap) {
    static const size_t pairs[][2] = {{10, 1000}, {1000, 10}};
    for (size_t pair = 0; pair < 2; pair++) {
        size_t after_some = 0;
        for (int i = 0; i < 1000; i++) {
            void *block = ebb_heap_alloc(heap, pairs[pair][0]), *next;
            block = ebb_heap_resize(heap, block, pairs[pair][0], pairs[pair][1]);
            next = ebb_heap_alloc(heap, 300);
            ebb_heap_free(heap, block, pairs[pair][1]);
            ebb_heap_free(heap, next, 300);
            if (i == 10)
                after_some = used(heap->scope_);
        }
        EXPECT(used(heap->scope_) == after_some);
    }
}

static void the_last_block_is_resized_and_freed_in_place(ebb_heap *heap) {
    const size_t before = used(heap->scope_);
    char *const block = ebb_heap_alloc(heap, 10);
    EXPECT(ebb_heap_resize(heap, block, 10, 16) == block);
    EXPECT(ebb_heap_resize(heap, block, 16, 3000) == block);
    EXPECT(ebb_heap_resize(heap, block, 3000, 100) == block);
    ebb_heap_free(heap, block, 100);
    EXPECT(used(heap->scope_) == before);
    EXPECT(ebb_heap_alloc(heap, 500) == block);
    EXPECT(ebb_heap_alloc(heap, 500) != block);
    ebb_heap_free(heap, block, 500);
    EXPECT(ebb_heap_alloc(heap, 490) == block);
}

static void sizes_of_nothing(ebb_heap *heap) {
    char *const first = ebb_heap_alloc(heap, 0), *const second = ebb_heap_alloc(heap, 0);
    void *block;
    EXPECT(first != NULL && second != NULL && first != second);
    (void)ebb_heap_use(heap);
    for (int turn = 0; turn < 2; turn++) {
        block = ebb_hook_realloc(NULL, 10);
        block = ebb_hook_realloc(block, 0);
        EXPECT(block != NULL && ebb_hook_size(block) == 0);
        ebb_hook_free(block);
        EXPECT((block = ebb_hook_malloc(0)) != NULL);
        ebb_hook_free(block);
        EXPECT((block = ebb_hook_calloc(0, SIZE_MAX)) != NULL);
        ebb_hook_free(block);
        ebb_hook_free(NULL);
        (void)ebb_heap_use(NULL);
    }
    EXPECT(ebb_lua_alloc(heap, NULL, 4, 0) == NULL);
    block = ebb_lua_alloc(heap, NULL, 5, 100);
    block = ebb_lua_alloc(heap, block, 100, 200);
    EXPECT(block != NULL && ebb_lua_alloc(heap, block, 200, 0) == NULL);
    ebb_heap_free(heap, first, 0);
    ebb_heap_free(heap, second, 0);
}

/* Libraries that pass a context, and no sizes. */
static void blocks_of_a_context(ebb_heap *heap) {
    const size_t before = used(heap->scope_);
    for (int with_heap = 0; with_heap < 2; with_heap++) {
        void *const context = with_heap ? heap : NULL;
        char *block = ebb_context_malloc(context, 10), *other;
        EXPECT(block != NULL && is_aligned(block) && (used(heap->scope_) > before) == with_heap);
        strcpy(block, "intact");
        block = ebb_context_realloc(context, block, 5000);
        EXPECT(block != NULL && ebb_hook_size(block) == 5000);
        EXPECT_TEXT(block, "intact");
        EXPECT_FAILS(EBB_SIZE, ebb_context_realloc(context, block, SIZE_MAX));
        EXPECT_FAILS(EBB_SIZE, ebb_context_malloc(context, SIZE_MAX));
        other = ebb_context_realloc(context, NULL, 10);
        EXPECT(other != NULL);
        ebb_context_free(context, other);
        ebb_context_free(context, block);
        ebb_context_free(context, NULL);
        block = ebb_mujs_alloc(context, NULL, 10);
        EXPECT(block != NULL && (used(heap->scope_) > before) == with_heap);
        strcpy(block, "intact");
        block = ebb_mujs_alloc(context, block, 100);
        EXPECT_TEXT(block, "intact");
        EXPECT(ebb_mujs_alloc(context, block, 0) == NULL);
        EXPECT(ebb_mujs_alloc(context, NULL, 0) == NULL);
        EXPECT(used(heap->scope_) == before);
    }
}

static void a_failed_call_changes_nothing(ebb_heap *heap) {
    const size_t large = (size_t)PTRDIFF_MAX, bad[] = {SIZE_MAX, SIZE_MAX - 15, large + 1, large};
    char *const block = ebb_heap_alloc(heap, 20), *text;
    const size_t before = used(heap->scope_);
    void *outside = ebb_hook_malloc(10);
    strcpy(block, "intact");
    (void)ebb_heap_use(heap);
    text = ebb_hook_strdup("intact");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const volatile size_t size = bad[i];
        EXPECT_FAILS(EBB_SIZE, ebb_heap_alloc(heap, size));
        EXPECT_FAILS(EBB_SIZE, ebb_heap_resize(heap, block, 20, size));
        EXPECT_FAILS(EBB_SIZE, ebb_hook_malloc(size));
        EXPECT_FAILS(EBB_SIZE, ebb_hook_calloc(size, 1));
        EXPECT_FAILS(EBB_SIZE, ebb_hook_calloc(2, size));
        EXPECT_FAILS(EBB_SIZE, ebb_hook_realloc(text, size));
        EXPECT_FAILS(EBB_SIZE, ebb_hook_realloc(outside, size));
        EXPECT_FAILS(EBB_SIZE, ebb_hook_realloc(NULL, size));
    }
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_heap_alloc(heap, large / 4));
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_hook_malloc(large / 4));
    EXPECT_FAILS(EBB_NULL, ebb_hook_strdup(NULL));
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_zlib_alloc(heap, UINT_MAX, UINT_MAX >> 2));
    (void)ebb_heap_use(NULL);
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_hook_realloc(outside, large - 100));
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_hook_malloc(large - 100));
    EXPECT_TEXT(block, "intact");
    EXPECT_TEXT(text, "intact");
    ebb_hook_free(outside);
    ebb_hook_free(text);
    EXPECT(used(heap->scope_) == before);
    ebb_heap_free(heap, block, 20);
}

/* A shrinking block that cannot move stays where it is. */
static void shrinking_needs_no_memory(void) {
    ebb_arena_storage storage;
    _Alignas(16) static char buffer[2000];
    ebb_arena *arena = ebb_fixed_new(&storage, buffer, sizeof buffer);
    ebb_scope s = ebb_open(arena);
    ebb_heap heap;
    char *block;
    ebb_heap_init(&heap, &s);
    block = ebb_heap_alloc(&heap, 1000);
    EXPECT(block != NULL);
    while (ebb_heap_alloc(&heap, 0) != NULL) {
    }
    ebb_fail_(EBB_FORMAT);
    EXPECT(ebb_heap_resize(&heap, block, 1000, 100) == block && ebb_last_status() == EBB_FORMAT);
    EXPECT_FAILS(EBB_NO_MEMORY, ebb_heap_resize(&heap, block, 100, 1000));
    ebb_heap_free(&heap, block, 100);
    EXPECT(ebb_heap_alloc(&heap, 100) == block);
    (void)ebb_close(&s);
    EXPECT_FAILS(EBB_CLOSED, ebb_heap_alloc(&heap, 500));
    (void)ebb_arena_free(arena);
}

int main(void) {
    static _Alignas(16) char buffer[BUFFER];
    ebb_arena_storage storage;
    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_scope s;
    ebb_heap heap;
    every_class_holds_its_sizes();
    for (int kind = 0; kind < KINDS; kind++) {
        ebb_arena *each = arena_of_kind(kind, &storage, buffer);
        a_heap_is_like_malloc(each);
        EXPECT(ebb_arena_free(each) == EBB_OK);
    }
    hooks_free_blocks_of_any_heap();
    void (*const claims[])(ebb_heap *) = {
        a_block_stays_with_its_owner, a_queue_takes_bounded_memory,
        blocks_that_change_their_class_take_bounded_memory,
        the_last_block_is_resized_and_freed_in_place, sizes_of_nothing,
        blocks_of_a_context, a_failed_call_changes_nothing,
    };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        s = ebb_open(arena);
        ebb_heap_init(&heap, &s);
        claims[i](&heap);
        (void)ebb_close(&s);
    }
    EXPECT(ebb_arena_free(arena) == EBB_OK);
    shrinking_needs_no_memory();
    return 0;
}
