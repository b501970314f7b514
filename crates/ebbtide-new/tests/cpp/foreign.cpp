// Claim: free, realloc and malloc_usable_size serve blocks of scopes as well as those of the C
// library or of a preloaded allocator, which never gets a block of a scope.
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
