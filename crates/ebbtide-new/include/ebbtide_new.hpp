// ebbtide_new.hpp: transparent arenas for C++17.
//
// Including this file and linking to `ebbtide_new` replaces a program's operators `new` and
// `delete`. Outside of scopes they call `malloc` and `free`. Inside a scope they take memory from
// an arena, for all code: containers, strings, other libraries.
//
//     std::size_t count = ebbtide::in_arena([&] {
//         nlohmann::json document = nlohmann::json::parse(text);
//         return document.size();
//     });
//
// When the scope ends, chunks without live objects can be reused immediately. An object that is
// still alive (in the result, in a global, in another thread) stays valid and does not move. Any
// thread may delete it, inside a scope or outside. So any code may run in a scope, also code that
// calls free, realloc or malloc_usable_size for what it allocated by `new`; ebbtide_new.h says where
// that does not hold.
//
// Any thread may call any function. docs/CPP-TRANSPARENT.md explains how memory is bounded, and
// when a scope pays off.
#ifndef EBBTIDE_NEW_HPP
#define EBBTIDE_NEW_HPP

// With an older standard, one error.
#if __cplusplus < 201703L
#error "ebbtide_new.hpp requires C++17 or later"
#else

#include "ebbtide_new.h"

#include <cstddef>
#include <string>
#include <utility>

extern "C" {
ebb_ticket ebb_enter_operators_(void) noexcept;
ebb_ticket ebb_enter_operators_with_(const ebb_scope_options *options) noexcept;
}

namespace ebbtide {

/// Which requests a scope serves; see `ebb_scope_options` for its members.
using scope_options = ebb_scope_options;

/// Statistics of all scopes; see `ebb_figures` for its members.
using figures = ebb_figures;

/// A scope from here to the end of the block. An exception that leaves the block ends it as well.
/// If the scope fits a function call, `in_arena` is shorter.
class [[nodiscard]] arena_guard {
public:
    arena_guard() noexcept : ticket_(ebb_enter_operators_()) {}
    explicit arena_guard(const scope_options &options) noexcept
        : ticket_(ebb_enter_operators_with_(&options)) {}
    ~arena_guard() { ebb_leave(ticket_); }
    arena_guard(const arena_guard &) = delete;
    arena_guard &operator=(const arena_guard &) = delete;

    /// Whether a scope was opened. If not, requests are served as before.
    explicit operator bool() const noexcept { return ticket_ != 0; }

private:
    ebb_ticket ticket_;
};

/// From here to the end of the block, `malloc` serves this thread.
class [[nodiscard]] outside_guard {
public:
    outside_guard() noexcept : ticket_(ebb_enter_outside()) {}
    ~outside_guard() { ebb_leave(ticket_); }
    outside_guard(const outside_guard &) = delete;
    outside_guard &operator=(const outside_guard &) = delete;

private:
    ebb_ticket ticket_;
};

/// Calls `f` in a scope, and returns what it returns. Exceptions pass through. Scopes nest. If no
/// scope can be opened, `f` is still called.
template <typename F> decltype(auto) in_arena(F &&f) {
    arena_guard guard;
    return std::forward<F>(f)();
}

/// Like `in_arena`, with options.
template <typename F> decltype(auto) in_arena(const scope_options &options, F &&f) {
    arena_guard guard(options);
    return std::forward<F>(f)();
}

/// Like `in_arena`, with a name under which the report lists scopes that keep too much.
template <std::size_t N, typename F> decltype(auto) in_arena(const char (&label)[N], F &&f) {
    scope_options options{};
    options.label = label;
    return in_arena(options, std::forward<F>(f));
}

/// Calls `f` with `malloc` instead of the arena, and returns what it returns: for a cache or a
/// long-lived result.
template <typename F> decltype(auto) outside(F &&f) {
    outside_guard guard;
    return std::forward<F>(f)();
}

/// Statistics of all scopes of the program.
inline figures report() noexcept {
    figures result;
    ebb_report(&result);
    return result;
}

/// The statistics as text.
inline std::string report_text() {
    std::string text(ebb_report_text(nullptr, 0) + 256, '\0');
    std::size_t length = ebb_report_text(text.data(), text.size());
    text.resize(length < text.size() ? length : text.size() - 1);
    return text;
}

} // namespace ebbtide

#endif // C++17

#endif
