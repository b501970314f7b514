/* Claim: after any sequence of calls, every block of an open scope has its bytes, is aligned, and
   overlaps no other; what a scope or a mark ends is free again; and the functions that were deferred
   run then, the last one first, while their blocks are there. Each block is filled with bytes of its
   own, which are looked at whenever the block ends or grows. */
#include "test.h"

enum { DEPTH = 6, BLOCKS = 400, STEPS = 50000 };

typedef struct block {
    unsigned char *bytes;
    size_t size, align;
    unsigned char fill;
    bool is_low;
} block;

typedef struct level {
    ebb_scope scope;
    bool is_marked; /* the level began with a mark of the one below, whose scope it uses */
    ebb_position position;
    bool frees_older; /* since the mark, a block from before it was freed */
    size_t first_block, first_deferred, used;
} level;

static block blocks[BLOCKS];
static size_t block_count, deferred_count;
static bool is_reset;
static ebb_arena *arena;
static level levels[DEPTH];
static int depth;
static uint64_t state = 1;

static size_t below(size_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % limit;
}

/* The level that opened the innermost scope. */
static int innermost(void) {
    int at = depth;
    while (levels[at].is_marked)
        at--;
    return at;
}

static ebb_scope *scope(void) { return &levels[innermost()].scope; }

static void check(const block *b) {
    EXPECT((uintptr_t)b->bytes % b->align == 0);
    if (b->size > 0)
        EXPECT(ebb_owns(scope(), b->bytes) && ebb_owns(scope(), b->bytes + b->size - 1));
    for (size_t i = 0; i < b->size; i++)
        EXPECT(b->bytes[i] == b->fill);
}

static void add(void *bytes, size_t size, size_t align, bool is_low) {
    if (bytes == NULL) {
        EXPECT(ebb_last_status() == EBB_NO_MEMORY);
        return;
    }
    block *b = &blocks[block_count++];
    *b = (block){bytes, size, align, (unsigned char)(below(255) + 1), is_low};
    memset(bytes, b->fill, size);
}

static void end_blocks(size_t first) {
    for (size_t i = first; i < block_count; i++)
        check(&blocks[i]);
    block_count = first;
}

static void defer(void);

/* The argument is a block of the same scope, with the number of functions deferred before. */
static void run_deferred(void *before) {
    deferred_count--;
    EXPECT(*(size_t *)before == deferred_count);
    if (!is_reset && below(4) == 0)
        defer();
}

static void defer(void) {
    size_t *before = ebb_new(scope(), size_t);
    if (before != NULL && ebb_defer(scope(), run_deferred, before))
        *before = deferred_count++;
    else
        EXPECT(ebb_last_status() == EBB_NO_MEMORY);
}

static size_t any_size(void) {
    return below(8) == 0 ? below(9000) : below(8) == 0 ? 0 : below(100);
}

static void open_level(bool with_mark) {
    if (depth + 1 == DEPTH)
        return;
    ebb_scope *parent = scope();
    level *l = &levels[depth + 1];
    l->is_marked = with_mark;
    l->frees_older = false;
    l->first_block = block_count;
    l->first_deferred = deferred_count;
    if (with_mark)
        l->position = ebb_mark(parent);
    else
        l->scope = ebb_child(parent);
    depth++;
    l->used = used(parent);
}

static void close_level(void) {
    if (depth == 0)
        return;
    level *l = &levels[depth];
    const size_t first = l->first_block;
    const bool has_blocks = block_count > first && blocks[first].size > 0;
    end_blocks(first);
    if (l->is_marked)
        ebb_rewind(scope(), l->position);
    else
        EXPECT(ebb_close(&l->scope) == EBB_OK);
    depth--;
    EXPECT(used(scope()) == l->used && deferred_count == l->first_deferred);
    /* Where an older block was, memory counts as allocated again. */
    EXPECT(!has_blocks || l->frees_older || !ebb_owns(scope(), blocks[first].bytes));
}

/* Changes the size of a low-end block of the innermost level, and sometimes its alignment, which may
   be no power of two. */
static void grow(size_t size, size_t align) {
    const size_t first = levels[depth].first_block;
    if (block_count == first)
        return;
    block *b = &blocks[first + below(block_count - first)];
    if (!b->is_low)
        return;
    check(b);
    if (below(2) == 0)
        align = b->align;
    if (below(20) == 0)
        align += below(5) * 3;
    const bool is_valid = align != 0 && (align & (align - 1)) == 0;
    const uintptr_t top = scope()->top_, low = ebb_low_(scope());
    unsigned char *moved = ebb_grow(scope(), b->bytes, b->size, size, align);
    EXPECT(is_valid || (moved == NULL && scope()->top_ == top && ebb_low_(scope()) == low));
    if (moved == NULL) {
        EXPECT(ebb_last_status() == (is_valid ? EBB_NO_MEMORY : EBB_ALIGNMENT));
        check(b);
        return;
    }
    b->align = align;
    for (size_t i = 0; i < b->size && i < size; i++)
        EXPECT(moved[i] == b->fill);
    b->bytes = moved;
    b->size = size;
    memset(moved, b->fill, size);
}

/* Frees the last block at the low end, also one from before a mark. High-end blocks and deferred
   functions may then lie where it was. */
static void free_the_last(void) {
    for (size_t i = block_count; i-- > levels[innermost()].first_block;) {
        block *b = &blocks[i];
        if (!b->is_low || b->size == 0 || !ebb_is_last_(scope(), b->bytes, b->size))
            continue;
        check(b);
        ebb_free_last(scope(), b->bytes, b->size);
        b->size = 0;
        for (int at = depth; levels[at].first_block > i; at--)
            levels[at].frees_older = true;
        return;
    }
}

/* Leaves room for a few blocks, and marks that. */
static void fill_and_mark(void) {
    const size_t room = scope()->top_ - (uintptr_t)scope()->low_, left = 64 + below(100);
    const size_t size = room > left + EBB_REDZONE ? room - left - EBB_REDZONE : 0;
    if (size < BUFFER)
        add(ebb_alloc_low(scope(), size, 1), size, 1, true);
    open_level(true);
    defer();
}

static void print(void) {
    const int width = (int)below(300);
    char *text = ebb_sprintf(scope(), "%*d", width + 1, 7);
    if (text != NULL) {
        EXPECT(strlen(text) == (size_t)width + 1 && text[width] == '7');
        add(text, (size_t)width + 2, 1, true);
    }
}

/* Closes all and opens the arena again. */
static void begin_anew(void) {
    while (depth > 0)
        close_level();
    end_blocks(0);
    is_reset = below(2) == 0;
    EXPECT((is_reset ? ebb_arena_reset(arena) : ebb_close(&levels[0].scope)) == EBB_OK);
    EXPECT(deferred_count == 0);
    is_reset = false;
    levels[0].scope = ebb_open(arena);
}

static void step(void) {
    if (block_count == BLOCKS)
        begin_anew();
    const size_t size = any_size(), align = (size_t)1 << below(below(8) == 0 ? 13 : 6);
    switch (below(15)) {
    case 0: add(ebb_alloc_aligned(scope(), size, align), size, align, false); break;
    case 1: add(ebb_alloc(scope(), size), size, 16, false); break;
    case 2: add(ebb_new(scope(), double), sizeof(double), sizeof(double), false); break;
    case 3: add(ebb_new(scope(), char), 1, 1, false); break;
    case 4: add(ebb_array(scope(), short, size), 2 * size, 2, false); break;
    case 5: add(ebb_alloc_low(scope(), size, align), size, align, true); break;
    case 6: grow(any_size(), align); break;
    case 7: free_the_last(); break;
    case 8: print(); break;
    case 9: defer(); break;
    case 10:
    case 11: open_level(below(2) == 0); break;
    case 12: fill_and_mark(); break;
    default: close_level();
    }
}

int main(void) {
    _Alignas(16) static unsigned char buffer[BUFFER];
    for (int kind = 0; kind < KINDS; kind++) {
        ebb_arena_storage storage;
        arena = arena_of_kind(kind, &storage, buffer);
        levels[0].scope = ebb_open(arena);
        for (int i = 0; i < STEPS; i++)
            step();
        begin_anew();
        EXPECT(ebb_close(&levels[0].scope) == EBB_OK);
        EXPECT(ebb_arena_free(arena) == EBB_OK);
    }
    return 0;
}
