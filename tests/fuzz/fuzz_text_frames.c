/*
 * Any bytes as an .eh_frame whose addresses count from .text: what was rewritten says the same, pc-relative,
 * and nothing else has changed.
 */
#include "require.h"
#include "target.h"

#include "object/text_frames.h"

#include <stdlib.h>
#include <string.h>

const char *target_output;

enum { RELATIVE_S4 = 0x1b };

static uint32_t word(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

/* Of a section that was rewritten. Up to its end, or to what has no length. */
static void check_entries(const unsigned char *after, const unsigned char *before, size_t size)
{
    size_t at = 0;
    while (size - at >= 4 && word(before + at) != 0) {
        const size_t end = at + 4 + word(before + at);
        REQUIRE(end <= size && end > at + 8);
        size_t changed = 0;
        for (size_t i = at; i < end; i++)
            changed += after[i] != before[i];
        if (word(before + at + 4) != 0) {
            REQUIRE(word(after + at + 8) + (uint32_t)(at + 8) == word(before + at + 8));
            REQUIRE(memcmp(after + at, before + at, 8) == 0 &&
                    memcmp(after + at + 12, before + at + 12, end - at - 12) == 0);
        } else {
            REQUIRE(changed == 1 && memchr(after + at + 8, RELATIVE_S4, end - at - 8) != NULL);
        }
        at = end;
    }
    REQUIRE(memcmp(after + at, before + at, size - at) == 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unsigned char *const section = malloc(size + (size == 0)); /* so that what is behind it is guarded */
    REQUIRE(section != NULL);
    if (size != 0)
        memcpy(section, bytes, size);
    if (jd_text_frames_to_relative(section, size))
        check_entries(section, bytes, size);
    free(section);
    return 0;
}
