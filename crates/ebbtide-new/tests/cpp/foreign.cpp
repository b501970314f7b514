// Claims: free, realloc and malloc_usable_size serve blocks of scopes as well as those of the C
// library or of a preloaded allocator, which never gets a block of a scope. Whichever of them serves
// a request, its block is aligned to 16.
#include <ebbtide_new.hpp>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>
#include <set>
#include <thread>
#include <vector>

namespace {

#define EXPECT(what) ((what) ? (void)0 : fail(__LINE__, #what))

[[noreturn]] void fail(int line, const char *what) {
    std::fprintf(stderr, "line %d: %s\n", line, what);
    std::exit(1);
}

// GCC warns where it sees that a block of `new` is passed to them.
void (*volatile c_free)(void *) = std::free;
void *(*volatile c_realloc)(void *, std::size_t) = std::realloc;
void *(*volatile c_reallocarray)(void *, std::size_t, std::size_t) = reallocarray;

// A block of `new`, which `realloc` has resized.
char *resized(std::size_t size) {
    char *block = new char[size];
    std::memset(block, 1, size);
    EXPECT(malloc_usable_size(block) >= size);
    char *moved = static_cast<char *>(size % 2 ? c_realloc(block, 3 * size)
                                               : c_reallocarray(block, 3, size));
    for (std::size_t i = 0; i < size; i++) EXPECT(moved[i] == 1);
    EXPECT(malloc_usable_size(moved) >= 3 * size);
    std::memset(moved, 2, 3 * size);
    return moved;
}

bool is_aligned(const void *block, std::size_t align) {
    return block && reinterpret_cast<std::uintptr_t>(block) % align == 0;
}

// Every function of C, for every alignment and many small sizes: some allocators align a block of
// fewer than 16 bytes to 8. All blocks of a size are alive at the same time, so that they lie at
// different places.
void every_block_is_aligned() {
    std::vector<void *> blocks;
    auto take = [&blocks](void *block, std::size_t align = 16) {
        EXPECT(is_aligned(block, align));
        blocks.push_back(block);
    };
    for (std::size_t size = 0; size <= 200; size++) {
        for (int turn = 0; turn < 8; turn++) {
            take(::operator new(size));
            take(::operator new[](size, std::nothrow));
            take(ebb_malloc(size));
            take(ebb_calloc(size, 1));
            take(ebb_calloc(1, size));
            take(ebb_realloc(nullptr, size));
            for (std::size_t align = 1; align <= 128; align *= 2) {
                const std::size_t least = align < 16 ? 16 : align;
                take(::operator new(size, std::align_val_t(align)), least);
                take(::operator new[](size, std::align_val_t(align), std::nothrow), least);
                take(ebb_aligned_alloc(align, size), least);
            }
            for (std::size_t old_size : {0, 8, 24, 100, 3000})
                take(ebb_realloc(ebb_malloc(old_size), size));
        }
        for (void *block : blocks) ebb_free(block);
        blocks.clear();
    }
}

// A size of 0 has the same effect on a block of a scope as on one of malloc: either the block is
// freed and the result is null, or the result is a block.
void reallocating_to_nothing() {
    void *of_c = c_realloc(std::malloc(100), 0);
    for (int turn = 0; turn < 2; turn++) {
        void *block = ebb_malloc(100);
        EXPECT(ebb_is_in_arena(block));
        void *nothing = turn ? c_reallocarray(block, 0, 8) : c_realloc(block, 0);
        EXPECT(!nothing == !of_c);
        if (!nothing) EXPECT(ebb_malloc(100) == block); // It was free.
        c_free(nothing);
        void *kept = ebb_realloc(ebb_malloc(100), 0);
        EXPECT(kept);
        ebb_free(kept);
    }
    c_free(of_c);
}

} // namespace

int main() {
    // Looking for the next allocator, which comes first in a process, drops no error.
    EXPECT(!dlopen("there is no such library", RTLD_NOW));
    c_free(c_realloc(std::malloc(10), 20));
    EXPECT(dlerror());

    std::vector<void *> kept;
    ebbtide::in_arena([&] {
        for (std::size_t turn = 0; turn < 1000; turn++) {
            char *block = resized(turn % 10 ? 1 + turn % 100 : 40 * turn);
            if (turn % 3 == 0)
                c_free(block);
            else if (turn % 3 == 1)
                delete[] block;
            else
                kept.push_back(block);
        }
        void *of_c = std::malloc(10);
        EXPECT(malloc_usable_size(of_c) >= 10);
        of_c = c_realloc(c_realloc(of_c, 5000), 20);
        c_free(of_c);
        c_free(c_realloc(nullptr, 5));
        c_free(nullptr);
        EXPECT(!c_reallocarray(nullptr, SIZE_MAX, 2) && errno == ENOMEM);
        EXPECT(malloc_usable_size(nullptr) == 0);
        kept.push_back(std::malloc(33));
        kept.push_back(strdup("a copy"));
    });
    every_block_is_aligned();
    ebbtide::in_arena(every_block_is_aligned);
    ebbtide::in_arena([] { ebbtide::outside(every_block_is_aligned); });
    ebbtide::in_arena(reallocating_to_nothing);
    // If a freed block of a scope had reached malloc, it would come back from it.
    std::set<void *> taken;
    for (int i = 0; i < 2000; i++) EXPECT(taken.insert(std::malloc(100)).second);
    for (void *block : taken) EXPECT(!ebb_is_in_arena(block));
    std::thread([&] {
        for (void *block : kept) c_free(block);
    }).join();
    for (void *block : taken) c_free(block);
    std::puts("all of it");
}
