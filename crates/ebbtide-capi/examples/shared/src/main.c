/* Counts the words of its arguments: C opens a scope, Rust allocates in it, C reads the result and
 * allocates more. */
#include "shared.h"

static int fail(const char *who) {
    fprintf(stderr, "%s has no memory\n", who);
    return 1;
}

int main(int count, char **arguments) {
    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_scope s = ebb_open(arena);
    ebb_bytes text = {0};
    for (int i = 1; i < count; i++)
        if (!ebb_bytes_printf(&s, &text, "%s ", arguments[i]))
            return fail("C");

    const pieces split = split_text(&s, text.data, text.length);
    if (split.items == NULL)
        return fail("C");
    const words counted = count_words(&s, split);
    if (counted.items == NULL)
        return fail("Rust");

    for (size_t i = 0; i < counted.count; i++) {
        const word *item = &counted.items[i];
        const char *line = ebb_sprintf(&s, "%zu %.*s", item->count, (int)item->text.length,
                                       item->text.data);
        if (line == NULL)
            return fail("C");
        puts(line);
    }
    ebb_close(&s);
    ebb_arena_free(arena);
    return 0;
}
