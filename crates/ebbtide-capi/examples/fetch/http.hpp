// HTTP/1.1 requests, read from a connection into a scope.
#ifndef HTTP_HPP
#define HTTP_HPP

#include <ebbtide.hpp>

#include <string_view>

namespace http {

constexpr std::size_t MOST_HEAD = 8 * 1024;
constexpr std::size_t MOST_BODY = 1024 * 1024;

// Views of the memory that a request was read into.
struct request {
    std::string_view method, path, query, body;
    bool keep_alive = true;
};

// A request that cannot be served. The connection is closed after the answer.
struct error {
    int status;
};

// A connection to a client. It does not own the socket.
class connection {
public:
    explicit connection(int socket) : socket_(socket) {}

    // Reads a request into the scope. False if the client has closed the connection. What was read
    // beyond the request stays in `rest_`, for the next one. Throws `error`.
    bool read(ebbtide::scope &scope, request &request);

    // Writes all of the text. False if the client is gone.
    bool write(std::string_view text) const;

private:
    // Reads more bytes. False at the end.
    bool more(ebbtide::vector<char> &bytes) const;

    int socket_;
    std::vector<char> rest_;
};

const char *reason(int status);

} // namespace http

#endif
