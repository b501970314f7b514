/* Shared by both programs. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <ebbtide.h>

/* Exit codes. */
enum { DONE = 0, REFUSED = 1, USAGE = 2 };

static inline int end_with(int code, const char *message) {
    fprintf(stderr, "%s\n", message);
    return code;
}

/* Reads a decimal number. */
static inline bool parse_count(const char *text, size_t *count) {
    *count = 0;
    if (*text == 0)
        return false;
    for (; *text != 0; text++) {
        const size_t digit = (size_t)(*text - '0');
        if (*text < '0' || *text > '9' || *count > (SIZE_MAX - digit) / 10)
            return false;
        *count = *count * 10 + digit;
    }
    return true;
}

#endif
