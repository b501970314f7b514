/* Items of arrays and members of objects that are not complete yet lie on one stack, which grows in
   place at the low end of the scope. Whatever is complete is copied to the high end, once and with
   its final size. */
#include "json.h"

#include <math.h>

typedef struct parser {
    ebb_scope *s;
    const char *at, *end;
    EBB_ARRAY(json_member) open;
    unsigned depth;
    const char *what; /* the first error */
} parser;

/* Records an error at the current position. */
static bool fail(parser *p, const char *what) {
    if (p->what == NULL)
        p->what = what;
    return false;
}

static bool fail_to_allocate(parser *p) {
    return fail(p, ebb_status_text(ebb_last_status()));
}

/* The next byte; 0, which is never valid outside of a string, at the end. */
static char peek(const parser *p) {
    return p->at < p->end ? *p->at : 0;
}

static bool skip(parser *p, char expected) {
    if (peek(p) != expected)
        return false;
    p->at++;
    return true;
}

static void skip_spaces(parser *p) {
    while (peek(p) == ' ' || peek(p) == '\n' || peek(p) == '\r' || peek(p) == '\t')
        p->at++;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* ---------------------------------------------------------------- strings */

static bool parse_unit(parser *p, unsigned *unit) {
    *unit = 0;
    for (int digit = 0; digit < 4; digit++) {
        const char c = peek(p);
        unsigned value;
        if (is_digit(c))
            value = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = (unsigned)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'F')
            value = (unsigned)(c - 'A') + 10;
        else
            return fail(p, "expected four hexadecimal digits");
        *unit = *unit * 16 + value;
        p->at++;
    }
    return true;
}

static char *write_utf8(char *to, unsigned code) {
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
        *to++ = (char)(0x80 | (code & 0x3F));
    } else {
        *to++ = (char)(0xF0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3F));
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
        *to++ = (char)(0x80 | (code & 0x3F));
    }
    return to;
}

/* A code point behind `\u`, of one or two units. */
static bool parse_code(parser *p, unsigned *code) {
    unsigned second;
    if (!parse_unit(p, code))
        return false;
    if (*code < 0xD800 || *code > 0xDFFF)
        return true;
    if (*code > 0xDBFF || !skip(p, '\\') || !skip(p, 'u'))
        return fail(p, "half of a surrogate pair");
    if (!parse_unit(p, &second))
        return false;
    if (second < 0xDC00 || second > 0xDFFF)
        return fail(p, "half of a surrogate pair");
    *code = 0x10000 + ((*code - 0xD800) << 10) + (second - 0xDC00);
    return true;
}

static bool parse_escape(parser *p, char **to) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *name;
    if (skip(p, 'u')) {
        unsigned code;
        if (!parse_code(p, &code))
            return false;
        *to = write_utf8(*to, code);
        return true;
    }
    name = peek(p) == 0 ? NULL : strchr(names, peek(p));
    if (name == NULL)
        return fail(p, "unknown escape");
    *(*to)++ = values[name - names];
    p->at++;
    return true;
}

/* Unescapes a string that begins with `start`, up to the quote. It has at most `most` bytes. */
static bool unescape(parser *p, const char *start, size_t most, json_string *string) {
    char *const data = ebb_array(p->s, char, most);
    char *to = data;
    if (data == NULL)
        return fail_to_allocate(p);
    for (p->at = start; !skip(p, '"');) {
        if (skip(p, '\\')) {
            if (!parse_escape(p, &to))
                return false;
        } else {
            *to++ = *p->at++;
        }
    }
    string->data = data;
    string->length = (size_t)(to - data);
    return true;
}

static bool parse_string(parser *p, json_string *string) {
    const char *start;
    bool has_escapes = false;
    if (!skip(p, '"'))
        return fail(p, "expected a string");
    for (start = p->at; p->at < p->end && *p->at != '"'; p->at++) {
        if ((unsigned char)*p->at < 0x20)
            return fail(p, "control character in a string");
        if (*p->at == '\\') {
            has_escapes = true;
            p->at++;
            if ((unsigned char)peek(p) < 0x20)
                return fail(p, p->at < p->end ? "unknown escape" : "string without an end");
        }
    }
    if (p->at == p->end)
        return fail(p, "string without an end");
    string->data = start;
    string->length = (size_t)(p->at - start);
    if (has_escapes)
        return unescape(p, start, string->length, string);
    p->at++;
    return true;
}

/* ---------------------------------------------------------------- numbers */

static bool skip_digits(parser *p) {
    if (!is_digit(peek(p)))
        return fail(p, "expected a digit");
    while (is_digit(peek(p)))
        p->at++;
    return true;
}

static bool parse_number(parser *p, double *number) {
    const char *const start = p->at;
    ebb_position before;
    const char *copy;
    skip(p, '-');
    if (!skip(p, '0') && !skip_digits(p))
        return false;
    if (skip(p, '.') && !skip_digits(p))
        return false;
    if (skip(p, 'e') || skip(p, 'E')) {
        if (!skip(p, '+'))
            skip(p, '-');
        if (!skip_digits(p))
            return false;
    }
    /* strtod needs a 0 behind the digits. */
    before = ebb_mark(p->s);
    copy = ebb_string(p->s, start, (size_t)(p->at - start));
    if (copy == NULL)
        return fail_to_allocate(p);
    *number = strtod(copy, NULL);
    ebb_rewind(p->s, before);
    return isfinite(*number) ? true : fail(p, "number too large");
}

/* ----------------------------------------------------------------- values */

static bool parse_value(parser *p, json_value *value);

/* Moves what is above `base` on the stack to the high end, as the contents of an object. */
static bool finish_object(parser *p, size_t base, json_value *value) {
    value->kind = JSON_OBJECT;
    value->count = p->open.length - base;
    value->as.members = NULL;
    if (value->count > 0) {
        json_member *members = ebb_array(p->s, json_member, value->count);
        if (members == NULL)
            return fail_to_allocate(p);
        memcpy(members, p->open.data + base, value->count * sizeof *members);
        value->as.members = members;
    }
    p->open.length = base;
    return true;
}

/* The same for an array, whose items have no names. */
static bool finish_array(parser *p, size_t base, json_value *value) {
    value->kind = JSON_ARRAY;
    value->count = p->open.length - base;
    value->as.items = NULL;
    if (value->count > 0) {
        json_value *items = ebb_array(p->s, json_value, value->count);
        if (items == NULL)
            return fail_to_allocate(p);
        for (size_t i = 0; i < value->count; i++)
            items[i] = p->open.data[base + i].value;
        value->as.items = items;
    }
    p->open.length = base;
    return true;
}

/* The items or members up to `close`, behind the opening bracket. */
static bool parse_contents(parser *p, char close, json_value *value) {
    const size_t base = p->open.length;
    if (++p->depth > JSON_DEPTH)
        return fail(p, "nested too deep");
    skip_spaces(p);
    if (!skip(p, close)) {
        do {
            json_member member = {{NULL, 0}, {JSON_NULL, 0, {0}}};
            skip_spaces(p);
            if (close == '}') {
                if (!parse_string(p, &member.name))
                    return false;
                skip_spaces(p);
                if (!skip(p, ':'))
                    return fail(p, "expected ':'");
            }
            if (!parse_value(p, &member.value))
                return false;
            if (!ebb_push(p->s, &p->open, member))
                return fail_to_allocate(p);
            skip_spaces(p);
        } while (skip(p, ','));
        if (!skip(p, close))
            return fail(p, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
    }
    p->depth--;
    return close == '}' ? finish_object(p, base, value) : finish_array(p, base, value);
}

static bool parse_word(parser *p, const char *word, json_kind kind, json_value *value) {
    for (; *word != 0; word++)
        if (!skip(p, *word))
            return fail(p, "expected a value");
    value->kind = kind;
    return true;
}

static bool parse_value(parser *p, json_value *value) {
    skip_spaces(p);
    switch (peek(p)) {
    case '{': p->at++; return parse_contents(p, '}', value);
    case '[': p->at++; return parse_contents(p, ']', value);
    case '"': value->kind = JSON_STRING; return parse_string(p, &value->as.string);
    case 't': return parse_word(p, "true", JSON_TRUE, value);
    case 'f': return parse_word(p, "false", JSON_FALSE, value);
    case 'n': return parse_word(p, "null", JSON_NULL, value);
    default: break;
    }
    if (peek(p) != '-' && !is_digit(peek(p)))
        return fail(p, "expected a value");
    value->kind = JSON_NUMBER;
    return parse_number(p, &value->as.number);
}

static bool parse_document(parser *p, json_value *value) {
    if (!parse_value(p, value))
        return false;
    skip_spaces(p);
    return p->at == p->end ? true : fail(p, "expected the end");
}

const json_value *json_parse(ebb_scope *s, const char *text, size_t length, json_error *error) {
    const char *const start = length == 0 ? "" : text;
    parser p = {s, start, start + length, {NULL, 0, 0}, 0, NULL};
    json_value value = {JSON_NULL, 0, {0}};
    json_value *document = NULL;
    if (parse_document(&p, &value)) {
        document = ebb_new(s, json_value);
        if (document == NULL)
            fail_to_allocate(&p);
        else
            *document = value;
    }
    ebb_free_last(s, p.open.data, p.open.capacity * sizeof *p.open.data);
    if (document == NULL) {
        error->what = p.what;
        error->line = error->column = 1;
        for (const char *c = start; c < p.at; c++) {
            error->line += *c == '\n';
            error->column = *c == '\n' ? 1 : error->column + 1;
        }
    }
    return document;
}

const json_value *json_find(const json_value *object, const char *name) {
    const size_t length = strlen(name);
    if (object == NULL || object->kind != JSON_OBJECT)
        return NULL;
    for (size_t i = object->count; i-- > 0;) {
        const json_member *member = &object->as.members[i];
        if (member->name.length == length && memcmp(member->name.data, name, length) == 0)
            return &member->value;
    }
    return NULL;
}

/* ---------------------------------------------------------------- writing */

static bool write_string(ebb_scope *s, ebb_bytes *to, json_string string) {
    bool done = ebb_bytes_push(s, to, '"');
    for (size_t i = 0; done && i < string.length; i++) {
        const char c = string.data[i];
        if (c == '"' || c == '\\')
            done = ebb_bytes_push(s, to, '\\') && ebb_bytes_push(s, to, c);
        else if ((unsigned char)c < 0x20)
            done = ebb_bytes_printf(s, to, "\\u%04x", (unsigned)c);
        else
            done = ebb_bytes_push(s, to, c);
    }
    return done && ebb_bytes_push(s, to, '"');
}

/* The shorter of two texts that are read as the same number. */
static bool write_number(ebb_scope *s, ebb_bytes *to, double number) {
    char text[32];
    snprintf(text, sizeof text, "%.15g", number);
    if (strtod(text, NULL) != number)
        snprintf(text, sizeof text, "%.17g", number);
    return ebb_bytes_append(s, to, text, strlen(text));
}

static bool write_contents(ebb_scope *s, ebb_bytes *to, const json_value *value) {
    const bool is_object = value->kind == JSON_OBJECT;
    bool done = ebb_bytes_push(s, to, is_object ? '{' : '[');
    for (size_t i = 0; done && i < value->count; i++) {
        done = i == 0 || ebb_bytes_push(s, to, ',');
        if (done && is_object)
            done = write_string(s, to, value->as.members[i].name) && ebb_bytes_push(s, to, ':');
        done = done && json_write(s, to,
                                  is_object ? &value->as.members[i].value : &value->as.items[i]);
    }
    return done && ebb_bytes_push(s, to, is_object ? '}' : ']');
}

bool json_write(ebb_scope *s, ebb_bytes *to, const json_value *value) {
    switch (value->kind) {
    case JSON_NULL: return ebb_bytes_append(s, to, "null", 4);
    case JSON_FALSE: return ebb_bytes_append(s, to, "false", 5);
    case JSON_TRUE: return ebb_bytes_append(s, to, "true", 4);
    case JSON_NUMBER: return write_number(s, to, value->as.number);
    case JSON_STRING: return write_string(s, to, value->as.string);
    default: return write_contents(s, to, value);
    }
}
