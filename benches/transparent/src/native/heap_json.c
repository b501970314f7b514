/* The JSON parser of `examples/meson` over the heap: each array and each string that is unescaped is a
   block of malloc's, which `heap_json_free` frees from a list. */
#include "programs.h"

static void **blocks;
static size_t count, capacity;

static void *keep(size_t size) {
    void *block = malloc(size);
    if (count == capacity) {
        capacity = 2 * capacity + 64;
        blocks = realloc(blocks, capacity * sizeof *blocks);
    }
    if (block == NULL || blocks == NULL)
        abort();
    return blocks[count++] = block;
}

void heap_json_free(void) {
    while (count > 0)
        free(blocks[--count]);
}

/* Only numbers are copied. */
static const char *copy_number(const char *from, size_t length) {
    static char number[400];
    if (length >= sizeof number)
        abort();
    memcpy(number, from, length);
    number[length] = 0;
    return number;
}

static bool push(void **data, size_t length, size_t *room, size_t size) {
    if (length == *room) {
        *room = 2 * length + 4;
        *data = realloc(*data, *room * size);
    }
    return *data != NULL;
}

#undef ebb_array
#undef ebb_new
#undef ebb_push
#define ebb_array(s, type, count) ((type *)keep((count) * sizeof(type)))
#define ebb_new(s, type) ((type *)keep(sizeof(type)))
#define ebb_push(s, array, value)                                                                  \
    (push((void **)&(array)->data, (array)->length, &(array)->capacity, sizeof *(array)->data) &&  \
     ((array)->data[(array)->length++] = (value), true))
#define ebb_string(s, from, length) copy_number(from, length)
#define ebb_mark(s) ((ebb_position){0})
#define ebb_rewind(s, position) ((void)(position))
#define ebb_free_last(s, block, size) free(block)

/* Unused. */
bool heap_json_write(ebb_scope *s, ebb_bytes *to, const json_value *value);

#define json_parse heap_json_parse
#define json_find heap_json_find
#define json_write heap_json_write
#include "../../../../crates/ebbtide-capi/examples/meson/json.c"
