/*
 * Which code lay at an address at a time; and whether anything was there before.
 *
 * A segment tree: the addresses are cut where any life begins or ends, and each life is in the nodes that
 * make it up, twice log2 of the cuts at most. Lives in one node lie over each other, so each ends before the
 * next begins, and the one of a time is found by halving. A list by address alone is as long to walk as there
 * are lives at one address, or behind the beginning of a large one: a JIT may use one place a million times,
 * or load a whole region and then what is in it.
 */
#ifndef JITDUMP_READER_LIFE_INDEX_H
#define JITDUMP_READER_LIFE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

struct indexed_life {
    uint64_t address;
    uint64_t end;
    uint64_t from, until; /* times. It may be there a little before the one that lies there ends */
};

struct life_index {
    const struct indexed_life *lives;
    uint64_t *cuts; /* ascending */
    uint32_t cut_count;
    uint64_t *begins;   /* of each node, and one more: where its lives begin in `members` */
    uint32_t *members;  /* indices of `lives`, those of a node ascending */
    uint32_t *nearest;  /* of each node: it, or the nearest above it that has members; 0: none */
    uint64_t *earliest; /* of each node: the first time that was noted for a place in it */
};

/* The lives are in the order of `from`, and stay the caller's. False: out of memory. To be freed in any
 * case. */
bool jd_life_index_init(struct life_index *index, const struct indexed_life *lives, uint32_t count);
void jd_life_index_free(struct life_index *index);

/* Where the address belongs; 0: there never is a life. */
uint32_t jd_life_index_leaf(const struct life_index *index, uint64_t address);

/* Calls `found` for what lay there then: one life, or some where times are not exact. False: it did. */
bool jd_life_index_ask(const struct life_index *index, uint32_t leaf, uint64_t time,
                       bool (*found)(void *context, uint32_t life), void *context);

/* The last of `lives` that lay there then or before; UINT32_MAX: none. */
uint32_t jd_life_index_last(const struct life_index *index, uint32_t leaf, uint64_t time);

/* The first of `lives` that came there later; UINT32_MAX: none. */
uint32_t jd_life_index_next(const struct life_index *index, uint32_t leaf, uint64_t time);

/* Notes that something was there then. After all that, whether something was in the life's place before
 * it. */
void jd_life_index_note(struct life_index *index, uint32_t leaf, uint64_t time);
void jd_life_index_settle(struct life_index *index);
bool jd_life_index_is_early(const struct life_index *index, uint32_t life);

#endif
