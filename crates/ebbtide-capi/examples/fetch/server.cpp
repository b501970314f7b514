// A server that counts words: POST a text to /words. GET /greet?NAME greets, GET /stats shows
// memory. It listens on the port given as its argument, or on a free one. After SIGINT or SIGTERM,
// it finishes the requests that it is serving, and ends.
//
// Each connection has a thread, and an arena from a pool. Each request has a scope of this arena,
// which holds the request, temporary data and the answer; nothing is freed individually. The arena
// keeps its chunks, so requests of the usual size take no memory from the system.
#include "http.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <netinet/in.h>
#include <poll.h>
#include <set>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>

namespace {

constexpr std::size_t MOST_CONNECTIONS = 64;

// The memory that one request may take.
ebbtide::options arena_options() {
    ebbtide::options options;
    options.limit = 8 * 1024 * 1024;
    return options;
}

ebbtide::pool arenas(arena_options());
std::atomic<std::size_t> held{0}; // bytes of all arenas
std::atomic<std::size_t> served{0};

using words = std::unordered_map<
    std::string_view, std::size_t, std::hash<std::string_view>, std::equal_to<std::string_view>,
    ebbtide::allocator<std::pair<const std::string_view, std::size_t>>>;

// The words of a text, most frequent first, one per line.
void count_words(ebbtide::scope &scope, std::string_view text, ebbtide::string &to) {
    words counts(0, scope);
    const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
    for (auto at = text.begin(); at != text.end();) {
        const auto start = std::find_if(at, text.end(), is_letter);
        at = std::find_if_not(start, text.end(), is_letter);
        if (start != at)
            counts[text.substr(start - text.begin(), at - start)]++;
    }
    ebbtide::vector<words::value_type *> sorted(scope);
    sorted.reserve(counts.size());
    for (auto &word : counts)
        sorted.push_back(&word);
    std::sort(sorted.begin(), sorted.end(), [](const auto *a, const auto *b) {
        return a->second != b->second ? a->second > b->second : a->first < b->first;
    });
    for (const auto *word : sorted) {
        const auto length = static_cast<int>(word->first.size());
        to.append_format("%zu %.*s\n", word->second, length, word->first.data());
    }
}

// Writes the body of the answer, and returns its status.
int answer(ebbtide::scope &scope, const http::request &request, ebbtide::string &body) {
    const auto is = [&](std::string_view path, std::string_view method) {
        if (request.path == path && request.method != method)
            throw http::error{405};
        return request.path == path;
    };
    if (is("/words", "POST")) {
        count_words(scope, request.body, body);
    } else if (is("/greet", "GET")) {
        body += "Hello, ";
        body += request.query;
        body += "!\n";
    } else if (is("/stats", "GET")) {
        body.append_format("%zu requests, %zu bytes held\n", served.load(), held.load());
    } else {
        return 404;
    }
    return 200;
}

bool respond(ebbtide::scope &scope, const http::connection &client, int status,
             std::string_view body, bool keep_alive) {
    if (status != 200)
        body = http::reason(status);
    ebbtide::string text(scope);
    text.append_format("HTTP/1.1 %d %s\r\nContent-Length: %zu\r\nConnection: %s\r\n\r\n", status,
                       http::reason(status), body.size(), keep_alive ? "keep-alive" : "close");
    text += body;
    return client.write(text);
}

// Serves a request in a scope. False if it is the last one of the connection.
bool serve_one(ebbtide::arena &arena, http::connection &client) {
    int failure = 503;
    try {
        ebbtide::scope scope = arena.open();
        http::request request;
        if (!client.read(scope, request))
            return false;
        ebbtide::string body(scope);
        const int status = answer(scope, request, body);
        served++;
        return respond(scope, client, status, body, request.keep_alive) && request.keep_alive;
    } catch (const http::error &error) {
        failure = error.status;
    } catch (const std::bad_alloc &) {
        // The request took more than the arena's limit: its memory is free again by now.
    }
    ebbtide::scope scope = arena.open();
    respond(scope, client, failure, "", false);
    return false;
}

void serve_all(int socket) {
    auto loan = arenas.get();
    http::connection client(socket);
    std::size_t before = loan->stats().held;
    for (bool goes_on = true; goes_on;) {
        goes_on = serve_one(*loan, client);
        const std::size_t now = loan->stats().held;
        held += now - before;
        before = now;
    }
}

// The sockets of the connections that are open, each of which has a thread.
class connections {
public:
    // Starts a thread for a connection. False if there are too many.
    bool start(int socket) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (open_.size() == MOST_CONNECTIONS)
            return false;
        open_.insert(socket);
        const timeval patience = {30, 0};
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        std::thread([this, socket] {
            try {
                serve_all(socket);
            } catch (const std::exception &error) {
                std::fprintf(stderr, "a connection failed: %s\n", error.what());
            }
            const std::lock_guard<std::mutex> ended(mutex_);
            close(socket);
            open_.erase(socket);
            changed_.notify_all();
        }).detach();
        return true;
    }

    // Lets the threads finish their request, and waits for them.
    void finish() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (const int socket : open_)
            shutdown(socket, SHUT_RD);
        changed_.wait(lock, [this] { return open_.empty(); });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::set<int> open_;
};

int stop_pipe[2];

void stop(int) {
    [[maybe_unused]] const ssize_t written = write(stop_pipe[1], "", 1);
}

bool parse_port(std::string_view text, in_port_t &port) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
    return failure == std::errc() && end == text.data() + text.size();
}

// A socket that listens at the port, which is updated if it was 0. -1 if that fails.
int listen_at(in_port_t &port) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    const int yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    socklen_t size = sizeof address;
    const auto generic = reinterpret_cast<sockaddr *>(&address);
    if (bind(listener, generic, size) != 0 || listen(listener, 64) != 0 ||
        getsockname(listener, generic, &size) != 0)
        return -1;
    port = ntohs(address.sin_port);
    return listener;
}

} // namespace

int main(int count, char **arguments) {
    in_port_t port = 0;
    if (count > 2 || (count == 2 && !parse_port(arguments[1], port))) {
        std::fputs("usage: server [PORT]\n", stderr);
        return 2;
    }
    const int listener = listen_at(port);
    if (listener < 0 || pipe(stop_pipe) != 0) {
        std::perror("cannot listen");
        return 1;
    }
    std::signal(SIGINT, stop);
    std::signal(SIGTERM, stop);
    std::printf("listening on port %u\n", port);
    std::fflush(stdout);

    connections open;
    pollfd sources[] = {{listener, POLLIN, 0}, {stop_pipe[0], POLLIN, 0}};
    while (sources[1].revents == 0) {
        if (poll(sources, 2, -1) < 0 || sources[0].revents == 0)
            continue;
        const int client = accept(listener, nullptr, nullptr);
        if (client >= 0 && !open.start(client))
            close(client);
    }
    close(listener);
    open.finish();
    std::printf("%zu requests served\n", served.load());
    return 0;
}
