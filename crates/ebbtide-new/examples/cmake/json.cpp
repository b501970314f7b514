// nlohmann-json in an arena, of which it is unaware. Reads JSON texts, one per line, and prints the
// number of values of each type. The data kept of each text outlives its scope.
#include <ebbtide_new.hpp>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace {

// The number of values of each type.
void count(const nlohmann::json &value, std::map<std::string, int> &counts) {
    counts[value.type_name()]++;
    if (value.is_structured())
        for (const auto &element : value) count(element, counts);
}

std::string described(const std::string &text) {
    std::map<std::string, int> counts;
    try {
        count(nlohmann::json::parse(text), counts);
    } catch (const nlohmann::json::parse_error &error) {
        return "no JSON: byte " + std::to_string(error.byte);
    }
    std::string result;
    for (const auto &[type, number] : counts)
        result += (result.empty() ? "" : ", ") + std::to_string(number) + ' ' + type;
    return result;
}

} // namespace

int main() {
    std::map<std::string, int> seen;
    for (std::string line; std::getline(std::cin, line);) {
        // Everything that is allocated in here comes from an arena: the document, the counts, the
        // text.
        std::string description = ebbtide::in_arena("json", [&] { return described(line); });
        // Copied, so that no small result keeps a chunk of an arena.
        seen[std::string(description)]++;
    }
    for (const auto &[description, number] : seen)
        std::cout << number << ": " << description << '\n';
    std::cerr << ebbtide::report_text() << '\n';
}
