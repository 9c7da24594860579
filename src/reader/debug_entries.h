/*
 * The entries of a JIT_CODE_DEBUG_INFO: addresses, each with a line, a column and a file's name.
 *
 * V8 (Node 20) writes what is left of a script's name after it was freed: two words of the allocator's,
 * NULs among them, in place of the name's first 16 bytes. Where an entry ends is then known by the
 * address that the next one begins with, which lies in the code, and the name by that of the function,
 * which V8 writes with its script's in full.
 */
#ifndef JITDUMP_READER_DEBUG_ENTRIES_H
#define JITDUMP_READER_DEBUG_ENTRIES_H

#include "reader/history.h"

struct debug_entries {
    /* Over the record; its error says what is wrong with it. */
    struct cursor cursor;
    uint64_t code_addr; /* as the record has it */
    uint64_t count;     /* of the entries: what memory they can take is in the record */

    /* For the reading. */
    const struct piece *piece;
    uint64_t bias;
    uint64_t next;
    struct span last; /* the name of the entry before, as the record has it */
    bool names_are_lost;
};

struct debug_row {
    uint64_t address; /* less what the emitter has added */
    uint32_t line;
    uint32_t column;
    struct span file; /* empty: none, or one that nobody knows any more */
};

/* `cursor` is over the payload of the piece's record. Entries whose names are lost are found again if
 * the names of the piece's kind are; names_are_lost says so. */
void jd_debug_entries_init(struct debug_entries *entries, const struct history *history,
                           const struct piece *piece, struct cursor cursor);

/* The next one. False: there is none, or what is there can't be read, as the cursor says. */
bool jd_debug_entries_next(struct debug_entries *entries, struct debug_row *row);

#endif
