// Arenas that are made, filled with words and dropped in each turn.
#include <cstdint>
#include <cstdlib>
#include <memory_resource>

#include <obstack.h>
#define obstack_chunk_alloc std::malloc
#define obstack_chunk_free std::free

#ifdef HAS_APR
#include <apr_general.h>
#include <apr_pools.h>
#endif

#include <ebbtide.h>

namespace {

// Keeps the compiler from leaving out what was written to the block.
inline void write(void *block, std::uint64_t value) {
    *static_cast<std::uint64_t *>(block) = value;
    __asm__ volatile("" : : "r"(block) : "memory");
}

// In a scope.
void fill(ebb_arena *arena, std::size_t words) {
    ebb_scope scope = ebb_open(arena);
    for (std::size_t i = 0; i < words; ++i)
        write(ebb_new(&scope, std::uint64_t), i);
    ebb_close(&scope);
}

void made_anew(std::size_t turns, std::size_t words) {
    for (std::size_t turn = 0; turn < turns; ++turn) {
        ebb_arena *arena = ebb_arena_new(nullptr);
        fill(arena, words);
        ebb_arena_free(arena);
    }
}

void one_arena(std::size_t turns, std::size_t words) {
    ebb_arena *arena = ebb_arena_new(nullptr);
    for (std::size_t turn = 0; turn < turns; ++turn)
        fill(arena, words);
    ebb_arena_free(arena);
}

void resource(std::size_t turns, std::size_t words) {
    for (std::size_t turn = 0; turn < turns; ++turn) {
        std::pmr::monotonic_buffer_resource resource;
        for (std::size_t i = 0; i < words; ++i)
            write(resource.allocate(8, 8), i);
    }
}

void stack(std::size_t turns, std::size_t words) {
    for (std::size_t turn = 0; turn < turns; ++turn) {
        struct obstack stack;
        obstack_init(&stack);
        for (std::size_t i = 0; i < words; ++i)
            write(obstack_alloc(&stack, 8), i);
        obstack_free(&stack, nullptr);
    }
}

void pool(std::size_t turns, std::size_t words) {
#ifdef HAS_APR
    static const bool is_ready = apr_initialize() == APR_SUCCESS;
    if (!is_ready)
        std::abort();
    for (std::size_t turn = 0; turn < turns; ++turn) {
        apr_pool_t *pool = nullptr;
        apr_pool_create(&pool, nullptr);
        for (std::size_t i = 0; i < words; ++i)
            write(apr_palloc(pool, 8), i);
        apr_pool_destroy(pool);
    }
#else
    (void)turns;
    (void)words;
#endif
}

// Each block has the address of the last one.
void heap(std::size_t turns, std::size_t words) {
    for (std::size_t turn = 0; turn < turns; ++turn) {
        void *last = nullptr;
        for (std::size_t i = 0; i < words; ++i) {
            void *block = std::malloc(8);
            write(block, reinterpret_cast<std::uintptr_t>(last));
            last = block;
        }
        while (last != nullptr) {
            void *block = last;
            last = *static_cast<void **>(block);
            std::free(block);
        }
    }
}

} // namespace

extern "C" {

// Runs a contestant, numbered as in main.rs.
void run_fresh(int contestant, std::size_t turns, std::size_t words) {
    void (*const contestants[])(std::size_t, std::size_t) = {
        made_anew, one_arena, resource, stack, pool, heap,
    };
    contestants[contestant](turns, words);
}
}
