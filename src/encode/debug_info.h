/*
 * What is said of a function's lines and inlining: JIT_CODE_DEBUG_INFO, and the inline record
 * of the dump's dialect.
 */
#ifndef JITDUMP_DEBUG_INFO_H
#define JITDUMP_DEBUG_INFO_H

#include "inline_2023.h"
#include "inline_2026.h"
#include "stamp.h"
#include "sources.h"

#pragma GCC visibility push(hidden)

/* The dump's choices. */
struct debug_info_settings {
    enum jitdump_dialect dialect;
    bool tier_records;
    bool strict;    /* what could be put right is an error */
    bool outermost; /* which line of a chain JIT_CODE_DEBUG_INFO gets */
    const char *track;
    /* Where to look up the files that stand for sources; NULL: nowhere. */
    const struct sources *sources;
};

struct debug_info {
    const struct debug_info_settings *settings;
    const struct jitdump_code *code;
    struct file_names file_names;

    /* JIT_CODE_DEBUG_INFO: its size, 0 for none, and its entries. */
    uint64_t size;
    uint64_t entry_count;
    /* The table of lines is all kept. */
    bool plain;
    /* The chosen track says nothing of the code. */
    bool nothing;

    /* Where the code has tracks: the chosen one, and for each of its positions the one whose
     * line is shown (NULL: its own). */
    struct track track;
    uint32_t *shown;
    union {
        struct inline_2023 inline_2023;
        struct inline_2026 inline_2026;
    };
};

/* `size` receives the size of all the records. `scratch` must live as long as `info`, and is
 * used if the code has tracks. */
int jd_debug_info_check(struct debug_info *info, const struct debug_info_settings *settings,
                        const struct jitdump_code *code, struct scratch *scratch, uint64_t *size);
unsigned char *jd_debug_info_write(unsigned char *to, const struct record_stamp *stamp,
                                   const struct debug_info *info);

#pragma GCC visibility pop

#endif
