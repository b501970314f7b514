// Claim: arenas, scopes, containers and resources in C++ keep their promises, and reject at run
// time what they cannot reject at compile time.
#include "ebbtide.hpp"

#include <gtest/gtest.h>

#include <array>
#include <list>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#if EBB_ASAN_
#include <sanitizer/asan_interface.h>
#endif
#if __has_include(<span>)
#include <span>
#endif

namespace {

// What guards take after the only block of a buffer.
constexpr std::size_t redzone = EBB_GUARDS_ ? EBB_REDZONE : 0;

struct node {
    int value;
    node *next;
    node(int v, node *n) : value(v), next(n) {}
};

// Counts itself, and throws from its copy number `throw_at`.
struct counted {
    static inline int alive = 0, copies = 0, throw_at = -1;
    int value;
    explicit counted(int v) : value(v) { ++alive; }
    counted(const counted &other) : value(other.value) {
        if (copies++ == throw_at)
            throw std::runtime_error("copy");
        ++alive;
    }
    ~counted() { --alive; }
};

// An upstream that counts the bytes in use, and refuses requests above a limit.
struct upstream final : std::pmr::memory_resource {
    std::size_t bytes = 0, calls = 0, most = std::numeric_limits<std::size_t>::max();
    void *do_allocate(std::size_t size, std::size_t align) override {
        if (size > most)
            throw std::bad_alloc();
        bytes += size;
        ++calls;
        return ::operator new(size, std::align_val_t(align));
    }
    void do_deallocate(void *block, std::size_t size, std::size_t align) override {
        bytes -= size;
        ::operator delete(block, std::align_val_t(align));
    }
    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override {
        return this == &other;
    }
};

TEST(Scope, EndsWhatWasAllocatedInIt) {
    ebbtide::arena arena;
    for (int turn = 0; turn < 3; ++turn) {
        ebbtide::scope scope = arena.open();
        node *list = nullptr;
        for (int i = 0; i < 10; ++i)
            list = scope.make<node>(i, list);
        const std::size_t used = scope.stats().used;
        {
            ebbtide::scope child = scope.child();
            child.make_array<double>(10000);
        }
        EXPECT_EQ(scope.stats().used, used);
        EXPECT_EQ(list->value, 9);
    }
}

TEST(Scope, MakesStructsWithoutConstructors) {
    struct point { int x, y; };
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    EXPECT_EQ(scope.make<point>(3, 4)->y, 4);
    EXPECT_EQ(scope.make<point>()->x, 0);
    EXPECT_EQ(scope.make<point>(point{5, 6})->x, 5);
    EXPECT_EQ(scope.try_make<point>(7, 8)->x, 7);
    EXPECT_EQ(scope.make_unique<point>(9, 10)->y, 10);
    // A constructor is called as in parentheses, even if the type cannot be destroyed.
    struct kept {
        int count;
        explicit kept(int number) : count(number) {}
        kept(std::initializer_list<int>) : count(-1) {}
        ~kept() = delete;
    };
    EXPECT_EQ(scope.make_leaked<kept>(3)->count, 3);
}

TEST(Scope, IsClosedAfterItWasMovedFrom) {
    ebbtide::arena arena;
    ebbtide::scope first = arena.open();
    int *value = first.make<int>(7);
    ebbtide::scope second = std::move(first);
    EXPECT_FALSE(first.is_open());
    EXPECT_THROW(first.make<int>(1), std::logic_error);
    EXPECT_EQ(first.try_allocate(8), nullptr);
    EXPECT_EQ(*value, 7);
    EXPECT_NE(second.make<int>(8), value);
    second.close();
    EXPECT_THROW(second.close(), std::logic_error);
    EXPECT_NO_THROW(arena.open());
}

TEST(Scope, ThrowsALogicErrorWhenClosedTwice) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    EXPECT_THROW(scope.allocate(SIZE_MAX), std::bad_alloc); // is not what the second close is about
    scope.close();
    EXPECT_THROW(scope.close(), std::logic_error);
}

TEST(Scope, IsTheOnlyOneOfItsArena) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    EXPECT_THROW(arena.open(), std::logic_error);
    EXPECT_THROW(arena.trim(), std::logic_error);
    EXPECT_THROW(arena.shrink(), std::logic_error);
    EXPECT_THROW(arena.merge(), std::logic_error);
    EXPECT_NO_THROW(arena.set_limit(0));
    EXPECT_EQ(arena.stats().used, 0u);
}

TEST(Scope, SurvivesAMoveOfItsArena) {
    ebbtide::arena first;
    ebbtide::scope scope = first.open();
    std::string_view text = scope.copy("kept");
    ebbtide::arena second = std::move(first);
    for (int i = 0; i < 10000; ++i)
        scope.make<double>(i);
    EXPECT_EQ(text, "kept");
    scope.close();
    second.trim();
}

TEST(Scope, IsUnwoundByAnException) {
    ebbtide::arena arena;
    EXPECT_THROW(
        {
            ebbtide::scope scope = arena.open();
            ebbtide::scope child = scope.child();
            child.make_array<char>(PTRDIFF_MAX / 2);
        },
        std::bad_alloc);
    EXPECT_NO_THROW(arena.open());
}

TEST(Scope, RunsDestructorsOnRequest) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    {
        auto owned = scope.make_unique<counted>(1);
        EXPECT_EQ(counted::alive, 1);
    }
    EXPECT_EQ(counted::alive, 0);
    counted *leaked = scope.make_leaked<counted>(2);
    EXPECT_EQ(counted::alive, 1);
    leaked->~counted();
}

TEST(Scope, OwnsObjectsUntilItIsClosedOrRewound) {
    ebbtide::arena arena;
    {
        ebbtide::scope scope = arena.open();
        EXPECT_TRUE(scope.owns(scope.own<counted>(1)) && !scope.owns(&arena));
        // Their memory is in the scope, too, and freed before it.
        scope.own<ebbtide::vector<counted>>(scope)->emplace_back(2);
        scope.own<std::vector<int, ebbtide::allocator<int>>>(100, 7, ebbtide::allocator<int>(scope));
        EXPECT_EQ(counted::alive, 2);
        const ebb_position position = scope.mark();
        scope.own<counted>(3);
        EXPECT_EQ(counted::alive, 3);
        scope.rewind(position);
        EXPECT_EQ(counted::alive, 2);
        {
            ebbtide::scope child = scope.child();
            child.own<counted>(4);
            ebbtide::scope moved = std::move(child);
            EXPECT_EQ(moved.own<counted>(5)->value, 5);
            EXPECT_EQ(counted::alive, 4);
        }
        EXPECT_EQ(counted::alive, 2);
        EXPECT_EQ(*scope.own<int>(7), 7);
        EXPECT_EQ(scope.own<const counted>(8)->value, 8);
    }
    EXPECT_EQ(counted::alive, 0);
    // An object whose end cannot be noted down is not left behind.
    alignas(16) unsigned char buffer[sizeof(counted) + 8];
    ebbtide::fixed_arena small(buffer, sizeof buffer);
    ebbtide::scope scope = small.open();
    EXPECT_THROW(scope.own<counted>(6), std::bad_alloc);
    EXPECT_EQ(counted::alive, 0);
}

TEST(Scope, CopiesAndPrints) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    EXPECT_EQ(scope.format("%d %s", 12, "words"), "12 words");
    EXPECT_EQ(scope.format("a%cb", 0), std::string_view("a\0b", 3));
    EXPECT_EQ(scope.format("%100000d", 7).size(), 100000u);
    EXPECT_EQ(scope.copy(std::string_view()), "");
    const std::string text(100000, 'x');
    EXPECT_EQ(scope.copy(text), text);
    const int values[] = {1, 2, 3};
    ebbtide::span<int> copy = scope.copy(values, 3);
    EXPECT_EQ(std::accumulate(copy.begin(), copy.end(), 0), 6);
    EXPECT_EQ(copy.front() * 10 + copy.back(), 13);
    EXPECT_TRUE(copy.first(2).size() == 2 && copy.first(2).back() == 2);
    EXPECT_TRUE(copy.last(2).size() == 2 && copy.last(2).front() == 2);
    EXPECT_TRUE(copy.subspan(1).size() == 2 && copy.subspan(1, 1).back() == 2);
    EXPECT_TRUE(copy.subspan(3).empty() && ebbtide::span<int>().last(0).empty());
    EXPECT_TRUE(scope.make_array<int>(0).empty());
    for (int value : scope.make_array<int>(100))
        EXPECT_EQ(value, 0);
#if __cplusplus >= 202002L
    std::span<int> standard = copy;
    EXPECT_EQ(standard.size(), 3u);
    std::span<int> of_a_temporary = scope.make_array<int>(5);
    EXPECT_EQ(of_a_temporary.size(), 5u);
#endif
    const ebb_position position = scope.mark();
    const std::size_t used = scope.stats().used;
    scope.make_array<double>(5000);
    scope.rewind(position);
    EXPECT_EQ(scope.stats().used, used);
}

TEST(Scope, RefusesBadSizesAndAlignments) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    EXPECT_THROW(scope.allocate(SIZE_MAX), std::bad_alloc);
    EXPECT_THROW(scope.allocate(8, 3), std::logic_error);
    EXPECT_THROW(scope.make_array<double>(SIZE_MAX / 4), std::bad_alloc);
    EXPECT_NE(scope.allocate(0), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(scope.allocate(1, 4096)) % 4096, 0u);
}

TEST(Scope, OfAThreadNests) {
    ebbtide::scope outer = ebbtide::scope::of_thread();
    std::string_view kept = outer.copy("kept");
    for (int turn = 0; turn < 3; ++turn) {
        ebbtide::scope inner = ebbtide::scope::of_thread();
        inner.copy("gone");
        outer.copy("stays");
    }
    EXPECT_EQ(kept, "kept");
}

#if EBB_ASAN_
TEST(Scope, GuardsTheByteAfterEachBlock) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::memory_resource resource;
    for (std::size_t size = 1; size <= 64; ++size) {
        ebbtide::vector<char> letters(scope);
        letters.reserve(size);
        const std::string_view text = scope.format("%*d", static_cast<int>(size), 7);
        for (const auto &[block, taken] : {
                 std::pair<const void *, std::size_t>{scope.allocate(size, 1), size},
                 {resource.allocate(size, 1), size},
                 {letters.data(), letters.capacity()},
                 {text.data(), text.size() + 1},
             }) {
            const char *start = static_cast<const char *>(block);
            EXPECT_EQ(__asan_region_is_poisoned(const_cast<char *>(start), taken), nullptr);
            EXPECT_TRUE(__asan_address_is_poisoned(start + taken)) << taken;
        }
    }
}
#endif

TEST(Arena, OverABufferThrowsWhenItIsFull) {
    alignas(16) char buffer[256 + redzone];
    ebbtide::fixed_arena arena(buffer, sizeof buffer);
    ebbtide::scope scope = arena.open();
    EXPECT_NO_THROW(scope.allocate(256, 1));
    EXPECT_THROW(scope.allocate(1, 1), std::bad_alloc);
    EXPECT_THROW(ebbtide::fixed_arena(nullptr, 1), std::logic_error);
}

TEST(Arena, SpillsToItsUpstreamAndGivesAllBack) {
    upstream counted;
    {
        alignas(16) char buffer[256];
        ebbtide::spilling_arena arena(buffer, sizeof buffer, {0, 0, &counted});
        ebbtide::scope scope = arena.open();
        scope.allocate(200);
        EXPECT_EQ(counted.calls, 0u);
        scope.allocate(200);
        EXPECT_EQ(counted.calls, 1u);
        counted.most = 0;
        EXPECT_THROW(scope.allocate(1 << 20), std::bad_alloc);
    }
    EXPECT_EQ(counted.bytes, 0u);
}

TEST(Arena, KeepsItsLimit) {
    ebbtide::arena arena({1000, 10000, nullptr});
    EXPECT_EQ(arena.limit(), 10000u);
    ebbtide::scope scope = arena.open();
    EXPECT_THROW(scope.allocate(20000), std::bad_alloc);
    EXPECT_NO_THROW(scope.allocate(5000));
}

TEST(MemoryResource, ServesEveryKindOfContainer) {
    ebbtide::memory_resource resource;
    for (int turn = 0; turn < 3; ++turn) {
        {
            std::pmr::vector<std::pmr::string> texts(&resource);
            std::pmr::map<int, std::pmr::string> ordered(&resource);
            std::pmr::unordered_map<int, int> hashed(&resource);
            std::pmr::list<long double> list(&resource);
            for (int i = 0; i < 1000; ++i) {
                texts.emplace_back("a text that is longer than the small one of a string");
                ordered.emplace(i, texts.back());
                hashed[i] = i;
                list.push_back(i);
            }
            EXPECT_EQ(texts[999], ordered.at(999));
            EXPECT_EQ(hashed.at(500), 500);
        }
        resource.release();
    }
}

TEST(MemoryResource, KeepsItsChunksWhenReleased) {
    upstream counted;
    ebbtide::memory_resource resource(&counted);
    EXPECT_EQ(resource.upstream_resource(), &counted);
    EXPECT_EQ(counted.calls, 0u);
    std::size_t calls = 0;
    for (int turn = 0; turn < 5; ++turn) {
        for (int i = 0; i < 10000; ++i)
            EXPECT_NE(resource.allocate(100, 8), nullptr);
        resource.release();
        if (turn == 0)
            calls = counted.calls;
        EXPECT_EQ(counted.calls, calls);
    }
    resource.shrink();
    EXPECT_EQ(counted.bytes, 0u);
}

TEST(MemoryResource, ServesEveryByteOfABuffer) {
    if (redzone > 0)
        GTEST_SKIP() << "a block takes more";
    alignas(16) std::array<char, 160> buffer;
    for (std::size_t start = 0; start < 16; ++start)
        for (std::size_t size = 0; size + start <= buffer.size(); ++size) {
            char *first = buffer.data() + start;
            ebbtide::memory_resource resource(first, size, std::pmr::null_memory_resource());
            for (int turn = 0; turn < 3; ++turn) {
                std::size_t served = 0;
                for (; served <= size; ++served)
                    try {
                        char *byte = static_cast<char *>(resource.allocate(1, 1));
                        ASSERT_EQ(byte, first + served);
                        *byte = 1;
                    } catch (const std::bad_alloc &) {
                        break;
                    }
                ASSERT_EQ(served, size) << start;
                if (turn == 0)
                    resource.release();
                else
                    resource.shrink();
            }
        }
    buffer.fill(0); // It is the caller's again, also for the sanitizer.
}

TEST(MemoryResource, GoesOnBehindABufferOfAnySize) {
    alignas(16) std::array<char, 160> buffer;
    for (std::size_t size = 0; size <= buffer.size(); ++size) {
        upstream counted;
        {
            ebbtide::memory_resource resource(buffer.data(), size, &counted);
            for (int turn = 0; turn < 3; ++turn) {
                for (int block = 0; block < 100; ++block)
                    std::memset(resource.allocate(7, 1), block, 7);
                resource.release();
            }
            EXPECT_EQ(counted.calls, 1U);
        }
        EXPECT_EQ(counted.bytes, 0U);
    }
    buffer.fill(0);
}

TEST(MemoryResource, UsesItsBufferFirst) {
    upstream counted;
    alignas(16) std::array<char, 1024> buffer;
    ebbtide::memory_resource resource(buffer.data(), buffer.size(), &counted);
    void *first = resource.allocate(1000, 1);
    EXPECT_GE(first, buffer.data());
    EXPECT_LT(first, buffer.data() + buffer.size());
    EXPECT_EQ(counted.calls, 0u);
    EXPECT_NO_THROW((void)resource.allocate(1000, 1));
    EXPECT_EQ(counted.calls, 1u);
    counted.most = 0;
    EXPECT_THROW((void)resource.allocate(1 << 20, 1), std::bad_alloc);
}

TEST(MemoryResource, BeginsWithAChunkOfTheSizeAskedFor) {
    upstream counted;
    ebbtide::memory_resource resource(1 << 20, &counted);
    for (int i = 0; i < 1000; ++i)
        EXPECT_NE(resource.allocate(1000, 8), nullptr);
    EXPECT_EQ(counted.calls, 1u);
}

TEST(MemoryResource, ThrowsBadAllocAndEqualsItselfOnly) {
    ebbtide::memory_resource first, second(64), third(std::pmr::new_delete_resource());
    const volatile std::size_t huge = SIZE_MAX, half = PTRDIFF_MAX;
    EXPECT_THROW((void)first.allocate(huge, 8), std::bad_alloc);
    EXPECT_THROW((void)first.allocate(half, 8), std::bad_alloc);
    EXPECT_TRUE(first.is_equal(first));
    EXPECT_FALSE(first.is_equal(second));
    EXPECT_TRUE(first == first && first != third);
    ebbtide::memory_resource none(std::pmr::null_memory_resource());
    EXPECT_THROW((void)none.allocate(8, 8), std::bad_alloc);
    EXPECT_THROW((void)none.allocate(8, 8), std::bad_alloc);
}

TEST(MemoryResource, LetsExceptionsOfItsUpstreamPass) {
    struct refusal : std::bad_alloc {};
    struct refusing final : std::pmr::memory_resource {
        void *do_allocate(std::size_t, std::size_t) override { throw refusal(); }
        void do_deallocate(void *, std::size_t, std::size_t) override {}
        bool do_is_equal(const std::pmr::memory_resource &) const noexcept override { return false; }
    } upstream;
    alignas(16) char buffer[256];
    ebbtide::memory_resource chunks(&upstream), spilling(buffer, sizeof buffer, &upstream);
    const volatile std::size_t huge = SIZE_MAX - 1;
    for (int turn = 0; turn < 2; ++turn) {
        EXPECT_THROW((void)chunks.allocate(8, 8), refusal);
        EXPECT_THROW((void)chunks.allocate(huge, 8), refusal);
        EXPECT_NO_THROW((void)spilling.allocate(200, 8));
        EXPECT_THROW((void)spilling.allocate(200, 8), refusal);
        spilling.release();
    }
}

TEST(MemoryResource, GivesBlocksOfNoBytesAddressesOfTheirOwn) {
    ebbtide::memory_resource resource;
    void *first = resource.allocate(0, 1);
    void *second = resource.allocate(0, 1);
    EXPECT_NE(first, second);
    EXPECT_NE(resource.allocate(1, 1), second);
    resource.deallocate(second, 0, 1);
    resource.deallocate(first, 0, 1);
}

TEST(MemoryResource, BeginsAnewAfterItShrank) {
    upstream counted;
    ebbtide::memory_resource resource(100, &counted);
    std::size_t calls = 0;
    for (int turn = 0; turn < 4; ++turn) {
        counted.calls = 0;
        for (int i = 0; i < 100; ++i)
            (void)resource.allocate(16, 8);
        if (turn == 0)
            calls = counted.calls;
        EXPECT_GT(calls, 1u);
        EXPECT_EQ(counted.calls, calls);
        resource.shrink();
        EXPECT_EQ(counted.bytes, 0u);
    }
}

TEST(MemoryResource, TakesTheLastBlockBack) {
    ebbtide::memory_resource resource;
    void *first = resource.allocate(100, 8);
    resource.deallocate(first, 100, 8);
    EXPECT_EQ(resource.allocate(100, 8), first);
    void *second = resource.allocate(100, 8);
    resource.deallocate(first, 100, 8);
    EXPECT_NE(resource.allocate(100, 8), first);
    resource.deallocate(second, 100, 8);
}

// Elements come and go; the contents are those of containers without a resource.
TEST(PoolResource, ServesContainersWhoseElementsComeAndGo) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::pool_resource resource(scope);
    std::minstd_rand random;
    std::pmr::list<int> list(&resource);
    std::pmr::map<std::pmr::string, int> map(&resource);
    std::pmr::unordered_map<int, std::pmr::vector<int>> table(&resource);
    std::pmr::set<long> set(&resource);
    std::list<int> same_list;
    std::map<std::string, int> same_map;
    std::unordered_map<int, std::vector<int>> same_table;
    std::set<long> same_set;
    for (int i = 0; i < 20000; i++) {
        const int key = static_cast<int>(random() % 500);
        const std::string text(static_cast<std::size_t>(key) % 60, static_cast<char>('a' + key % 20));
        list.push_back(i);
        same_list.push_back(i);
        map[std::pmr::string(text)] = i;
        same_map[text] = i;
        table[key].push_back(i);
        same_table[key].push_back(i);
        set.insert(i);
        same_set.insert(i);
        if (i > 300) {
            list.pop_front();
            same_list.pop_front();
            map.erase(map.begin());
            same_map.erase(same_map.begin());
            set.erase(set.begin());
            same_set.erase(same_set.begin());
            table.erase(key / 2);
            same_table.erase(key / 2);
        }
    }
    EXPECT_TRUE(std::equal(list.begin(), list.end(), same_list.begin(), same_list.end()));
    EXPECT_TRUE(std::equal(set.begin(), set.end(), same_set.begin(), same_set.end()));
    ASSERT_EQ(map.size(), same_map.size());
    for (const auto &[text, value] : same_map)
        EXPECT_EQ(map.at(std::pmr::string(text)), value);
    ASSERT_EQ(table.size(), same_table.size());
    for (const auto &[key, values] : same_table)
        EXPECT_TRUE(std::equal(values.begin(), values.end(), table.at(key).begin()));
}

TEST(PoolResource, TakesBoundedMemory) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::pool_resource resource(scope);
    std::pmr::list<std::pmr::string> queue(&resource);
    std::size_t after_some = 0;
    for (std::size_t i = 0; i < 100000; i++) {
        queue.emplace_back(20 + i % 50, 'x');
        if (queue.size() > 100)
            queue.pop_front();
        if (i == 1000)
            after_some = scope.stats().used;
    }
    EXPECT_EQ(scope.stats().used, after_some);
}

TEST(PoolResource, ServesEveryAlignment) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::pool_resource resource(scope);
    std::size_t after_one = 0;
    for (int turn = 0; turn < 10; turn++) {
        std::vector<std::pair<char *, std::size_t>> blocks;
        for (std::size_t align = 1; align <= 4096; align *= 2)
            for (std::size_t size = 0; size < 200; size += 7) {
                char *block = static_cast<char *>(resource.allocate(size, align));
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % align, 0U);
                std::memset(block, static_cast<char>(size), size);
#if EBB_ASAN_
                EXPECT_TRUE(__asan_address_is_poisoned(block + size));
#endif
                blocks.emplace_back(block, align);
            }
        for (std::size_t i = 0; i < blocks.size(); i++) {
            const std::size_t size = i % 29 * 7;
            for (std::size_t byte = 0; byte < size; byte++)
                ASSERT_EQ(blocks[i].first[byte], static_cast<char>(size));
            resource.deallocate(blocks[i].first, size, blocks[i].second);
        }
        if (turn == 0)
            after_one = scope.stats().used;
    }
    EXPECT_EQ(scope.stats().used, after_one);
}

TEST(PoolResource, ThrowsBadAllocAndEqualsItselfOnly) {
    alignas(16) char buffer[1024];
    ebbtide::fixed_arena arena(buffer, sizeof buffer);
    ebbtide::scope scope = arena.open();
    ebbtide::pool_resource resource(scope), other(scope);
    EXPECT_TRUE(resource == resource);
    EXPECT_FALSE(resource == other);
    EXPECT_NE(resource.allocate(0), resource.allocate(0));
    constexpr std::size_t half = SIZE_MAX / 2 + 1;
    for (std::size_t size : {std::size_t{2000}, half - 1, half, SIZE_MAX})
        for (std::size_t align : {std::size_t{8}, std::size_t{64}, std::size_t{1} << 40, half})
            EXPECT_THROW((void)resource.allocate(size, align), std::bad_alloc);
    EXPECT_THROW((void)resource.allocate(8, 4096), std::bad_alloc);
    EXPECT_NE(resource.allocate(100), nullptr);
    scope.close();
    EXPECT_THROW((void)resource.allocate(100), std::logic_error);
}

// libstdc++ declares that the block is not null.
__attribute__((no_sanitize("undefined"))) void deallocate_null(std::pmr::memory_resource &resource,
                                                               std::size_t size,
                                                               std::size_t align) {
    void *volatile null = nullptr;
    resource.deallocate(null, size, align);
}

// As free and the operators delete do.
TEST(Resources, DeallocatingNullDoesNothing) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::pool_resource nodes(scope);
    ebbtide::memory_resource closed, open;
    (void)open.allocate(1);
    for (std::size_t align = 1; align <= 4096; align *= 2) {
        for (std::size_t size : {0, 8, 1000}) {
            deallocate_null(nodes, size, align);
            deallocate_null(closed, size, align);
            deallocate_null(open, size, align);
        }
    }
    ebbtide::allocator<int>(scope).deallocate(nullptr, 0);
    ebbtide::allocator<int>(scope).deallocate(nullptr, 8);
    EXPECT_EQ(scope.stats().used, 0U);
}

TEST(Resources, RefuseAlignmentsThatAreNotPowersOfTwo) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::pool_resource nodes(scope);
    ebbtide::memory_resource resource;
    (void)nodes.allocate(100);
    (void)resource.allocate(100);
    const std::size_t used = scope.stats().used, also_used = resource.stats().used;
    for (volatile std::size_t align : {0, 3, 6, 12, 15, 24, 48, 100, 5000}) {
        for (std::size_t size : {0, 8, 100}) {
            EXPECT_THROW((void)nodes.allocate(size, align), std::logic_error);
            EXPECT_THROW((void)resource.allocate(size, align), std::logic_error);
            EXPECT_THROW((void)scope.allocate(size, align), std::logic_error);
            EXPECT_EQ(scope.try_allocate(size, align), nullptr);
        }
    }
    EXPECT_EQ(scope.stats().used, used);
    EXPECT_EQ(resource.stats().used, also_used);
}

TEST(PoolResource, SharesItsHeapWithHooks) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::pool_resource resource(scope);
    EXPECT_EQ(ebb_heap_use(resource.c_heap()), nullptr);
    char *text = ebb_hook_strdup("text");
    const std::size_t before = scope.stats().used;
    EXPECT_GT(before, 0U);
    EXPECT_EQ(ebb_heap_use(nullptr), resource.c_heap());
    ebb_hook_free(text);
    EXPECT_LT(scope.stats().used, before);
}

TEST(Allocator, ServesStandardContainers) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    std::vector<int, ebbtide::allocator<int>> numbers(scope);
    std::map<int, int, std::less<int>, ebbtide::allocator<std::pair<const int, int>>> map(scope);
    for (int i = 0; i < 10000; ++i) {
        numbers.push_back(i);
        map[i % 100] += i;
    }
    EXPECT_EQ(numbers.back(), 9999);
    EXPECT_EQ(map.size(), 100u);
    EXPECT_THROW(numbers.reserve(SIZE_MAX / sizeof(int) / 2), std::exception);
    ebbtide::scope other = ebbtide::scope::of_thread();
    EXPECT_TRUE(ebbtide::allocator<int>(scope) == ebbtide::allocator<char>(scope));
    EXPECT_TRUE(ebbtide::allocator<int>(scope) != ebbtide::allocator<int>(other));
}

TEST(Vector, GrowsInPlaceWhileItIsTheLastBlock) {
    ebbtide::arena arena({1 << 20, 0, nullptr});
    ebbtide::scope scope = arena.open();
    ebbtide::vector<long> numbers(scope, {0, 1, 2});
    const long *data = numbers.data();
    for (long i = 3; i < 10000; ++i) {
        numbers.push_back(i);
        scope.make<long>(i); // the other end
    }
    EXPECT_EQ(numbers.data(), data);
    ebbtide::vector<long> second(scope, {1});
    while (numbers.size() < numbers.capacity())
        numbers.push_back(0);
    numbers.push_back(1);
    EXPECT_NE(numbers.data(), data);
    for (long i = 0; i < 10000; ++i)
        EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(second[0], 1);
}

TEST(Vector, HasTheMethodsOfAVector) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::vector<std::string> texts(scope);
    EXPECT_TRUE(texts.empty());
    texts.emplace_back(30, 'a');
    texts.push_back("second, and longer than a small one");
    texts.push_back(texts.front()); // an element of its own
    while (texts.size() < texts.capacity())
        texts.push_back(texts.back());
    ebb_alloc_low(scope.c_scope(), 1, 1);
    texts.push_back(texts.front()); // moves, and the argument with it
    EXPECT_EQ(texts.back(), std::string(30, 'a'));
    texts.pop_back();
    texts.resize(2);
    texts.resize(5);
    EXPECT_EQ(texts.at(4), "");
    EXPECT_THROW(texts.at(5), std::out_of_range);
    EXPECT_EQ(std::as_const(texts).at(4), "");
    ebbtide::vector<std::string> moved = std::move(texts);
    EXPECT_TRUE(texts.empty());
    EXPECT_EQ(moved.size(), 5u);
    texts = std::move(moved);
    texts.clear();
    texts.shrink_to_fit();
    ebbtide::vector<int> numbers(scope);
    numbers.reserve(100);
    numbers.push_back(7);
    ebbtide::span<int> result = numbers.into_span();
    EXPECT_EQ(result.size(), 1u);
    EXPECT_TRUE(numbers.empty());
    EXPECT_TRUE(ebb_is_last_(scope.c_scope(), result.data(), sizeof(int)));
}

TEST(Vector, LosesNothingWhenACopyThrows) {
    ebbtide::arena arena;
    {
        ebbtide::scope scope = arena.open();
        ebbtide::vector<counted> values(scope);
        for (int i = 0; i < 8; ++i)
            values.emplace_back(i);
        ASSERT_EQ(values.size(), values.capacity());
        ebb_alloc_low(scope.c_scope(), 1, 1);
        counted::copies = 0;
        counted::throw_at = 5;
        EXPECT_THROW(values.emplace_back(8), std::runtime_error);
        counted::throw_at = -1;
        EXPECT_EQ(values.size(), 8u);
        EXPECT_EQ(counted::alive, 8);
        for (int i = 0; i < 8; ++i)
            EXPECT_EQ(values[static_cast<std::size_t>(i)].value, i);
        values.emplace_back(8);
        EXPECT_EQ(counted::alive, 9);
    }
    EXPECT_EQ(counted::alive, 0);
}

TEST(Vector, LosesNoArgumentWhenThereIsNoRoom) {
    alignas(16) char buffer[64 + redzone];
    ebbtide::fixed_arena arena(buffer, sizeof buffer);
    ebbtide::scope scope = arena.open();
    ebbtide::vector<std::unique_ptr<int>> values(scope);
    for (int i = 0; i < 8; ++i)
        values.push_back(std::make_unique<int>(i));
    auto value = std::make_unique<int>(8);
    EXPECT_THROW(values.push_back(std::move(value)), std::bad_alloc);
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(*value, 8);
    EXPECT_EQ(values.size(), 8u);
}

TEST(Vector, TakesWhatIsNeededWhereTwiceAsMuchIsNotThere) {
    alignas(16) char buffer[80 + redzone];
    ebbtide::fixed_arena arena(buffer, sizeof buffer);
    ebbtide::scope scope = arena.open();
    {
        const ebbtide::vector<int> three(scope, {1, 2, 3});
        EXPECT_EQ(three.size(), 3u);
    }
    ebbtide::vector<double> values(scope, {0, 1, 2, 3, 4, 5, 6, 7});
    const double more[] = {8, 9};
    EXPECT_NO_THROW(values.append(more, 2));
    EXPECT_EQ(values.back(), 9);
}

TEST(Vector, MovesBetweenScopes) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::scope other = ebbtide::scope::of_thread();
    ebbtide::vector<std::unique_ptr<int>> outer(scope);
    ebbtide::string text(scope, "of the outer scope");
    outer.push_back(std::make_unique<int>(7));
    {
        ebbtide::scope child = other.child();
        ebbtide::vector<std::unique_ptr<int>> inner(child);
        ebbtide::string inner_text(child, "of the inner scope");
        inner.push_back(std::make_unique<int>(8));
        inner = std::move(outer);
        inner_text = std::move(text);
        EXPECT_EQ(*inner[0], 7);
        EXPECT_EQ(inner_text.view(), "of the outer scope");
    }
    // A moved-from container refers to nothing in a scope that has ended.
    EXPECT_TRUE(outer.empty() && text.empty());
    EXPECT_EQ(outer.data(), nullptr);
    outer.push_back(std::make_unique<int>(9));
    text += "new";
    auto &same = outer;
    outer = std::move(same);
    EXPECT_EQ(*outer[0], 9);
    ebbtide::vector<std::unique_ptr<int>> second(other);
    std::swap(outer, second);
    EXPECT_TRUE(outer.empty());
    EXPECT_EQ(*second[0], 9);
}

TEST(Vector, ThrowsWhenThereIsNoRoomAndStaysAsItWas) {
    alignas(16) char buffer[96 + redzone];
    ebbtide::fixed_arena arena(buffer, sizeof buffer);
    ebbtide::scope scope = arena.open();
    ebbtide::vector<double> values(scope);
    EXPECT_THROW(
        for (;;) values.push_back(1), std::bad_alloc);
    EXPECT_EQ(values.size(), 12u);
    EXPECT_THROW(values.reserve(SIZE_MAX / 8), std::bad_alloc);
    EXPECT_THROW(values.reserve(13), std::bad_alloc);
    EXPECT_EQ(values.back(), 1);
}

TEST(String, GrowsInPlaceAndAppendsItself) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::string text(scope, "abc");
    const char *data = text.data();
    for (int i = 0; i < 5; ++i)
        text += text.view().substr(1);
    text += '!';
    EXPECT_EQ(text.data(), data);
    ebb_alloc_low(scope.c_scope(), 1, 1);
    const std::string before(text.view());
    text += text.view();
    text += text.view();
    EXPECT_EQ(text.view(), before + before + before + before);
    EXPECT_EQ(std::string(text.c_str()), text.view());
    ebbtide::string moved = std::move(text);
    EXPECT_TRUE(text.empty());
    const std::string_view kept = moved.into_view();
    EXPECT_EQ(kept.data()[kept.size()], 0);
    EXPECT_TRUE(moved.empty());
    moved.append(std::string_view());
    EXPECT_TRUE(moved.empty());
    moved.clear();
}

TEST(Pool, LendsArenasToThreads) {
    ebbtide::pool pool;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&pool, t] {
            for (int turn = 0; turn < 200; ++turn) {
                ebbtide::pool::loan arena = pool.get();
                ebbtide::scope scope = arena->open();
                ebbtide::vector<int> numbers(scope);
                for (int i = 0; i < 100; ++i)
                    numbers.push_back(t);
                EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0), 100 * t);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    pool.clear();
}

#if EBB_CHECKS && GTEST_HAS_DEATH_TEST
TEST(ChecksDeathTest, CatchMisuse) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    const auto open_child = [&] { return scope.child(); };
    const std::string opened = "opened at .*arenas.cpp:" + std::to_string(__LINE__ - 1) + "\n";
    EXPECT_DEATH(
        {
            ebbtide::scope child = open_child();
            scope.make<int>(1);
        },
        "while its child is open\n  " + opened);
    EXPECT_DEATH(
        {
            ebbtide::scope child = scope.child();
            ebbtide::scope moved = std::move(scope);
        },
        "moved while its child is open");
    EXPECT_DEATH(
        {
            ebbtide::vector<int> numbers(scope);
            ebbtide::scope child = scope.child();
            numbers.push_back(1);
        },
        "while its child is open");
    EXPECT_DEATH(
        {
            ebbtide::pool pool;
            auto arena = std::make_unique<ebbtide::pool::loan>(pool.get());
            ebbtide::scope open = (*arena)->open();
            arena.reset();
        },
        "goes back to its pool while its scope is open");
    EXPECT_DEATH(
        {
            auto dying = std::make_unique<ebbtide::arena>();
            ebbtide::scope open = dying->open();
            dying.reset();
        },
        "destroyed while its scope is open");
}
#endif

} // namespace
