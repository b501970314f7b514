// Each request throws through two frames with blocks, and is caught by its handler.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define NEVER_INLINED __attribute__((noinline))

NEVER_INLINED void fail(int number) {
    auto block = std::make_unique<int>(number);
    throw std::runtime_error("the number is " + std::to_string(*block) + ", which is refused");
}

NEVER_INLINED void middle(int number) {
    std::vector<std::unique_ptr<int>> blocks;
    for (int index = 0; index < 20; index++) {
        blocks.push_back(std::make_unique<int>(index));
    }
    fail(number + *blocks.back());
}

NEVER_INLINED long handle(int number) {
    try {
        middle(number);
    } catch (const std::runtime_error &error) {
        return static_cast<long>(std::string(error.what()).size());
    }
    return 0;
}

int main(int count, char **arguments) {
    int calls = count > 1 ? std::atoi(arguments[1]) : 100;
    long sum = 0;
    for (int number = 0; number < calls; number++) {
        sum += handle(number);
    }
    std::printf("sum %ld calls %d\n", sum, calls);
}
