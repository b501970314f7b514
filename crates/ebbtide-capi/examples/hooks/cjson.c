/* Reads the JSON document in the standard input and prints it without spaces, by cJSON in a scope.
   cc cjson.c $(pkg-config --cflags --libs libcjson ebbtide) */
#include "input.h"

#include <cjson/cJSON.h>

int main(void) {
    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_scope s = ebb_open(arena);
    ebb_heap heap;
    cJSON_Hooks hooks = EBB_CJSON_HOOKS;
    cJSON *document;
    const char *text, *printed = NULL;
    size_t length, before;
    cJSON_InitHooks(&hooks);
    text = read_input(&s, &length);
    before = bytes_in_use(&s);

    ebb_heap_init(&heap, &s);
    ebb_heap_use(&heap);
    document = cJSON_ParseWithLength(text, length);
    if (document != NULL)
        printed = cJSON_PrintUnformatted(document);
    ebb_heap_use(NULL);

    if (printed != NULL)
        puts(printed);
    fprintf(stderr, "%zu bytes\n", bytes_in_use(&s) - before);
    cJSON_Delete(document); /* Closing the scope would free both, too. */
    cJSON_free((void *)(uintptr_t)printed);
    ebb_close(&s);
    ebb_arena_free(arena);
    return printed == NULL;
}
