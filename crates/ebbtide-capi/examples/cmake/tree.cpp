// Derives formulas: for each line of the input, such as (* x (+ x 3)), prints the derivative by x.
//
// The syntax trees are made of pmr containers, as in programs that use
// std::pmr::monotonic_buffer_resource. ebbtide::memory_resource takes its place; its release()
// keeps the memory, so that after the first lines no memory is taken from the heap.
#include <ebbtide.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

namespace {

// A number, a name, or an operation and its operands. All parts of a tree use the resource of its
// root, because they are made by containers, which pass their allocator on to this type.
struct node {
    using allocator_type = std::pmr::polymorphic_allocator<char>;

    explicit node(allocator_type allocator) : name(allocator), operands(allocator) {}
    node(double value, allocator_type allocator) : node(allocator) { number = value; }
    node(std::string_view text, allocator_type allocator) : node(allocator) { name = text; }
    node(const node &other, allocator_type allocator)
        : number(other.number), name(other.name, allocator), operands(other.operands, allocator) {}
    node(node &&other, allocator_type allocator)
        : number(other.number), name(std::move(other.name), allocator),
          operands(std::move(other.operands), allocator) {}
    // A copy without an allocator would be in the default resource.
    node(const node &) = delete;
    node(node &&) = default;
    node &operator=(const node &) = default;
    node &operator=(node &&) = default;

    bool is(double value) const { return name.empty() && number == value; }
    allocator_type allocator() const { return operands.get_allocator(); }

    double number = 0;
    std::pmr::string name; // empty for a number
    std::pmr::vector<node> operands;
};

struct error {
    std::string_view what;
    std::size_t position;
};

class parser {
public:
    parser(std::string_view text, node::allocator_type allocator)
        : text_(text), allocator_(allocator) {}

    node formula() {
        node whole = part(0);
        if (next() != 0)
            throw error{"expected the end", position_};
        return whole;
    }

private:
    static constexpr int MOST_DEPTH = 100;

    node part(int depth) {
        if (depth == MOST_DEPTH)
            throw error{"nested too deep", position_};
        if (next() != '(')
            return word();
        position_++;
        node made = word();
        if (made.name != "+" && made.name != "*" && made.name != "sin" && made.name != "cos")
            throw error{"unknown operation", position_};
        while (next() != ')') {
            if (next() == 0)
                throw error{"expected ')'", position_};
            made.operands.push_back(part(depth + 1));
        }
        if (made.name.size() == 3 && made.operands.size() != 1)
            throw error{"expected one operand", position_};
        position_++;
        return made;
    }

    // A name or a number.
    node word() {
        next();
        const std::size_t length =
            std::min(text_.find_first_of(" ()", position_), text_.size()) - position_;
        if (length == 0)
            throw error{"expected a name or a number", position_};
        const std::string_view found = text_.substr(position_, length);
        position_ += length;
        // strtod needs a 0 behind the text.
        const std::pmr::string digits(found, allocator_);
        char *end;
        const double number = std::strtod(digits.c_str(), &end);
        return *end == 0 ? node(number, allocator_) : node(found, allocator_);
    }

    // The next character that is not a space; 0 at the end.
    char next() {
        position_ = std::min(text_.find_first_not_of(' ', position_), text_.size());
        return position_ < text_.size() ? text_[position_] : '\0';
    }

    std::string_view text_;
    node::allocator_type allocator_;
    std::size_t position_ = 0;
};

// A sum or a product without what does not change its value.
node simplified(node made) {
    if (made.name != "+" && made.name != "*")
        return made;
    const bool is_sum = made.name == "+";
    double constant = is_sum ? 0 : 1;
    std::pmr::vector<node> others(made.allocator());
    for (node &operand : made.operands) {
        if (!operand.name.empty())
            others.push_back(std::move(operand));
        else if (is_sum)
            constant += operand.number;
        else
            constant *= operand.number;
    }
    if (others.empty() || (!is_sum && constant == 0))
        return node(constant, made.allocator());
    if (constant != (is_sum ? 0 : 1))
        others.emplace(others.begin(), constant);
    if (others.size() == 1)
        return std::move(others.front());
    made.operands = std::move(others);
    return made;
}

node derivative(const node &formula) {
    const node::allocator_type allocator = formula.allocator();
    if (formula.operands.empty())
        return node(formula.name == "x" ? 1 : 0, allocator);
    node sum("+", allocator);
    if (formula.name == "+") {
        for (const node &operand : formula.operands)
            sum.operands.push_back(derivative(operand));
        return simplified(std::move(sum));
    }
    // A product with one factor derived, for each factor. Of a function, its derivative as well.
    for (std::size_t index = 0; index < formula.operands.size(); index++) {
        node product("*", allocator);
        if (formula.name == "*") {
            product.operands = formula.operands;
            product.operands[index] = derivative(formula.operands[index]);
        } else {
            const bool is_sine = formula.name == "sin";
            product.operands.emplace_back(is_sine ? 1.0 : -1.0);
            product.operands.emplace_back(is_sine ? std::string_view("cos") : "sin");
            product.operands.back().operands = formula.operands;
            product.operands.push_back(derivative(formula.operands[0]));
        }
        sum.operands.push_back(simplified(std::move(product)));
    }
    return simplified(std::move(sum));
}

void print(const node &formula, std::ostream &to) {
    if (formula.operands.empty() && formula.name.empty()) {
        to << formula.number;
    } else if (formula.operands.empty()) {
        to << formula.name;
    } else {
        to << '(' << formula.name;
        for (const node &operand : formula.operands)
            print(operand, to << ' ');
        to << ')';
    }
}

} // namespace

int main() {
    ebbtide::memory_resource memory;
    for (std::string line; std::getline(std::cin, line);) {
        try {
            const node formula = parser(line, &memory).formula();
            print(derivative(formula), std::cout);
            std::cout << '\n';
        } catch (const error &error) {
            std::cout << "error: " << error.position + 1 << ": " << error.what << '\n';
        }
        // No container is left that could deallocate later.
        memory.release();
    }
    const ebbtide::stats stats = memory.stats();
    std::cerr << stats.held << " bytes held\n";
}
