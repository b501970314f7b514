/* Runs a JavaScript program, which is the standard input, by Duktape in a scope.
   cc duktape.c -lduktape $(pkg-config --cflags --libs ebbtide) */
#include "input.h"

#include <duktape.h>

static duk_ret_t print(duk_context *context) {
    puts(duk_safe_to_string(context, 0));
    return 0;
}

int main(void) {
    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_scope s = ebb_open(arena);
    ebb_heap heap;
    duk_context *context;
    const char *program;
    size_t length, before;
    int failed;
    ebb_heap_init(&heap, &s);
    program = read_input(&s, &length);
    before = bytes_in_use(&s);
    context = duk_create_heap(ebb_context_malloc, ebb_context_realloc, ebb_context_free, &heap, NULL);
    if (context == NULL)
        return 1;
    duk_push_c_function(context, print, 1);
    duk_put_global_string(context, "print");
    failed = duk_peval_lstring(context, program, length);
    if (failed)
        fprintf(stderr, "%s\n", duk_safe_to_string(context, -1));
    fprintf(stderr, "%zu bytes\n", bytes_in_use(&s) - before);
    duk_destroy_heap(context); /* runs finalizers; closing the scope would free the memory, too */
    ebb_close(&s);
    ebb_arena_free(arena);
    return failed;
}
