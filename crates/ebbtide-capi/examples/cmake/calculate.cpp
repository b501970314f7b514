// Evaluates the expressions of its input, a line each. The tree of a line lies in a scope that ends
// with the line, so its nodes need no destructors and no freeing.
#include <ebbtide.hpp>

#include <cctype>
#include <iostream>
#include <string>

namespace {

struct node {
    char operation; // 0 for a number
    double number;
    const node *left, *right;
};

class parser {
public:
    parser(ebbtide::scope &scope, std::string_view text) : scope_(scope), text_(text) {}

    const node *sum() {
        const node *left = product();
        while (at('+') || at('-')) {
            const char operation = text_[position_++];
            left = scope_.make<node>(node{operation, 0, left, product()});
        }
        return left;
    }

private:
    const node *product() {
        const node *left = factor();
        while (at('*') || at('/')) {
            const char operation = text_[position_++];
            left = scope_.make<node>(node{operation, 0, left, factor()});
        }
        return left;
    }

    const node *factor() {
        if (at('(')) {
            ++position_;
            const node *inner = sum();
            if (at(')'))
                ++position_;
            return inner;
        }
        double number = 0;
        while (at_digit())
            number = 10 * number + (text_[position_++] - '0');
        return scope_.make<node>(node{0, number, nullptr, nullptr});
    }

    bool at(char c) {
        while (position_ < text_.size() && text_[position_] == ' ')
            ++position_;
        return position_ < text_.size() && text_[position_] == c;
    }

    bool at_digit() {
        at(' ');
        return position_ < text_.size() &&
               std::isdigit(static_cast<unsigned char>(text_[position_])) != 0;
    }

    ebbtide::scope &scope_;
    std::string_view text_;
    std::size_t position_ = 0;
};

double value(const node *tree) {
    switch (tree->operation) {
    case '+': return value(tree->left) + value(tree->right);
    case '-': return value(tree->left) - value(tree->right);
    case '*': return value(tree->left) * value(tree->right);
    case '/': return value(tree->left) / value(tree->right);
    default: return tree->number;
    }
}

} // namespace

int main() {
    ebbtide::arena arena;
    for (std::string line; std::getline(std::cin, line);) {
        ebbtide::scope scope = arena.open();
        std::cout << value(parser(scope, line).sum()) << '\n';
    }
}
