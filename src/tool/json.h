/*
 * JSON on a stream. Names are any bytes, JSON's strings are UTF-8: what is not becomes U+FFFD.
 */
#ifndef JITDUMP_TOOL_JSON_H
#define JITDUMP_TOOL_JSON_H

#include <stdint.h>
#include <stdio.h>

/* With its quotation marks. */
void json_string(FILE *out, const void *bytes, uint64_t size);
void json_text(FILE *out, const char *text);

#endif
