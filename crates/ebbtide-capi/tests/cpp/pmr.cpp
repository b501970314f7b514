// Claim: the resources belong to the polymorphic allocators of std, of Boost (-DBOOST), or to
// `ebbtide::pmr` with a standard library that has none.
#ifdef BOOST
#include <boost/container/pmr/global_resource.hpp>
#include <boost/container/pmr/vector.hpp>
#define EBB_PMR boost::container::pmr
#endif
#include "ebbtide.hpp"

#include <map>

namespace pmr = ebbtide::pmr;

#ifdef BOOST
template <typename T> using vector = pmr::vector<T>;
#else
template <typename T> using vector = std::vector<T, pmr::polymorphic_allocator<T>>;
#endif

template <typename Key, typename Value>
using map = std::map<Key, Value, std::less<Key>,
                     pmr::polymorphic_allocator<std::pair<const Key, Value>>>;

int main() {
    ebbtide::memory_resource resource;
    ebbtide::arena arena(ebbtide::options{0, 0, pmr::new_delete_resource()});
    ebbtide::scope scope = arena.open();
    ebbtide::pool_resource pool(scope);
    vector<int> numbers(&resource);
    map<int, vector<int>> groups(&pool);
    for (int i = 0; i < 10000; i++) {
        numbers.push_back(i);
        groups.emplace(i % 100, vector<int>(&pool)).first->second.push_back(numbers.back());
        if (i % 7 == 0) groups.erase(i % 50);
    }
    long sum = 0;
    for (const auto &group : groups)
        for (int number : group.second) sum += number;
    std::printf("%zu groups, %ld\n", groups.size(), sum);
    const bool differ = !pool.is_equal(resource) && pool.is_equal(pool);
    return differ && scope.stats().held > 0 ? 0 : 1;
}
