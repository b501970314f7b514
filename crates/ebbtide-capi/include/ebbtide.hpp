/**
 * @file ebbtide.hpp
 * Scoped arena memory for C++17: RAII, containers and a memory resource over ebbtide.h.
 *
 * @code
 * ebbtide::arena arena;
 * {
 *     ebbtide::scope scope = arena.open();
 *     node *first = scope.make<node>(1, nullptr);
 *     ebbtide::vector<int> numbers(scope);
 *     numbers.push_back(7);
 * } // the memory is free again
 * @endcode
 *
 * ### Errors
 * Functions that allocate throw std::bad_alloc where there is no memory, and std::logic_error for
 * what a correct program does not do: using a scope that is closed, opening a second scope of an
 * arena. The versions with `try_` return a null pointer or false instead.
 *
 * With `-fno-exceptions`, what would throw calls #EBB_FAIL instead. `-fno-rtti` changes nothing.
 *
 * ### Threads
 * One thread at a time uses an arena, its scopes, and the containers and resources over them.
 * ebbtide::pool is the exception: all threads may share one.
 */
#ifndef EBBTIDE_HPP
#define EBBTIDE_HPP

/* With an older standard, one error instead of hundreds. */
#if __cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L)
#error "ebbtide.hpp requires C++17 or later"
#else

#include "ebbtide.h"
#include "ebbtide_hooks.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#if !defined(EBB_PMR) && __has_include(<memory_resource>)
#include <memory_resource>
/**
 * The namespace of the polymorphic allocators that ebbtide::memory_resource and
 * ebbtide::pool_resource belong to. For those of Boost, include
 * <boost/container/pmr/global_resource.hpp> and define it as boost::container::pmr before the first
 * #include, in the same way in all files.
 */
#define EBB_PMR std::pmr
#endif
#if __cplusplus >= 202002L && __has_include(<span>)
#include <compare>
#include <span>
#endif

/* Macros of the C header are C. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

#if defined(__GNUC__)
#define EBB_MEMBER_ __attribute__((always_inline)) inline
#define EBB_COLD_MEMBER_ __attribute__((cold, noinline))
#else
#define EBB_MEMBER_ inline
#define EBB_COLD_MEMBER_
#endif

/* With checks, methods that open or close a scope know the line of their caller. */
#if EBB_CHECKS && defined(__GNUC__)
#define EBB_CALLER_ const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()
#define EBB_OPENED_(scope) ebb_opened_at_((scope), file, line)
#define EBB_CLOSED_(scope) ebb_closed_at_((scope), file, line)
#else
#define EBB_CALLER_
#define EBB_OPENED_(scope) (scope)
#define EBB_CLOSED_(scope) (scope)
#endif

#ifdef __cpp_exceptions
#define EBB_THROW_(exception, text) throw exception
#define EBB_TRY_ try
#define EBB_CATCH_ catch (...)
#define EBB_RETHROW_ throw
#else
/**
 * Called with a text instead of throwing, where exceptions are turned off. It must not return. To
 * call a function of your own, define it before the first #include, in the same way in all files.
 */
#ifndef EBB_FAIL
#define EBB_FAIL(text) ebbtide::detail::fail(text)
#endif
#define EBB_THROW_(exception, text) (static_cast<void>(EBB_FAIL(text)), std::abort())
#define EBB_TRY_ if constexpr (true)
#define EBB_CATCH_ else
#define EBB_RETHROW_ std::abort()
#endif

namespace ebbtide {

#ifdef EBB_PMR
namespace pmr = EBB_PMR;
#else
/// What the resources need of std::pmr, for standard libraries without <memory_resource>, and an
/// allocator for containers.
namespace pmr {

/// See std::pmr::memory_resource.
class memory_resource {
public:
    virtual ~memory_resource() = default;

    void *allocate(std::size_t size, std::size_t align = alignof(std::max_align_t)) {
        return do_allocate(size, align);
    }
    void deallocate(void *block, std::size_t size, std::size_t align = alignof(std::max_align_t)) {
        do_deallocate(block, size, align);
    }
    /// Whether each of the two may deallocate what the other has allocated.
    bool is_equal(const memory_resource &other) const noexcept { return do_is_equal(other); }

private:
    virtual void *do_allocate(std::size_t size, std::size_t align) = 0;
    virtual void do_deallocate(void *block, std::size_t size, std::size_t align) = 0;
    virtual bool do_is_equal(const memory_resource &other) const noexcept = 0;
};

/// The resource that calls the operators new and delete.
inline memory_resource *new_delete_resource() noexcept {
    class heap final : public memory_resource {
        void *do_allocate(std::size_t size, std::size_t align) override {
            return ::operator new(size, std::align_val_t(align));
        }
        void do_deallocate(void *block, std::size_t, std::size_t align) override {
            ::operator delete(block, std::align_val_t(align));
        }
        bool do_is_equal(const memory_resource &other) const noexcept override {
            return this == &other;
        }
    };
    static heap resource;
    return &resource;
}

/// The same: there is no set_default_resource().
inline memory_resource *get_default_resource() noexcept { return new_delete_resource(); }

/// An allocator for containers over a resource, which must outlive them.
template <typename T> class polymorphic_allocator {
public:
    using value_type = T;

    polymorphic_allocator(memory_resource *resource) noexcept : resource_(resource) {}
    template <typename U>
    polymorphic_allocator(const polymorphic_allocator<U> &other) noexcept
        : resource_(other.resource()) {}

    T *allocate(std::size_t count) {
        if (count > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T))
            EBB_THROW_(std::bad_array_new_length(), ebb_status_text(EBB_SIZE));
        return static_cast<T *>(resource_->allocate(count * sizeof(T), alignof(T)));
    }
    void deallocate(T *block, std::size_t count) {
        resource_->deallocate(block, count * sizeof(T), alignof(T));
    }
    /// The resource that blocks come from.
    memory_resource *resource() const noexcept { return resource_; }

    template <typename U> bool operator==(const polymorphic_allocator<U> &other) const noexcept {
        return resource_ == other.resource() || resource_->is_equal(*other.resource());
    }
    template <typename U> bool operator!=(const polymorphic_allocator<U> &other) const noexcept {
        return !(*this == other);
    }

private:
    memory_resource *resource_;
};

} // namespace pmr
#endif

namespace detail {

/// Prints a text and aborts: EBB_FAIL, unless the program defines it.
[[noreturn]] inline void fail(const char *text) {
    std::fprintf(stderr, "ebbtide: %s\n", text);
    std::abort();
}

/// Throws std::bad_alloc, because there is no memory.
[[noreturn]] inline void throw_no_memory() {
    EBB_THROW_(std::bad_alloc(), ebb_status_text(EBB_NO_MEMORY));
}

/// Throws the exception for the status of a failed call.
[[noreturn]] inline void throw_status(ebb_status status) {
    if (status == EBB_NO_MEMORY || status == EBB_SIZE)
        EBB_THROW_(std::bad_alloc(), ebb_status_text(status));
    EBB_THROW_(std::logic_error(ebb_status_text(status)), ebb_status_text(status));
}

/// Throws std::bad_array_new_length, because an array would exceed half of the address space.
[[noreturn]] inline void throw_length() {
    EBB_THROW_(std::bad_array_new_length(), ebb_status_text(EBB_SIZE));
}

/// Throws std::out_of_range, because an index is beyond the end.
[[noreturn]] inline void throw_out_of_range(const char *what) {
    EBB_THROW_(std::out_of_range(what), what);
}

/// Throws the exception for the last failed call of this thread.
[[noreturn]] inline void throw_last() { throw_status(ebb_last_status()); }

/// Throws std::logic_error if an alignment is not a power of two.
inline void check_alignment(std::size_t align) {
    if (align == 0 || (align & (align - 1)) != 0)
        throw_status(EBB_ALIGNMENT);
}

/// Returns the pointer. If it is null, throws the exception for the last failed call.
template <typename T> inline T *checked(T *pointer) {
    if (!EBB_LIKELY_(pointer != nullptr))
        throw_last();
    return pointer;
}

inline void checked(ebb_status status) {
    if (status != EBB_OK)
        throw_status(status);
}

} // namespace detail

/// A view of consecutive elements, as std::span of C++20, to which it converts.
template <typename T> class span {
public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;

    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}

    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t index) const noexcept { return data_[index]; }
    constexpr T &front() const noexcept { return data_[0]; }
    constexpr T &back() const noexcept { return data_[size_ - 1]; }

    /// The first `count` elements.
    constexpr span first(std::size_t count) const noexcept { return {data_, count}; }
    /// The last `count` elements.
    constexpr span last(std::size_t count) const noexcept { return subspan(size_ - count); }
    /// The elements from `offset` on.
    constexpr span subspan(std::size_t offset) const noexcept {
        return {data_ + offset, size_ - offset};
    }
    /// `count` elements from `offset` on.
    constexpr span subspan(std::size_t offset, std::size_t count) const noexcept {
        return {data_ + offset, count};
    }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace ebbtide

#ifdef __cpp_lib_span
/// A temporary span converts to std::span, too.
template <typename T>
inline constexpr bool std::ranges::enable_borrowed_range<ebbtide::span<T>> = true;
#endif

namespace ebbtide {

/// Statistics; see ebb_stats.
using stats = ebb_stats;

/// A scope: when it is destroyed, everything allocated in it is free again. Opened by arena::open,
/// scope::child and scope::of_thread.
///
/// It may be moved as long as no child is open; a moved-from scope is closed. It cannot be copied
/// or assigned. Destroy children before their parent, as local variables are. A parent must not
/// allocate while a child is open; with EBB_CHECKS, that aborts. One thread at a time uses a scope.
class scope {
public:
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    scope &operator=(scope &&) = delete;

    /// Moves the scope. It must have no containers and children, because they keep its address.
    EBB_MEMBER_ scope(scope &&other) noexcept : scope(std::move(other.words_)) {
        EBB_CHECK_OF_(&other.words_, (words_.state_ & EBB_FROZEN_) == 0,
                      "a scope is moved while its child is open");
        other.words_ = ebb_scope{};
    }

    EBB_MEMBER_ ~scope() {
        if (words_.state_ != 0)
            (ebb_close)(&words_);
    }

    /// Opens a scope of an arena of this thread that no other open scope uses; see ebb_thread_open.
    /// If there is no memory for an arena, the scope is closed, and allocating from it throws.
    static scope of_thread(EBB_CALLER_) { return scope(EBB_OPENED_((ebb_thread_open)())); }

    /// Opens a child, which is closed if this scope is.
    EBB_MEMBER_ scope child(EBB_CALLER_) { return scope(EBB_OPENED_((ebb_child)(&words_))); }

    /// Ends the scope before its destructor does. Throws std::logic_error if it is not open.
    void close(EBB_CALLER_) { detail::checked((ebb_close)(EBB_CLOSED_(&words_))); }

    /// Whether the scope is open: false after close(), and after it was moved from.
    bool is_open() const noexcept { return ebb_is_open(&words_); }

    /// A block of `size` uninitialised bytes; never null.
    EBB_MEMBER_ void *allocate(std::size_t size,
                                      std::size_t align = alignof(std::max_align_t)) {
        return detail::checked(ebb_alloc_aligned(&words_, size, align));
    }

    /// Like allocate, but returns null instead of throwing.
    EBB_MEMBER_ void *try_allocate(std::size_t size,
                                          std::size_t align = alignof(std::max_align_t)) noexcept {
        return ebb_alloc_aligned(&words_, size, align);
    }

    /// A `T`, constructed from the arguments. If it is an aggregate without such a constructor,
    /// they initialise its members, as in braces. Its destructor is never called, so it must be
    /// trivial; see make_leaked and make_unique.
    template <typename T, typename... Arguments>
    EBB_MEMBER_ T *make(Arguments &&...arguments) {
        static_assert(std::is_trivially_destructible_v<T>,
                      "nothing would call the destructor: use make_unique or make_leaked");
        return make_leaked<T>(std::forward<Arguments>(arguments)...);
    }

    /// Like make, for any type: the memory is reclaimed, and the destructor is not called.
    template <typename T, typename... Arguments>
    EBB_MEMBER_ T *make_leaked(Arguments &&...arguments) {
        void *block = detail::checked(ebb_alloc_aligned(&words_, sizeof(T), alignof(T)));
        return construct<T>(block, std::forward<Arguments>(arguments)...);
    }

    /// Like make, but null where there is no memory.
    template <typename T, typename... Arguments>
    EBB_MEMBER_ T *try_make(Arguments &&...arguments) {
        static_assert(std::is_trivially_destructible_v<T>,
                      "nothing would call the destructor: use make_unique or make_leaked");
        void *block = ebb_alloc_aligned(&words_, sizeof(T), alignof(T));
        return EBB_LIKELY_(block != nullptr)
                   ? construct<T>(block, std::forward<Arguments>(arguments)...)
                   : nullptr;
    }

    /// A deleter that calls the destructor. The memory is freed when the scope ends.
    struct destroy {
        template <typename T> void operator()(T *value) const noexcept { value->~T(); }
    };

    /// A `T` whose destructor is called. The pointer must not outlive the scope.
    template <typename T, typename... Arguments>
    std::unique_ptr<T, destroy> make_unique(Arguments &&...arguments) {
        return std::unique_ptr<T, destroy>(make_leaked<T>(std::forward<Arguments>(arguments)...));
    }

    /// A `T` that the scope owns: its destructor runs when the scope is closed, or rewound to
    /// before this call, before that of what was owned earlier. It must not throw. See ebb_defer.
    template <typename T, typename... Arguments> T *own(Arguments &&...arguments) {
        T *value = make_leaked<T>(std::forward<Arguments>(arguments)...);
        if constexpr (!std::is_trivially_destructible_v<T>) {
            const auto end = [](void *object) noexcept { static_cast<T *>(object)->~T(); };
            void *const owned = const_cast<std::remove_cv_t<T> *>(value);
            if (!ebb_defer(&words_, end, owned)) {
                end(owned);
                detail::throw_last();
            }
        }
        return value;
    }

    /// Whether an address lies in memory that was allocated from this scope or its ancestors; see
    /// ebb_owns.
    bool owns(const void *address) const noexcept { return ebb_owns(&words_, address); }

    /// `count` default-constructed elements.
    template <typename T> span<T> make_array(std::size_t count) {
        T *data = uninitialised<T>(count);
        std::uninitialized_value_construct_n(data, count);
        return span<T>(data, count);
    }

    /// Like make_array, but a span of a null pointer where there is no memory.
    template <typename T> span<T> try_make_array(std::size_t count) {
        T *data = try_uninitialised<T>(count);
        if (data == nullptr)
            return {};
        std::uninitialized_value_construct_n(data, count);
        return span<T>(data, count);
    }

    /// `count` elements, uninitialised.
    template <typename T> span<T> make_array_for_overwrite(std::size_t count) {
        static_assert(std::is_trivially_default_constructible_v<T>,
                      "uninitialised elements need a type that needs no constructor");
        return span<T>(uninitialised<T>(count), count);
    }

    /// A copy of consecutive elements.
    template <typename T> span<T> copy(const T *from, std::size_t count) {
        T *data = uninitialised<T>(count);
        std::uninitialized_copy_n(from, count, data);
        return span<T>(data, count);
    }

    /// A copy of a text, with a terminating 0.
    std::string_view copy(std::string_view text) {
        const char *from = text.data() == nullptr ? "" : text.data();
        return {detail::checked(ebb_string(&words_, from, text.size())), text.size()};
    }

    /// Formatted text, with a terminating 0; see ebb_sprintf. It may contain zeros.
    EBB_PRINTF_(2, 3) std::string_view format(const char *text, ...) {
        va_list values;
        va_start(values, text);
        int length = 0;
        const char *printed = ebb_print_(&words_, &length, text, values);
        va_end(values);
        return {detail::checked(printed), static_cast<std::size_t>(length)};
    }

    /// A position to rewind to, last in, first out.
    EBB_MEMBER_ ebb_position mark() { return ebb_mark(&words_); }

    /// Frees everything allocated since the position was taken.
    EBB_MEMBER_ void rewind(ebb_position position) { ebb_rewind(&words_, position); }

    /// Statistics of the scope's arena; see ebb_scope_stats.
    ebbtide::stats stats() const {
        ebbtide::stats found;
        detail::checked(ebb_scope_stats(&words_, &found));
        return found;
    }

    /// The scope of the C interface.
    EBB_MEMBER_ ebb_scope *c_scope() noexcept { return &words_; }

private:
    friend class arena_base;

    EBB_MEMBER_ explicit scope(ebb_scope &&words) noexcept
        : words_{words.top_, words.chunk_, words.low_, words.state_} {}

    template <typename T, typename... Arguments>
    EBB_MEMBER_ static T *construct(void *block, Arguments &&...arguments) {
        if constexpr (std::is_aggregate_v<T> && !std::is_constructible_v<T, Arguments...>)
            return ::new (block) T{std::forward<Arguments>(arguments)...};
        else
            return ::new (block) T(std::forward<Arguments>(arguments)...);
    }

    template <typename T> T *uninitialised(std::size_t count) {
        return detail::checked(try_uninitialised<T>(count));
    }

    template <typename T> T *try_uninitialised(std::size_t count) noexcept {
        static_assert(std::is_trivially_destructible_v<T>,
                      "nothing would call the destructors: use ebbtide::vector");
        return static_cast<T *>(ebb_alloc_array(&words_, count, sizeof(T), alignof(T)));
    }

    ebb_scope words_;
};

/// The options of an arena: the capacity of the first chunk and the most bytes to hold, with 0 for
/// the defaults; and the resource that chunks come from, with null for the heap, which costs no
/// virtual call.
struct options {
    std::size_t first_chunk = 0;
    std::size_t limit = 0;
    pmr::memory_resource *upstream = nullptr;
};

namespace detail {

/// A block of a resource, which may throw. The resource over the heap is not called: Boost's
/// ignores the alignment, and std's may throw where that ends the program. Without exceptions,
/// others have to return null, or to end the program themselves.
inline void *upstream_allocate(pmr::memory_resource *upstream, std::size_t size,
                               std::size_t align) {
    if (upstream != pmr::new_delete_resource())
        return upstream->allocate(size, align);
#ifdef __cpp_exceptions
    return ::operator new(size, std::align_val_t(align));
#else
    return ::operator new(size, std::align_val_t(align), std::nothrow);
#endif
}

inline void upstream_deallocate(pmr::memory_resource *upstream, void *block, std::size_t size,
                                std::size_t align) noexcept {
    if (upstream != pmr::new_delete_resource())
        upstream->deallocate(block, size, align);
    else
        ::operator delete(block, std::align_val_t(align));
}

/// A memory resource as two functions, which catch exceptions before they reach C.
inline void *allocate_upstream(void *upstream, std::size_t size, std::size_t align) noexcept {
    EBB_TRY_ {
        return upstream_allocate(static_cast<pmr::memory_resource *>(upstream), size, align);
    } EBB_CATCH_ {
        return nullptr;
    }
}

inline void release_upstream(void *upstream, void *block, std::size_t size,
                             std::size_t align) noexcept {
    upstream_deallocate(static_cast<pmr::memory_resource *>(upstream), block, size, align);
}

inline ebb_options for_c(const options &from) {
    ebb_options to = EBB_OPTIONS_INIT;
    to.first_chunk = from.first_chunk;
    to.limit = from.limit;
    if (from.upstream != nullptr)
        to.backing = {allocate_upstream, release_upstream, from.upstream};
    return to;
}

} // namespace detail

/// The methods of all arenas. One thread at a time uses an arena; another may use it for the next
/// scope.
class arena_base {
public:
    arena_base(const arena_base &) = delete;
    arena_base &operator=(const arena_base &) = delete;

    /// Opens the arena's scope. Throws std::logic_error if it is already open.
    EBB_MEMBER_ scope open(EBB_CALLER_) {
        ebb_scope words = EBB_OPENED_((ebb_open)(handle_));
        if (!EBB_LIKELY_(words.chunk_ != nullptr))
            detail::throw_last();
        return scope(std::move(words));
    }

    /// Like open, but returns a closed scope instead of throwing. Allocating from it fails.
    EBB_MEMBER_ scope try_open(EBB_CALLER_) noexcept {
        return scope(EBB_OPENED_((ebb_open)(handle_)));
    }

    /// Frees every chunk but the first.
    void trim() { detail::checked(ebb_arena_trim(handle_)); }

    /// Frees chunks until at most `keep` bytes are held.
    void shrink(std::size_t keep = 0) { detail::checked(ebb_arena_shrink(handle_, keep)); }

    /// Makes the next first chunk as large as all chunks together; see ebb_arena_merge.
    void merge() { detail::checked(ebb_arena_merge(handle_)); }

    /// Sets the most bytes to take from the upstream; 0 for no limit.
    void set_limit(std::size_t bytes) { detail::checked(ebb_arena_set_limit(handle_, bytes)); }
    /// The limit; 0 if there is none.
    std::size_t limit() const noexcept { return ebb_arena_limit(handle_); }

    /// Statistics of the arena; see ebb_arena_stats.
    ebbtide::stats stats() const {
        ebbtide::stats found;
        detail::checked(ebb_arena_stats(handle_, &found));
        return found;
    }

    /// The arena of the C interface.
    ebb_arena *c_arena() noexcept { return handle_; }

protected:
    explicit arena_base(ebb_arena *handle) : handle_(detail::checked(handle)) {}
    arena_base(arena_base &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

    ~arena_base() {
        [[maybe_unused]] const ebb_status status = ebb_arena_free(handle_);
        EBB_CHECK_OF_(handle_, status == EBB_OK, "an arena is destroyed while its scope is open");
    }

    ebb_arena *handle_;
};

/// An arena that grows. Its scope may be open while it is moved; a moved-from arena can only be
/// destroyed or assigned to. It must not be destroyed while its scope is open: with EBB_CHECKS that
/// aborts, without them the memory leaks. One thread at a time uses it.
class arena : public arena_base {
public:
    explicit arena(const options &options = {}) : arena_base(make(options)) {}
    arena(arena &&) noexcept = default;
    arena &operator=(arena &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }

private:
    static ebb_arena *make(const options &options) {
        const ebb_options made = detail::for_c(options);
        return ebb_arena_new(&made);
    }
};

/// An arena over a buffer, which must outlive it. It never calls the heap: when the buffer is full,
/// allocations throw. It cannot be moved. One thread at a time uses it.
class fixed_arena : private ebb_arena_storage, public arena_base {
public:
    fixed_arena(void *buffer, std::size_t size)
        : ebb_arena_storage(), arena_base(ebb_fixed_new(this, buffer, size)) {}
    fixed_arena(fixed_arena &&) = delete;
};

/// An arena over a buffer that continues in chunks when the buffer is full. It cannot be moved. One
/// thread at a time uses it.
class spilling_arena : private ebb_arena_storage, public arena_base {
public:
    spilling_arena(void *buffer, std::size_t size, const options &options = {})
        : ebb_arena_storage(), arena_base(make(buffer, size, options)) {}
    spilling_arena(spilling_arena &&) = delete;

private:
    ebb_arena *make(void *buffer, std::size_t size, const options &options) {
        const ebb_options made = detail::for_c(options);
        return ebb_spilling_new(this, buffer, size, &made);
    }
};

/// A memory resource for pmr containers: like std::pmr::monotonic_buffer_resource, but release()
/// keeps the chunks, and deallocating the last block makes its memory free. One thread at a time
/// uses it. It cannot be moved.
///
/// Exceptions of the upstream reach the caller of allocate(). Without an upstream (a null pointer),
/// chunks come from the heap, and failed allocations throw std::bad_alloc.
class memory_resource final : public pmr::memory_resource {
public:
    memory_resource() : memory_resource(nullptr, 0) {}
    explicit memory_resource(pmr::memory_resource *upstream)
        : memory_resource(nullptr, 0, upstream) {}
    explicit memory_resource(std::size_t first_chunk, pmr::memory_resource *upstream =
                                                          pmr::get_default_resource())
        : source_{upstream, nullptr}, arena_(nullptr, 0, first_chunk, source_) {}
    memory_resource(void *buffer, std::size_t size,
                    pmr::memory_resource *upstream = pmr::get_default_resource())
        : source_{upstream, nullptr}, arena_(buffer, size, 0, source_) {}

    memory_resource(const memory_resource &) = delete;
    memory_resource &operator=(const memory_resource &) = delete;

    ~memory_resource() override { close(); }

    /// Frees all allocations, and keeps the chunks for the next ones.
    void release() noexcept {
        if (close() == EBB_OK)
            open();
    }

    /// Frees all allocations and the chunks. The next chunk has the size of the first one, as after
    /// release() of std::pmr::monotonic_buffer_resource.
    void shrink() noexcept {
        close();
        arena_.start_anew(source_);
    }

    pmr::memory_resource *upstream_resource() const noexcept { return source_.upstream; }

    /// Statistics of the underlying arena; see ebb_arena_stats.
    ebbtide::stats stats() const { return arena_.stats(); }

private:
    EBB_MEMBER_ void *do_allocate(std::size_t size, std::size_t align) override {
        void *block = ebb_take_low_(&scope_, ebb_padded_(size), ebb_granular_(align));
        return EBB_LIKELY_(block != nullptr) ? ebb_guarded_(block, size)
                                             : allocate_slowly(size, align);
    }

    EBB_MEMBER_ void do_deallocate(void *block, std::size_t size, std::size_t) override {
        if (ebb_is_last_(&scope_, block, size)) {
            scope_.low_ = static_cast<char *>(block);
            ebb_poison_(block, size);
        }
    }

    bool do_is_equal(const pmr::memory_resource &other) const noexcept override {
        return this == &other;
    }

    /// Opens the scope. Its top is a multiple of 16, which blocks at the low end do not need: so a
    /// buffer serves the bytes above as well.
    EBB_MEMBER_ void open() noexcept {
        scope_ = ebb_open(arena_.c_arena());
        if (ebb_low_(&scope_) == arena_.start_in_buffer())
            arena_.use_buffer(scope_);
    }

    EBB_MEMBER_ ebb_status close() noexcept {
#if EBB_GUARDS_
        arena_.leave_buffer(scope_);
#endif
        return ebb_close(&scope_);
    }

    /// The first allocation opens the scope. Blocks of 0 bytes have distinct addresses.
    EBB_COLD_MEMBER_ void *allocate_slowly(std::size_t size, std::size_t align) {
        if (size > static_cast<std::size_t>(PTRDIFF_MAX))
            refuse();
        source_.failure = nullptr;
        if (!ebb_is_open(&scope_))
            open();
        if (void *block = ebb_alloc_low(&scope_, size == 0 ? 1 : size, align))
            return block;
        detail::check_alignment(align);
#ifdef __cpp_exceptions
        if (source_.failure)
            std::rethrow_exception(std::exchange(source_.failure, nullptr));
#endif
        detail::throw_no_memory();
    }

    /// Lets the upstream throw its own exception for a size that cannot be served. Sanitizers end
    /// the program if operator new gets such a size.
    [[noreturn]] void refuse() {
        pmr::memory_resource *upstream = source_.upstream;
        std::size_t most = SIZE_MAX;
        EBB_SCALAR_(most); // GCC warns of such a size if it sees it.
        if (upstream != nullptr && upstream != pmr::new_delete_resource())
            (void)upstream->allocate(most, most / 2 + 1);
        detail::throw_no_memory();
    }

    /// The upstream, and the exception that it threw last.
    struct source {
        pmr::memory_resource *upstream;
        std::exception_ptr failure;

        static void *allocate(void *from, std::size_t size, std::size_t align) noexcept {
            source *self = static_cast<source *>(from);
            EBB_TRY_ {
                return detail::upstream_allocate(self->upstream, size, align);
            } EBB_CATCH_ {
                self->failure = std::current_exception();
                return nullptr;
            }
        }
        static void release(void *from, void *block, std::size_t size, std::size_t align) noexcept {
            detail::upstream_deallocate(static_cast<source *>(from)->upstream, block, size, align);
        }
    };

    /// An arena whose handle is stored in the resource. Without a buffer it begins with a chunk.
    class embedded_arena : private ebb_arena_storage, public arena_base {
    public:
        embedded_arena(void *buffer, std::size_t size, std::size_t first_chunk, source &from)
            : ebb_arena_storage(), arena_base(make(buffer, size, first_chunk, from)),
              buffer_(static_cast<char *>(buffer)), size_(size), first_chunk_(first_chunk),
              start_in_buffer_(size == 0 || end() % 16 == 0 ? 0
                               : end() % 16 > size          ? EBB_NOWHERE_
                                                            : end() - size) {}
        embedded_arena(const embedded_arena &) = delete;
        embedded_arena &operator=(const embedded_arena &) = delete;

#if EBB_GUARDS_
        ~embedded_arena() { ebb_unpoison_(buffer_, size_); }
#endif

        /// The `low_` of a new scope in the buffer, if that ends at no multiple of 16; otherwise 0.
        EBB_MEMBER_ std::uintptr_t start_in_buffer() const noexcept { return start_in_buffer_; }

        /// Makes all bytes of the buffer free in a scope that begins there.
        EBB_MEMBER_ void use_buffer(ebb_scope &scope) const noexcept {
            scope.low_ = buffer_;
            scope.top_ = end();
        }

#if EBB_GUARDS_
        /// Undoes `use_buffer`, for ebb_close to poison what the scope used. It does not know a
        /// buffer in which rounding left nothing free.
        void leave_buffer(ebb_scope &scope) const noexcept {
            if (start_in_buffer_ == EBB_NOWHERE_ && ebb_low_(&scope) - (end() - size_) <= size_) {
                scope.top_ = EBB_NOWHERE_;
                scope.low_ = reinterpret_cast<char *>(EBB_NOWHERE_);
                ebb_poison_(buffer_, size_);
            }
            scope.top_ &= ~std::uintptr_t{15};
        }
#endif

        /// Frees all chunks, and begins with the first size again.
        void start_anew(source &from) noexcept {
            ebb_arena_free(handle_);
            handle_ = make(buffer_, size_, first_chunk_, from);
        }

    private:
        std::uintptr_t end() const noexcept {
            return reinterpret_cast<std::uintptr_t>(buffer_) + size_;
        }

        ebb_arena *make(void *buffer, std::size_t size, std::size_t first_chunk, source &from) {
            ebb_options options = EBB_OPTIONS_INIT;
            options.first_chunk = first_chunk;
            if (from.upstream != nullptr)
                options.backing = {source::allocate, source::release, &from};
            return buffer == nullptr && size == 0 ? ebb_arena_new_in(this, &options)
                                                  : ebb_spilling_new(this, buffer, size, &options);
        }

        char *buffer_;
        std::size_t size_, first_chunk_;
        std::uintptr_t start_in_buffer_;
    };

    source source_;
    embedded_arena arena_;
    ebb_scope scope_ = {};
};

/// A memory resource for pmr containers whose elements come and go: like
/// std::pmr::unsynchronized_pool_resource, over a scope. Blocks that are deallocated are used again
/// for the same class of sizes; see ebb_heap. Deallocating a null pointer does nothing. When the scope ends, all memory is free, so the scope
/// must outlive the containers. It must not be moved, and must have no child open while they
/// allocate or deallocate. One thread at a time uses a resource and its scope.
class pool_resource final : public pmr::memory_resource {
public:
    explicit pool_resource(scope &scope) noexcept : heap_() {
        ebb_heap_init(&heap_, scope.c_scope());
    }

    pool_resource(const pool_resource &) = delete;
    pool_resource &operator=(const pool_resource &) = delete;

    /// The heap of the C interface, for libraries with hooks.
    ebb_heap *c_heap() noexcept { return &heap_; }

private:
    /// The alignment of a heap's blocks.
    static constexpr std::size_t heap_align = 16;

    EBB_MEMBER_ void *do_allocate(std::size_t size, std::size_t align) override {
        if (!EBB_LIKELY_(align <= heap_align && (align & (align - 1)) == 0 && align != 0))
            return allocate_aligned(size, align);
        return detail::checked(ebb_heap_alloc(&heap_, size));
    }

    EBB_MEMBER_ void do_deallocate(void *block, std::size_t size, std::size_t align) override {
        EBB_SCALAR_(block); // libstdc++ declares that it is not null.
        if (!EBB_LIKELY_(align <= heap_align))
            deallocate_aligned(block, size, align);
        else
            ebb_heap_free(&heap_, block, size);
    }

    bool do_is_equal(const pmr::memory_resource &other) const noexcept override {
        return this == &other;
    }

    /// Allocates a block that is larger by the alignment. The word before the part that is aligned
    /// has the address of the whole.
    EBB_COLD_MEMBER_ void *allocate_aligned(std::size_t size, std::size_t align) {
        constexpr std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / 2;
        detail::check_alignment(align);
        if (size > most || align > most)
            detail::throw_no_memory();
        char *const whole =
            static_cast<char *>(detail::checked(ebb_heap_alloc(&heap_, size + align)));
        char *const block = whole + (align - reinterpret_cast<std::uintptr_t>(whole) % align);
        reinterpret_cast<void **>(block)[-1] = whole;
        ebb_poison_(block + size, static_cast<std::size_t>(whole + align - block));
        return block;
    }

    EBB_COLD_MEMBER_ void deallocate_aligned(void *block, std::size_t size, std::size_t align) {
        if (block != nullptr)
            ebb_heap_free(&heap_, static_cast<void **>(block)[-1], size + align);
    }

    ebb_heap heap_;
};

/// An allocator for containers of the standard library, without a virtual call. Deallocating the
/// last block of the scope makes its memory free. The scope must outlive the container, must not be
/// moved, and must have no child open while the container allocates or deallocates.
template <typename T> class allocator {
public:
    using value_type = T;

    allocator(scope &scope) noexcept : scope_(scope.c_scope()) {}
    template <typename U> allocator(const allocator<U> &other) noexcept : scope_(other.c_scope()) {}

    EBB_MEMBER_ T *allocate(std::size_t count) {
        if (!EBB_LIKELY_(count <= static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T)))
            detail::throw_length();
        return static_cast<T *>(
            detail::checked(ebb_alloc_low(scope_, count * sizeof(T), alignof(T))));
    }

    EBB_MEMBER_ void deallocate(T *block, std::size_t count) noexcept {
        ebb_free_last(scope_, block, count * sizeof(T));
    }

    /// The scope of the C interface.
    ebb_scope *c_scope() const noexcept { return scope_; }

    template <typename U> bool operator==(const allocator<U> &other) const noexcept {
        return scope_ == other.c_scope();
    }
    template <typename U> bool operator!=(const allocator<U> &other) const noexcept {
        return !(*this == other);
    }

private:
    ebb_scope *scope_;
};

namespace detail {

/// Whether `T` is an iterator, not a number of elements.
template <typename T>
using if_iterator = typename std::iterator_traits<T>::iterator_category;

/// Enables an overload for pointers into a text. The literal 0 is an index, not a pointer.
template <typename T>
using if_position =
    std::enable_if_t<std::is_pointer_v<T> && std::is_convertible_v<T, const char *>>;

/// The index of the element that a pointer points to, or `npos`.
inline constexpr std::size_t npos = std::numeric_limits<std::size_t>::max();
template <typename T>
std::size_t index_in(const T *data, std::size_t size, const T *pointer) noexcept {
    const std::less<const T *> before{};
    const bool is_in = data != nullptr && !before(pointer, data) && before(pointer, data + size);
    return is_in ? static_cast<std::size_t>(pointer - data) : npos;
}

} // namespace detail

/// A vector in a scope that grows in place as long as its block is the last one at the low end:
/// elements are not copied, and their addresses do not change. The scope must outlive it, must not
/// be moved, and must have no child open while the vector grows or is destroyed. One thread at a
/// time uses it and its scope.
///
/// It has the methods of std::vector, with these exceptions: it cannot be copied, because a copy
/// would have no scope (write `vector<T> copy(scope, from.begin(), from.end())`); there is no
/// get_allocator(); and swapping or moving exchanges the scopes together with the elements. If a
/// copy of an element throws, push_back, emplace_back, append, reserve and resize leave the vector
/// as it was; insert and assign leave it valid, like those of std::vector.
template <typename T> class vector {
public:
    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T &;
    using const_reference = const T &;
    using pointer = T *;
    using const_pointer = const T *;
    using iterator = T *;
    using const_iterator = const T *;
    using reverse_iterator = std::reverse_iterator<iterator>;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;

    explicit vector(scope &scope) noexcept : scope_(scope.c_scope()) {}
    vector(scope &scope, std::initializer_list<T> values) : vector(scope) {
        append(values.begin(), values.size());
    }
    /// `count` default-constructed elements.
    vector(scope &scope, std::size_t count) : vector(scope) { resize(count); }
    vector(scope &scope, std::size_t count, const T &value) : vector(scope) {
        resize(count, value);
    }
    template <typename Iterator, typename = detail::if_iterator<Iterator>>
    vector(scope &scope, Iterator first, Iterator last) : vector(scope) {
        append(first, last);
    }
    vector(const vector &) = delete;
    vector &operator=(const vector &) = delete;
    vector(vector &&other) noexcept
        : scope_(other.scope_), data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)), capacity_(std::exchange(other.capacity_, 0)) {}
    /// Takes the elements of `other`, and uses the same scope. `other` is then empty and keeps its
    /// scope.
    vector &operator=(vector &&other) noexcept {
        if (this != &other) {
            free();
            scope_ = other.scope_;
            data_ = std::exchange(other.data_, nullptr);
            size_ = std::exchange(other.size_, 0);
            capacity_ = std::exchange(other.capacity_, 0);
        }
        return *this;
    }
    vector &operator=(std::initializer_list<T> values) {
        assign(values);
        return *this;
    }

    ~vector() { free(); }

    /// Exchanges the elements, and the scopes along with them.
    void swap(vector &other) noexcept {
        std::swap(scope_, other.scope_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }
    friend void swap(vector &a, vector &b) noexcept { a.swap(b); }

    T *data() noexcept { return data_; }
    const T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    std::size_t max_size() const noexcept {
        return static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T);
    }
    std::size_t capacity() const noexcept { return capacity_; }
    bool empty() const noexcept { return size_ == 0; }
    T *begin() noexcept { return data_; }
    T *end() noexcept { return data_ + size_; }
    const T *begin() const noexcept { return data_; }
    const T *end() const noexcept { return data_ + size_; }
    const T *cbegin() const noexcept { return data_; }
    const T *cend() const noexcept { return data_ + size_; }
    reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
    reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
    const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
    const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
    const_reverse_iterator crbegin() const noexcept { return rbegin(); }
    const_reverse_iterator crend() const noexcept { return rend(); }
    T &operator[](std::size_t index) noexcept { return data_[index]; }
    const T &operator[](std::size_t index) const noexcept { return data_[index]; }
    T &front() noexcept { return data_[0]; }
    T &back() noexcept { return data_[size_ - 1]; }
    const T &front() const noexcept { return data_[0]; }
    const T &back() const noexcept { return data_[size_ - 1]; }

    T &at(std::size_t index) { return data_[tested(index)]; }
    const T &at(std::size_t index) const { return data_[tested(index)]; }

    /// The arguments may refer to elements of this vector. If there is no memory, they are
    /// unchanged.
    template <typename... Arguments> EBB_MEMBER_ T &emplace_back(Arguments &&...arguments) {
        if constexpr (is_small_) {
            // Copied first, so that the argument and the vector stay in registers.
            const T value(std::forward<Arguments>(arguments)...);
            if (!EBB_LIKELY_(size_ < capacity_))
                more();
            T *place = ::new (static_cast<void *>(data_ + size_)) T(value);
            ++size_;
            return *place;
        } else {
            if (!EBB_LIKELY_(size_ < capacity_))
                return emplace_slowly(std::forward<Arguments>(arguments)...);
            T *place =
                ::new (static_cast<void *>(data_ + size_)) T(std::forward<Arguments>(arguments)...);
            ++size_;
            return *place;
        }
    }
    EBB_MEMBER_ void push_back(const T &value) { emplace_back(value); }
    EBB_MEMBER_ void push_back(T &&value) { emplace_back(std::move(value)); }

    /// Like push_back, but false where there is no memory.
    bool try_push_back(T value) {
        if (size_ == capacity_ && !try_make_room(1))
            return false;
        emplace_back(std::move(value));
        return true;
    }

    void pop_back() noexcept { data_[--size_].~T(); }

    void clear() noexcept { truncate(0); }

    /// Makes room for `capacity` elements in all.
    void reserve(std::size_t capacity) {
        if (capacity > capacity_)
            grow(capacity, capacity);
    }

    /// Like reserve, but false where there is no memory.
    bool try_reserve(std::size_t capacity) {
        return capacity <= size_ || try_make_room(capacity - size_);
    }

    /// New elements are default-constructed.
    void resize(std::size_t size) {
        if (size <= size_)
            return truncate(size);
        make_room(size - size_);
        std::uninitialized_value_construct_n(data_ + size_, size - size_);
        size_ = size;
    }

    /// New elements are copies of `value`, which may be an element of this vector.
    void resize(std::size_t size, const T &value) {
        if (size <= size_)
            return truncate(size);
        append(size - size_, value);
    }

    /// Appends copies of a value, which may be an element of this vector.
    void append(std::size_t count, const T &value) {
        const T *const first = std::addressof(value);
        const std::size_t at = detail::index_in(static_cast<const T *>(data_), size_, first);
        make_room(count);
        const T &kept = at == detail::npos ? value : data_[at];
        std::uninitialized_fill_n(data_ + size_, count, kept);
        size_ += count;
    }

    /// Appends copies of elements, which may be this vector's own.
    void append(const T *from, std::size_t count) {
        const std::size_t at = detail::index_in(static_cast<const T *>(data_), size_, from);
        make_room(count);
        std::uninitialized_copy_n(at == detail::npos ? from : data_ + at, count, data_ + size_);
        size_ += count;
    }

    /// Appends copies of elements that are not this vector's own.
    template <typename Iterator, typename Category = detail::if_iterator<Iterator>>
    void append(Iterator first, Iterator last) {
        if constexpr (std::is_base_of_v<std::forward_iterator_tag, Category>) {
            const auto count = static_cast<std::size_t>(std::distance(first, last));
            make_room(count);
            std::uninitialized_copy(first, last, data_ + size_);
            size_ += count;
        } else {
            const std::size_t before = size_;
            EBB_TRY_ {
                for (; first != last; ++first)
                    emplace_back(*first);
            } EBB_CATCH_ {
                truncate(before);
                EBB_RETHROW_;
            }
        }
    }

    void assign(std::size_t count, const T &value) {
        const T kept(value);
        clear();
        resize(count, kept);
    }
    template <typename Iterator, typename = detail::if_iterator<Iterator>>
    void assign(Iterator first, Iterator last) {
        clear();
        append(first, last);
    }
    void assign(std::initializer_list<T> values) { assign(values.begin(), values.end()); }

    /// Constructs an element before `position`. The arguments may refer to elements of this vector.
    template <typename... Arguments> T *emplace(const T *position, Arguments &&...arguments) {
        const std::size_t at = index_of(position);
        emplace_back(std::forward<Arguments>(arguments)...);
        return rotated(at, size_ - 1);
    }
    T *insert(const T *position, const T &value) { return emplace(position, value); }
    T *insert(const T *position, T &&value) { return emplace(position, std::move(value)); }
    T *insert(const T *position, std::size_t count, const T &value) {
        const std::size_t at = index_of(position), before = size_;
        append(count, value);
        return rotated(at, before);
    }
    /// Copies elements that are not this vector's own.
    template <typename Iterator, typename = detail::if_iterator<Iterator>>
    T *insert(const T *position, Iterator first, Iterator last) {
        const std::size_t at = index_of(position), before = size_;
        append(first, last);
        return rotated(at, before);
    }
    T *insert(const T *position, std::initializer_list<T> values) {
        return insert(position, values.begin(), values.end());
    }

    T *erase(const T *position) { return erase(position, position + 1); }
    T *erase(const T *first, const T *last) {
        T *start = data_ + index_of(first);
        if (first != last)
            truncate(index_of(std::move(data_ + index_of(last), end(), start)));
        return start;
    }

    /// Frees the unused capacity if this is the last block.
    void shrink_to_fit() noexcept {
        if (data_ != nullptr && ebb_is_last_(scope_, data_, capacity_ * sizeof(T))) {
            ebb_grow(scope_, data_, capacity_ * sizeof(T), size_ * sizeof(T), alignof(T));
            capacity_ = size_;
        }
    }

    /// The elements, which stay in the scope. The vector is then empty.
    span<T> into_span() noexcept {
        static_assert(std::is_trivially_destructible_v<T>,
                      "nothing would call the destructors of the elements");
        shrink_to_fit();
        capacity_ = 0;
        return span<T>(std::exchange(data_, nullptr), std::exchange(size_, 0));
    }

    friend bool operator==(const vector &a, const vector &b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
    friend bool operator!=(const vector &a, const vector &b) { return !(a == b); }
    friend bool operator<(const vector &a, const vector &b) {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
    friend bool operator>(const vector &a, const vector &b) { return b < a; }
    friend bool operator<=(const vector &a, const vector &b) { return !(b < a); }
    friend bool operator>=(const vector &a, const vector &b) { return !(a < b); }

private:
    /// Elements that are passed in registers and moved by memcpy.
    static constexpr bool is_small_ = std::is_trivially_copyable_v<T> &&
                                      std::is_copy_constructible_v<T> &&
                                      sizeof(T) <= 2 * sizeof(void *);

    /// The vector's next block, and the number of elements that it has room for.
    struct room {
        T *block;
        std::size_t capacity;
    };

    std::size_t next_capacity(std::size_t additional) const {
        const std::size_t next = ebb_next_capacity_(size_, capacity_, additional, sizeof(T));
        if (next == 0)
            detail::throw_length();
        return next;
    }

    std::size_t tested(std::size_t index) const {
        if (index >= size_)
            detail::throw_out_of_range("ebbtide::vector::at");
        return index;
    }

    std::size_t index_of(const T *position) const noexcept {
        return static_cast<std::size_t>(position - data_);
    }

    /// Moves the elements from `appended` on in front of the one at `at`.
    T *rotated(std::size_t at, std::size_t appended) {
        std::rotate(data_ + at, data_ + appended, end());
        return data_ + at;
    }

    void truncate(std::size_t size) noexcept {
        std::destroy_n(data_ + size, size_ - size);
        size_ = size;
    }

    /// Destroys the elements and frees their block.
    void free() noexcept {
        clear();
        if (data_ != nullptr)
            ebb_free_last(scope_, data_, capacity_ * sizeof(T));
    }

    void make_room(std::size_t additional) {
        if (additional > capacity_ - size_)
            grow(next_capacity(additional), size_ + additional);
    }

    bool try_make_room(std::size_t additional) {
        if (additional <= capacity_ - size_)
            return true;
        const std::size_t next = ebb_next_capacity_(size_, capacity_, additional, sizeof(T));
        const room found = next == 0 ? room{nullptr, 0} : try_find_room(next, size_ + additional);
        if (found.block == nullptr)
            return false;
        fill(found);
        return true;
    }

    /// Room for one more small element.
    EBB_MEMBER_ void more() {
        std::size_t capacity = capacity_;
        data_ = static_cast<T *>(
            ebb_more_(scope_, data_, size_, &capacity, 1, sizeof(T), alignof(T)));
        capacity_ = capacity;
        if (!EBB_LIKELY_(size_ < capacity_))
            detail::throw_last();
    }

    template <typename... Arguments>
    EBB_COLD_MEMBER_ T &emplace_slowly(Arguments &&...arguments) {
        const room found = find_room(next_capacity(1), size_ + 1);
        // Constructed before the elements move, because the arguments may refer to them.
        T *place = nullptr;
        EBB_TRY_ {
            place = ::new (static_cast<void *>(found.block + size_))
                T(std::forward<Arguments>(arguments)...);
            move_to(found);
        } EBB_CATCH_ {
            if (place != nullptr)
                place->~T();
            if (found.block != data_)
                ebb_free_last(scope_, found.block, found.capacity * sizeof(T));
            EBB_RETHROW_;
        }
        ++size_;
        return *place;
    }

    /// Grows to `wanted` elements or, if there is no memory for them, to `least`.
    void grow(std::size_t wanted, std::size_t least) {
        fill(find_room(wanted, least));
    }

    /// Makes a block the vector's, or frees it if a copy of an element throws.
    void fill(room found) {
        EBB_TRY_ {
            move_to(found);
        } EBB_CATCH_ {
            ebb_free_last(scope_, found.block, found.capacity * sizeof(T));
            EBB_RETHROW_;
        }
    }

    /// Like try_find_room, but throws if there is none.
    room find_room(std::size_t wanted, std::size_t least) {
        if (wanted > max_size())
            detail::throw_length();
        const room found = try_find_room(wanted, least);
        if (found.block == nullptr)
            detail::throw_last();
        return found;
    }

    /// Room for `wanted` elements or, if there is no memory for them, for `least`: either by
    /// extending the vector's block in place, or in a new block. Null if there is none.
    room try_find_room(std::size_t wanted, std::size_t least) noexcept {
        const std::size_t old_bytes = capacity_ * sizeof(T);
        const bool last = data_ != nullptr && ebb_is_last_(scope_, data_, old_bytes);
        const std::size_t bytes = scope_->top_ - reinterpret_cast<std::uintptr_t>(data_);
        for (std::size_t capacity : {wanted, least}) {
            if (last && ebb_padded_(capacity * sizeof(T)) <= bytes) {
                ebb_grow(scope_, data_, old_bytes, capacity * sizeof(T), alignof(T));
                capacity_ = capacity;
                return {data_, capacity};
            }
            void *block = ebb_alloc_low(scope_, capacity * sizeof(T), alignof(T));
            if (block != nullptr)
                return {static_cast<T *>(block), capacity};
        }
        return {nullptr, 0};
    }

    /// Moves the elements to a block, which becomes the vector's. If a copy throws, they stay.
    void move_to(room found) {
        if (found.block != data_)
            relocate(found.block);
        data_ = found.block;
        capacity_ = found.capacity;
    }

    void relocate(T *block) {
        if constexpr (std::is_trivially_copyable_v<T>) {
            if (size_ > 0)
                std::memcpy(static_cast<void *>(block), data_, size_ * sizeof(T));
        } else {
            if constexpr (std::is_nothrow_move_constructible_v<T> ||
                          !std::is_copy_constructible_v<T>)
                std::uninitialized_move_n(data_, size_, block);
            else
                std::uninitialized_copy_n(data_, size_, block);
            std::destroy_n(data_, size_);
        }
    }

    ebb_scope *scope_;
    T *data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

/// Erases the elements for which `is_unwanted` returns true, and returns their number.
template <typename T, typename Predicate>
std::size_t erase_if(vector<T> &values, Predicate is_unwanted) {
    const std::size_t before = values.size();
    values.erase(std::remove_if(values.begin(), values.end(), std::move(is_unwanted)),
                 values.end());
    return before - values.size();
}

/// A text in a scope that grows in place; c_str appends a 0. The scope must outlive it, must not be
/// moved, and must have no child open while the string grows or is destroyed. One thread at a time
/// uses it and its scope.
///
/// It has the methods of std::string, with fewer overloads: texts and parts of them are passed as
/// std::string_view, to which it converts; only append(), erase(), and insert() of one character
/// accept iterators. It cannot be copied (write `string copy(scope, text)`), substr() returns a
/// std::string_view, c_str() changes the string, and there is no get_allocator() and no operator+.
/// starts_with() and ends_with() of C++20 and contains() of C++23 are available in C++17, too. An
/// append, insert or replace that throws leaves the string unchanged.
class string {
public:
    using value_type = char;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = char &;
    using const_reference = const char &;
    using iterator = char *;
    using const_iterator = const char *;
    using reverse_iterator = std::reverse_iterator<iterator>;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;

    static constexpr std::size_t npos = detail::npos;

    explicit string(scope &scope) noexcept : scope_(scope.c_scope()) {}
    string(scope &scope, std::string_view text) : string(scope) { append(text); }
    string(scope &scope, std::size_t count, char byte) : string(scope) { resize(count, byte); }
    string(const string &) = delete;
    string &operator=(const string &) = delete;
    string(string &&other) noexcept
        : scope_(other.scope_), bytes_(std::exchange(other.bytes_, ebb_bytes{})) {}
    /// Takes the text of `other`, and uses the same scope. `other` is then empty and keeps its
    /// scope.
    string &operator=(string &&other) noexcept {
        if (this != &other) {
            free();
            scope_ = other.scope_;
            bytes_ = std::exchange(other.bytes_, ebb_bytes{});
        }
        return *this;
    }
    /// The text may be part of this one.
    string &operator=(std::string_view text) { return assign(text); }
    ~string() { free(); }

    /// Exchanges the texts, and the scopes along with them.
    void swap(string &other) noexcept {
        std::swap(scope_, other.scope_);
        std::swap(bytes_, other.bytes_);
    }
    friend void swap(string &a, string &b) noexcept { a.swap(b); }

    /// The text may be part of this one.
    string &append(std::string_view text) {
        if (!EBB_LIKELY_(try_append(text)))
            detail::throw_last();
        return *this;
    }
    /// Like append, but false where there is no memory.
    bool try_append(std::string_view text) noexcept {
        const std::size_t at = detail::index_in(data(), bytes_.length, text.data());
        if (!EBB_LIKELY_(ebb_bytes_reserve(scope_, &bytes_, text.size())))
            return false;
        const char *from = at == detail::npos ? text.data() : bytes_.data + at;
        if (!text.empty())
            std::memcpy(bytes_.data + bytes_.length, from, text.size());
        bytes_.length += text.size();
        return true;
    }
    string &append(std::size_t count, char byte) {
        room(count);
        if (count > 0)
            std::memset(bytes_.data + bytes_.length, byte, count);
        bytes_.length += count;
        return *this;
    }
    string &append(const char *text, std::size_t size) {
        return append(std::string_view(text, size));
    }
    template <typename Iterator, typename = detail::if_iterator<Iterator>>
    string &append(Iterator first, Iterator last) {
        if constexpr (std::is_convertible_v<Iterator, const char *>) {
            return append(first, static_cast<std::size_t>(last - first));
        } else {
            const std::size_t before = bytes_.length;
            EBB_TRY_ {
                for (; first != last; ++first)
                    push_back(static_cast<char>(*first));
            } EBB_CATCH_ {
                bytes_.length = before;
                EBB_RETHROW_;
            }
            return *this;
        }
    }
    string &operator+=(std::string_view text) { return append(text); }
    EBB_MEMBER_ void push_back(char byte) {
        if (!EBB_LIKELY_(ebb_bytes_push(scope_, &bytes_, byte)))
            detail::throw_last();
    }
    string &operator+=(char byte) {
        push_back(byte);
        return *this;
    }
    /// Appends formatted text; see ebb_bytes_printf. Throws std::logic_error if it cannot be
    /// formatted.
    EBB_PRINTF_(2, 3) string &append_format(const char *format, ...) {
        va_list values;
        va_start(values, format);
        const bool done = ebb_bytes_vprintf(scope_, &bytes_, format, values);
        va_end(values);
        if (!done)
            detail::throw_last();
        return *this;
    }

    /// The text may be part of this one.
    string &assign(std::string_view text) {
        if (detail::index_in(data(), bytes_.length, text.data()) != detail::npos) {
            std::memmove(bytes_.data, text.data(), text.size());
            bytes_.length = text.size();
            return *this;
        }
        clear();
        return append(text);
    }
    string &assign(const char *text, std::size_t size) {
        return assign(std::string_view(text, size));
    }
    string &assign(std::size_t count, char byte) {
        clear();
        return append(count, byte);
    }

    /// The text may be part of this one. Throws std::out_of_range if `position` is beyond the end.
    string &insert(std::size_t position, std::string_view text) {
        const std::size_t before = bytes_.length;
        tested(position);
        append(text);
        std::rotate(begin() + position, begin() + before, end());
        return *this;
    }
    string &insert(std::size_t position, std::size_t count, char byte) {
        const std::size_t before = bytes_.length;
        tested(position);
        append(count, byte);
        std::rotate(begin() + position, begin() + before, end());
        return *this;
    }
    template <typename Iterator, typename = detail::if_position<Iterator>>
    iterator insert(Iterator position, char byte) {
        const std::size_t at = index_of(position);
        insert(at, 1, byte);
        return begin() + at;
    }

    /// Replaces at most `count` bytes from `position` on. The text may be part of this one. Throws
    /// std::out_of_range if `position` is beyond the end.
    string &replace(std::size_t position, std::size_t count, std::string_view text) {
        count = std::min(count, bytes_.length - tested(position));
        if (text.size() > count) {
            insert(position + count, text);
            return erase(position, count);
        }
        // In place: there may be no memory for more.
        if (!text.empty())
            std::memmove(bytes_.data + position, text.data(), text.size());
        return erase(position + text.size(), count - text.size());
    }

    /// Throws std::out_of_range if `position` is beyond the end.
    string &erase(std::size_t position = 0, std::size_t count = detail::npos) {
        const std::size_t rest = bytes_.length - tested(position);
        if (count > rest)
            count = rest;
        if (count > 0)
            std::memmove(bytes_.data + position, bytes_.data + position + count, rest - count);
        bytes_.length -= count;
        return *this;
    }
    template <typename Iterator, typename = detail::if_position<Iterator>>
    iterator erase(Iterator position) {
        return erase(position, position + 1);
    }
    template <typename Iterator, typename = detail::if_position<Iterator>>
    iterator erase(Iterator first, const char *last) {
        const std::size_t at = index_of(first);
        erase(at, index_of(last) - at);
        return begin() + at;
    }

    void pop_back() noexcept { --bytes_.length; }
    void resize(std::size_t size, char byte = 0) {
        if (size > bytes_.length)
            append(size - bytes_.length, byte);
        bytes_.length = size;
    }
    /// Makes room for `capacity` bytes in all.
    void reserve(std::size_t capacity) {
        if (capacity > bytes_.length)
            room(capacity - bytes_.length);
    }
    void clear() noexcept { bytes_.length = 0; }

    /// Frees the unused capacity if this is the last block.
    void shrink_to_fit() noexcept {
        if (bytes_.data != nullptr && ebb_is_last_(scope_, bytes_.data, bytes_.capacity)) {
            ebb_grow(scope_, bytes_.data, bytes_.capacity, bytes_.length, 1);
            bytes_.capacity = bytes_.length;
        }
    }

    std::size_t size() const noexcept { return bytes_.length; }
    std::size_t max_size() const noexcept { return static_cast<std::size_t>(PTRDIFF_MAX); }
    std::size_t length() const noexcept { return bytes_.length; }
    std::size_t capacity() const noexcept { return bytes_.capacity; }
    bool empty() const noexcept { return bytes_.length == 0; }
    char *data() noexcept { return bytes_.data; }
    const char *data() const noexcept { return bytes_.data; }
    char *begin() noexcept { return bytes_.data; }
    char *end() noexcept { return bytes_.data + bytes_.length; }
    const char *begin() const noexcept { return bytes_.data; }
    const char *end() const noexcept { return bytes_.data + bytes_.length; }
    const char *cbegin() const noexcept { return begin(); }
    const char *cend() const noexcept { return end(); }
    reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
    reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
    const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
    const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
    const_reverse_iterator crbegin() const noexcept { return rbegin(); }
    const_reverse_iterator crend() const noexcept { return rend(); }
    char &operator[](std::size_t index) noexcept { return bytes_.data[index]; }
    const char &operator[](std::size_t index) const noexcept { return bytes_.data[index]; }
    char &front() noexcept { return bytes_.data[0]; }
    char &back() noexcept { return bytes_.data[bytes_.length - 1]; }
    const char &front() const noexcept { return bytes_.data[0]; }
    const char &back() const noexcept { return bytes_.data[bytes_.length - 1]; }
    char &at(std::size_t index) { return bytes_.data[tested_index(index)]; }
    const char &at(std::size_t index) const { return bytes_.data[tested_index(index)]; }

    std::size_t find(std::string_view what, std::size_t from = 0) const noexcept {
        return view().find(what, from);
    }
    std::size_t find(char what, std::size_t from = 0) const noexcept {
        return view().find(what, from);
    }
    std::size_t rfind(std::string_view what, std::size_t from = npos) const noexcept {
        return view().rfind(what, from);
    }
    std::size_t rfind(char what, std::size_t from = npos) const noexcept {
        return view().rfind(what, from);
    }
    std::size_t find_first_of(std::string_view what, std::size_t from = 0) const noexcept {
        return view().find_first_of(what, from);
    }
    std::size_t find_first_of(char what, std::size_t from = 0) const noexcept {
        return view().find_first_of(what, from);
    }
    std::size_t find_last_of(std::string_view what, std::size_t from = npos) const noexcept {
        return view().find_last_of(what, from);
    }
    std::size_t find_last_of(char what, std::size_t from = npos) const noexcept {
        return view().find_last_of(what, from);
    }
    std::size_t find_first_not_of(std::string_view what, std::size_t from = 0) const noexcept {
        return view().find_first_not_of(what, from);
    }
    std::size_t find_first_not_of(char what, std::size_t from = 0) const noexcept {
        return view().find_first_not_of(what, from);
    }
    std::size_t find_last_not_of(std::string_view what, std::size_t from = npos) const noexcept {
        return view().find_last_not_of(what, from);
    }
    std::size_t find_last_not_of(char what, std::size_t from = npos) const noexcept {
        return view().find_last_not_of(what, from);
    }
    bool starts_with(std::string_view text) const noexcept {
        return view().substr(0, text.size()) == text;
    }
    bool starts_with(char byte) const noexcept { return starts_with({&byte, 1}); }
    bool ends_with(std::string_view text) const noexcept {
        return bytes_.length >= text.size() &&
               view().substr(bytes_.length - text.size()) == text;
    }
    bool ends_with(char byte) const noexcept { return ends_with({&byte, 1}); }
    bool contains(std::string_view text) const noexcept { return find(text) != npos; }
    bool contains(char byte) const noexcept { return find(byte) != npos; }
    int compare(std::string_view other) const noexcept { return view().compare(other); }

    /// A part of the text, until the string is changed or destroyed. Throws std::out_of_range if
    /// `position` is beyond the end.
    std::string_view substr(std::size_t position = 0, std::size_t count = npos) const {
        return view().substr(tested(position), count);
    }
    /// Copies at most `count` bytes from `position` on, and returns their number. Throws
    /// std::out_of_range if `position` is beyond the end.
    std::size_t copy(char *to, std::size_t count, std::size_t position = 0) const {
        return view().copy(to, count, tested(position));
    }

    /// The text, until the string is changed or destroyed.
    std::string_view view() const noexcept { return {bytes_.data, bytes_.length}; }
    operator std::string_view() const noexcept { return view(); }

    /// Appends a 0 to the text. Throws if there is no memory for it.
    const char *c_str() {
        room(1);
        bytes_.data[bytes_.length] = 0;
        return bytes_.data;
    }

    /// The text, which stays in the scope, with a terminating 0. The string is then empty.
    std::string_view into_view() {
        const char *text = detail::checked(ebb_bytes_text(scope_, &bytes_));
        const std::size_t length = bytes_.length;
        bytes_ = ebb_bytes{};
        return {text, length};
    }

/* Compares with another string, and with any text on either side. */
#define EBB_COMPARED_BY_(compare)                                                                  \
    friend bool operator compare(const string &a, const string &b) noexcept {                      \
        return a.view() compare b.view();                                                          \
    }                                                                                              \
    friend bool operator compare(const string &a, std::string_view b) noexcept {                   \
        return a.view() compare b;                                                                 \
    }                                                                                              \
    friend bool operator compare(std::string_view a, const string &b) noexcept {                   \
        return a compare b.view();                                                                 \
    }
    EBB_COMPARED_BY_(==)
    EBB_COMPARED_BY_(!=)
    EBB_COMPARED_BY_(<)
    EBB_COMPARED_BY_(>)
    EBB_COMPARED_BY_(<=)
    EBB_COMPARED_BY_(>=)
#undef EBB_COMPARED_BY_
#ifdef __cpp_lib_three_way_comparison
    friend auto operator<=>(const string &a, const string &b) noexcept {
        return a.view() <=> b.view();
    }
#endif

    template <typename Traits>
    friend std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out,
                                                        const string &text) {
        return out << text.view();
    }

private:
    std::size_t tested(std::size_t position) const {
        if (position > bytes_.length)
            detail::throw_out_of_range("ebbtide::string");
        return position;
    }

    std::size_t tested_index(std::size_t index) const {
        if (index >= bytes_.length)
            detail::throw_out_of_range("ebbtide::string::at");
        return index;
    }

    std::size_t index_of(const char *position) const noexcept {
        return static_cast<std::size_t>(position - bytes_.data);
    }

    void free() noexcept {
        if (bytes_.data != nullptr)
            ebb_free_last(scope_, bytes_.data, bytes_.capacity);
    }

    void room(std::size_t additional) {
        if (!EBB_LIKELY_(ebb_bytes_reserve(scope_, &bytes_, additional)))
            detail::throw_last();
    }

    ebb_scope *scope_;
    ebb_bytes bytes_ = {};
};

/// Arenas for many threads, which may all share a pool. The pool lends an arena to one thread at a
/// time. A returned arena keeps its chunks.
class pool {
public:
    explicit pool(const options &options = {}) : options_(options), mutex_(), idle_() {}

    /// A borrowed arena. Destroying it returns the arena, which must have no open scope.
    class loan {
    public:
        loan(loan &&other) noexcept
            : pool_(std::exchange(other.pool_, nullptr)), arena_(std::move(other.arena_)) {}
        loan(const loan &) = delete;
        loan &operator=(const loan &) = delete;
        ~loan() {
            if (pool_ == nullptr)
                return;
            EBB_CHECK_OF_(arena_.c_arena(), arena_.c_arena()->open_ != 1,
                          "an arena goes back to its pool while its scope is open");
            pool_->take_back(std::move(arena_));
        }
        arena &operator*() noexcept { return arena_; }
        arena *operator->() noexcept { return &arena_; }

    private:
        friend class pool;
        loan(pool *pool, arena &&arena) noexcept : pool_(pool), arena_(std::move(arena)) {}
        pool *pool_;
        arena arena_;
    };

    /// Lends an idle arena, or a new one.
    loan get() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (!idle_.empty()) {
                arena arena = std::move(idle_.back());
                idle_.pop_back();
                return loan(this, std::move(arena));
            }
        }
        return loan(this, arena(options_));
    }

    /// Frees the idle arenas.
    void clear() {
        std::vector<arena> idle;
        const std::lock_guard<std::mutex> lock(mutex_);
        idle_.swap(idle);
    }

private:
    void take_back(arena &&arena) noexcept {
        EBB_TRY_ {
            const std::lock_guard<std::mutex> lock(mutex_);
            idle_.push_back(std::move(arena));
        } EBB_CATCH_ {
            // No memory for the list: the arena is freed instead.
        }
    }

    options options_;
    std::mutex mutex_;
    std::vector<arena> idle_;
};

} // namespace ebbtide

/// Equal to the hash of the text.
template <> struct std::hash<ebbtide::string> {
    std::size_t operator()(const ebbtide::string &text) const noexcept {
        return std::hash<std::string_view>()(text.view());
    }
};

#undef EBB_THROW_
#undef EBB_TRY_
#undef EBB_CATCH_
#undef EBB_RETHROW_

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif // C++17

#endif
