// Claim: each CASE is refused by the compiler, and case 0 is not.
#include "ebbtide.hpp"

#include <string>

#if CASE == 0
struct several {
    int values[3];
    explicit several(int value = 0) : values{value, value, value} {}
    friend bool operator==(const several &a, const several &b) {
        return a.values[0] == b.values[0];
    }
    friend bool operator<(const several &a, const several &b) { return a.values[0] < b.values[0]; }
};
template class ebbtide::span<int>;
template class ebbtide::vector<int>;
template class ebbtide::vector<several>;
template class ebbtide::allocator<several>;
#endif

void use(ebbtide::arena &arena, ebbtide::scope &scope) {
    int *fine = scope.make<int>(1);
#if CASE == 0
    ebbtide::scope child = scope.child();
    ebbtide::arena moved = std::move(arena);
    (void)fine;
#elif CASE == 1 // a scope is not copied
    ebbtide::scope copy = scope;
#elif CASE == 2 // nor assigned
    scope = arena.open();
#elif CASE == 3 // nothing would call the destructor
    scope.make<std::string>("text");
#elif CASE == 4 // nor those of elements
    scope.make_array<std::string>(3);
#elif CASE == 5 // the elements would be garbage
    struct made { int value; made() : value(1) {} };
    scope.make_array_for_overwrite<made>(3);
#elif CASE == 6 // nothing would call the destructors
    ebbtide::vector<std::string> texts(scope);
    texts.into_span();
#elif CASE == 7 // an arena is not copied
    ebbtide::arena copy = arena;
#elif CASE == 8 // an arena over a buffer stays where it is
    char buffer[64];
    ebbtide::fixed_arena fixed(buffer, 64);
    ebbtide::fixed_arena moved = std::move(fixed);
#elif CASE == 9 // a resource is final
    struct derived : ebbtide::memory_resource {};
    derived resource;
#elif CASE == 10 // and is neither copied nor moved
    ebbtide::memory_resource resource;
    ebbtide::memory_resource moved = std::move(resource);
#elif CASE == 11 // a vector is not copied: elements would be moved to who knows what scope
    ebbtide::vector<int> numbers(scope);
    ebbtide::vector<int> copy = numbers;
#elif CASE == 12 // a scope is opened from an arena that lives on
    ebbtide::vector<int> numbers(arena.open());
#else
#error "no such case"
#endif
}
