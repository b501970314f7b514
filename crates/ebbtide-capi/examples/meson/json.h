/* A JSON parser whose documents are allocated in a scope: no value is freed individually. */
#ifndef JSON_H
#define JSON_H

#include <ebbtide.h>

/* Arrays and objects may be nested this deep. */
enum { JSON_DEPTH = 127 };

typedef enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} json_kind;

/* A string without a 0 behind it. It may contain zeros. */
typedef struct json_string {
    const char *data;
    size_t length;
} json_string;

typedef struct json_value {
    json_kind kind;
    size_t count; /* of the items or members */
    union {
        double number;
        json_string string;
        const struct json_value *items;
        const struct json_member *members;
    } as;
} json_value;

typedef struct json_member {
    json_string name;
    json_value value;
} json_member;

/* Why a text is not JSON, and where: line and column count from 1, the column in bytes. */
typedef struct json_error {
    const char *what;
    size_t line, column;
} json_error;

/* Parses a text of `length` bytes. The document lies in the scope, but strings without escapes are
   slices of the text, which must live as long. Returns NULL and sets `error` if the text is not
   JSON or there is no memory. Bytes above 127 are taken as they are. Numbers are read by strtod, so
   the program must leave LC_NUMERIC at its default. */
const json_value *json_parse(ebb_scope *s, const char *text, size_t length, json_error *error);

/* The last member of an object with this name, or NULL. */
const json_value *json_find(const json_value *object, const char *name);

/* Appends the document as text without spaces. False if there is no memory. */
bool json_write(ebb_scope *s, ebb_bytes *to, const json_value *value);

#endif
