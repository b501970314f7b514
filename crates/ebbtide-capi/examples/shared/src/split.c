/* The part in C: allocates in a scope that C or Rust has opened. */
#include "shared.h"

pieces split_text(ebb_scope *s, const char *text, size_t length) {
    EBB_ARRAY(piece) found = {0};
    for (size_t at = 0; at < length; at++) {
        const size_t start = at;
        while (at < length && text[at] != ' ')
            at++;
        if (at > start && !ebb_push(s, &found, (piece){text + start, at - start}))
            return (pieces){NULL, 0};
    }
    /* Also without pieces the array is not NULL. */
    if (!ebb_reserve(s, &found, 1))
        return (pieces){NULL, 0};
    return (pieces){found.data, found.length};
}
