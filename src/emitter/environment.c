/*
 * $JITDUMP: whether there is a dump, and how, in the user's words.
 */
#include "../platform/c_library.h"

#include "report.h"

#include "../encode/struct_size.h"
#include "../system/shield.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A path and some words. */
#define WORDS_SIZE (PATH_MAX + 512)

#define MESSAGE_SIZE 512

/* The words without a value of the user's own. */
static const struct word {
    const char *text;
    /* The field of the options that it sets, and to what. Of `flags`: what it sets and clears. */
    enum { WORD_FLAGS, WORD_FLUSH_MODE, WORD_DIALECT, WORD_CLOCK } field;
    uint32_t value;
    uint32_t cleared;
} words[] = {
    {"1", WORD_FLAGS, 0, 0},
    {"debug", WORD_FLAGS, JITDUMP_DEBUG, 0},
    {"flush=through", WORD_FLUSH_MODE, JITDUMP_FLUSH_WRITE_THROUGH, 0},
    {"flush=buffered", WORD_FLUSH_MODE, JITDUMP_FLUSH_BUFFERED, 0},
    {"flush=background", WORD_FLUSH_MODE, JITDUMP_FLUSH_BACKGROUND, 0},
    /* The flag is for the dialect of 2023 alone. */
    {"dialect=perf", WORD_DIALECT, JITDUMP_DIALECT_PERF, JITDUMP_TIER_RECORDS},
    {"dialect=2023", WORD_DIALECT, JITDUMP_DIALECT_SAMPLY_2023, 0},
    {"dialect=2026", WORD_DIALECT, JITDUMP_DIALECT_SAMPLY_2026, JITDUMP_TIER_RECORDS},
    {"clock=mono", WORD_CLOCK, JITDUMP_CLOCK_MONOTONIC, 0},
    {"clock=tsc", WORD_CLOCK, JITDUMP_CLOCK_TSC, 0},
    {"close=keep", WORD_FLAGS, 0, JITDUMP_EMPTY_AT_CLOSE | JITDUMP_UNLINK_AT_CLOSE},
    {"close=empty", WORD_FLAGS, JITDUMP_EMPTY_AT_CLOSE, JITDUMP_UNLINK_AT_CLOSE},
    {"close=unlink", WORD_FLAGS, JITDUMP_UNLINK_AT_CLOSE, JITDUMP_EMPTY_AT_CLOSE},
    {"lines=innermost", WORD_FLAGS, 0, JITDUMP_OUTERMOST_LINES},
    {"lines=outermost", WORD_FLAGS, JITDUMP_OUTERMOST_LINES, 0},
    {"perf-map", WORD_FLAGS, JITDUMP_PERF_MAP, 0},
    {"source-files", WORD_FLAGS, JITDUMP_SOURCE_FILES, 0},
};

static bool take_fixed(const char *text, struct jitdump_options *options)
{
    const struct word *word = words;
    while (strcmp(word->text, text) != 0)
        if (++word == words + sizeof(words) / sizeof(words[0]))
            return false;
    options->flags &= ~word->cleared;
    switch (word->field) {
    case WORD_FLAGS:
        options->flags |= word->value;
        break;
    case WORD_FLUSH_MODE:
        options->flush_mode = word->value;
        break;
    case WORD_DIALECT:
        options->dialect = word->value;
        break;
    case WORD_CLOCK:
        options->clock = word->value;
        break;
    }
    return true;
}

/* Decimal, with K, M or G behind it. 0 is no size: without a limit is without the word. */
static bool take_size(const char *text, uint64_t *size)
{
    static const char units[] = "KMG";
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0)
        return false;
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (*end != '\0' && (unit == NULL || end[1] != '\0'))
        return false;
    const int shift = unit != NULL ? 10 * (int)(unit - units + 1) : 0;
    if (number > UINT64_MAX >> shift)
        return false;
    *size = (uint64_t)number << shift;
    return *size >= SIZE_LIMIT_MIN;
}

/* What is behind `key` in the word; NULL: it is another word. */
static const char *value_of(const char *word, const char *key)
{
    const size_t length = strlen(key);
    return strncmp(word, key, length) == 0 ? word + length : NULL;
}

static bool take_word(const char *word, struct jitdump_options *options)
{
    const char *value;
    if ((value = value_of(word, "dir=")) != NULL) {
        options->directory = value;
        return *value != '\0';
    }
    if ((value = value_of(word, "track=")) != NULL) {
        options->track = value;
        return strlen(value) <= NAME_MAX;
    }
    if ((value = value_of(word, "limit=")) != NULL)
        return take_size(value, &options->size_limit);
    return take_fixed(word, options);
}

/* Cuts the text into its words. Goes on after a bad one, which may be followed by "debug". NULL, or
 * the first bad one. */
static const char *take_words(char *text, struct jitdump_options *options)
{
    const char *bad = NULL;
    for (char *word = text; word != NULL;) {
        char *const comma = strchr(word, ',');
        if (comma != NULL)
            *comma = '\0';
        if (!take_word(word, options) && bad == NULL)
            bad = word;
        word = comma != NULL ? comma + 1 : NULL;
    }
    return bad;
}

/* The runtime has not asked for the line, so that it can't pass it on. */
static void give_buffer(struct jitdump_options *options, char buffer[MESSAGE_SIZE])
{
    if (options->error_message == NULL || options->error_message_size == 0) {
        options->error_message = buffer;
        options->error_message_size = MESSAGE_SIZE;
    }
    options->error_message[0] = '\0';
}

static int open_as_asked(struct jitdump **dump, struct jitdump_options *options, const char *asked)
{
    char buffer[MESSAGE_SIZE];
    char text[WORDS_SIZE]; /* another thread may change the environment */
    const int length = snprintf(text, sizeof(text), "%s", asked);
    const char *bad = asked;
    if (length >= 0 && (size_t)length < sizeof(text))
        bad = take_words(text, options);
    give_buffer(options, buffer);
    int error = JITDUMP_ERROR_ENVIRONMENT;
    if (bad == NULL) {
        error = jitdump_open(dump, options);
    } else {
        snprintf(options->error_message, (size_t)options->error_message_size, "JITDUMP, at %.80s: %s",
                 bad, jitdump_strerror(error));
        jd_make_printable(options->error_message);
    }
    const bool debug = (options->flags & JITDUMP_DEBUG) != 0;
    if (options->error_message[0] != '\0' &&
        (debug || (error != 0 && options->error_message == buffer)))
        jd_say(options->error_message);
    if (error == 0)
        jd_report(*dump, "%s is written", (*dump)->file.path);
    return error;
}

int jitdump_open_from_environment(struct jitdump **dump, const struct jitdump_options *defaults)
{
    if (dump == NULL)
        return JITDUMP_ERROR_ARGUMENT;
    *dump = NULL;
    const char *const asked = jd_process_getenv("JITDUMP");
    if (asked == NULL || asked[0] == '\0' || strcmp(asked, "0") == 0)
        return 0;
    struct jitdump_options options = {.struct_size = sizeof(options)};
    if (defaults != NULL) {
        struct jitdump_options copy;
        const struct jitdump_options *known = NULL;
        if (jd_struct_size_is_sound(defaults->struct_size, OPTIONS_SIZE_MIN))
            known = struct_known(defaults, &copy, sizeof(copy), OPTIONS_SIZE_MIN);
        if (known == NULL)
            return jitdump_open(dump, defaults); /* says what is wrong with it */
        options = *known;
        options.struct_size = sizeof(options);
    }
    options.flags |= JITDUMP_SHARED;
    const struct process_shield shield = jd_process_shield();
    const int error = open_as_asked(dump, &options, asked);
    jd_process_unshield(shield);
    return error;
}
