// Claim: ebbtide::vector and ebbtide::string behave like those of std, even if operations throw or
// they are misused.
#include "ebbtide.hpp"

#include <gtest/gtest.h>

#include <array>
#include <forward_list>
#include <iterator>
#include <list>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

namespace {

// Counts its instances, and throws when it is copied for the `left`th time.
struct fragile {
    static inline int alive = 0, left = -1;
    int value;
    explicit fragile(int v = 0) : value(v) { ++alive; }
    fragile(const fragile &other) : value(other.value) {
        spend();
        ++alive;
    }
    fragile &operator=(const fragile &other) {
        spend();
        value = other.value;
        return *this;
    }
    ~fragile() { --alive; }
    bool operator==(const fragile &other) const { return value == other.value; }
    static void spend() {
        if (left >= 0 && left-- == 0)
            throw std::runtime_error("copy");
    }
};

// Ours compare like std's.
template <typename Ours, typename Theirs>
void expect_same_order(const Ours &ours, const Ours &other, const Theirs &theirs,
                       const Theirs &others) {
    EXPECT_EQ(ours == other, theirs == others);
    EXPECT_EQ(ours < other, theirs < others);
    EXPECT_EQ(ours >= other, theirs >= others);
}

// `compare` promises a sign only: some versions of memcmp return the difference of whole words.
int sign(int order) { return (order > 0) - (order < 0); }

// An iterator that can be read once.
struct once {
    using iterator_category = std::input_iterator_tag;
    using value_type = fragile;
    using difference_type = std::ptrdiff_t;
    using pointer = const fragile *;
    using reference = const fragile &;
    const fragile *at;
    reference operator*() const { return *at; }
    once &operator++() { return ++at, *this; }
    bool operator!=(const once &other) const { return at != other.at; }
};

// Values that show a wrong copy: of a register's size, of several words, and with memory of their
// own.
struct wide {
    std::array<long, 5> values;
    bool operator==(const wide &other) const { return values == other.values; }
    bool operator<(const wide &other) const { return values < other.values; }
};
template <typename T> T made(int i);
template <> int made<int>(int i) { return i; }
template <> wide made<wide>(int i) { return {{i, -i, i, -i, i}}; }
template <> std::string made<std::string>(int i) { return std::string(20, 'a') + std::to_string(i); }

template <typename T> class VectorLikeStd : public testing::Test {};
using kinds = testing::Types<int, wide, std::string>;
TYPED_TEST_SUITE(VectorLikeStd, kinds, );

TYPED_TEST(VectorLikeStd, AfterAnySequenceOfOperations) {
    using T = TypeParam;
    std::minstd_rand random(7);
    const auto below = [&](std::size_t limit) { return random() % limit; };
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::vector<T> ours(scope), other(scope);
    std::vector<T> theirs, others;
    for (int turn = 0; turn < 4000; ++turn) {
        const T value = made<T>(turn);
        const std::size_t size = theirs.size(), at = below(size + 1), count = below(6);
        const std::list<T> list(count, value);
        switch (below(22)) {
        case 0: ours.push_back(value), theirs.push_back(value); break;
        case 1: ours.emplace_back(value), theirs.emplace_back(value); break;
        case 2:
            ours.insert(ours.begin() + at, value);
            theirs.insert(theirs.begin() + at, value);
            break;
        case 3: {
            T *place = ours.insert(ours.begin() + at, count, value);
            EXPECT_EQ(place, ours.begin() + at);
            theirs.insert(theirs.begin() + at, count, value);
            break;
        }
        case 4:
            ours.insert(ours.begin() + at, list.begin(), list.end());
            theirs.insert(theirs.begin() + at, list.begin(), list.end());
            break;
        case 5:
            ours.insert(ours.cbegin() + at, {value, value});
            theirs.insert(theirs.cbegin() + at, {value, value});
            break;
        case 6:
            if (at < size) {
                EXPECT_EQ(ours.erase(ours.begin() + at), ours.begin() + at);
                theirs.erase(theirs.begin() + at);
            }
            break;
        case 7: {
            const std::size_t last = at + below(size - at + 1);
            ours.erase(ours.begin() + at, ours.begin() + last);
            theirs.erase(theirs.begin() + at, theirs.begin() + last);
            break;
        }
        case 8: ours.resize(at + count), theirs.resize(at + count); break;
        case 9: ours.resize(size + count, value), theirs.resize(size + count, value); break;
        case 10: ours.assign(count, value), theirs.assign(count, value); break;
        case 11:
            ours.assign(list.begin(), list.end());
            theirs.assign(list.begin(), list.end());
            break;
        case 12:
            ours.append(list.begin(), list.end());
            theirs.insert(theirs.end(), count, value);
            break;
        case 13: ours.reserve(at), theirs.reserve(at); break;
        case 14: ours.shrink_to_fit(), theirs.shrink_to_fit(); break;
        case 15: // somebody else takes the low end: the next growth has to move
            ebb_alloc_low(scope.c_scope(), 8, 8);
            break;
        // From here on, the arguments are elements.
        case 16:
            if (size > 0)
                ours.push_back(ours[at % size]), theirs.push_back(T(theirs[at % size]));
            break;
        case 17:
            if (size > 0) {
                const T kept = theirs[at % size];
                ours.insert(ours.begin() + at, ours[at % size]);
                theirs.insert(theirs.begin() + at, kept);
            }
            break;
        case 18:
            if (size > 0 && size < 200) {
                ours.append(ours.data() + size / 2, size - size / 2);
                const std::vector<T> kept(theirs.begin() + size / 2, theirs.end());
                theirs.insert(theirs.end(), kept.begin(), kept.end());
            }
            break;
        case 19:
            if (size > 0) {
                const T kept = theirs[0];
                ours.resize(size + 9, ours[0]), theirs.resize(size + 9, kept);
                ours.assign(4, ours[0]), theirs.assign(4, kept);
            }
            break;
        case 20: swap(ours, other), swap(theirs, others); break;
        default:
            if (size > 0)
                ours.pop_back(), theirs.pop_back();
        }
        ASSERT_TRUE(std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end())) << turn;
        ASSERT_GE(ours.capacity(), ours.size());
        expect_same_order(ours, other, theirs, others);
    }
}

TEST(Vector, IsMadeInEveryWayOfStd) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    EXPECT_EQ(ebbtide::vector<int>(scope, 3), ebbtide::vector<int>(scope, {0, 0, 0}));
    EXPECT_EQ(ebbtide::vector<int>(scope, 3, 7), ebbtide::vector<int>(scope, {7, 7, 7}));
    const std::forward_list<int> list{1, 2, 3};
    const ebbtide::vector<int> copy(scope, list.begin(), list.end());
    EXPECT_EQ(copy, ebbtide::vector<int>(scope, {1, 2, 3}));
    std::istringstream text("4 5 6");
    ebbtide::vector<int> read(scope, std::istream_iterator<int>(text), std::istream_iterator<int>());
    EXPECT_TRUE(std::equal(read.rbegin(), read.rend(), std::begin({6, 5, 4})));
    EXPECT_TRUE(copy < read && copy != read && read > copy && copy <= read && !(copy >= read));
    EXPECT_EQ(erase_if(read, [](int value) { return value == 5; }), 1u);
    read = {4, 6};
    EXPECT_EQ(read.size(), 2u);
    EXPECT_EQ(*read.crbegin(), 6);
}

TEST(Vector, ThatIsResizedByOneRarelyMoves) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::vector<int> values(scope);
    int moves = 0;
    for (std::size_t size = 1; size <= 1000; ++size) {
        const int *before = values.data();
        values.resize(size);
        moves += values.data() != before;
        ebb_alloc_low(scope.c_scope(), 1, 1);
    }
    EXPECT_LT(moves, 12);
}

TEST(Vector, OfLargeElementsBeginsWithOne) {
    struct large { char bytes[2000]; };
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::vector<large> values(scope);
    values.push_back({});
    EXPECT_EQ(values.capacity(), 1u);
    ebbtide::vector<int> small(scope);
    small.push_back(1);
    EXPECT_EQ(small.capacity(), 8u);
}

TEST(Vector, HoldsWhatOnlyMoves) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::vector<std::unique_ptr<int>> values(scope);
    for (int i = 0; i < 20; ++i) {
        values.insert(values.begin(), std::make_unique<int>(i));
        ebb_alloc_low(scope.c_scope(), 1, 1);
    }
    values.erase(values.begin() + 3);
    values.resize(25);
    EXPECT_EQ(*values[0], 19);
    EXPECT_EQ(*values[3], 15);
    EXPECT_EQ(values[24], nullptr);
    ebbtide::vector<ebbtide::string> texts(scope);
    for (int i = 0; i < 20; ++i)
        texts.emplace_back(scope, std::to_string(i));
    EXPECT_EQ(texts[19], "19");
}

TEST(Vector, KeepsAlignmentsAboveThatOfMalloc) {
    struct alignas(128) aligned { int value; };
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::vector<aligned> values(scope);
    for (int i = 0; i < 100; ++i) {
        values.push_back({i});
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(&values.back()) % 128, 0u);
    }
}

// Runs `act` on eight elements repeatedly, each time with another copy that throws. No element
// leaks or is destroyed twice; if `is_strong`, nothing changes either.
template <typename Act> void with_every_copy_that_throws(bool is_strong, Act act) {
    int throws = 0;
    for (int left = 0;; ++left) {
        ebbtide::arena arena;
        ebbtide::scope scope = arena.open();
        bool threw = false;
        {
            ebbtide::vector<fragile> values(scope);
            for (int i = 0; i < 8; ++i)
                values.emplace_back(i);
            values.shrink_to_fit();
            if (left % 2 == 0)
                ebb_alloc_low(scope.c_scope(), 1, 1); // it cannot grow in place
            fragile::left = left / 2;
            try {
                act(values);
            } catch (const std::runtime_error &) {
                threw = true;
            }
            fragile::left = -1;
            ASSERT_EQ(fragile::alive, static_cast<int>(values.size()));
            if (threw && is_strong) {
                ASSERT_EQ(values.size(), 8u);
                for (int i = 0; i < 8; ++i)
                    ASSERT_EQ(values[static_cast<std::size_t>(i)].value, i);
            }
            values.emplace_back(9);
        }
        ASSERT_EQ(fragile::alive, 0);
        throws += threw;
        if (!threw && left % 2 == 1)
            break;
    }
    EXPECT_GT(throws, 0);
}

TEST(Vector, LosesNothingIfACopyThrows) {
    const bool strong = true, valid = false;
    with_every_copy_that_throws(strong, [](auto &v) { v.push_back(v[3]); });
    with_every_copy_that_throws(strong, [](auto &v) { v.reserve(100); });
    with_every_copy_that_throws(strong, [](auto &v) { v.resize(100, v[7]); });
    with_every_copy_that_throws(strong, [](auto &v) { v.append(v.data(), 8); });
    with_every_copy_that_throws(strong, [](auto &v) { v.append(5, v[2]); });
    with_every_copy_that_throws(strong, [](auto &v) {
        const fragile more[5];
        v.append(once{more}, once{more + 5});
    });
    with_every_copy_that_throws(valid, [](auto &v) { v.insert(v.begin() + 2, v[7]); });
    with_every_copy_that_throws(valid, [](auto &v) { v.insert(v.begin() + 2, 9, v[7]); });
    with_every_copy_that_throws(valid, [](auto &v) { v.assign(20, v[1]); });
    with_every_copy_that_throws(valid, [](auto &v) { v.erase(v.begin(), v.begin() + 3); });
    with_every_copy_that_throws(strong, [](auto &v) {
        ebbtide::arena arena;
        ebbtide::scope scope = arena.open();
        ebbtide::vector<fragile> copy(scope, v.begin(), v.end());
    });
}

TEST(Vector, RefusesWhatCannotBe) {
    alignas(16) char buffer[256];
    ebbtide::fixed_arena arena(buffer, sizeof buffer);
    ebbtide::scope scope = arena.open();
    ebbtide::vector<int> values(scope, {1, 2, 3});
    const volatile std::size_t huge = SIZE_MAX;
    EXPECT_THROW(values.resize(huge), std::bad_alloc);
    EXPECT_THROW(values.resize(huge, 7), std::bad_alloc);
    EXPECT_THROW(values.reserve(huge / 4), std::bad_alloc);
    EXPECT_THROW(values.append(values.data(), huge - 2), std::bad_alloc);
    EXPECT_THROW(values.insert(values.begin(), huge, 7), std::bad_alloc);
    EXPECT_THROW(values.resize(65), std::bad_alloc);
    EXPECT_THROW((void)values.at(3), std::out_of_range);
    EXPECT_EQ(values, ebbtide::vector<int>(scope, {1, 2, 3}));
    ebbtide::vector<int> none(scope);
    EXPECT_EQ(none.erase(none.begin(), none.end()), none.end());
    none.insert(none.end(), 0, 7);
    none.append(nullptr, 0);
    none.swap(none);
    EXPECT_TRUE(none.empty() && none == none);
    ebbtide::vector<int> moved = std::move(values);
    auto &same = moved;
    moved = std::move(same);
    EXPECT_EQ(moved.size(), 3u);
    values.assign(2, 8);
    EXPECT_EQ(values.back(), 8);
}

TEST(Containers, ThrowALogicErrorInAClosedScope) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::vector<int> numbers(scope);
    ebbtide::vector<std::string> texts(scope);
    ebbtide::string text(scope);
    scope.close();
    EXPECT_THROW(numbers.push_back(1), std::logic_error);
    EXPECT_THROW(numbers.resize(1), std::logic_error);
    EXPECT_THROW(texts.emplace_back("text"), std::logic_error);
    EXPECT_THROW(text += 'x', std::logic_error);
    EXPECT_THROW(text += "text", std::logic_error);
    EXPECT_THROW((void)text.c_str(), std::logic_error);
    EXPECT_TRUE(numbers.empty() && texts.empty() && text.empty());
}

TEST(Containers, OfTwoThreadsShareNothing) {
    const auto fill = [](int id) {
        ebbtide::scope scope = ebbtide::scope::of_thread();
        ebbtide::vector<ebbtide::string> texts(scope);
        for (int i = 0; i < 1000; ++i)
            texts.emplace_back(scope).append_format("%d of %d", i, id);
        EXPECT_EQ(texts[999], "999 of " + std::to_string(id));
    };
    std::thread other(fill, 1);
    fill(2);
    other.join();
}

TEST(StringLikeStd, AfterAnySequenceOfOperations) {
    std::minstd_rand random(7);
    const auto below = [&](std::size_t limit) { return random() % limit; };
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::string ours(scope), other(scope);
    std::string theirs, others;
    for (int turn = 0; turn < 4000; ++turn) {
        const std::string text = std::to_string(turn);
        const std::size_t size = theirs.size(), at = below(size + 1), count = below(40);
        switch (below(24)) {
        case 0: ours += text, theirs += text; break;
        case 1: ours += 'x', theirs += 'x'; break;
        case 2: ours.append(count, 'y'), theirs.append(count, 'y'); break;
        case 3: ours.insert(at, text), theirs.insert(at, text); break;
        case 4: ours.erase(at, count), theirs.erase(at, count); break;
        case 5: ours.resize(at + count, '-'), theirs.resize(at + count, '-'); break;
        case 6: ours = text, theirs = text; break;
        case 7:
            ours.append_format("%s-%zu", text.c_str(), at);
            theirs += text + "-" + std::to_string(at);
            break;
        case 8: ours.reserve(at + count); break;
        case 9: EXPECT_STREQ(ours.c_str(), theirs.c_str()); break;
        case 10: ebb_alloc_low(scope.c_scope(), 1, 1); break;
        case 11: swap(ours, other), swap(theirs, others); break;
        // From here on, the arguments are parts of the text.
        case 12:
            if (size < 500)
                ours += ours, theirs += theirs;
            break;
        case 13:
            ours.insert(at, ours.view().substr(at / 2, count));
            theirs.insert(at, std::string(theirs, at / 2, count));
            break;
        case 14:
            ours = ours.view().substr(at, count);
            theirs = std::string(theirs, at, count);
            break;
        case 15:
            ours.replace(at, count, ours.view().substr(at / 2, count));
            theirs.replace(at, count, std::string(theirs, at / 2, count));
            break;
        case 16:
            ours.append(ours.begin() + at / 2, ours.begin() + at);
            theirs.append(theirs.begin() + at / 2, theirs.begin() + at);
            break;
        // From here on, they are not.
        case 17: ours.replace(at, count, text), theirs.replace(at, count, text); break;
        case 18: ours.insert(at, count, 'i'), theirs.insert(at, count, 'i'); break;
        case 19: {
            const char *place = ours.insert(ours.begin() + at, '!');
            EXPECT_EQ(place, ours.begin() + at);
            theirs.insert(theirs.begin() + at, '!');
            break;
        }
        case 20:
            if (at < size) {
                EXPECT_EQ(ours.erase(ours.cbegin() + at), ours.begin() + at);
                theirs.erase(theirs.begin() + at);
            }
            break;
        case 21: {
            const std::size_t last = at + below(size - at + 1);
            EXPECT_EQ(ours.erase(ours.begin() + at, ours.begin() + last), ours.begin() + at);
            theirs.erase(theirs.begin() + at, theirs.begin() + last);
            break;
        }
        case 22: ours.shrink_to_fit(), theirs.assign(theirs); break;
        default:
            if (size > 0)
                ours.pop_back(), theirs.pop_back();
        }
        ASSERT_EQ(ours, theirs) << turn;
        ASSERT_GE(ours.capacity(), ours.size());
        const std::size_t start = below(theirs.size() + 1);
        const std::string_view part = std::string_view(theirs).substr(start, below(3));
        EXPECT_EQ(ours.find(part, count), theirs.find(part, count));
        EXPECT_EQ(ours.rfind(part, count), theirs.rfind(part, count));
        EXPECT_EQ(ours.find_first_of(part, count), theirs.find_first_of(part, count));
        EXPECT_EQ(ours.find_last_of(part), theirs.find_last_of(part));
        EXPECT_EQ(ours.find_first_not_of(part), theirs.find_first_not_of(part));
        EXPECT_EQ(ours.find_last_not_of(part, count), theirs.find_last_not_of(part, count));
        EXPECT_EQ(ours.find('-'), theirs.find('-'));
        EXPECT_EQ(ours.rfind('-'), theirs.rfind('-'));
        EXPECT_EQ(sign(ours.compare(part)), sign(theirs.compare(part)));
        EXPECT_EQ(ours.substr(start, count), theirs.substr(start, count));
        EXPECT_EQ(ours.starts_with(part), theirs.compare(0, part.size(), part) == 0);
        EXPECT_EQ(ours.contains(text), theirs.find(text) != std::string::npos);
        expect_same_order(ours, other, theirs, others);
    }
}

TEST(String, IsATextWhereverOneIsExpected) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    const ebbtide::string text(scope, "ebb"), same(scope, "ebb"), later(scope, 3, 'f');
    const std::string standard = "ebb";
    EXPECT_TRUE(text == same && text == "ebb" && "ebb" == text && text == standard);
    EXPECT_TRUE(standard == text && text == std::string_view("ebb") && text != later);
    EXPECT_TRUE(text < later && later > text && text <= "ebb" && "ebc" >= text);
    EXPECT_TRUE(text < standard + "x");
#ifdef __cpp_lib_three_way_comparison
    EXPECT_TRUE((text <=> later) < 0);
    static_assert(std::three_way_comparable<ebbtide::string>);
#endif
    EXPECT_EQ(std::hash<ebbtide::string>()(text), std::hash<std::string_view>()("ebb"));
    std::ostringstream out;
    out << text << ' ' << later;
    EXPECT_EQ(out.str(), "ebb fff");
    EXPECT_EQ(std::string(text), "ebb");
    EXPECT_EQ(std::string(text.rbegin(), text.rend()), "bbe");
    EXPECT_EQ(std::string(text.cbegin(), text.cend()), "ebb");
    std::unordered_set<ebbtide::string> set;
    set.emplace(scope, "one");
    set.emplace(scope, "one");
    EXPECT_EQ(set.size(), 1u);
    const std::string_view view = text;
    EXPECT_EQ(view.find('b'), 1u);
    EXPECT_EQ(text.front(), 'e');
    EXPECT_EQ(text.back(), 'b');
    EXPECT_EQ(text[1], 'b');
    EXPECT_EQ(text.at(2), 'b');
    EXPECT_TRUE(text.ends_with("bb") && text.ends_with("ebb") && !text.ends_with("eebb"));
    EXPECT_TRUE(text.starts_with('e') && text.ends_with('b') && text.contains('b'));
    EXPECT_TRUE(text.starts_with("") && !text.starts_with("ebbt") && !text.contains('x'));
    EXPECT_EQ(std::string(text.crbegin(), text.crend()), "bbe");
    char copied[2];
    EXPECT_EQ(text.copy(copied, 2, 1), 2u);
    EXPECT_EQ(std::string_view(copied, 2), "bb");
    EXPECT_EQ(text.substr(3), "");
    EXPECT_THROW((void)text.substr(4), std::out_of_range);
    EXPECT_THROW((void)text.at(3), std::out_of_range);
    const ebbtide::string empty(scope);
    EXPECT_TRUE(empty == "" && empty < text && empty.begin() == empty.end());
    EXPECT_TRUE(empty.find("x") == empty.npos && empty.find("") == 0 && empty.starts_with(""));
}

TEST(String, IsMadeOfPartsAsOfStd) {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    ebbtide::string text(scope);
    text.append("abcdef", 3).insert(0, "-").erase(0, 1).replace(0, 1, "ABC").insert(0, 2, '.');
    EXPECT_EQ(text, "..ABCbc");
    EXPECT_EQ(text.erase(0), "");
    EXPECT_EQ(text.assign(3, 'x').assign("abc", 2), "ab");
    const std::list<char> list{'c', 'd'};
    EXPECT_EQ(text.append(list.begin(), list.end()), "abcd");
    std::istringstream in("ef");
    text.append(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    EXPECT_EQ(text, "abcdef");
    EXPECT_EQ(text.replace(6, 9, "!"), "abcdef!");
    EXPECT_THROW(text.replace(8, 0, "x"), std::out_of_range);
    EXPECT_THROW(text.insert(8, 1, 'x'), std::out_of_range);
    char byte;
    EXPECT_THROW(text.copy(&byte, 1, 8), std::out_of_range);
    text.reserve(100);
    text.shrink_to_fit();
    EXPECT_EQ(text.capacity(), text.size());
}

TEST(String, ThatCannotTakeAllOfAListTakesNothing) {
    alignas(16) char buffer[64];
    ebbtide::fixed_arena arena(buffer, sizeof buffer);
    ebbtide::scope scope = arena.open();
    ebbtide::string text(scope, "ebb");
    const std::list<char> list(100, 'x');
    EXPECT_THROW(text.append(list.begin(), list.end()), std::bad_alloc);
    EXPECT_EQ(text, "ebb");
    const char *kept = text.c_str();
    EXPECT_THROW(text.append_format("%100d", 1), std::bad_alloc);
    EXPECT_STREQ(kept, "ebb");
}

TEST(String, IsReplacedInPlaceByATextThatIsNoLonger) {
    alignas(16) char buffer[64 + (EBB_GUARDS_ ? EBB_REDZONE : 0)];
    ebbtide::fixed_arena arena(buffer, sizeof buffer);
    ebbtide::scope scope = arena.open();
    ebbtide::string text(scope, 64, 'x'); // no byte is free
    EXPECT_EQ(text.replace(60, 4, "abcd").substr(58), "xxabcd");
    EXPECT_EQ(text.replace(58, 6, text.substr(59, 4)).substr(57), "xxabc");
    EXPECT_EQ(text.replace(2, text.npos, "").view(), "xx");
    EXPECT_THROW(text.replace(1, 1, std::string(100, 'y')), std::bad_alloc);
    EXPECT_EQ(text, "xx");
}

TEST(String, RefusesWhatCannotBeAndStaysAsItWas) {
    alignas(16) char buffer[64];
    ebbtide::fixed_arena arena(buffer, sizeof buffer);
    ebbtide::scope scope = arena.open();
    ebbtide::string text(scope, "ebb");
    const volatile std::size_t huge = SIZE_MAX;
    EXPECT_THROW(text.resize(huge), std::bad_alloc);
    EXPECT_THROW(text.append(huge, 'x'), std::bad_alloc);
    EXPECT_THROW(text.reserve(huge), std::bad_alloc);
    EXPECT_THROW(text.append(std::string(100, 'x')), std::bad_alloc);
    EXPECT_THROW(text.insert(0, std::string(100, 'x')), std::bad_alloc);
    EXPECT_THROW(text.append_format("%100d", 1), std::bad_alloc);
    EXPECT_THROW(text.append_format("%lc", static_cast<wint_t>(0x20AC)), std::logic_error);
    EXPECT_THROW(text.insert(4, "x"), std::out_of_range);
    EXPECT_THROW(text.erase(4), std::out_of_range);
    EXPECT_EQ(text, "ebb");
    EXPECT_EQ(text.erase(3), "ebb");
    EXPECT_EQ(text.erase(1, huge), "e");
    text.swap(text);
    auto &same = text;
    text = std::move(same);
    EXPECT_EQ(text, "e");
    text.assign(std::string_view());
    EXPECT_TRUE(text.empty());
}

} // namespace
