/*
 * JSON on standard output: one object to a line.
 *
 * Strings are UTF-8, and bytes that are not become \udc80 to \udcff, as Python's surrogateescape has
 * them, so that nothing is lost. A key is a string of ours, that needs no escapes. NULL for a key:
 * an element of a list.
 */
#ifndef JITDUMP_TOOL_JSON_H
#define JITDUMP_TOOL_JSON_H

#include "format/cursor.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *to;
    /* The next value is not the first in its object or list. */
    bool comma;
};

void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
/* Behind a whole object. */
void json_end_line(struct json *json);

void json_null(struct json *json, const char *key);
void json_bool(struct json *json, const char *key, bool value);
void json_number(struct json *json, const char *key, uint64_t value);
/* A string like "0x7f0012345678". */
void json_address(struct json *json, const char *key, uint64_t value);
void json_text(struct json *json, const char *key, struct span text);
void json_string(struct json *json, const char *key, const char *text);
/* As hexadecimal digits. */
void json_bytes(struct json *json, const char *key, const unsigned char *data, uint64_t size);

#endif
