#include "tool/json.h"

#include "tool/text.h"

#include <inttypes.h>

static void begin(struct json *json, const char *key)
{
    if (json->comma)
        fputc(',', json->to);
    json->comma = true;
    if (key != NULL)
        fprintf(json->to, "\"%s\":", key);
}

void json_open(struct json *json, const char *key, char bracket)
{
    begin(json, key);
    fputc(bracket, json->to);
    json->comma = false;
}

void json_close(struct json *json, char bracket)
{
    fputc(bracket, json->to);
    json->comma = true;
}

void json_end_line(struct json *json)
{
    fputc('\n', json->to);
    json->comma = false;
}

void json_null(struct json *json, const char *key)
{
    begin(json, key);
    fputs("null", json->to);
}

void json_bool(struct json *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->to);
}

void json_number(struct json *json, const char *key, uint64_t value)
{
    begin(json, key);
    fprintf(json->to, "%" PRIu64, value);
}

void json_address(struct json *json, const char *key, uint64_t value)
{
    begin(json, key);
    fprintf(json->to, "\"0x%" PRIx64 "\"", value);
}

static void escape(struct json *json, const struct character *character)
{
    uint32_t code_point = character->code_point;
    if (character->stray)
        code_point += 0xdc00;
    fprintf(json->to, "\\u%04x", code_point);
}

void json_text(struct json *json, const char *key, struct span text)
{
    begin(json, key);
    fputc('"', json->to);
    while (text.size > 0) {
        const struct character character = next_character(text);
        if (character.code_point == '"' || character.code_point == '\\')
            fprintf(json->to, "\\%c", (int)character.code_point);
        else if (character.printable)
            fwrite(text.data, 1, character.size, json->to);
        else
            escape(json, &character);
        text.data += character.size;
        text.size -= character.size;
    }
    fputc('"', json->to);
}

void json_string(struct json *json, const char *key, const char *text)
{
    json_text(json, key, (struct span){(const unsigned char *)text, strlen(text)});
}

void json_bytes(struct json *json, const char *key, const unsigned char *data, uint64_t size)
{
    static const char digits[] = "0123456789abcdef";
    begin(json, key);
    fputc('"', json->to);
    for (uint64_t i = 0; i < size; i++) {
        fputc(digits[data[i] >> 4], json->to);
        fputc(digits[data[i] & 15], json->to);
    }
    fputc('"', json->to);
}
