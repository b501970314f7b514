// Every replaceable form of the operators new and delete. This is an object of its own in the
// library, so a program has them only if it is linked to the library.
#include "thread.h"

#include <cstdlib>
#include <new>

namespace {

void *c_library(std::size_t size) { return std::malloc(EBB_AT_LEAST_(size)); }

// Serves a request that no arena serves. The new-handler may free memory, but that does not affect
// scopes, so only the C library is tried again.
template <typename Request> void *insist(Request request) {
    for (;;) {
        if (void *block = request()) return block;
        std::new_handler handler = std::get_new_handler();
        if (!handler) throw std::bad_alloc();
        handler();
    }
}

void *outside(std::size_t size) {
    return insist([size] { return c_library(size); });
}

inline void *allocate(std::size_t size) {
    return ebb_begin_(ebb_alloc_(size, &ebb_owner_, outside));
}

[[gnu::noinline]] void *allocate_aligned(std::size_t size, std::size_t align) {
    // An alignment that is not a power of two is never served, so the new-handler is not called.
    if (align == 0 || (align & (align - 1))) throw std::bad_alloc();
    if (align <= __STDCPP_DEFAULT_NEW_ALIGNMENT__ && align <= 16) return allocate(size);
    if (void *block = ebb_alloc_aligned_(size, align, &ebb_owner_)) return ebb_begin_(block);
    return insist([=] {
        void *block = nullptr;
        return ::posix_memalign(&block, align, size > 0 ? size : 1) ? nullptr : block;
    });
}

// As the standard requires, the nothrow forms call the others, and return null if those throw.
template <typename Request> void *quietly(Request request) noexcept {
    try {
        return request();
    } catch (...) {
        return nullptr;
    }
}

inline void release(void *block) noexcept { ebb_end_(block); }

} // namespace

extern "C" {

// The C++ header opens scopes through these functions, so that every program that uses it links the
// operators as well.
ebb_ticket ebb_enter_operators_(void) noexcept {
    return ebb_enter_(__builtin_return_address(0), &ebb_owner_);
}

ebb_ticket ebb_enter_operators_with_(const ebb_scope_options *options) noexcept {
    return ebb_enter_with_(options, __builtin_return_address(0), &ebb_owner_);
}
}

using std::align_val_t;
using std::nothrow_t;
using std::size_t;

void *operator new(size_t size) { return allocate(size); }
void *operator new[](size_t size) { return allocate(size); }

void *operator new(size_t size, const nothrow_t &) noexcept {
    return quietly([size] { return ::operator new(size); });
}
void *operator new[](size_t size, const nothrow_t &) noexcept {
    return quietly([size] { return ::operator new[](size); });
}

void *operator new(size_t size, align_val_t align) {
    return allocate_aligned(size, static_cast<size_t>(align));
}
void *operator new[](size_t size, align_val_t align) {
    return allocate_aligned(size, static_cast<size_t>(align));
}

void *operator new(size_t size, align_val_t align, const nothrow_t &) noexcept {
    return quietly([=] { return ::operator new(size, align); });
}
void *operator new[](size_t size, align_val_t align, const nothrow_t &) noexcept {
    return quietly([=] { return ::operator new[](size, align); });
}

void operator delete(void *block) noexcept { release(block); }
void operator delete[](void *block) noexcept { release(block); }
void operator delete(void *block, const nothrow_t &) noexcept { release(block); }
void operator delete[](void *block, const nothrow_t &) noexcept { release(block); }
void operator delete(void *block, size_t) noexcept { release(block); }
void operator delete[](void *block, size_t) noexcept { release(block); }
void operator delete(void *block, align_val_t) noexcept { release(block); }
void operator delete[](void *block, align_val_t) noexcept { release(block); }
void operator delete(void *block, align_val_t, const nothrow_t &) noexcept { release(block); }
void operator delete[](void *block, align_val_t, const nothrow_t &) noexcept { release(block); }
void operator delete(void *block, size_t, align_val_t) noexcept { release(block); }
void operator delete[](void *block, size_t, align_val_t) noexcept { release(block); }
