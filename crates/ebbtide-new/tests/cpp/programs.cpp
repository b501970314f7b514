// Programs that are unaware of arenas: `programs NAME TURNS` runs one of them TURNS times, and
// prints the sum of its answers. Compiled with -DTRANSPARENT, each run is in an arena, unless there
// is a third argument. With -DLIBRARIES, there are four more, which use libraries. With -DSERVE, the
// benchmarks on old heaps include their `serve.h` before it, and run it again for each line of input.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#ifdef LIBRARIES
#define BOOST_BIND_GLOBAL_PLACEHOLDERS // or Boost's own use of it warns
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <re2/re2.h>
#include <tinyxml2.h>
#include <yaml-cpp/yaml.h>
#endif

#ifdef TRANSPARENT
#include <ebbtide_new.hpp>
template <typename F> std::size_t in_arena(F f) { return ebbtide::in_arena(f); }
#else
template <typename F> std::size_t in_arena(F f) { return f(); }
#endif

namespace {

// Numbers that look random and are the same in each run.
struct numbers {
    std::uint64_t state = 42;
    std::size_t below(std::size_t end) {
        state = state * 6364136223846793005u + 1;
        return (state >> 33) % end;
    }
};

const char *const words[] = {"ebb", "tide", "arena", "scope", "harbour", "lighthouse", "a", "of",
                             "the", "moon", "cartographer's", "estuary", "in", "and", "sandbank"};

std::string word(numbers &random) { return words[random.below(std::size(words))]; }

// Records with strings, numbers and lists: about 455 kB of JSON.
std::string document(std::size_t records) {
    numbers random;
    std::ostringstream out;
    out << '[';
    for (std::size_t i = 0; i < records; i++) {
        out << (i ? "," : "") << "{\"id\":" << i << ",\"name\":\"" << word(random) << ' '
            << word(random) << " the " << i << "th\",\"position\":[" << random.below(1000) << '.'
            << random.below(1000) << ',' << random.below(90) << "],\"tags\":[";
        for (std::size_t tag = 0, count = random.below(6); tag < count; tag++)
            out << (tag ? ",\"" : "\"") << word(random) << '"';
        out << "],\"parent\":{\"id\":" << random.below(records) << ",\"name\":\"" << word(random)
            << "\"},\"open\":" << (random.below(2) ? "true" : "false") << '}';
    }
    out << ']';
    return out.str();
}

std::size_t json(const std::string &text) {
    nlohmann::json parsed = nlohmann::json::parse(text);
    std::size_t sum = parsed.size();
    for (const auto &record : parsed) sum += record["tags"].size() + record["name"].size();
    return sum;
}

std::size_t json_round_trip(const std::string &text) {
    return nlohmann::json::parse(text).dump().size();
}

#ifdef LIBRARIES
std::size_t yaml(const std::string &text) {
    const YAML::Node parsed = YAML::Load(text);
    std::size_t sum = parsed.size();
    for (const auto &record : parsed) sum += record["tags"].size() + record["id"].as<std::size_t>();
    return sum;
}

std::size_t property_tree(const std::string &text) {
    std::istringstream in(text);
    boost::property_tree::ptree parsed;
    boost::property_tree::read_json(in, parsed);
    std::size_t sum = parsed.size();
    for (const auto &record : parsed) sum += record.second.get<std::size_t>("parent.id");
    return sum;
}

std::string xml_of(const std::string &text) {
    std::ostringstream out;
    out << "<records>";
    for (const auto &record : nlohmann::json::parse(text)) {
        out << "<record id=\"" << record["id"] << "\"><name>" << record["name"].get<std::string>()
            << "</name>";
        for (const auto &tag : record["tags"]) out << "<tag>" << tag.get<std::string>() << "</tag>";
        out << "</record>";
    }
    out << "</records>";
    return out.str();
}

std::size_t xml(const std::string &text) {
    tinyxml2::XMLDocument parsed;
    if (parsed.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) std::abort();
    std::size_t sum = 0;
    const tinyxml2::XMLElement *record = parsed.RootElement()->FirstChildElement();
    for (; record != nullptr; record = record->NextSiblingElement())
        sum += record->UnsignedAttribute("id") + std::strlen(record->FirstChildElement()->GetText());
    return sum;
}

// Patterns that are compiled and used once, as in a search.
std::size_t search(const std::vector<std::string> &lines) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < lines.size(); i += 100) {
        const re2::RE2 pattern("(\\w+) (?i:THAT|which) begins.*" + lines[i].substr(25, 6) + "|[0-9]{4,}$");
        for (std::size_t j = i; j < i + 100; j++) sum += re2::RE2::PartialMatch(lines[j], pattern);
    }
    return sum;
}

#endif // LIBRARIES

std::size_t regex(const std::string &text) {
    std::regex pattern("([a-z]+)@([a-z]+)\\.(org|net|example)|(\\d+)-(\\d+)(:\\w*)?");
    std::size_t sum = 0;
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
        sum += (*match)[0].length() + match->size();
    return sum;
}

std::size_t group(const std::vector<std::string> &lines) {
    std::map<std::string, std::vector<std::string>> groups;
    for (const std::string &line : lines) groups[line.substr(0, 24)].push_back(line);
    std::size_t sum = groups.size();
    for (auto &group : groups) {
        std::sort(group.second.begin(), group.second.end());
        sum += group.second.front().size();
    }
    return sum;
}

struct node {
    char kind;
    std::string name;
    std::vector<std::unique_ptr<node>> children;
};

// A recursive-descent parser of sums of products of names and parentheses.
struct parser {
    const char *next;

    std::unique_ptr<node> make(char kind) {
        auto made = std::make_unique<node>();
        made->kind = kind;
        return made;
    }
    std::unique_ptr<node> sum() {
        auto made = make('+');
        made->children.push_back(product());
        while (*next == '+') {
            next++;
            made->children.push_back(product());
        }
        return made;
    }
    std::unique_ptr<node> product() {
        auto made = make('*');
        made->children.push_back(factor());
        while (*next == '*') {
            next++;
            made->children.push_back(factor());
        }
        return made;
    }
    std::unique_ptr<node> factor() {
        if (*next == '(') {
            next++;
            auto inner = sum();
            next++;
            return inner;
        }
        auto made = make('n');
        const char *start = next;
        while (*next >= 'a' && *next <= 'z') next++;
        made->name.assign(start, next);
        return made;
    }
};

std::size_t count(const node &tree) {
    std::size_t sum = 1 + tree.name.size();
    for (const auto &child : tree.children) sum += count(*child);
    return sum;
}

std::string expression(numbers &random, int depth) {
    std::string text;
    for (std::size_t i = 0, terms = 1 + random.below(3); i < terms; i++) {
        if (i) text += random.below(2) ? "+" : "*";
        if (depth > 0 && random.below(3)) {
            text += '(' + expression(random, depth - 1) + ')';
        } else {
            text += i % 2 ? "velocity" : "positionofthetide";
        }
    }
    return text;
}

std::size_t ast(const std::string &text) {
    parser source{text.c_str()};
    return count(*source.sum());
}

std::size_t split(const std::string &text) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ' ');) parts.push_back(part + "/" + part);
    std::unordered_map<std::string, std::size_t> counts;
    for (const std::string &part : parts) counts[part]++;
    std::string joined;
    for (const auto &entry : counts) joined += entry.first + ",";
    return joined.size() + parts.size();
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const std::string name = argv[1];
    const long turns = std::atol(argv[2]);
    numbers random;
    const std::string large = document(3300), small = document(4);
#ifdef LIBRARIES
    const std::string medium = document(300), records = name == "xml" ? xml_of(large) : "";
#endif
    std::string mail, prose, formula;
    std::vector<std::string> lines;
    for (int i = 0; i < 400; i++) {
        mail += word(random) + "@" + word(random) + ".org, " + std::to_string(i) + "-7:x ";
    }
    for (int i = 0; i < 4000; i++) {
        prose += word(random) + word(random) + word(random) + ' ';
        lines.push_back("the line that begins with " + word(random));
        lines.back() += std::to_string(random.below(4000));
    }
    for (int i = 0; i < 200; i++) formula += (i ? "+" : "") + expression(random, 5);

    auto work = [&]() -> std::size_t {
        if (name == "json") return json(large);
        if (name == "json_round_trip") return json_round_trip(large);
        if (name == "json_small") return json(small);
#ifdef LIBRARIES
        if (name == "yaml") return yaml(medium);
        if (name == "property_tree") return property_tree(large);
        if (name == "xml") return xml(records);
        if (name == "search") return search(lines);
#endif
        if (name == "regex") return regex(mail);
        if (name == "group") return group(lines);
        if (name == "ast") return ast(formula);
        if (name == "split") return split(prose);
        std::abort();
    };
    auto sum = [&] {
        std::size_t sum = 0;
        for (long turn = 0; turn < turns; turn++) sum += argc == 3 ? in_arena(work) : work();
        return sum;
    };
#ifdef SERVE
    for (std::size_t result = 0; next_batch(result);) result = sum();
#else
    std::printf("%zu\n", sum());
#endif
    return large.size() > 400000 ? 0 : 1;
}
