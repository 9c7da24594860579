/*
 * The handle's life: open, flush, close, and what fork and exit do to it.
 */
#include "../platform/c_library.h"

#include "report.h"
#include "rooms.h"
#include "start.h"
#include "../format/elf_mach.h"
#include "../buffer/futex.h"
#include "../encode/struct_size.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* From linux/mman.h, for C libraries that are older. Elsewhere the number means something else. */
#if defined(__linux__) && !defined(MADV_WIPEONFORK)
#define MADV_WIPEONFORK 18
#endif

/* Large enough that a write's fixed cost is spread thin, small enough that four blocks
 * stay in a second-level cache. */
#define DEFAULT_FLUSH_BYTES (UINT64_C(64) << 10)
#define MIN_FLUSH_BYTES (UINT64_C(4) << 10)
#define MAX_FLUSH_BYTES (UINT64_C(16) << 20)

/* A tenth of a second: a profiler that reads along is as good as live, and an emitter that
 * trickles makes ten writes a second at most. */
#define DEFAULT_FLUSH_INTERVAL_NS UINT64_C(100000000)

#define MAX_FLUSH_INTERVAL_NS UINT64_C(3600000000000)

/* How long the exit of the process waits for an append that makes no progress: its thread
 * may be the one that is exiting, from a signal handler. */
#define EXIT_TIMEOUT_NS UINT64_C(1000000000)

/* The buffer's sink. Blocks that come after an error are dropped, so that no appender waits
 * for a buffer that can't be emptied. */
static void write_blocks(void *context, const struct iovec *bytes, int count)
{
    struct jitdump *dump = context;
    /* An append must not be cancelled in a write: others would wait for it for ever. */
    const struct process_shield shield = jd_process_shield();
    const int error = jd_dump_file_append(&dump->file, bytes, count);
    if (error != 0)
        set_status(dump, error);
    jd_process_unshield(shield);
}

/* Opening */

static int check_options(const struct jitdump_options *options)
{
    const uint32_t known_flags = JITDUMP_UNLINK_AT_CLOSE | JITDUMP_FORCE_TSC |
                                 JITDUMP_OUTERMOST_LINES | JITDUMP_SOURCE_FILES |
                                 JITDUMP_PERF_MAP | JITDUMP_EMPTY_AT_CLOSE |
                                 JITDUMP_TIER_RECORDS | JITDUMP_DEBUG | JITDUMP_SHARED |
                                 JITDUMP_NO_ATFORK | JITDUMP_NO_EXIT_FLUSH |
                                 JITDUMP_NO_SIGNAL_MASK | JITDUMP_STRICT;
    /* What needs files of the library's own. */
    const uint32_t by_path = JITDUMP_UNLINK_AT_CLOSE | JITDUMP_SOURCE_FILES | JITDUMP_PERF_MAP;
    const uint32_t one_of = JITDUMP_UNLINK_AT_CLOSE | JITDUMP_EMPTY_AT_CLOSE;
    if ((options->flags & ~known_flags) != 0 || (options->flags & one_of) == one_of ||
        options->clock > JITDUMP_CLOCK_TSC ||
        options->flush_mode > JITDUMP_FLUSH_BACKGROUND || options->elf_mach > UINT16_MAX ||
        (options->elf_mach == 0 && BUILD_ELF_MACH == ELF_MACH_NONE) ||
        options->dialect > JITDUMP_DIALECT_SAMPLY_2026 ||
        ((options->flags & JITDUMP_TIER_RECORDS) != 0 &&
         options->dialect != JITDUMP_DIALECT_SAMPLY_2023))
        return JITDUMP_ERROR_OPTION;
    if (options->flush_bytes != 0 &&
        (options->flush_bytes < MIN_FLUSH_BYTES || options->flush_bytes > MAX_FLUSH_BYTES))
        return JITDUMP_ERROR_OPTION;
    if (options->flush_interval_ns > MAX_FLUSH_INTERVAL_NS)
        return JITDUMP_ERROR_OPTION;
    if (options->descriptor != 0 && (options->descriptor <= STDERR_FILENO ||
                                     options->descriptor > INT_MAX || options->flags & by_path))
        return JITDUMP_ERROR_OPTION;
    if (options->size_limit != 0 && options->size_limit < SIZE_LIMIT_MIN)
        return JITDUMP_ERROR_OPTION;
    return jd_clock_check((enum jitdump_clock)options->clock,
                          (options->flags & JITDUMP_FORCE_TSC) != 0);
}

/* The process's dump, which several may hold. With the lock held. */
static struct jitdump *shared;

static void after_fork(struct process_member *member);
static void flush_at_exit(struct process_member *member);

/* The first code_index of a dump: one that no other dump is near, because perf names its ELF files
 * by pid and index alone (P26). At most 2^52, so that what follows stays below 2^53. The time
 * differs between two dumps of one process, and between processes of equal pid; the handle's
 * address is there lest a coarse clock or a second machine spoil that. */
static uint64_t choose_first_index(const struct jitdump *dump, uint64_t now)
{
    const uint64_t spread = UINT64_C(0x9e3779b97f4a7c15); /* every bit into those above it */
    uint64_t index = now * spread;
    index = (index ^ index >> 32 ^ (uintptr_t)dump) * spread;
    return (index >> 12) + 1;
}

/* The handle and the buffer's memory, in pages of their own. NULL: out of memory. */
static struct jitdump *allocate(const struct jitdump_options *options)
{
    const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    const size_t handle_size = (sizeof(struct jitdump) + page_size - 1) / page_size * page_size;
    const size_t block_size =
        (size_t)(options->flush_bytes != 0 ? options->flush_bytes : DEFAULT_FLUSH_BYTES);
    const size_t mapping_size = handle_size + page_size + APPEND_BUFFER_BLOCKS * block_size;

    unsigned char *const memory =
        mmap(NULL, mapping_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    struct jitdump *dump = (struct jitdump *)(void *)memory;
    dump->mapping_size = mapping_size;
    dump->buffer.block_size = (uint32_t)block_size;
    dump->buffer.clock = (enum jitdump_clock)options->clock;
    dump->buffer.first_index = choose_first_index(dump, jd_clock_now(dump->buffer.clock));
    dump->buffer.eager = options->flush_mode == JITDUMP_FLUSH_WRITE_THROUGH;
    dump->buffer.sink = write_blocks;
    dump->buffer.sink_context = dump;
    jd_append_buffer_init(&dump->buffer, memory + handle_size + page_size);

    /* From Linux 4.14. Elsewhere a child knows itself by its fork handler alone. */
    dump->status = (_Atomic int *)(void *)(memory + handle_size);
#ifdef MADV_WIPEONFORK
    madvise(memory + handle_size, page_size, MADV_WIPEONFORK);
#endif
    set_status(dump, STATUS_OPEN);

    dump->member.after_fork = after_fork;
    dump->member.at_exit = (options->flags & JITDUMP_NO_EXIT_FLUSH) == 0 ? flush_at_exit : NULL;
    dump->holders = 1;
    dump->descriptor = (int)options->descriptor;
    dump->signal = (options->flags & JITDUMP_NO_SIGNAL_MASK) == 0 ? SIGXFSZ : 0;
    dump->flags = options->flags;
    dump->elf_mach = options->elf_mach != 0 ? options->elf_mach : BUILD_ELF_MACH;
    dump->flush_mode = (enum jitdump_flush_mode)options->flush_mode;
    dump->flush_interval_ns = options->flush_interval_ns != 0 ? options->flush_interval_ns
                                                              : DEFAULT_FLUSH_INTERVAL_NS;
    if (dump->flush_mode == JITDUMP_FLUSH_BUFFERED)
        dump->flush_interval = jd_clock_units(dump->buffer.clock, dump->flush_interval_ns);
    dump->size_limit = options->size_limit;
    dump->file.on_disk = dump->perf_map.file = NEW_FILE_NONE;
    dump->debug_info = (struct debug_info_settings){
        .strict = (options->flags & JITDUMP_STRICT) != 0,
        .dialect = (enum jitdump_dialect)options->dialect,
        .tier_records = (options->flags & JITDUMP_TIER_RECORDS) != 0,
        .outermost = (options->flags & JITDUMP_OUTERMOST_LINES) != 0,
        .track = dump->track,
        .sources = (options->flags & JITDUMP_SOURCE_FILES) != 0 ? &dump->sources : NULL,
    };
    return dump;
}

static int choose_track(struct jitdump *dump, const char *name)
{
    if (name == NULL)
        name = jd_process_getenv("JITDUMP_TRACK");
    if (name == NULL)
        return 0;
    if (strlen(name) >= sizeof(dump->track))
        return JITDUMP_ERROR_OPTION;
    strcpy(dump->track, name);
    return 0;
}

/* What is good to know of a dump that could be opened. */
static const char *warning(const struct jitdump_options *options, const struct jitdump *dump,
                           bool joined)
{
    const struct debug_info_settings *made = &dump->debug_info;
    if (joined &&
        (((options->flags ^ dump->flags) & ~(uint32_t)JITDUMP_DEBUG) != 0 ||
         options->clock != (uint32_t)dump->buffer.clock ||
         options->flush_mode != (uint32_t)dump->flush_mode ||
         options->dialect != (uint32_t)made->dialect))
        return "JITDUMP_SHARED: the process's dump was open already, with other options, and they "
               "stay";
    if (strlen(dump->file.path) > ANNOUNCED_PATH_MAX)
        return "the dump's path has more than 244 bytes, and samply does not hear of it";
    if ((options->flags & JITDUMP_TIER_RECORDS) != 0)
        return "JITDUMP_TIER_RECORDS: no profiler is known to read them, and where samply reads "
               "inline records, functions with a tier have no lines";
    if (options->dialect == JITDUMP_DIALECT_SAMPLY_2023)
        return "JITDUMP_DIALECT_SAMPLY_2023: no profiler is known to read its inline records; "
               "samply has the lines of JIT_CODE_DEBUG_INFO alone";
    return "";
}

/* A member first, so that the child of a fork that comes meanwhile gives up the files. */
static int start_and_add(struct jitdump *dump)
{
    jd_process_add(&dump->member);
    int error = jd_start(dump);
    if (error == 0 && (dump->flags & JITDUMP_PERF_MAP) != 0) {
        error = jd_perf_map_open(&dump->perf_map, dump->pid, dump->signal);
        dump->file.error_number = errno;
        if (error != 0) {
            jd_undo_start(dump, error);
            jd_perf_map_path(dump->pid, dump->file.path);
        }
    }
    if (error != 0)
        jd_process_remove(&dump->member);
    return error;
}

/* `dump` may be NULL, if it could not be allocated. */
static void explain(const struct jitdump_options *options, int error, const struct jitdump *dump,
                    bool joined)
{
    if (options->error_message == NULL || options->error_message_size == 0)
        return;
    const char *path = dump == NULL                ? ""
                       : dump->file.path[0] != '\0' ? dump->file.path
                                                    : dump->directory;
    const int error_number = dump == NULL ? 0 : dump->file.error_number;
    const size_t size = (size_t)options->error_message_size;
    if (error == 0)
        snprintf(options->error_message, size, "%s", warning(options, dump, joined));
    else if (path[0] == '\0')
        snprintf(options->error_message, size, "%s", jitdump_strerror(error));
    else if (error == JITDUMP_ERROR_IO)
        snprintf(options->error_message, size, "%s: %s (errno %d)", path, jitdump_strerror(error),
                 error_number);
    else
        snprintf(options->error_message, size, "%s: %s", path, jitdump_strerror(error));
    jd_make_printable(options->error_message); /* whatever the path */
}

/* These two with the lock held. After an error, `*result` is what could be allocated. */
static int open_new(const struct jitdump_options *options, struct jitdump **result)
{
    struct jitdump *dump = *result = allocate(options);
    if (dump == NULL)
        return JITDUMP_ERROR_NO_MEMORY;
    int error = choose_track(dump, options->track);
    if (error == 0 && dump->descriptor == 0) {
        error = jd_dump_file_directory(options->directory, dump->directory);
        dump->file.error_number = errno;
    }
    if (error == 0 && (dump->flags & JITDUMP_NO_ATFORK) == 0 && !jd_process_watch_forks())
        error = JITDUMP_ERROR_NO_MEMORY;
    if (error == 0)
        error = start_and_add(dump);
    if (error == 0 && (dump->flags & JITDUMP_SHARED) != 0)
        shared = dump;
    return error;
}

static int share(const struct jitdump_options *options, struct jitdump **result)
{
    if ((options->elf_mach != 0 ? options->elf_mach : BUILD_ELF_MACH) != shared->elf_mach)
        return JITDUMP_ERROR_OPTION;
    shared->holders++;
    *result = shared;
    return 0;
}

int jitdump_open(struct jitdump **result, const struct jitdump_options *options)
{
    static const struct jitdump_options defaults = {.struct_size = sizeof(defaults)};
    if (result == NULL)
        return JITDUMP_ERROR_ARGUMENT;
    *result = NULL;
    if (options == NULL)
        options = &defaults;
    if (!jd_struct_size_is_sound(options->struct_size, OPTIONS_SIZE_MIN))
        return JITDUMP_ERROR_STRUCT_SIZE; /* nobody knows where error_message is */
    struct jitdump_options copy;
    const struct jitdump_options *const known =
        struct_known(options, &copy, sizeof(copy), OPTIONS_SIZE_MIN);
    const struct process_shield shield = jd_process_shield();
    struct jitdump *dump = NULL;
    bool joined = false;
    int error = JITDUMP_ERROR_STRUCT_SIZE;
    if (known != NULL) {
        options = known;
        error = check_options(options);
    }
    if (error == 0) {
        jd_process_lock();
        joined = (options->flags & JITDUMP_SHARED) != 0 && shared != NULL;
        error = joined ? share(options, &dump) : open_new(options, &dump);
        jd_process_unlock();
    }
    explain(options, error, dump, joined);
    if (error != 0 && dump != NULL) {
        munmap(dump, dump->mapping_size);
        dump = NULL;
    }
    *result = dump;
    jd_process_unshield(shield);
    return error;
}

/* Fork and exit */

static struct jitdump *dump_of(struct process_member *member)
{
    return (struct jitdump *)(void *)((char *)member - offsetof(struct jitdump, member));
}

static void after_fork(struct process_member *member)
{
    struct jitdump *dump = dump_of(member);
    jd_sources_after_fork(&dump->sources);
    /* What is in the buffer is the parent's to write. */
    jd_append_buffer_reset(&dump->buffer);
    jd_background_forget(&dump->background);
    /* At once, while their numbers can't be another file's yet. */
    jd_dump_file_abandon(&dump->file);
    jd_new_file_abandon(&dump->perf_map.file);
    set_status(dump, STATUS_FORKED);
}

void jitdump_after_fork(void)
{
    const struct process_shield shield = jd_process_shield();
    jd_process_after_fork();
    jd_process_unshield(shield);
}

static void flush_at_exit(struct process_member *member)
{
    struct jitdump *dump = dump_of(member);
    jd_background_stop(&dump->background);
    jd_append_buffer_flush_all(&dump->buffer, EXIT_TIMEOUT_NS);
}

/* Flushing and closing */

int jitdump_flush(struct jitdump *dump)
{
    if (dump == NULL || load_status(dump) == STATUS_FORKED)
        return 0; /* what is in the buffer is the parent's */
    jd_append_buffer_flush_all(&dump->buffer, FUTEX_FOREVER);
    int error = flush_error(dump);
    if (error == 0)
        error = atomic_load_explicit(&dump->perf_map.error, memory_order_relaxed);
    return reported(dump, error, "jitdump_flush", NULL);
}

int jitdump_flush_from_signal(struct jitdump *dump)
{
    if (dump == NULL || load_status(dump) == STATUS_FORKED)
        return 0;
    jd_append_buffer_seal(&dump->buffer);
    jd_append_buffer_try_flush(&dump->buffer);
    const int error = flush_error(dump);
    if (error != 0)
        return error;
    return jd_append_buffer_is_empty(&dump->buffer) ? 0 : JITDUMP_ERROR_BUSY;
}

/* The header's time is another than the dump's, by which samply knows that it is not the one of a
 * profile made before: it would find no names in it, and take away those that the profile has. */
static int empty_file(struct jitdump *dump)
{
    const struct jitdump_file_header header = jd_file_header(dump);
    return jd_dump_file_empty(&dump->file, &header);
}

int jitdump_close(struct jitdump *dump)
{
    if (dump == NULL)
        return 0;
    const struct process_shield shield = jd_process_shield();
    /* What one holder has appended is written when it closes, though others go on. */
    int error = (dump->flags & JITDUMP_SHARED) != 0 ? jitdump_flush(dump) : 0;
    /* Locked throughout: the exit of the process may be stopping the thread too, and who opens the
     * process's dump now is to find it open, or gone with its file. */
    jd_process_lock();
    if (--dump->holders != 0) {
        jd_process_unlock();
        jd_process_unshield(shield);
        return error;
    }
    if (shared == dump)
        shared = NULL;
    jd_background_stop(&dump->background);
    const bool has_file = load_status(dump) != STATUS_FORKED;
    const bool unlink_it = has_file && (dump->flags & JITDUMP_UNLINK_AT_CLOSE) != 0;
    const bool empty_it = has_file && (dump->flags & JITDUMP_EMPTY_AT_CLOSE) != 0;
    const uint32_t unlink_pid = unlink_it || empty_it ? dump->pid : 0;
    if (has_file) {
        jd_append_close(dump);
        jd_append_buffer_flush_all(&dump->buffer, FUTEX_FOREVER);
    }
    const int empty_error = empty_it ? empty_file(dump) : 0;
    const int file_error = jd_dump_file_close(&dump->file, unlink_it);
    const int map_error = jd_perf_map_close(&dump->perf_map, unlink_pid != 0);
    jd_process_remove(&dump->member);
    jd_process_unlock();
    error = sticky_error(dump);
    if (error == 0)
        error = empty_error != 0               ? empty_error
                 : file_error != 0 && !empty_it ? file_error
                                                : map_error;
    reported(dump, error, "jitdump_close", NULL);
    jd_sources_free(&dump->sources, unlink_pid);
    tiers_free(&dump->tiers);
    jd_rooms_free(dump);
    munmap(dump, dump->mapping_size);
    jd_process_unshield(shield);
    return error;
}

/* Asking */

const char *jitdump_path(const struct jitdump *dump)
{
    if (dump == NULL || load_status(dump) == STATUS_FORKED || dump->file.on_disk.fd < 0 ||
        dump->file.is_adopted)
        return NULL;
    return dump->file.path;
}
