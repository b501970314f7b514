/* Counts the words of the standard input by a database in a scope.
   cc sqlite.c $(pkg-config --cflags --libs sqlite3 ebbtide) */
#include "input.h"

#include <ctype.h>
#include <sqlite3.h>

static const char *const schema = "CREATE TABLE words(word TEXT, place INTEGER);"
                                  "CREATE INDEX by_word ON words(word);";
static const char *const counts = "SELECT word, count(*), min(place), group_concat(place)"
                                  " FROM words GROUP BY word ORDER BY 2 DESC, 1 LIMIT 20";

static int insert_words(sqlite3 *database, const char *text) {
    sqlite3_stmt *insert;
    int place = 0;
    if (sqlite3_prepare_v2(database, "INSERT INTO words VALUES(?, ?)", -1, &insert, NULL))
        return SQLITE_ERROR;
    while (*text != 0) {
        const char *end = text;
        while (isalpha((unsigned char)*end))
            end++;
        if (end > text) {
            sqlite3_bind_text(insert, 1, text, (int)(end - text), SQLITE_STATIC);
            sqlite3_bind_int(insert, 2, ++place);
            if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK)
                break;
        }
        text = end + (*end != 0);
    }
    return sqlite3_finalize(insert);
}

static int print_counts(sqlite3 *database) {
    sqlite3_stmt *query;
    if (sqlite3_prepare_v2(database, counts, -1, &query, NULL))
        return SQLITE_ERROR;
    while (sqlite3_step(query) == SQLITE_ROW)
        printf("%d %s, first %d, places: %s\n", sqlite3_column_int(query, 1),
               (const char *)sqlite3_column_text(query, 0), sqlite3_column_int(query, 2),
               (const char *)sqlite3_column_text(query, 3));
    return sqlite3_finalize(query);
}

int main(void) {
    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_scope s = ebb_open(arena);
    ebb_heap heap;
    sqlite3_mem_methods methods = EBB_SQLITE_METHODS;
    sqlite3 *database;
    const char *text;
    size_t length, before;
    int failed;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    sqlite3_initialize(); /* No heap is current: what lives as long as the program is malloc's. */
    text = read_input(&s, &length);
    before = bytes_in_use(&s);

    ebb_heap_init(&heap, &s);
    ebb_heap_use(&heap);
    failed = sqlite3_open(":memory:", &database) ||
             sqlite3_exec(database, schema, NULL, NULL, NULL) ||
             sqlite3_exec(database, "BEGIN", NULL, NULL, NULL) ||
             insert_words(database, text) ||
             sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) || print_counts(database);
    if (failed)
        fprintf(stderr, "%s\n", sqlite3_errmsg(database));
    fprintf(stderr, "%zu bytes\n", bytes_in_use(&s) - before);
    sqlite3_close(database);
    ebb_heap_use(NULL);

    sqlite3_shutdown();
    ebb_close(&s);
    ebb_arena_free(arena);
    return failed;
}
