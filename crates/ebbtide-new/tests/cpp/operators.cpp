// Claims: every form of new and delete works inside, outside and across scopes; objects that escape
// stay valid; failed requests are reported as the standard requires.
#include <ebbtide_new.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <pthread.h>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <unordered_map>
#include <vector>

namespace {

using std::align_val_t;
using std::nothrow;

// The tests are about blocks of arenas, however slow these are.
[[maybe_unused]] const bool opens_every_scope = (ebb_set_skipping(false), true);

bool is_ours(void *block) { return ebb_is_in_arena(block); }

bool is_aligned(void *block, std::size_t align) {
    return reinterpret_cast<std::uintptr_t>(block) % align == 0;
}

// The compiler must not know a size that cannot be served: it would warn.
std::size_t hidden(std::size_t size) {
    volatile std::size_t copy = size;
    return copy;
}

// Whether a scope is open that serves this thread.
bool is_served() {
    void *block = ::operator new(hidden(24));
    bool ours = is_ours(block);
    ::operator delete(block);
    return ours;
}

// In no scope, in one, in one that is closed to requests, and in scopes that leave them to the C
// library by their options.
template <typename F> void everywhere(F &&f) {
    f();
    ebbtide::in_arena(f);
    ebbtide::in_arena([&] { ebbtide::outside(f); });
    ebbtide::scope_options small{}, few{};
    small.max_size = 100;
    few.byte_limit = 1000;
    ebbtide::in_arena(small, f);
    ebbtide::in_arena(few, f);
}

// Scopes of a thread are skipped once most of their blocks escape, as in some tests here. A new
// thread has no such history.
template <typename F> void in_new_thread(F &&f) { std::thread(std::forward<F>(f)).join(); }

struct numbers {
    std::uint64_t state;
    std::size_t below(std::size_t end) {
        state = state * 6364136223846793005u + 1;
        return static_cast<std::size_t>(state >> 33) % end;
    }
};

// One way to allocate a block, and one to free it.
using get = void *(*)(std::size_t size, align_val_t align);
using give = void (*)(void *block, std::size_t size, align_val_t align);

const get plain_news[] = {
    [](std::size_t n, align_val_t) { return ::operator new(n); },
    [](std::size_t n, align_val_t) { return ::operator new[](n); },
    [](std::size_t n, align_val_t) { return ::operator new(n, nothrow); },
    [](std::size_t n, align_val_t) { return ::operator new[](n, nothrow); },
};
const give plain_deletes[] = {
    [](void *p, std::size_t, align_val_t) { ::operator delete(p); },
    [](void *p, std::size_t, align_val_t) { ::operator delete[](p); },
    [](void *p, std::size_t, align_val_t) { ::operator delete(p, nothrow); },
    [](void *p, std::size_t, align_val_t) { ::operator delete[](p, nothrow); },
    [](void *p, std::size_t n, align_val_t) { ::operator delete(p, n); },
    [](void *p, std::size_t n, align_val_t) { ::operator delete[](p, n); },
};
const get aligned_news[] = {
    [](std::size_t n, align_val_t a) { return ::operator new(n, a); },
    [](std::size_t n, align_val_t a) { return ::operator new[](n, a); },
    [](std::size_t n, align_val_t a) { return ::operator new(n, a, nothrow); },
    [](std::size_t n, align_val_t a) { return ::operator new[](n, a, nothrow); },
};
const give aligned_deletes[] = {
    [](void *p, std::size_t, align_val_t a) { ::operator delete(p, a); },
    [](void *p, std::size_t, align_val_t a) { ::operator delete[](p, a); },
    [](void *p, std::size_t, align_val_t a) { ::operator delete(p, a, nothrow); },
    [](void *p, std::size_t, align_val_t a) { ::operator delete[](p, a, nothrow); },
    [](void *p, std::size_t n, align_val_t a) { ::operator delete(p, n, a); },
    [](void *p, std::size_t n, align_val_t a) { ::operator delete[](p, n, a); },
};

// Each way to allocate blocks, with each way to free them, in each place.
template <typename News, typename Deletes>
void every_form(const News &news, const Deletes &deletes, std::size_t align) {
    for (get form : news) {
        for (give back : deletes) {
            for (int place = 0; place < 4; place++) {
                bool born_inside = place & 1, freed_inside = place & 2;
                std::vector<std::pair<void *, std::size_t>> blocks;
                auto fill = [&] {
                    for (std::size_t size : {0, 1, 8, 9, 100, 1008, 1017, 5000, 9000, 70000}) {
                        void *block = form(size, align_val_t(align));
                        ASSERT_NE(block, nullptr);
                        EXPECT_EQ(is_ours(block), born_inside && align <= 4096) << size;
                        EXPECT_TRUE(is_aligned(block, std::max<std::size_t>(align, 16)));
                        std::memset(block, static_cast<int>(blocks.size()), size);
                        blocks.emplace_back(block, size);
                    }
                };
                auto clear = [&] {
                    for (std::size_t i = 0; i < blocks.size(); i++) {
                        auto [block, size] = blocks[i];
                        auto *bytes = static_cast<unsigned char *>(block);
                        auto kept = static_cast<std::size_t>(std::count(bytes, bytes + size, i));
                        EXPECT_EQ(kept, size);
                        back(block, size, align_val_t(align));
                    }
                };
                blocks.reserve(16);
                born_inside ? ebbtide::in_arena(fill) : fill();
                freed_inside ? ebbtide::in_arena(clear) : clear();
            }
        }
    }
}

TEST(operators, every_plain_form) {
    in_new_thread([] { every_form(plain_news, plain_deletes, 1); });
}

TEST(operators, every_aligned_form_from_1_to_64_kib) {
    for (std::size_t align = 1; align <= 65536; align *= 2)
        in_new_thread([=] { every_form(aligned_news, aligned_deletes, align); });
}

TEST(operators, deleting_null_does_nothing) {
    for (give back : plain_deletes) back(nullptr, 0, align_val_t(16));
    for (give back : aligned_deletes) back(nullptr, 0, align_val_t(64));
}

struct alignas(256) wide {
    char bytes[300];
};
struct base {
    virtual ~base() = default;
};
struct derived : base {
    std::string name = std::string(100, 'd');
    wide bytes{};
};

TEST(operators, new_expressions) {
    in_new_thread([] {
        ebbtide::in_arena([] {
            auto *array = new std::string[7];
            array[6] = std::string(1000, 'x');
            EXPECT_TRUE(is_ours(&array[6][0]));
            delete[] array;
            base *object = new derived;
            delete object;
            auto *many = new wide[3];
            EXPECT_TRUE(is_aligned(many, 256) && is_ours(many));
            delete[] many;
        });
    });
}

TEST(operators, too_large_requests_throw_or_give_null) {
    const std::size_t sizes[] = {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX - 15, SIZE_MAX - 4096,
                                 std::size_t(PTRDIFF_MAX) + 1, PTRDIFF_MAX};
    auto ask = [&] {
        for (std::size_t size : sizes) {
            for (std::size_t align : {1u, 64u, 4096u, 65536u}) {
                align_val_t value{align};
                EXPECT_THROW(plain_news[0](hidden(size), value), std::bad_alloc);
                EXPECT_THROW(plain_news[1](hidden(size), value), std::bad_alloc);
                EXPECT_EQ(plain_news[2](hidden(size), value), nullptr);
                EXPECT_EQ(plain_news[3](hidden(size), value), nullptr);
                EXPECT_THROW(aligned_news[0](hidden(size), value), std::bad_alloc);
                EXPECT_EQ(aligned_news[3](hidden(size), value), nullptr);
            }
        }
        EXPECT_THROW(std::vector<std::size_t>(hidden(SIZE_MAX / 16)), std::bad_alloc);
        for (std::size_t align : {0u, 3u, 24u, 100u})
            EXPECT_THROW(aligned_news[0](8, align_val_t(hidden(align))), std::bad_alloc);
    };
    everywhere(ask);
    EXPECT_FALSE(is_served());
}

// A process of its own, with a limit on its memory. Not under sanitizers, whose own memory counts.
TEST(limited, a_vector_that_grows_until_there_is_no_memory_throws) {
    auto grow = [] {
        std::vector<std::string> grown;
        try {
            for (;;) grown.push_back(std::string(1000, 'g'));
        } catch (const std::bad_alloc &) {
        }
        if (grown.size() < 1000) std::_Exit(1);
    };
    auto limited = [&] {
        const rlimit most{64 << 20, 64 << 20};
        if (setrlimit(RLIMIT_DATA, &most) != 0) std::_Exit(2);
        everywhere(grow);
        std::_Exit(0);
    };
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(limited(), testing::ExitedWithCode(0), "");
}

int handled;

// Gives up at the third call.
void handler() {
    if (++handled == 3) std::set_new_handler(nullptr);
}

void throwing_handler() {
    handled++;
    throw std::bad_alloc();
}

TEST(operators, the_new_handler_is_asked_until_it_gives_up) {
    const std::size_t too_large = hidden(SIZE_MAX / 4);
    const align_val_t align{64};
    auto ask = [=] {
        for (const auto &forms : {plain_news, aligned_news}) {
            for (int form = 0; form < 4; form++) {
                for (std::new_handler which : {handler, throwing_handler}) {
                    std::set_new_handler(which);
                    handled = 0;
                    if (form < 2) {
                        EXPECT_THROW(forms[form](too_large, align), std::bad_alloc);
                    } else {
                        EXPECT_EQ(forms[form](too_large, align), nullptr);
                    }
                    EXPECT_EQ(handled, which == handler ? 3 : 1);
                    std::set_new_handler(nullptr);
                }
            }
        }
    };
    everywhere(ask);
}

TEST(scopes, results_of_any_type_escape) {
    in_new_thread([] {
        int local = 7;
        int &reference = ebbtide::in_arena([&]() -> int & { return local; });
        EXPECT_EQ(&reference, &local);
        auto text = ebbtide::in_arena([] { return std::string(500, 'e'); });
        auto owner = ebbtide::in_arena([] { return std::make_unique<derived>(); });
        auto shared = ebbtide::in_arena([] { return std::make_shared<std::vector<int>>(1000, 3); });
        auto map = ebbtide::in_arena([] {
            std::map<std::string, std::vector<std::string>> made;
            for (int i = 0; i < 100; i++)
                made["the key number " + std::to_string(i)].assign(5, std::string(40, 'v'));
            return made;
        });
        // Scopes that come later do not touch what escaped.
        for (int i = 0; i < 100; i++)
            ebbtide::in_arena([] { std::vector<std::string>(100, std::string(99, '!')); });
        EXPECT_TRUE(is_ours(&text[0]) && is_ours(owner.get()));
        EXPECT_EQ(text, std::string(500, 'e'));
        EXPECT_EQ(owner->name, std::string(100, 'd'));
        EXPECT_EQ(*shared, std::vector<int>(1000, 3));
        EXPECT_EQ(map.at("the key number 99"), std::vector<std::string>(5, std::string(40, 'v')));
        text += "it grows outside";
        ebbtide::in_arena([&] { map.erase("the key number 5"); });
        auto move_only = ebbtide::in_arena([&] { return std::move(owner); });
        EXPECT_EQ(move_only->name.size(), 100u);
    });
}

TEST(scopes, exceptions_end_them) {
    in_new_thread([] {
        for (int depth : {1, 3}) {
            std::function<void(int)> fall = [&](int left) {
                ebbtide::in_arena([&] {
                    std::vector<std::string> unwound(20, std::string(50, 'u'));
                    if (left == 1) throw std::runtime_error(std::string(300, 'w'));
                    fall(left - 1);
                });
            };
            try {
                fall(depth);
                FAIL();
            } catch (const std::runtime_error &error) {
                EXPECT_EQ(error.what(), std::string(300, 'w'));
            }
            EXPECT_FALSE(is_served());
        }
        auto kept = ebbtide::in_arena([] {
            try {
                ebbtide::in_arena([] { throw std::string(200, 's'); });
            } catch (std::string &thrown) {
                EXPECT_TRUE(is_served());
                return thrown;
            }
            return std::string();
        });
        EXPECT_EQ(kept, std::string(200, 's'));
        std::exception_ptr later;
        ebbtide::in_arena([&] {
            try {
                throw std::runtime_error(std::string(300, 'l'));
            } catch (...) {
                later = std::current_exception();
            }
        });
        EXPECT_THROW(std::rethrow_exception(later), std::runtime_error);
    });
}

TEST(scopes, nest_and_may_be_left_in_any_order) {
    in_new_thread([] {
        EXPECT_FALSE(is_served());
        ebbtide::in_arena([] {
            EXPECT_TRUE(is_served());
            ebbtide::outside([] {
                EXPECT_FALSE(is_served());
                ebbtide::in_arena([] { EXPECT_TRUE(is_served()); });
                EXPECT_FALSE(is_served());
            });
            EXPECT_TRUE(is_served());
        });
        ebb_ticket outer = ebb_enter(), inner = ebb_enter();
        ebb_leave(outer);
        ebb_leave(inner);
        ebb_leave(0);
        ebb_leave(UINT64_MAX);
        EXPECT_FALSE(is_served());
        EXPECT_EQ(ebb_enter_outside(), 0u);
    });
}

TEST(scopes, options_exclude_requests) {
    in_new_thread([] {
        ebbtide::scope_options options{};
        options.max_size = 1000;
        ebbtide::in_arena(options, [] {
            std::string small(500, 's'), large(2000, 'l');
            EXPECT_TRUE(is_ours(&small[0]) && !is_ours(&large[0]));
        });
        options = {};
        options.min_size = 1000;
        ebbtide::in_arena(options, [] {
            std::string small(500, 's'), large(2000, 'l');
            EXPECT_TRUE(!is_ours(&small[0]) && is_ours(&large[0]));
        });
        options = {};
        options.byte_limit = 100000;
        ebbtide::in_arena(options, [] {
            std::vector<std::string> many(1000, std::string(500, 'm'));
            EXPECT_TRUE(is_ours(&many[0][0]) && !is_ours(&many[999][0]));
        });
    });
}

TEST(scopes, the_report_counts_and_names_those_that_keep_much) {
    in_new_thread([] {
        ebbtide::figures before = ebbtide::report();
        std::vector<std::string> kept;
        kept.reserve(20000);
        ebbtide::in_arena("keeps much", [&] {
            for (int i = 0; i < 50000; i++) {
                std::string text(100, 'k');
                if (i % 3 == 0) kept.push_back(text);
            }
        });
        ebbtide::figures after = ebbtide::report();
        EXPECT_EQ(after.scopes - before.scopes, 1u);
        EXPECT_GE(after.blocks - before.blocks, 66000u);
        EXPECT_EQ(after.escaped_blocks - before.escaped_blocks, 16667u);
        EXPECT_GE(after.live, 16667u * 100);
        EXPECT_LE(after.held, after.bound);
        std::string text = ebbtide::report_text();
        EXPECT_NE(text.find("scopes served"), std::string::npos) << text;
        EXPECT_NE(text.find("`keeps much`"), std::string::npos) << text;
        char start[8];
        EXPECT_GE(ebb_report_text(start, sizeof start), text.size() / 2);
        EXPECT_EQ(std::strlen(start), 7u);
        ebb_report(nullptr);
    });
}

TEST(scopes, the_standard_library_runs_in_them) {
    ebbtide::in_arena([] {
        std::unordered_map<std::string, std::list<int>> lists;
        std::set<std::string> names;
        std::deque<double> queue;
        std::ostringstream out;
        for (int i = 0; i < 3000; i++) {
            std::string name = "a name of some length " + std::to_string(i % 300);
            lists[name].push_back(i);
            names.insert(name);
            queue.push_back(i);
            if (i % 3) queue.pop_front();
            out << name << '\n';
        }
        std::pmr::monotonic_buffer_resource pool;
        std::pmr::vector<std::pmr::string> strings(&pool);
        for (int i = 0; i < 200; i++) strings.emplace_back("a polymorphic string of some length");
        std::function<int()> call = [copy = std::string(200, 'c')] { return int(copy.size()); };
        EXPECT_EQ(lists.size() + names.size() + static_cast<std::size_t>(call()), 800u);
        auto later = std::async(std::launch::async, [] { return std::string(100, 'a'); });
        EXPECT_EQ(later.get().size(), 100u);
    });
}

TEST(c_functions, reallocated_blocks_keep_their_bytes) {
    numbers random{5};
    struct block {
        unsigned char *bytes;
        std::size_t size;
        unsigned char mark;
    };
    std::vector<block> blocks;
    ebb_ticket scope = 0;
    for (int turn = 0; turn < 4000; turn++) {
        if (turn % 97 == 0) {
            ebb_leave(scope);
            scope = turn % 2 ? 0 : ebb_enter();
        }
        const std::size_t limits[] = {30, 300, 3000, 12000, 200000};
        std::size_t size = random.below(limits[random.below(5)]);
        if (blocks.size() < 100) {
            std::size_t align = random.below(5) ? 16 : std::size_t(1) << random.below(14);
            void *made = align == 16 ? ebb_malloc(size) : ebb_aligned_alloc(align, size);
            ASSERT_TRUE(made && is_aligned(made, std::max<std::size_t>(align, 16)));
            std::memset(made, turn & 0xFF, size);
            auto mark = static_cast<unsigned char>(turn);
            blocks.push_back({static_cast<unsigned char *>(made), size, mark});
        }
        std::size_t at = random.below(blocks.size());
        block &chosen = blocks[at];
        auto keeps = [&](std::size_t bytes) {
            auto is_mark = [&](int byte) { return byte == chosen.mark; };
            return std::all_of(chosen.bytes, chosen.bytes + bytes, is_mark);
        };
        ASSERT_TRUE(keeps(chosen.size));
        if (random.below(3) == 0) {
            ebb_free(chosen.bytes);
            blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(at));
        } else {
            void *moved = ebb_realloc(chosen.bytes, size);
            ASSERT_TRUE(moved && is_aligned(moved, 16));
            chosen.bytes = static_cast<unsigned char *>(moved);
            ASSERT_TRUE(keeps(std::min(size, chosen.size)));
            chosen.size = size;
            std::memset(moved, chosen.mark, size);
        }
    }
    ebb_leave(scope);
    for (const block &left : blocks) ebb_free(left.bytes);
}

TEST(threads, delete_each_others_blocks) {
    constexpr int count = 4, rounds = 300;
    std::mutex mutex;
    std::vector<std::vector<std::string>> handed;
    std::atomic<std::size_t> sum{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < count; thread++) {
        threads.emplace_back([&, thread] {
            for (int round = 0; round < rounds; round++) {
                ebbtide::in_arena([&] {
                    std::vector<std::string> made;
                    for (int i = 0; i < 50; i++) made.emplace_back(20 + i * 7, char('a' + thread));
                    std::vector<std::string> taken;
                    {
                        std::lock_guard<std::mutex> lock(mutex);
                        handed.push_back(std::move(made));
                        if (handed.size() > 8) {
                            taken = std::move(handed.front());
                            handed.erase(handed.begin());
                        }
                    }
                    for (std::string &text : taken) {
                        sum += std::size_t(std::count(text.begin(), text.end(), text[0]));
                        text += "grown by another thread";
                    }
                });
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    for (const auto &left : handed)
        for (const std::string &text : left) sum += text.size();
    std::size_t each = 0;
    for (int i = 0; i < 50; i++) each += 20 + i * 7;
    EXPECT_EQ(sum.load(), each * count * rounds);
}

TEST(threads, blocks_outlive_the_thread_that_made_them) {
    for (int round = 0; round < 20; round++) {
        std::vector<std::string> left;
        std::thread([&] {
            left = ebbtide::in_arena(
                [] { return std::vector<std::string>(2000, std::string(60, 't')); });
        }).join();
        std::thread([&] {
            // This thread has never opened a scope.
            for (std::string &text : left) EXPECT_EQ(text, std::string(60, 't'));
            left.resize(10);
            left.shrink_to_fit();
        }).join();
        EXPECT_EQ(left[9], std::string(60, 't'));
    }
}

// Uses arenas while its thread ends, before and after the thread's owner ends.
struct at_thread_end {
    std::vector<std::string> kept;
    ~at_thread_end() {
        for (std::string &text : kept) text += std::string(100, 'e');
        kept.clear();
        ebbtide::in_arena([] { std::vector<std::string>(10, std::string(100, 'x')); });
    }
};

TEST(threads, destructors_of_thread_locals_may_use_arenas) {
    for (int order = 0; order < 2; order++) {
        std::thread([order] {
            thread_local at_thread_end first;
            if (order == 0) first.kept.reserve(4);
            ebbtide::in_arena([] {
                thread_local at_thread_end inside;
                inside.kept.assign(100, std::string(80, 'i'));
            });
            first.kept.emplace_back(90, 'f');
        }).join();
    }
}

// Destructors of keys run after those of thread-locals.
TEST(threads, the_first_scope_in_a_destructor_of_a_key_keeps_no_memory) {
    pthread_key_t key;
    ASSERT_EQ(pthread_key_create(&key,
                                 [](void *) {
                                     ebbtide::in_arena([] { std::vector<char>(900000, 'd'); });
                                 }),
              0);
    std::size_t before = ebbtide::report().held;
    for (int round = 0; round < 40; round++)
        std::thread([&] { pthread_setspecific(key, &key); }).join();
    EXPECT_LT(ebbtide::report().held, before + 8 * 900000);
    pthread_key_delete(key);
}

TEST(threads, a_scope_that_is_never_left_ends_with_its_thread) {
    std::string kept;
    std::thread([&] {
        EXPECT_NE(ebb_enter(), 0u);
        kept = std::string(100, 'k');
    }).join();
    EXPECT_TRUE(is_ours(&kept[0]));
    EXPECT_EQ(kept, std::string(100, 'k'));
}

TEST(memory, is_bounded_whatever_is_kept) {
    std::deque<std::string> kept;
    numbers random{11};
    for (int turn = 0; turn < 3000; turn++) {
        ebbtide::in_arena([&] {
            std::vector<std::string> used;
            for (int i = 0; i < 200; i++) used.emplace_back(random.below(400), 'u');
            if (turn % 3 == 0) kept.push_back(used[random.below(200)] + std::string(40, 'k'));
        });
        if (kept.size() > 500) kept.pop_front();
        if (turn % 100 == 0) {
            ebbtide::figures now = ebbtide::report();
            ASSERT_LE(now.held, now.bound) << ebbtide::report_text();
        }
    }
    kept.clear();
    ebb_release();
    EXPECT_LE(ebbtide::report().held, 16u << 20) << ebbtide::report_text();
}

#ifdef POISON
TEST(memory, of_deleted_objects_is_overwritten) {
    in_new_thread([] {
        ebbtide::in_arena([] {
            auto *bytes = new unsigned char[40];
            std::memset(bytes, 7, 40);
            // Kept as a number, so that no compiler sees what follows.
            volatile std::uintptr_t address = reinterpret_cast<std::uintptr_t>(bytes);
            delete[] bytes;
            auto *after = reinterpret_cast<volatile unsigned char *>(address);
            EXPECT_EQ(after[0], 0xDE);
            EXPECT_EQ(after[39], 0xDE);
        });
    });
}

TEST(memory, deleting_an_object_twice_is_noticed) {
    auto twice = [] {
        in_new_thread([] {
            ebb_enter();
            volatile std::uintptr_t address =
                reinterpret_cast<std::uintptr_t>(::operator new(hidden(40)));
            ::operator delete(reinterpret_cast<void *>(address));
            ::operator delete(reinterpret_cast<void *>(address));
        });
    };
    EXPECT_DEATH(twice(), "header of a block");
}
#endif

// Objects that exist before main and after it.
struct at_program_end {
    std::string inside = ebbtide::in_arena([] { return std::string(200, 's'); });
    ~at_program_end() {
        bool whole = inside == std::string(200, 's');
        inside.clear();
        inside.shrink_to_fit();
        auto text = ebbtide::in_arena([] { return std::string(300, 'z'); });
        if (!whole || text.size() != 300) _exit(9);
    }
};
at_program_end before_main;

TEST(programs, statics_may_use_arenas_before_main_and_after_it) {
    EXPECT_TRUE(is_ours(&before_main.inside[0]));
    static at_program_end in_main;
    EXPECT_EQ(in_main.inside.size(), 200u);
}

} // namespace
