/*
 * The handle, as jitdump.c (its life), emit.c (its records) and embed.c (tiers and sources) see it.
 */
#ifndef JITDUMP_DUMP_H
#define JITDUMP_DUMP_H

#include "../buffer/append_buffer.h"
#include "../buffer/background.h"
#include "../system/dump_file.h"
#include "../system/host_process.h"
#include "jitdump.h"
#include "../system/perf_map.h"
#include "../encode/function_records.h"
#include "../encode/record.h"

#pragma GCC visibility push(hidden)

enum status {
    /* In the child of a fork, which has no file yet: what the kernel leaves of the status there. */
    STATUS_FORKED = 0,
    STATUS_OPEN = 1
    /* Sticky errors are negative. */
};

struct jitdump {
    struct append_buffer buffer;
    struct background background;
    struct process_member member;
    struct dump_file file;

    /* enum status, or the sticky error. In a page that is zeros in the child of a fork. */
    _Atomic int *status;
    /* With a size limit: the bytes of the file and of all that is to go into it. */
    _Atomic uint64_t accepted;
    /* Buffered mode: when an append last flushed because of the interval. */
    _Atomic uint64_t last_flush;

    uint32_t pid;
    uint32_t flags;
    uint32_t elf_mach;
    enum jitdump_flush_mode flush_mode;
    /* In the clock's units. */
    uint64_t flush_interval;
    uint64_t flush_interval_ns;
    uint64_t size_limit; /* 0: none */
    size_t mapping_size; /* of this struct and the buffer's memory behind it */

    /* Both grow with jd_process_lock() held. */
    struct tiers tiers;
    struct sources sources;
    struct perf_map perf_map;
    struct debug_info_settings debug_info;
    char track[NAME_MAX + 1];
    char directory[PATH_MAX];
};

/* The records to append: `encode` writes head_size bytes from `input`, and `tail` follows. */
struct group {
    unsigned char *(*encode)(unsigned char *to, const struct record_stamp *stamp,
                             const void *input);
    const void *input;
    uint64_t head_size;
    const void *tail;
    uint64_t tail_size;
    /* Memory for the head, should the group be larger than a block; NULL: is allocated then. */
    unsigned char *head;
};

static inline int load_status(const struct jitdump *dump)
{
    /* Acquire pairs with the release in set_status(): a child's threads see the file that one of
     * them has made. */
    return atomic_load_explicit(dump->status, memory_order_acquire);
}

static inline void set_status(struct jitdump *dump, int status)
{
    atomic_store_explicit(dump->status, status, memory_order_release);
}

/* What a flush has met: the sticky error, unless all that was accepted is written. */
static inline int flush_error(const struct jitdump *dump)
{
    const int status = load_status(dump);
    return status < 0 && status != JITDUMP_ERROR_SIZE_LIMIT ? status : 0;
}

/* The sticky error, before anything else is looked at. */
static inline int sticky_error(const struct jitdump *dump)
{
    const int status = load_status(dump);
    return status < 0 ? status : 0;
}

/* The child's first append makes its file. Returns the error of that, which is sticky. */
int jd_dump_start_in_child(struct jitdump *dump);

/* Before anything is appended: the sticky error, if there is one; the child of a fork starts its
 * dump. */
static inline int get_ready(struct jitdump *dump)
{
    const int status = load_status(dump);
    if (status == STATUS_OPEN)
        return 0;
    return status == STATUS_FORKED ? jd_dump_start_in_child(dump) : status;
}

/* Appends the group. `index` receives its code_index. */
int jd_dump_append(struct jitdump *dump, const struct group *group, uint64_t *index);

/* The same whatever the status: for the one thread that makes a child's file. */
int jd_dump_append_first(struct jitdump *dump, const struct group *group);

/* The records of the sources that the child of a fork inherits. */
int jd_dump_append_sources(struct jitdump *dump);

/* Appends JIT_CODE_CLOSE, whatever the status. Nothing may be appended after it. */
void jd_dump_append_close(struct jitdump *dump);

#pragma GCC visibility pop

#endif
