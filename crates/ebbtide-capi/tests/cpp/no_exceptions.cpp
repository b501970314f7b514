// Claim: without exceptions and without run-time type information, everything works, and what would
// throw ends the program by EBB_FAIL. Without an argument it prints the number of cases that do.
#ifdef OWN
#include <cstdlib>
// Ends the program as a program's own function may.
#define EBB_FAIL(text) std::_Exit(text[0] == 0 ? 1 : 7)
#endif
#include "ebbtide.hpp"

#include <cstdint>
#include <memory_resource>
#include <string>
#include <unordered_map>
#include <vector>

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                        \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

namespace {

constexpr std::size_t too_much = SIZE_MAX / 4;

struct node {
    int value;
    node *next;
};

// Copies, but does not move: a vector of these takes the way that exceptions would need.
struct counted {
    int value = 0;
    counted() = default;
    explicit counted(int value) : value(value) {}
    counted(const counted &other) : value(other.value) {}
    counted &operator=(const counted &) = default;
    ~counted() {}
};

void everything_works() {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    EXPECT(scope.make<node>(node{1, nullptr})->value == 1);
    EXPECT(scope.make_array<int>(3)[2] == 0);
    EXPECT(scope.copy("text") == "text" && scope.format("%d", 7) == "7");
    {
        ebbtide::vector<counted> values(scope);
        for (int i = 0; i < 1000; i++)
            values.emplace_back(i);
        values.insert(values.begin(), values[999]);
        EXPECT(values.front().value == 999 && values.back().value == 999);
        const int more[] = {1, 2, 3};
        ebbtide::vector<int> numbers(scope, more, more + 3);
        EXPECT(numbers.at(2) == 3);
        ebbtide::string text(scope, "a");
        text.insert(0, "b").append_format("%d", 1);
        EXPECT(text == "ba1");
    }
    {
        ebbtide::scope child = scope.child();
        std::vector<int, ebbtide::allocator<int>> numbers(100, 7, child);
        EXPECT(numbers[99] == 7);
    }
    ebbtide::memory_resource resource;
    std::pmr::unordered_map<std::pmr::string, int> map(&resource);
    for (int i = 0; i < 1000; i++)
        map.emplace(std::to_string(i), i);
    EXPECT(map["999"] == 999);
    ebbtide::pool_resource nodes(scope);
    std::pmr::unordered_map<int, int> table(&nodes);
    for (int i = 0; i < 1000; i++)
        table.emplace(i, i);
    EXPECT(table[999] == 999);
    ebbtide::arena over(ebbtide::options{0, 0, &resource});
    EXPECT(over.open().make<int>(3) != nullptr);
    ebbtide::pool pool;
    auto loan = pool.get();
    EXPECT(*loan->open().make<int>(5) == 5);
}

// What there is no memory for.
void failures_without_an_end() {
    alignas(16) char buffer[256];
    ebbtide::fixed_arena arena(buffer, sizeof buffer);
    ebbtide::scope scope = arena.open();
    EXPECT(!arena.try_open().is_open());
    EXPECT(scope.try_allocate(too_much) == nullptr);
    EXPECT(scope.try_make<node>(node{1, nullptr})->value == 1);
    EXPECT((scope.try_make<std::pair<char[512], int>>() == nullptr));
    EXPECT(scope.try_make_array<int>(4).size() == 4);
    EXPECT(scope.try_make_array<int>(too_much).data() == nullptr);
    ebbtide::vector<int> numbers(scope);
    while (numbers.try_push_back(static_cast<int>(numbers.size()))) {
    }
    EXPECT(numbers.size() > 20 && numbers.back() == static_cast<int>(numbers.size()) - 1);
    EXPECT(ebb_last_status() == EBB_NO_MEMORY);
    EXPECT(numbers.try_reserve(numbers.size()));
    EXPECT(!numbers.try_reserve(1000) && !numbers.try_reserve(too_much));
    numbers = ebbtide::vector<int>(scope);
    EXPECT(numbers.try_reserve(8) && numbers.capacity() >= 8);
    ebbtide::string text(scope);
    while (text.try_append("1234")) {
    }
    EXPECT(text.size() > 100 && text.view().substr(text.size() - 5) == "41234");
    EXPECT(text.try_append("") && text.size() % 4 == 0);
}

void end(int number) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::vector<int> numbers(scope, {1, 2, 3});
    ebbtide::memory_resource resource;
    switch (number) {
    case 0: scope.allocate(too_much); break;
    case 1: (void)arena.open(); break;
    case 2: numbers.at(3) = 0; break;
    case 3: numbers.reserve(too_much); break;
    case 4: ebbtide::string(scope, "a").insert(2, "b"); break;
    case 5: (void)resource.allocate(too_much); break;
    case 6: ebbtide::allocator<int>(scope).allocate(SIZE_MAX); break;
    case 7: (void)scope.make_array<int>(too_much); break;
    case 8: scope.close(); scope.close(); break;
    case 9: (void)ebbtide::pool_resource(scope).allocate(too_much, 64); break;
    default: break;
    }
}

} // namespace

int main(int count, char **arguments) {
    if (count == 2) {
        end(std::atoi(arguments[1]));
        return 0;
    }
    everything_works();
    failures_without_an_end();
    std::printf("10\n");
}
