// A coroutine whose frame lies in a scope. C++ passes the coroutine's parameters to the operator `new`
// of its promise type.
#include <ebbtide.hpp>
#include <cctype>
#include <coroutine>
#include <exception>
#include <iostream>
#include <utility>

// A sequence that a coroutine yields. The coroutine's first parameter is the scope of its frame.
template <typename T> class generator {
public:
    struct promise_type {
        const T *value = nullptr;
        std::exception_ptr error;

        template <typename... Parameters>
        static void *operator new(std::size_t size, ebbtide::scope &scope, Parameters &&...) {
            return scope.allocate(size);
        }
        static void operator delete(void *, std::size_t) {} // the scope frees it

        generator get_return_object() {
            return generator(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(const T &next) noexcept {
            value = &next;
            return {};
        }
        void return_void() noexcept {}
        void unhandled_exception() { error = std::current_exception(); }
    };

    generator(generator &&other) noexcept : frame(std::exchange(other.frame, nullptr)) {}
    ~generator() {
        if (frame)
            frame.destroy(); // runs the destructors of the coroutine's variables
    }

    // The next value, or null at the end.
    const T *next() {
        frame.resume();
        if (frame.promise().error)
            std::rethrow_exception(std::exchange(frame.promise().error, nullptr));
        return frame.done() ? nullptr : frame.promise().value;
    }

private:
    explicit generator(std::coroutine_handle<promise_type> made) : frame(made) {}
    std::coroutine_handle<promise_type> frame;
};

// The words of a text in capital letters, each in the scope.
generator<std::string_view> shouted(ebbtide::scope &scope, std::string_view text) {
    while (!text.empty()) {
        std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        ebbtide::string copy(scope);
        for (char letter : word)
            copy.push_back(static_cast<char>(std::toupper(static_cast<unsigned char>(letter))));
        co_yield copy.into_view();
    }
}

int main() {
    ebbtide::arena arena;
    ebbtide::scope scope = arena.open();
    auto tide = shouted(scope, "the tide goes out"), land = shouted(scope, "and comes back in");
    while (const std::string_view *word = tide.next())
        std::cout << *word << ' ' << *land.next() << '\n';
} // first the frames end, then their scope
