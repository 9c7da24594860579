#define _GNU_SOURCE
#include "asked.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const wrong_words[] = {
    "",        "2",          "flush",      "flush=",      "flush=through ", "close=",
    "limit=0", "limit=4095", "limit=4KB",  "limit=-4096", "limit=0x10000",  "limit=",
    "limit=K", "dir=",       "Debug",      "lines=both",  "dialect=2025",   "clock=real",
    "perf-map=1", "limit=17179869184G", "limit=18446744073709551616",
};

/* Sets in `options` what one of the words says, and returns the word. */
static const char *take_word(uint8_t choice, struct jitdump_options *options)
{
    static const struct {
        const char *word;
        uint64_t limit;
    } limits[] = {{"limit=4096", 4096}, {"limit=60000", 60000}, {"limit=8K", 8192},
                  {"limit=1M", 1 << 20}, {"limit=16777215G", UINT64_C(16777215) << 30}};
    static const char *const flush_modes[] = {"flush=through", "flush=buffered",
                                              "flush=background"};
    static const char *const dialects[] = {"dialect=perf", "dialect=2023", "dialect=2026"};
    static const char *const clocks[] = {"clock=mono", "clock=tsc"};
    static const char *const closes[] = {"close=keep", "close=empty", "close=unlink"};
    static const uint32_t close_flags[] = {0, JITDUMP_EMPTY_AT_CLOSE, JITDUMP_UNLINK_AT_CLOSE};
    static const char *const line_words[] = {"lines=innermost", "lines=outermost"};
    static const char *const tracks[] = {"track=one", "track=two", "track="};
    const uint8_t which = choice >> 4;
    switch (choice & 15) {
    case 0:
        options->size_limit = limits[which % 5].limit;
        return limits[which % 5].word;
    case 1:
    case 2:
        options->flush_mode = which % 3;
        return flush_modes[which % 3];
    case 3:
    case 4:
        options->dialect = which % 3;
        if (options->dialect != JITDUMP_DIALECT_SAMPLY_2023)
            options->flags &= ~(uint32_t)JITDUMP_TIER_RECORDS;
        return dialects[which % 3];
    case 5:
        options->clock = which % 2;
        return clocks[which % 2];
    case 6:
        options->flags &= ~(uint32_t)(JITDUMP_EMPTY_AT_CLOSE | JITDUMP_UNLINK_AT_CLOSE);
        options->flags |= close_flags[which % 3];
        return closes[which % 3];
    case 7:
        options->flags &= ~(uint32_t)JITDUMP_OUTERMOST_LINES;
        options->flags |= which % 2 != 0 ? JITDUMP_OUTERMOST_LINES : 0;
        return line_words[which % 2];
    case 8:
        options->track = tracks[which % 3] + strlen("track=");
        return tracks[which % 3];
    case 9:
        options->flags |= JITDUMP_PERF_MAP;
        return "perf-map";
    case 10:
        options->flags |= JITDUMP_SOURCE_FILES;
        return "source-files";
    default:
        return "1";
    }
}

enum asked take_asked(struct input *input, const char *directory, char text[ASKED_SIZE],
                      struct jitdump_options *options)
{
    static char directory_word[PATH_MAX + 8];
    const uint8_t count = take_u8(input) % 8;
    bool is_right = true;
    size_t size = 0;
    if (count == 0)
        size = (size_t)snprintf(text, ASKED_SIZE, "%s", take_u8(input) % 2 == 0 ? "" : "0");
    for (uint8_t i = 0; i < count; i++) {
        const uint8_t choice = take_u8(input);
        const char *word;
        if (choice >= 0xf8) {
            word = wrong_words[take_u8(input) % (sizeof(wrong_words) / sizeof(wrong_words[0]))];
            /* Empty, and alone: nobody has asked. */
            if (*word == '\0' && count == 1)
                word = "?";
            is_right = false;
        } else if (choice >= 0xe8) {
            snprintf(directory_word, sizeof(directory_word), "dir=%s", directory);
            word = directory_word;
            options->directory = directory;
        } else {
            word = take_word(choice, options);
        }
        size += (size_t)snprintf(text + size, ASKED_SIZE - size, "%s%s", i != 0 ? "," : "", word);
    }
    /* Bytes of any kind, of which the first makes no word. */
    if (count != 0 && size < ASKED_SIZE / 2 && take_u8(input) == 255) {
        text[size++] = ',';
        text[size++] = '?';
        for (uint8_t left = take_u8(input); left != 0; left--)
            text[size++] = (char)(take_u8(input) | 1);
        text[size] = '\0';
        is_right = false;
    }
    options->flags |= JITDUMP_SHARED;
    return count == 0 ? ASKED_NOTHING : is_right ? ASKED_DUMP : ASKED_WRONGLY;
}
