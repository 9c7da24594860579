/*
 * The history of a process's generated code, as its dump tells it: the pieces of code, and at which
 * addresses each lay from when to when. The one product of the reader, the one input of what writes
 * other formats.
 *
 * A load begins a life. A move ends one and begins the next. A load or a move to where something
 * lies, be it by one byte, ends that. The end of the dump ends all.
 *
 * Records are taken in the order of their times; equal times in file order. (Times never run
 * backwards in this library's dumps, but do in those of others.) Times are as in the file:
 * nanoseconds of CLOCK_MONOTONIC, or raw TSC values where its header has
 * JITDUMP_FLAGS_ARCH_TIMESTAMP.
 *
 * Memory: 120 bytes for each piece and 40 for each life, and as much again while it is read. Names, code
 * and debug records stay where they are, in the file's mapping, which must live as long as the history.
 */
#ifndef JITDUMP_READER_HISTORY_H
#define JITDUMP_READER_HISTORY_H

#include "reader/dump_reader.h"
#include "reader/mapped_file.h"
#include "reader/problem.h"

#define HISTORY_NONE UINT32_MAX

/* What a JIT_CODE_LOAD and the records before it say. */
struct piece {
    uint64_t timestamp;
    uint64_t code_addr; /* where it was loaded */
    uint64_t code_size;
    uint64_t code_index; /* of some emitters not unique */
    /* Any bytes, without the NUL. Whoever prints it makes it harmless. */
    struct span name;
    const unsigned char *code; /* code_size bytes */
    uint32_t pid;
    uint32_t tid;

    /* Offsets of the records in the file, for jd_dump_reader_at(); 0: it has none. Debug and
     * unwinding records belong to the next load in the file, whatever they say (P9); of two of a kind
     * it is the later one. */
    uint64_t load;
    uint64_t debug_info;  /* JIT_CODE_DEBUG_INFO */
    uint64_t inline_2023; /* SAMPLY_JIT_CODE_DEBUG_INFO2 */
    uint64_t inline_2026; /* the inline record of id 827346260 */
    uint64_t unwinding;   /* JIT_CODE_UNWINDING_INFO */
    uint64_t tier;        /* SAMPLY_JIT_TIER */

    /* The first in time, HISTORY_NONE for code of no bytes, which lies nowhere. The others by
     * life.next. A piece has one life at a time. */
    uint32_t first_life;
};

enum life_end {
    LIFE_TO_THE_END, /* still there when the dump ends */
    LIFE_MOVED,      /* life.next says where to */
    LIFE_COVERED     /* by life.covered_by */
};

/* A piece of code at an address, from `begin` to before `end`. Both can be the same time. */
struct life {
    uint64_t address;
    uint64_t begin;
    uint64_t end;        /* UINT64_MAX: the dump's */
    uint32_t piece;      /* index of history.pieces */
    uint32_t next;       /* the piece's next life, HISTORY_NONE: no other */
    uint32_t covered_by; /* the life that covered it, HISTORY_NONE if none did */
    enum life_end ended;
};

struct history {
    /* The reader, at the dump's end: header, byte order, and how the dump ends. */
    struct dump_reader reader;

    /* In file order. */
    struct piece *pieces;
    uint32_t piece_count;

    /* In the order of their beginnings. */
    struct life *lives;
    uint32_t life_count;

    /* SAMPLY_EMBEDDED_SOURCE_FILE: offsets, for jd_dump_reader_at(), in file order. */
    uint64_t *sources;
    uint32_t source_count;

    /* Of all ids. */
    uint64_t record_count;
    uint32_t move_count;
    /* The earliest and the latest time of a record; 0 if there is none. */
    uint64_t first_timestamp;
    uint64_t last_timestamp;
    /* Where the first record lies whose time is before that of the record before; 0: none. */
    uint64_t backwards;

    /* What the addresses of JIT_CODE_DEBUG_INFO are too high by: V8 and LLVM add 64, for the ELF header
     * that perf once put before the code. Else 0. */
    uint64_t line_bias;
};

enum history_error {
    HISTORY_OK,
    HISTORY_NO_DUMP, /* history->reader has the reason and the offset */
    HISTORY_NO_MEMORY,
    HISTORY_TOO_LARGE /* more pieces or lives than 32 bits count */
};

/* An empty one may be freed too. */
void jd_history_free(struct history *history);

static inline uint64_t life_size(const struct history *history, const struct life *life)
{
    return history->pieces[life->piece].code_size;
}

/* Whether the code was there at a time. UINT64_MAX: at the dump's end. */
static inline bool life_holds(const struct life *life, uint64_t time)
{
    return time == UINT64_MAX ? life->ended == LIFE_TO_THE_END
                              : life->begin <= time && time < life->end;
}

/* The code at an instant: the lives that had begun at `time` and not ended, disjoint, by
 * ascending address. UINT64_MAX: those that reach the dump's end. `lives` receives an
 * allocated array of indices of history->lives, to be freed with free(), and `count` its length. False:
 * out of memory. */
bool jd_history_at(const struct history *history, uint64_t time, uint32_t **lives, uint32_t *count);

#endif
