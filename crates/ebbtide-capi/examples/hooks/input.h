/* What the examples share: the standard input, and the size of a scope. */
#ifndef INPUT_H
#define INPUT_H

#include <ebbtide_hooks.h>

/* The standard input as a string in the scope. Ends the program if there is no memory. */
static inline const char *read_input(ebb_scope *s, size_t *length) {
    ebb_bytes text = {0};
    const char *string;
    size_t read;
    while (ebb_bytes_reserve(s, &text, 4096) &&
           (read = fread(text.data + text.length, 1, text.capacity - text.length, stdin)) > 0)
        text.length += read;
    *length = text.length;
    string = ebb_bytes_text(s, &text);
    if (string == NULL) {
        fprintf(stderr, "%s\n", ebb_status_text(ebb_last_status()));
        exit(1);
    }
    return string;
}

static inline size_t bytes_in_use(const ebb_scope *s) {
    ebb_stats stats = {0};
    (void)ebb_scope_stats(s, &stats);
    return stats.used;
}

#endif
