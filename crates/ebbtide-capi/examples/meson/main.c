/* Answers requests: each line of the input is a JSON document, and is answered by the same document
   without spaces or by an error. The memory of a request is one scope, which ends with it. */
#include "json.h"

/* The next line without its end, in the scope. False at the end of the input. */
static bool read_line(ebb_scope *s, FILE *input, ebb_bytes *line) {
    int c;
    while ((c = getc(input)) != EOF && c != '\n')
        if (!ebb_bytes_push(s, line, (char)c))
            return false;
    return c != EOF || line->length > 0;
}

/* The answer to a request, without a 0 behind it. */
static bool answer(ebb_scope *s, const ebb_bytes *request, ebb_bytes *to) {
    json_error error;
    const json_value *document = json_parse(s, request->data, request->length, &error);
    const json_value *id = json_find(document, "id");
    if (document == NULL)
        return ebb_bytes_printf(s, to, "error: %zu:%zu: %s\n", error.line, error.column,
                                error.what);
    if (id != NULL && id->kind == JSON_NUMBER && !ebb_bytes_printf(s, to, "%g: ", id->as.number))
        return false;
    return json_write(s, to, document) && ebb_bytes_push(s, to, '\n');
}

/* Serves one request. False at the end of the input, or without memory. */
static bool serve(ebb_arena *arena) {
    ebb_scope s = ebb_open(arena);
    ebb_bytes request = {0}, reply = {0};
    const bool done = read_line(&s, stdin, &request) && answer(&s, &request, &reply);
    if (done)
        fwrite(reply.data, 1, reply.length, stdout);
    ebb_close(&s);
    return done;
}

int main(void) {
    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_stats stats;
    char text[100];
    size_t count = 0;
    while (serve(arena))
        count++;
    if (!feof(stdin)) {
        fprintf(stderr, "error: %s\n", ebb_status_text(ebb_last_status()));
        return 1;
    }
    ebb_arena_stats(arena, &stats);
    ebb_stats_text(&stats, text, sizeof text);
    fprintf(stderr, "%zu requests, %s\n", count, text);
    ebb_arena_free(arena);
    return 0;
}
