/*
 * Which of a dump's lives have samples, and which have some before they began.
 */
#ifndef JITDUMP_INJECT_SAMPLE_MARKS_H
#define JITDUMP_INJECT_SAMPLE_MARKS_H

#include "inject/code_uses.h"
#include "reader/life_index.h"

enum sample_mark {
    MARK_SAMPLED = 1, /* an address of a sample, or of its call chain, lay in it */
    MARK_EARLY = 2    /* an address lay there before the life began: in something else */
};

/* Of one dump. */
struct sample_marks {
    unsigned char *of_life; /* enum sample_mark, or'ed; by index of history->lives */
    uint32_t pid;
    struct indexed_life *lives; /* in the profile's times, as early as a sample may seem to be */
    struct life_index index;
    uint32_t count;
    unsigned int word_size; /* the process's */
    struct code_uses uses;  /* of profiles with copies of the stack */
};

/* False: out of memory. To be freed in any case. */
bool jd_sample_marks_init(struct sample_marks *marks, const struct history *history,
                          const struct profile_clock *clock, uint32_t pid);
void jd_sample_marks_free(struct sample_marks *marks);

/* Looks at all samples of the processes, and of those forked from them, once. Samples that can't be read are
 * passed over. False: out of memory. */
bool jd_sample_marks_read(struct sample_marks *marks, uint32_t count,
                          const struct profile_scan *scan, struct perf_data *data);

#endif
