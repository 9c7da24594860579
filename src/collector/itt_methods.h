/*
 * The methods that programs have reported by Intel's JIT API: what a later event about one may need.
 *
 * Ids are unique in a copy of Intel's client only, of which each library that uses it has its own.
 */
#ifndef JITDUMP_COLLECTOR_ITT_METHODS_H
#define JITDUMP_COLLECTOR_ITT_METHODS_H

#include "itt_lines.h"

#include <stddef.h>

/* A piece of code: a method may have several. Of an inlined call: the code that comes from it. */
struct itt_region {
    uint64_t address;
    uint32_t size;
    uint32_t line_count;
    struct itt_line *lines; /* of starts */
    char *name;
    char *file; /* NULL: unknown */
};

struct itt_method {
    const void *copy;
    uint32_t id;
    /* Of an inlined call: where it is inlined. Its own are a list. */
    struct itt_method *parent;
    struct itt_method *first_child;
    struct itt_method *next_sibling;
    /* None: known only as somebody's parent. */
    struct itt_region *regions;
    uint32_t region_count;
    uint32_t replaced; /* how many regions gave way to others, because there were too many */
    struct itt_method *next; /* of the same place in the table */
};

struct itt_methods {
    struct itt_method **places;
    size_t place_count; /* a power of two */
    size_t count;
};

/* NULL: unknown. */
struct itt_method *jd_itt_methods_find(const struct itt_methods *methods, const void *copy, uint32_t id);

/* The method, made if it is unknown. NULL: out of memory. */
struct itt_method *jd_itt_methods_get(struct itt_methods *methods, const void *copy, uint32_t id);

/* Forgets a method, and what is inlined in it. */
void jd_itt_methods_forget(struct itt_methods *methods, struct itt_method *method);

/* Makes `child` an inlined call of `parent`. False: it would become its own ancestor. */
bool jd_itt_method_inline(struct itt_method *child, struct itt_method *parent);

/* Takes the region over, with its memory, in the place of one at the same address, or of an old one if there
 * are many. NULL: out of memory, and the region is freed. */
const struct itt_region *jd_itt_method_add(struct itt_method *method, struct itt_region region);
void jd_itt_region_free(struct itt_region *region);

#endif
