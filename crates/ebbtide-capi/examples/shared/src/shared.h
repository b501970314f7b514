/* What C and Rust share; src/lib.rs has the same in Rust. */
#ifndef SHARED_H
#define SHARED_H

#include <ebbtide.h>

/* A piece of a text, without a 0 behind it. */
typedef struct piece {
    const char *data;
    size_t length;
} piece;

/* Pieces in a scope. NULL if there was no memory. */
typedef struct pieces {
    const piece *items;
    size_t count;
} pieces;

/* A word, and how often it occurs. */
typedef struct word {
    piece text;
    size_t count;
} word;

/* Words in a scope. NULL if there was no memory. */
typedef struct words {
    const word *items;
    size_t count;
} words;

/* In C: splits a text at its spaces. */
pieces split_text(ebb_scope *s, const char *text, size_t length);

/* In Rust: counts equal pieces, and sorts them. The words lie in the scope, too. */
words count_words(ebb_scope *s, pieces from);

#endif
