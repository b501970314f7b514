/* Prints the elements with an attribute `x` of the XML document in the standard input, and the
   document, by libxml2 in a scope. cc xml.c $(pkg-config --cflags --libs libxml-2.0 ebbtide) */
#include "input.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>

static void print(xmlDoc *document) {
    xmlXPathContext *context = xmlXPathNewContext(document);
    xmlXPathObject *found = xmlXPathEvalExpression(BAD_CAST "//*[@x]", context);
    xmlChar *text = NULL;
    int length = 0;
    for (int i = 0; found != NULL && i < xmlXPathNodeSetGetLength(found->nodesetval); i++) {
        xmlNode *node = xmlXPathNodeSetItem(found->nodesetval, i);
        xmlChar *x = xmlGetProp(node, BAD_CAST "x"), *content = xmlNodeGetContent(node);
        printf("%s at %s: %s\n", (const char *)node->name, (const char *)x, (const char *)content);
        xmlFree(x);
        xmlFree(content);
    }
    xmlDocDumpFormatMemory(document, &text, &length, 1);
    fwrite(text, 1, (size_t)length, stdout);
    xmlFree(text);
    xmlXPathFreeObject(found);
    xmlXPathFreeContext(context);
}

int main(void) {
    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_scope s = ebb_open(arena);
    ebb_heap heap;
    xmlDoc *document;
    const char *text;
    size_t length, before;
    xmlMemSetup(EBB_XML_FUNCTIONS); /* before any other call of the library */
    xmlInitParser();                /* No heap is current: its tables are malloc's. */
    text = read_input(&s, &length);
    before = bytes_in_use(&s);

    ebb_heap_init(&heap, &s);
    ebb_heap_use(&heap);
    document = xmlReadMemory(text, (int)length, "input", NULL, XML_PARSE_NONET);
    if (document != NULL)
        print(document);
    fprintf(stderr, "%zu bytes\n", bytes_in_use(&s) - before);
    xmlFreeDoc(document); /* Closing the scope would free it, too. */
    xmlResetLastError();  /* The library keeps the texts of an error. */
    ebb_heap_use(NULL);

    ebb_close(&s);
    xmlCleanupParser();
    ebb_arena_free(arena);
    return document == NULL;
}
