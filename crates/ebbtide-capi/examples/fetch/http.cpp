#include "http.hpp"

#include <cctype>
#include <charconv>
#include <sys/socket.h>

namespace http {

namespace {

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); i++)
        if (std::tolower(static_cast<unsigned char>(a[i])) !=
            std::tolower(static_cast<unsigned char>(b[i])))
            return false;
    return true;
}

// Splits the text at the first separator, and returns what stands before it.
std::string_view before(std::string_view &text, std::string_view separator) {
    const std::size_t at = text.find(separator);
    const std::string_view first = text.substr(0, at);
    text.remove_prefix(at == text.npos ? text.size() : at + separator.size());
    return first;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

std::size_t parse_length(std::string_view text) {
    std::size_t length = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (failure == std::errc::result_out_of_range)
        throw error{413};
    if (text.empty() || failure != std::errc() || end != text.data() + text.size())
        throw error{400};
    return length;
}

// Parses the request line and the headers, and returns the length of the body.
std::size_t parse_head(std::string_view head, request &request) {
    std::string_view line = before(head, "\r\n");
    request.method = before(line, " ");
    request.path = before(line, " ");
    if (request.method.empty() || request.path.empty() || request.path.front() != '/')
        throw error{400};
    if (line != "HTTP/1.1" && line != "HTTP/1.0")
        throw error{line.substr(0, 5) == "HTTP/" ? 505 : 400};
    request.keep_alive = line == "HTTP/1.1";
    request.query = request.path;
    request.path = before(request.query, "?");

    std::size_t length = 0;
    bool has_length = false;
    while (!head.empty()) {
        std::string_view value = before(head, "\r\n");
        if (value.find(':') == value.npos)
            throw error{400};
        const std::string_view name = before(value, ":");
        value = trimmed(value);
        if (equal_ignoring_case(name, "Content-Length")) {
            const std::size_t parsed = parse_length(value);
            // Two lengths would allow a client to smuggle a request into another one's body.
            if (has_length && parsed != length)
                throw error{400};
            has_length = true;
            length = parsed;
        } else if (equal_ignoring_case(name, "Transfer-Encoding")) {
            throw error{501};
        } else if (equal_ignoring_case(name, "Connection") && equal_ignoring_case(value, "close")) {
            request.keep_alive = false;
        }
    }
    if (length > MOST_BODY)
        throw error{413};
    return length;
}

} // namespace

bool connection::more(ebbtide::vector<char> &bytes) const {
    char buffer[4096];
    const ssize_t count = recv(socket_, buffer, sizeof buffer, 0);
    if (count > 0)
        bytes.append(buffer, static_cast<std::size_t>(count));
    return count > 0;
}

bool connection::read(ebbtide::scope &scope, request &request) {
    // The last block of the low end, so it grows in place within a chunk.
    ebbtide::vector<char> bytes(scope);
    bytes.append(rest_.data(), rest_.size());
    rest_.clear();
    std::size_t end;
    while ((end = std::string_view(bytes.data(), bytes.size()).find("\r\n\r\n")) ==
           std::string_view::npos) {
        if (bytes.size() > MOST_HEAD)
            throw error{431};
        const bool is_empty = bytes.empty();
        if (!more(bytes)) {
            if (is_empty)
                return false;
            throw error{400};
        }
    }
    // A copy, because the block of `bytes` moves when the chunk is full.
    const std::size_t length = parse_head(scope.copy({bytes.data(), end}), request);
    const std::size_t total = end + 4 + length;
    while (bytes.size() < total)
        if (!more(bytes))
            throw error{400};
    rest_.assign(bytes.begin() + total, bytes.end());
    request.body = {bytes.into_span().data() + end + 4, length};
    return true;
}

bool connection::write(std::string_view text) const {
    while (!text.empty()) {
        const ssize_t count = send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
        if (count <= 0)
            return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

const char *reason(int status) {
    switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Content Too Large";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Internal Server Error";
    }
}

} // namespace http
