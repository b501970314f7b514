// Containers over memory resources. Each function runs a row `turns` times and returns a checksum,
// which is the same for all contestants. A resource stays warm: it keeps its memory between turns.
#include "ebbtide.hpp"

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace {

constexpr std::size_t elements = 1000;
constexpr std::size_t enough = 1 << 20;

// Hides the target of a pointer from the compiler.
template <typename T> T *hidden(T *pointer) {
    asm volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

// The contestants: each is created once, and `end` ends a turn.
template <typename Resource> struct growing {
    Resource resource;
    void end() { resource.release(); }
};
// The buffer has room for a whole turn.
template <typename Resource> struct buffered {
    std::unique_ptr<char[]> buffer = std::make_unique<char[]>(enough);
    Resource resource{buffer.get(), enough};
    void end() { resource.release(); }
};
using ours = ebbtide::memory_resource;
using theirs = std::pmr::monotonic_buffer_resource;
struct heap {
    std::pmr::memory_resource &resource = *std::pmr::new_delete_resource();
    void end() {}
};

// A lower bound for a virtual call: always returns the same block.
struct nothing {
    struct same_block final : std::pmr::memory_resource {
        alignas(16) char block[128];
        void *do_allocate(std::size_t, std::size_t) override { return block; }
        void do_deallocate(void *, std::size_t, std::size_t) override {}
        bool do_is_equal(const std::pmr::memory_resource &) const noexcept override { return false; }
    } resource;
    void end() {}
};

template <typename Contestant, typename Turn> std::uint64_t run(std::size_t turns, Turn turn) {
    static Contestant contestant;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < turns; ++i) {
        sum += turn(*hidden(&contestant.resource));
        contestant.end();
    }
    return sum;
}

template <typename Resource>
std::uint64_t blocks(Resource &resource, std::size_t size, std::size_t step) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < elements; ++i) {
        const std::size_t bytes = size + (i & 7) * step;
        char *block = static_cast<char *>(resource.allocate(bytes, 8));
        *hidden(block) = static_cast<char>(i);
        sum += bytes;
    }
    return sum;
}
std::uint64_t of_8(std::pmr::memory_resource &resource) { return blocks(resource, 8, 0); }
std::uint64_t of_40(std::pmr::memory_resource &resource) { return blocks(resource, 40, 0); }
std::uint64_t mixed(std::pmr::memory_resource &resource) { return blocks(resource, 3, 11); }

std::uint64_t vector(std::pmr::memory_resource &resource) {
    std::pmr::vector<std::uint64_t> values(&resource);
    for (std::size_t i = 0; i < elements; ++i)
        values.push_back(i);
    return *hidden(values.data() + elements - 1);
}
std::uint64_t vector_of_strings(std::pmr::memory_resource &resource) {
    std::pmr::vector<std::pmr::string> values(&resource);
    for (std::size_t i = 0; i < elements / 4; ++i)
        values.emplace_back("a text that no string keeps in itself").push_back('!');
    return hidden(values.data())->size();
}
std::uint64_t string(std::pmr::memory_resource &resource) {
    std::pmr::string text(&resource);
    for (std::size_t i = 0; i < elements; ++i)
        text += "ebb and flow";
    return hidden(&text)->size();
}
std::uint64_t list(std::pmr::memory_resource &resource) {
    std::pmr::list<std::uint64_t> values(&resource);
    for (std::size_t i = 0; i < elements; ++i)
        values.push_back(i);
    return hidden(&values)->back();
}
std::uint64_t deque(std::pmr::memory_resource &resource) {
    std::pmr::deque<std::uint64_t> values(&resource);
    for (std::size_t i = 0; i < elements; ++i)
        values.push_back(i);
    return hidden(&values)->back();
}

// Keys in scattered order, as inserting them in ascending order would be a special case.
std::uint64_t key(std::size_t i) { return i * 0x9E3779B97F4A7C15u >> 40; }

template <typename Set> std::uint64_t fill_set(std::pmr::memory_resource &resource) {
    Set values(&resource);
    for (std::size_t i = 0; i < elements; ++i)
        values.insert(key(i));
    return hidden(&values)->size();
}
template <typename Map> std::uint64_t fill_map(std::pmr::memory_resource &resource) {
    Map values(&resource);
    for (std::size_t i = 0; i < elements; ++i)
        values[key(i)] = i;
    return hidden(&values)->size();
}

using turn = std::uint64_t (*)(std::pmr::memory_resource &);
struct row {
    const char *name;
    turn run_turn;
};
constexpr row rows[] = {
    {"allocate 8 bytes", of_8},
    {"allocate 40 bytes", of_40},
    {"allocate 3 to 80 bytes", mixed},
    {"vector", vector},
    {"vector of strings", vector_of_strings},
    {"string", string},
    {"list", list},
    {"deque", deque},
    {"map", fill_map<std::pmr::map<std::uint64_t, std::uint64_t>>},
    {"set", fill_set<std::pmr::set<std::uint64_t>>},
    {"unordered_map", fill_map<std::pmr::unordered_map<std::uint64_t, std::uint64_t>>},
    {"unordered_set", fill_set<std::pmr::unordered_set<std::uint64_t>>},
};

std::uint64_t push_ours(std::size_t turns, std::size_t count) {
    static ebbtide::arena arena;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < turns; ++i) {
        ebbtide::scope scope = arena.open();
        ebbtide::vector<std::uint64_t> values(scope);
        for (std::size_t j = 0; j < count; ++j)
            values.push_back(j);
        sum += *hidden(values.data() + count - 1);
    }
    return sum;
}

// Runs a row with one contestant, numbered as in main.rs.
template <typename Turn>
std::uint64_t run_contestant(int contestant, std::size_t turns, Turn turn) {
    switch (contestant) {
    case 0: return run<growing<ours>>(turns, turn);
    case 1: return run<growing<theirs>>(turns, turn);
    case 2: return run<buffered<ours>>(turns, turn);
    case 3: return run<buffered<theirs>>(turns, turn);
    case 4: return run<heap>(turns, turn);
    default: return run<nothing>(turns, turn);
    }
}

} // namespace

extern "C" {

// The name of a row; null after the last one.
const char *row_name(std::size_t index) {
    return index < sizeof rows / sizeof *rows ? rows[index].name : nullptr;
}

std::uint64_t run_row(std::size_t index, int contestant, std::size_t turns) {
    return run_contestant(contestant, turns, rows[index].run_turn);
}

// Allocates 8 bytes through the resource's own type: no virtual call if that is final.
std::uint64_t run_by_type(int contestant, std::size_t turns) {
    return run_contestant(contestant, turns, [](auto &resource) { return blocks(resource, 8, 0); });
}

// Pushes `count` numbers to a vector of ours, or to one of std::pmr over the same contestants.
std::uint64_t run_push(bool is_ours, int contestant, std::size_t turns, std::size_t count) {
    if (is_ours)
        return push_ours(turns, count);
    return run_contestant(contestant, turns, [count](std::pmr::memory_resource &resource) {
        std::pmr::vector<std::uint64_t> values(&resource);
        for (std::size_t i = 0; i < count; ++i)
            values.push_back(i);
        return *hidden(values.data() + count - 1);
    });
}
}
