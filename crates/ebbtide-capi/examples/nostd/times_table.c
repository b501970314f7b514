/* `times_table 12 7` prints the products of 1 to 12 with 1 to 7. The table is in an arena over C's
   heap, through two functions: without Rust's runtime, the library has no heap of its own. */
#include "program.h"

static void *allocate(void *context, size_t size, size_t align) {
    (void)context;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void release(void *context, void *block, size_t size, size_t align) {
    (void)context, (void)size, (void)align;
    free(block);
}

static void print_table(const size_t *table, size_t rows, size_t columns) {
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            printf("%zu%c", table[row * columns + column], column + 1 < columns ? '\t' : '\n');
}

static int times_table(size_t rows, size_t columns) {
    ebb_options options = EBB_OPTIONS_INIT;
    ebb_arena_storage storage;
    options.backing.allocate = allocate;
    options.backing.release = release;
    ebb_arena *arena = ebb_arena_new_in(&storage, &options);
    ebb_scope s = ebb_open(arena);
    const bool is_too_large = columns != 0 && rows > SIZE_MAX / columns;
    size_t *table = is_too_large ? NULL : ebb_array(&s, size_t, rows * columns);
    if (table == NULL)
        return end_with(REFUSED, "times_table: that table does not fit in memory");
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            table[row * columns + column] = (row + 1) * (column + 1);
    print_table(table, rows, columns);
    ebb_close(&s);
    ebb_arena_free(arena);
    return DONE;
}

int main(int argument_count, char **arguments) {
    size_t rows, columns;
    if (argument_count != 3 || !parse_count(arguments[1], &rows) ||
        !parse_count(arguments[2], &columns))
        return end_with(USAGE, "usage: times_table ROWS COLUMNS");
    return times_table(rows, columns);
}
