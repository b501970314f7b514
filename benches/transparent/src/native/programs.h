/* The JSON parser of `examples/meson`, in a scope and over the heap. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include "../../../../crates/ebbtide-capi/examples/meson/json.h"

/* Without a scope. */
const json_value *heap_json_parse(ebb_scope *s, const char *text, size_t length,
                                  json_error *error);

/* Frees what `heap_json_parse` has allocated. */
void heap_json_free(void);

#endif
