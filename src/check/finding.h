/*
 * What `jitdump check` can find in a dump or in a profile, and what it has found.
 *
 * P and S numbers are the facts in docs/consumers.md that make a finding one.
 */
#ifndef JITDUMP_CHECK_FINDING_H
#define JITDUMP_CHECK_FINDING_H

#include "format/cursor.h"

enum finding {
    /* The file */
    FINDING_HEADER_FLAGS,
    FINDING_HEADER_SIZE,
    FINDING_HEADER_MACHINE,
    FINDING_FILE_NAME,
    FINDING_BYTE_ORDER,
    FINDING_CUT_OFF,
    FINDING_BROKEN,
    FINDING_EMPTY_RECORD,
    FINDING_AFTER_CLOSE,
    FINDING_UNKNOWN_ID,
    FINDING_TIME_BACKWARDS,
    FINDING_UNREADABLE_RECORD,
    /* A function */
    FINDING_NAME_EMPTY,
    FINDING_NAME_CONTROL,
    FINDING_NAME_UTF8,
    FINDING_NAME_TWICE_SHOWN,
    FINDING_PADDING,
    FINDING_CODE_SIZE,
    FINDING_INDEX_TWICE,
    FINDING_ORPHAN,
    FINDING_MUCH_CODE,
    FINDING_MANY_FUNCTIONS,
    /* Its lines and inlining */
    FINDING_LINES_ADDRESS,
    FINDING_LINES_OUTSIDE,
    FINDING_LINES_HEADER_ADDED,
    FINDING_LINES_ORDER,
    FINDING_LINES_SENTINEL,
    FINDING_LINES_SAME_FILE,
    FINDING_LINES_FILE_LOST,
    FINDING_LINES_COLON,
    FINDING_INLINE_UNREADABLE,
    FINDING_TIER_HIDES_LINES,
    /* Its frames */
    FINDING_UNWINDING_ORDER,
    FINDING_UNWINDING_UNMAPPED,
    FINDING_UNWINDING_ROOM,
    FINDING_UNWINDING_HIDES,
    FINDING_UNWINDING_MOVED,
    FINDING_UNWINDING_REUSED,
    /* Moves */
    FINDING_MOVE_UNKNOWN,
    FINDING_MOVE_FROM,
    FINDING_MOVE_CRASHES,
    /* The profile */
    FINDING_CLOCK,
    FINDING_TIME_CONVERSION,
    FINDING_COMPRESSED,
    FINDING_NO_MAPPING,
    FINDING_OTHER_NAMESPACE,
    FINDING_HIDDEN,
    FINDING_BEFORE_LOAD,
    FINDING_AFTER_LIFE,
    FINDING_BETWEEN,
    FINDING_NEVER_DESCRIBED,
    FINDING_LOST,
    FINDING_COUNT
};

enum severity {
    /* Nothing is wrong, but it may surprise. */
    SEVERITY_NOTE,
    /* Some consumer shows less than it could, or something wrong. */
    SEVERITY_WARNING,
    /* Functions are missing, or a consumer refuses the file. */
    SEVERITY_ERROR
};

struct finding_kind {
    const char *name; /* for programs: never changed once it is out */
    const char *fact; /* the number in docs/consumers.md, or "" */
    enum severity severity;
    const char *text;    /* a sentence without its full stop */
    const char *way_out; /* what to do; the same */
};

extern const struct finding_kind jd_finding_kinds[FINDING_COUNT];

/* Places of each kind that are kept; the others are only counted. */
#define FINDING_PLACES 3

struct finding_place {
    uint64_t offset; /* in the dump or the profile; FINDING_NOWHERE: it has none */
    char text[160];  /* which function, how far: of one line, harmless on a terminal; may be empty */
};

#define FINDING_NOWHERE UINT64_MAX

struct findings {
    struct {
        uint64_t count;
        struct finding_place places[FINDING_PLACES];
    } of[FINDING_COUNT];
};

/* One more of the kind, at `offset`. The text is made as printf makes it, and cut. */
__attribute__((format(printf, 4, 5))) void jd_finding_add(struct findings *findings,
                                                          enum finding finding, uint64_t offset,
                                                          const char *format, ...);

/* The worst of what was found, -1 if nothing was. */
int jd_findings_worst(const struct findings *findings);

#endif
