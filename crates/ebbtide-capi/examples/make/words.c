/* Counts the words of its input and prints the most frequent ones. Words that are kept lie in the
   scope of one arena. Each word is read into the scope of another, which is rewound after it. */
#include <ctype.h>
#include <ebbtide.h>

typedef struct word {
    struct word *next;
    const char *text;
    size_t count;
} word;

enum { SLOTS = 4096, MOST = 5 };

static size_t slot_of(const char *text) {
    size_t hash = 5381;
    for (; *text != 0; text++)
        hash = hash * 33 + (unsigned char)*text;
    return hash % SLOTS;
}

static bool count_word(ebb_scope *s, word **table, const char *text) {
    word **link = &table[slot_of(text)];
    while (*link != NULL && strcmp((*link)->text, text) != 0)
        link = &(*link)->next;
    if (*link == NULL) {
        word *made = ebb_new_zeroed(s, word);
        if (made == NULL || (made->text = ebb_strdup(s, text)) == NULL)
            return false;
        *link = made;
    }
    (*link)->count++;
    return true;
}

/* Reads a word in lower case. False at the end of the input. */
static bool read_word(ebb_scope *s, FILE *input, const char **text) {
    ebb_bytes bytes = {0};
    int c;
    while ((c = getc(input)) != EOF && (isalpha(c) || bytes.length == 0))
        if (isalpha(c) && !ebb_bytes_push(s, &bytes, (char)tolower(c)))
            return false;
    *text = bytes.length > 0 ? ebb_bytes_text(s, &bytes) : NULL;
    return *text != NULL;
}

static int by_count(const void *a, const void *b) {
    const word *const *left = a, *const *right = b;
    if ((*left)->count != (*right)->count)
        return (*left)->count < (*right)->count ? 1 : -1;
    return strcmp((*left)->text, (*right)->text);
}

int main(void) {
    ebb_arena *arena = ebb_arena_new(NULL), *scratch_arena = ebb_arena_new(NULL);
    ebb_scope s = ebb_open(arena), scratch = ebb_open(scratch_arena);
    word **table = ebb_array_zeroed(&s, word *, SLOTS);
    const ebb_position start = ebb_mark(&scratch);
    const char *text;
    if (table == NULL) {
        fprintf(stderr, "%s\n", ebb_status_text(ebb_last_status()));
        return 1;
    }
    while (read_word(&scratch, stdin, &text)) {
        if (!count_word(&s, table, text))
            return 1;
        ebb_rewind(&scratch, start); /* the memory of this word serves the next one */
    }
    EBB_ARRAY(word *) words = {0};
    for (size_t slot = 0; slot < SLOTS; slot++)
        for (word *at = table[slot]; at != NULL; at = at->next)
            if (!ebb_push(&s, &words, at))
                return 1;
    if (words.length > 0)
        qsort(words.data, words.length, sizeof *words.data, by_count);
    for (size_t i = 0; i < words.length && i < MOST; i++)
        printf("%zu %s\n", words.data[i]->count, words.data[i]->text);
    ebb_close(&scratch);
    ebb_close(&s);
    ebb_arena_free(scratch_arena);
    ebb_arena_free(arena);
    return 0;
}
