// Counts the elements of a tree whose nodes have vectors, in a container of the standard library, with
// an arena from a pool.
#include <ebbtide.hpp>
#include <iostream>
#include <map>

// All memory of an element lies in the scope, so nothing has to call its destructor.
struct element {
    element(std::string_view name, ebbtide::scope &scope) : name(name), children(scope) {}
    std::string_view name;
    ebbtide::vector<element *> children;
};

template <typename Key, typename Value>
using map = std::map<Key, Value, std::less<Key>, ebbtide::allocator<std::pair<const Key, Value>>>;

void count(const element &tree, map<std::string_view, int> &counts) {
    counts[tree.name]++;
    for (const element *child : tree.children)
        count(*child, counts);
}

ebbtide::pool pool; // for all threads

int main() {
    auto arena = pool.get(); // goes back to the pool at the end of the block
    ebbtide::scope scope = arena->open();
    element *list = scope.make_leaked<element>("ul", scope);
    for (int i = 0; i < 3; i++)
        list->children.push_back(scope.make_leaked<element>("li", scope));
    map<std::string_view, int> counts(scope);
    count(*list, counts);
    for (const auto &[name, number] : counts)
        std::cout << number << ' ' << name << '\n';
}
