/*
 * What a dump must hold: the calls that were accepted, in their order.
 */
#ifndef JITDUMP_TESTS_MODEL_H
#define JITDUMP_TESTS_MODEL_H

#include "describe.h"
#include "records.h"

#include <limits.h>

#define ITEMS_MAX 256
#define SOURCES_MAX 64

enum item_kind { ITEM_LOAD, ITEM_MOVE, ITEM_RAW, ITEM_SOURCE };

struct item {
    enum item_kind kind;
    /* A load. */
    const struct jitdump_code *code;
    struct tier_facts tier;
    uint64_t code_index; /* of a move too */
    uint64_t source_count; /* that were known at the load */
    /* A move. */
    uint64_t old_code_addr, new_code_addr, code_size;
    /* A raw record, or a source. */
    uint32_t id;
    const char *path;
    const void *bytes;
    uint64_t size;
    /* It may be missing. */
    bool optional;
};

struct source_facts {
    const char *path;
    const void *text;
    uint64_t size;
    enum known known; /* KNOWN_PERHAPS: embedding it ended with a sticky error */
};

struct model {
    struct jitdump *dump; /* NULL: none is open */
    struct jitdump_options options;
    const char *directory;
    struct file_facts facts;
    char path[PATH_MAX];
    char source_file_prefix[PATH_MAX];
    bool has_file; /* false in a child that has not appended */
    int sticky;
    bool batch_failed; /* and was sticky */
    struct item items[ITEMS_MAX];
    uint32_t count;
    /* So many were accepted before a flush that succeeded: they are in the file. */
    uint32_t flushed;
    struct source_facts sources[SOURCES_MAX];
    uint32_t source_count;
    struct tier_facts tiers[JITDUMP_TIERS_MAX];
    uint32_t tier_count;
};

/* Is open now, with these options in that directory. */
void model_open(struct model *model, struct jitdump *dump, const struct jitdump_options *options,
                const char *directory);

/* To be called with the result of each call that appends; `item` is what it does if it is
 * accepted, NULL if nothing. */
void model_appended(struct model *model, const struct item *item, int result);

/* The result of a batch that is not 0, after its functions that were loaded. */
void model_batch(struct model *model, int result);

/* The same of a source. */
void model_embedded(struct model *model, const char *path, const void *text, uint64_t size,
                    int result);

/* A flush has returned, from a signal handler or not. */
void model_flushed(struct model *model, int result);

/* The process has become its child. */
void model_forked(struct model *model);

/* Looks at the file of a dump that is open, or has just been closed with that result. */
void model_check_open(const struct model *model);
void model_check_closed(const struct model *model, int result);

#endif
