/* Prints the elements of the XML document in the standard input, by expat in a scope.
   cc expat.c $(pkg-config --cflags --libs expat ebbtide) */
#include "input.h"

#include <expat.h>

static void XMLCALL start(void *data, const XML_Char *name, const XML_Char **attributes) {
    int *const depth = data;
    printf("%*s%s", 2 * (*depth)++, "", name);
    for (; *attributes != NULL; attributes += 2)
        printf(" %s=%s", attributes[0], attributes[1]);
    putchar('\n');
}

static void XMLCALL end(void *data, const XML_Char *name) {
    int *const depth = data;
    (void)name;
    --*depth;
}

int main(void) {
    static const XML_Memory_Handling_Suite suite = EBB_EXPAT_SUITE;
    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_scope s = ebb_open(arena);
    ebb_heap heap;
    XML_Parser parser;
    const char *text;
    size_t length, before;
    int depth = 0, failed = 1;
    text = read_input(&s, &length);
    before = bytes_in_use(&s);

    ebb_heap_init(&heap, &s);
    ebb_heap_use(&heap);
    parser = XML_ParserCreate_MM(NULL, &suite, NULL);
    if (parser != NULL) {
        XML_SetUserData(parser, &depth);
        XML_SetElementHandler(parser, start, end);
        failed = XML_Parse(parser, text, (int)length, 1) != XML_STATUS_OK;
        if (failed)
            fprintf(stderr, "%lu: %s\n", (unsigned long)XML_GetCurrentLineNumber(parser),
                    XML_ErrorString(XML_GetErrorCode(parser)));
        fprintf(stderr, "%zu bytes\n", bytes_in_use(&s) - before);
        XML_ParserFree(parser); /* Closing the scope would free it, too. */
    }
    ebb_heap_use(NULL);

    ebb_close(&s);
    ebb_arena_free(arena);
    return failed;
}
