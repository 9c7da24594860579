/*
 * The code of one instant, which commands make other files of: from a dump's name to pieces at their
 * places, and the complaints on the way.
 */
#ifndef JITDUMP_TOOL_INSTANT_H
#define JITDUMP_TOOL_INSTANT_H

#include "writers/placed.h"

struct instant {
    struct mapped_file file;
    struct history history;
    struct placed *pieces; /* as placed_at() has them */
    size_t count;

    /* For the writer: what it leaves out is complained about, how far it is is shown. */
    struct problems problems;
    const char *dump;
    uint64_t told;
};

/* `at` is a time as users give it, NULL: the dump's end. False, with a complaint, if there is no such
 * code; `instant` is to be closed in any case, and stays where it is till then. */
bool instant_open(struct instant *instant, const char *dump, const char *at);

/* Ends the complaints too. */
void instant_close(struct instant *instant);

#endif
