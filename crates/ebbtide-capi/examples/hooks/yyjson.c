/* Reads the JSON document in the standard input and prints it without spaces, by yyjson in a scope.
   cc yyjson.c $(pkg-config --cflags --libs yyjson ebbtide) */
#include "input.h"

#include <yyjson.h>

int main(void) {
    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_scope s = ebb_open(arena);
    ebb_heap heap;
    yyjson_alc allocator = EBB_YYJSON_ALC(&heap);
    yyjson_doc *document;
    char *text, *printed = NULL;
    size_t length, before;
    ebb_heap_init(&heap, &s);
    text = (char *)(uintptr_t)read_input(&s, &length);
    before = bytes_in_use(&s);
    document = yyjson_read_opts(text, length, YYJSON_READ_NOFLAG, &allocator, NULL);
    if (document != NULL)
        printed = yyjson_write_opts(document, YYJSON_WRITE_NOFLAG, &allocator, NULL, NULL);
    if (printed != NULL)
        puts(printed);
    fprintf(stderr, "%zu bytes\n", bytes_in_use(&s) - before);
    yyjson_doc_free(document); /* Closing the scope would free both, too. */
    ebb_hook_free(printed);
    ebb_close(&s);
    ebb_arena_free(arena);
    return printed == NULL;
}
