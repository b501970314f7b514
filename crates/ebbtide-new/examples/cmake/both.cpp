// Both kinds of arenas in one program: a scope of `ebbtide.hpp`, and containers that are unaware of
// arenas.
#include <ebbtide.hpp>
#include <ebbtide_new.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

int main() {
    ebbtide::arena arena;
    int sum = ebbtide::in_arena([&] {
        ebbtide::scope scope = arena.open();
        int *last = scope.make<int>(7);
        std::vector<int> numbers(1000, 1);
        return std::accumulate(numbers.begin(), numbers.end(), 0) + *last;
    });
    std::printf("%d, %d scopes\n", sum, static_cast<int>(ebbtide::report().scopes));
}
