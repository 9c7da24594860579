/*
 * The handle, and its status.
 */
#ifndef JITDUMP_HANDLE_H
#define JITDUMP_HANDLE_H

#include "../buffer/append_buffer.h"
#include "../buffer/background.h"
#include "../system/dump_file.h"
#include "../system/host_process.h"
#include "jitdump.h"
#include "../system/perf_map.h"
#include "../system/shield.h"
#include "../encode/function_records.h"

#pragma GCC visibility push(hidden)

/* Of jitdump_options.size_limit. */
#define SIZE_LIMIT_MIN (UINT64_C(4) << 10)

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

    /* With JITDUMP_DEBUG: how many reports were made, and whether the sticky error was (0 or 1, in
     * 32 bits: riscv64 exchanges no bytes without libatomic). */
    _Atomic uint32_t reports;
    _Atomic uint32_t sticky_reported;
    /* And what was loaded; 1: a thread is at it. */
    struct rooms *rooms;
    _Atomic uint32_t rooms_taken;

    /* How many have opened it and not closed it; with jd_process_lock() held. */
    uint32_t holders;

    uint32_t pid;
    uint32_t flags;
    int descriptor; /* the program's; 0: the file is made by its path */
    int signal;     /* what writes must not send, as for jd_write_all() */
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

#pragma GCC visibility pop

#endif
