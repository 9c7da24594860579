/*
 * libjitdump: make the code that your JIT generates visible in perf and samply.
 *
 * The library writes a jitdump file, `jit-<pid>.dump`, that says at which time
 * which bytes lay at which address, under which name and from which source
 * lines. `perf inject --jit` and samply read it. Three calls are enough.
 *
 * Example:
 *
 *     struct jitdump *dump;
 *
 *     void profiling_wanted(void)
 *     {
 *         jitdump_open(&dump, NULL);            // once
 *     }
 *
 *     void function_generated(const struct jitdump_code *code, uint64_t *code_index)
 *     {
 *         jitdump_load(dump, code, code_index); // written, not yet run
 *     }
 *
 *     void shutting_down(void)
 *     {
 *         jitdump_close(dump);
 *     }
 *
 * Manners that hold for every function below, where it does not say otherwise:
 *
 * - It returns 0, or a negative value of `enum jitdump_error`; what
 *   jitdump_strerror() says of it is one line with the cause and the way out.
 *   A call that fails has appended nothing.
 * - It may be called from any thread at any time, but not from a signal handler.
 *   Calls on one handle need no lock of the caller's. A thread with a stack of 16 KiB can
 *   append; tracks need 20 KiB more.
 * - A thread may be cancelled at any time: no call is left halfway. Only with
 *   PTHREAD_CANCEL_ASYNCHRONOUS that can't be kept, as for most functions of the C library:
 *   the file stays readable, but what comes later may be lost, and a flush wait for ever.
 * - A thread must not be stopped in the middle of a call while others go on calling: they wait for
 *   it as soon as the buffer is full, or sooner, if it was writing. A collector that suspends
 *   threads by a signal and then calls jitdump_move() would wait for ever. As for malloc():
 *   suspend at safepoints only, or block that signal around calls.
 * - A NULL handle is a no-op that returns 0, so that a runtime which is not being
 *   profiled needs no `if`.
 * - It does not print (but see JITDUMP_DEBUG and jitdump_open_from_environment()), exit, install
 *   signal handlers, or leave errno changed.
 * - What a pointer argument points to must stay alive and unchanged during the
 *   call, and is not used after it.
 * - A struct starts with its own size (`struct_size = sizeof(struct ...)`), and what
 *   is not filled in is zero. Structs grow at their end in later versions. Older and newer
 *   programs keep working: what a smaller struct lacks counts as zero, and a larger one is
 *   taken if all that this library does not know of it is zero; else the error is STRUCT_SIZE.
 *   Must be there: options up to `dialect`, code up to `code_bytes`, unwind up to `frame`,
 *   tracks up to `offset_count`. A struct_size is a multiple of a pointer's size, up to 4096.
 * - Structs without struct_size are elements of arrays and never grow. What they can't say
 *   comes as another array, of another struct, beside theirs.
 *
 * On macOS all of this holds too, for samply, which reads dumps there; but:
 *
 * - samply must have started the process, and hears of a dump when it is opened. It does not hear of one
 *   whose path has more than 244 bytes (error_message has a warning), nor of one in a descriptor.
 * - JITDUMP_CLOCK_MONOTONIC is CLOCK_UPTIME_RAW, samply's clock. There is no other.
 * - With JITDUMP_NO_ATFORK the child of a fork must call jitdump_after_fork().
 * - A write that meets RLIMIT_FSIZE in the moment after the library has looked at it sends SIGXFSZ.
 *
 * It was compiled and linked for x86-64 and arm64, but not run on macOS: docs/integration.md.
 *
 * On other systems (Windows, FreeBSD, iOS ...), for which there is no reader, header and library compile too,
 * so that a portable runtime needs no #ifdef: jitdump_open() returns UNSUPPORTED, so that the handle is
 * NULL, and every other call does nothing.
 *
 * Strings are bytes that end with NUL. Consumers expect UTF-8. The library writes them as they are,
 * of any length, control characters too, and perf prints those to the terminal. If names come from
 * users, replace control characters first.
 *
 * In this order: the calls that every runtime needs, options, the user's choice, the process, frames,
 * inlining, tiers and sources, extensions, errors.
 */
#ifndef JITDUMP_H
#define JITDUMP_H

#include <stdint.h>

/* The version of this header, and of the library built from it. */
#define JITDUMP_VERSION_MAJOR 0
#define JITDUMP_VERSION_MINOR 2
#define JITDUMP_VERSION_PATCH 0

/* What stands in front of each function. A program that has the library's sources among its own
 * may define it otherwise, for them and for itself: with
 * -DJITDUMP_API='__attribute__((visibility("hidden")))' its shared objects export nothing of the
 * library, and each calls its own copy, whatever version of it others in the process have. */
#ifndef JITDUMP_API
#if defined(__GNUC__)
#define JITDUMP_API __attribute__((visibility("default")))
#else
#define JITDUMP_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* An open dump. Opaque. */
struct jitdump;

/*
 * EVERYDAY: open, load, move, flush, close
 *
 * The five calls that most runtimes need, and what they are given.
 */

/* How to open a dump. All zero but struct_size is a good choice. */
struct jitdump_options {
    /* sizeof(struct jitdump_options). */
    uint32_t struct_size;
    /* enum jitdump_option_flags, or'ed. */
    uint32_t flags;
    /* enum jitdump_clock. */
    uint32_t clock;
    /* enum jitdump_flush_mode. */
    uint32_t flush_mode;
    /* The ELF machine (EM_* of elf.h) of the code that is described. 0: that of the
     * library's own build. */
    uint32_t elf_mach;
    /* enum jitdump_dialect. */
    uint32_t dialect;
    /* The size of each of the buffer's four blocks: how many bytes gather at most before they are
     * written. 4 KiB to 16 MiB. 0: 64 KiB. */
    uint64_t flush_bytes;
    /* How long bytes may wait in the buffered and background modes, in nanoseconds, up
     * to an hour. 0: 100 ms. */
    uint64_t flush_interval_ns;
    /* The dump never grows past this many bytes (at least 4 KiB); the append that
     * would do it fails with JITDUMP_ERROR_SIZE_LIMIT. 0: no limit. */
    uint64_t size_limit;
    /* Where to create the file. NULL: $JITDUMPDIR (ignored in setuid programs), or
     * where that is not set either, the current directory. Empty: the current one too. */
    const char *directory;
    /* If not NULL, a buffer for one line of text that says why jitdump_open() failed,
     * with the path that it failed on, always NUL-terminated, cut to
     * error_message_size bytes, with '?' for control characters. After success it is empty, or a
     * warning: what was asked for is of less use than it seems. That the call failed, its result
     * alone says.
     * After STRUCT_SIZE it is written if the struct is larger than the library knows; with a
     * struct_size that no version has it is as it was: nobody knows where this field is. */
    char *error_message;
    uint64_t error_message_size;
    /* The name of the track to emit of functions that have several, up to 255 bytes; of those
     * that have none of the name, the first. NULL: $JITDUMP_TRACK (ignored in setuid
     * programs), or where that is not set either, the first. */
    const char *track;
    /* If not 0, the descriptor, above 2, of a file that the program has opened for the dump: see
     * PROCESS below. `directory` is not looked at then. */
    uint64_t descriptor;
};

/*
 * Creates `jit-<pid>.dump`, mode 0600, writes its header, maps its first page
 * executable, which is the event by which profilers find it (and what a profiler
 * that is attached later finds in the process's maps), and stores the new handle in
 * `*dump`. Both are done before it returns, so call it before the first generated
 * code runs. `options` may be NULL: all defaults.
 *
 * A stale dump of that name is replaced: a regular file of this user's that no process holds open
 * as its dump, and that is older than this process, or was made and closed by it. One process may
 * have several dumps in different directories; most need one.
 *
 * On error `*dump` is NULL, which every function takes, and nothing is left behind.
 * Errors: ARGUMENT, STRUCT_SIZE, OPTION, NO_MEMORY, CLOCK_*, DIRECTORY_*, FILE_*,
 * TOO_MANY_FILES, DISK_FULL, FILE_TOO_LARGE, IO, THREAD, PERF_MAP, DESCRIPTOR.
 *
 * fork: the child of a process with an open dump has the handle too. At its first append there
 * it starts a `jit-<childpid>.dump` of its own, with the same options; errors of doing so are
 * those of jitdump_open(), and sticky. What was loaded before the fork stays visible in the
 * child through the parent's dump. Bytes of the parent that were still buffered are written by
 * the parent alone. Tiers and sources stay known there, and the sources are written to the
 * child's dump too. A perf map of the child's own starts with a line for each function that the
 * parent had loaded. The child has none of the dump's descriptors: it may close all that there
 * are, as daemons do. Handlers of pthread_atfork() may emit, and may wait for threads that
 * emit; before Linux 4.14, those of the child only if they were registered after the first
 * jitdump_open(). vfork and posix_spawn need nothing; a child made by a bare clone system call
 * or _Fork(), or by the fork() of another C library than this one's (dlmopen), must not use the
 * handle.
 *
 * The directory is kept as an absolute path, and the file as a descriptor above 2: chdir
 * changes nothing. A program that closes it, with closefrom(3) say, has no dump any more: what
 * is written next finds that out and is JITDUMP_ERROR_IO, sticky, and files that the program
 * has opened under the number since are left alone. After chroot or a change of user the dump
 * goes on; what needs the path then, a child's own file, JITDUMP_UNLINK_AT_CLOSE and
 * JITDUMP_EMPTY_AT_CLOSE, may fail.
 *
 * exit: at a normal end of the process, or when the library is unloaded, a dump that
 * is still open is flushed, not closed. Unloading ends the background thread, but the file's
 * descriptor and its mapping stay: close before dlclose().
 */
JITDUMP_API int jitdump_open(struct jitdump **dump, const struct jitdump_options *options);

/* One entry of a line table: the code from code_addr up to the next entry's, or to
 * the end of the code, comes from this line. */
struct jitdump_line {
    /* Absolute, as the code will be executed (not an offset). Nothing is to be added
     * for an ELF header, as some emitters did for an older perf. */
    uint64_t code_addr;
    /* From 1. */
    uint32_t line;
    /* From 1; 0: unknown. The `discrim` of the specification, section VII. */
    uint32_t column;
    /* As the profiler shall find it: perf annotate opens this path. NULL or empty: no line. */
    const char *file;
};

/* The same with an offset in the code and an index of the file, for whoever has them so: a table of
 * files can be shared between pieces of code, and nothing needs a NUL. (A row of DWARF's.) */
struct jitdump_line_row {
    /* From the code's start. */
    uint32_t code_offset;
    /* Index in jitdump_code.files; JITDUMP_NONE: no file, and so no line. */
    uint32_t file;
    /* As above. */
    uint32_t line;
    uint32_t column;
};

/* A string of `size` bytes without NUL; at a NUL it ends. Of size 0, `bytes` may be anything. */
struct jitdump_string {
    const char *bytes;
    uint64_t size;
};

/* The largest code, in bytes: perf keeps the size in an int. */
#define JITDUMP_CODE_SIZE_MAX UINT64_C(0x7fffffff)

/* All about one piece of generated code. */
struct jitdump_code {
    /* sizeof(struct jitdump_code). */
    uint32_t struct_size;
    /* What jitdump_add_tier() gave; 0: none. */
    uint32_t tier;
    /* The name that the profiler shows. Not empty. With name_size below, it needs no NUL. */
    const char *name;
    /* Where the code will be executed. */
    uint64_t code_addr;
    /* In bytes, up to JITDUMP_CODE_SIZE_MAX. May be 0, of a function without code; but not at the
     * start of another one, since perf inject 6.1 hangs if that is cut by a later load. */
    uint64_t code_size;
    /* The code itself, of which the dump keeps a copy: where the writable mapping is,
     * if memory is mapped twice. NULL: it is read at code_addr, which must then be
     * readable. */
    const void *code_bytes;
    /* The line table, addresses ascending. NULL and 0: none. Tables are taken as compilers make
     * them:
     *
     * - Of several entries at one address the last counts.
     * - Code behind an entry with line 0, or without file, has no line, up to the next entry.
     * - Entries outside of the code are left out: an end marker, or another part's lines.
     *
     * With JITDUMP_STRICT these are errors. Code in front of the first entry has no line. The table is
     * closed at the end of the code by the library, since perf gives the code behind the last
     * entry no line. */
    const struct jitdump_line *lines;
    uint64_t line_count;
    /* The .eh_frame section that has the code's unwinding data, as LLVM, Cranelift and GCC make
     * it, for one function or for any number of them: its bytes, after relocation, and where they
     * are loaded (eh_frame_addr, at the end of this struct). The library takes what is said of the
     * code: see FRAMES. NULL and 0: none.
     *
     * With eh_frame_hdr, bytes of the caller's own making instead, to be written as they are: the
     * two as they are to lie in the ELF file that perf makes: code at offset 0, eh_frame at
     * code_size rounded up to 8, eh_frame_hdr right behind it. FDE addresses
     * pc-relative sdata4; header with eh_frame_ptr pcrel sdata4, count udata4, table
     * datarel sdata4. (perf's order, which is the reverse of section IX of the
     * specification.) */
    const void *eh_frame;
    uint64_t eh_frame_size;
    const void *eh_frame_hdr;
    uint64_t eh_frame_hdr_size;
    /* The description from which the library makes the unwinding data. NULL: none.
     *
     * With unwinding data of either kind, perf takes the function for longer than its
     * code: leave as many bytes free behind it as jitdump_unwind_size() says, or the
     * next function's arrival breaks the unwinding of this one. */
    const struct jitdump_unwind *unwind;
    /* In place of the lines: where the code comes from, inlining included, in one or several
     * tracks, of which one is emitted (jitdump_options.track); no other is looked at. All
     * the dialect's encodings are made of it. JIT_CODE_DEBUG_INFO has one line for each
     * offset (JITDUMP_OUTERMOST_LINES). NULL and 0: none. */
    const struct jitdump_track *tracks;
    uint64_t track_count;
    /* The address that the bytes at `eh_frame` have, or are to be read as having: that of the
     * section in the process that runs the code. What is pc-relative in it counts from there.
     * 0: where the bytes are. Not looked at with eh_frame_hdr. */
    uint64_t eh_frame_addr;
    /* How many bytes the name has. It ends there or at a NUL. 0: at its NUL. (So an empty name of a
     * language whose strings have a size must be NULL.) */
    uint64_t name_size;
    /* In place of `lines`: the same by offset and index. NULL and 0: none. */
    const struct jitdump_line_row *line_rows;
    uint64_t line_row_count;
    /* The files of line_rows. */
    const struct jitdump_string *files;
    uint64_t file_count;
};

/*
 * Describes one function: appends its JIT_CODE_DEBUG_INFO, the dialect's inline and tier
 * records and JIT_CODE_UNWINDING_INFO, where there are lines, a tier and unwinding data, and
 * its JIT_CODE_LOAD as one group that no other record can come between. All bear the time of
 * the call, and times never decrease in the file, across all threads. So call it when the
 * code is complete and before it is first executed; if the address was used before, after the
 * last execution of the old code: from then on it is the new function's.
 *
 * `code_index`, if not NULL, receives the number by which jitdump_move() knows the
 * function: above 0, never the same twice in a dump or in that of a forked child, not
 * consecutive. Each dump begins at another number, since perf takes two ELF files of equal names,
 * jitted-<pid>-<code_index>.so, for one, in whatever directories. All are below 2^53, so that a
 * double holds them, if flush_bytes is at most 1 MiB. It is 0 after an error and for a NULL handle.
 *
 * Cost: a copy of the code, one clock read, and the flush mode's writing. No lock,
 * allocation or system call otherwise, except: a group of more than flush_bytes is
 * written before the call returns, one at a time by a lock, with a temporary allocation for the
 * part in front of the code bytes; a track of more than some hundred positions
 * (docs/debug-info.md) takes one too; JITDUMP_PERF_MAP has its own cost; the first append of a
 * forked child makes the file; one that relieves a thread which has written for others waits for
 * its present write; and when the buffer is full (four blocks, none written yet) the
 * call waits for the file. Appends wait nowhere else.
 *
 * Errors: ARGUMENT (code NULL), STRUCT_SIZE, NO_MEMORY, NAME_MISSING, CODE_*, RECORD_SIZE,
 * LINES_*, LINE_*, TRACK_*, OFFSETS_*, POSITION_*, FUNCTION_NAME, RESERVED, TIER, UNWIND_*:
 * nothing appended, the dump usable as before.
 * SIZE_LIMIT, DISK_FULL, FILE_TOO_LARGE, IO, and in the child of a fork those of
 * jitdump_open(): sticky. In write-through mode the write's own error is returned; with
 * several threads it may also be that of another thread's write, and this record be written.
 */
JITDUMP_API int jitdump_load(struct jitdump *dump, const struct jitdump_code *code,
                             uint64_t *code_index);

/*
 * Loads many functions, as so many calls of jitdump_load() do, but with one reading of the clock and
 * one `write` for as many as fit into flush_bytes, in write-through mode too: for the start of a
 * module, or for the parts of a function that lies in several places. In that case give each part its
 * own jitdump_code with the same name; all parts may have the same `lines` and the same eh_frame,
 * of which each takes what is its own. (line_rows and tracks are by offset, and so each part's own.)
 *
 * The elements of `codes` have the same struct_size: they lie so far apart. `code_indices`, if not
 * NULL, is an array of `count` numbers, as jitdump_load() gives them.
 *
 * A function that has an error is left out, its code_index is 0, and the others are loaded all the
 * same; the result is the first error that there was. After a sticky one nothing follows, and it is the
 * result; of those that were to be written then, the first may be in the file, whole. An .eh_frame that
 * several have in common is read once.
 *
 * Takes the stack that tracks need. Cost: each function is looked at twice; with eh_frame, or tracks, an
 * allocation; with JITDUMP_PERF_MAP, one for each function, and a second write.
 *
 * Errors: ARGUMENT (codes NULL and count not 0), STRUCT_SIZE (of the first element): nothing appended;
 * those of jitdump_load().
 */
JITDUMP_API int jitdump_load_many(struct jitdump *dump, const struct jitdump_code *codes,
                                  uint64_t count, uint64_t *code_indices);

/*
 * Says that a function's code was moved: appends a JIT_CODE_MOVE, of 64 bytes. Call it after the
 * copy is made and before it is executed. `code_index` is what jitdump_load() gave;
 * `code_size` is the function's size, which a move can't change. Name and lines are those of
 * the load.
 *
 * The surer way is to load the function anew, with its new addresses, as if it was another one:
 *
 * - Functions with unwinding data must be loaded anew. perf up to 6.12 unwinds a moved one from
 *   the lowest place that it has had: after moves upwards 1 of 20 call chains is whole, and all are
 *   after loads. Moves that only ever go downwards do no harm there, if `code_size` has what
 *   jitdump_unwind_size() says added, since perf maps just so many bytes at the new place.
 * - `perf inject` 7.2 crashes on every JIT_CODE_MOVE.
 *
 * Moves are for perf without `--call-graph dwarf` and for samply, where thousands of functions
 * move: perf report then has one row for the function, and not one for each load.
 *
 * Memory that is freed needs no call: the next function there takes it over.
 *
 * Errors: CODE_INDEX, CODE_SIZE, CODE_ADDR: nothing appended. Sticky ones as for
 * jitdump_load(). In the child of a fork, perf can't follow the move of a function
 * that the parent loaded: load it anew there.
 */
JITDUMP_API int jitdump_move(struct jitdump *dump, uint64_t code_index, uint64_t old_code_addr,
                             uint64_t new_code_addr, uint64_t code_size);

/*
 * Returns when everything that was appended by calls which had returned before, in
 * any thread, is written to the file (handed to the kernel: it survives the death of
 * the process, not of the machine), or with the error that prevented it.
 *
 * It waits for appends that are under way in other threads.
 *
 * Errors: the sticky ones but SIZE_LIMIT, PERF_MAP.
 */
JITDUMP_API int jitdump_flush(struct jitdump *dump);

/*
 * Flushes, appends JIT_CODE_CLOSE as the file's last record, unmaps the marker page,
 * closes (and with JITDUMP_UNLINK_AT_CLOSE removes, with JITDUMP_EMPTY_AT_CLOSE empties) the
 * file and frees the handle, whatever it returns. No other call on the handle may be under way
 * or follow, in any thread. In the child of a fork that has not appended it only frees.
 *
 * Errors: the sticky one if there is one, SIZE_LIMIT too, or what the last flush meets;
 * DISK_FULL, FILE_TOO_LARGE or IO of the closing itself, when a network file system tells of a
 * failed write only then, or when the dump can't be emptied; PERF_MAP.
 *
 * Of a dump with JITDUMP_SHARED that others hold still, it gives up this holder's handle, and only
 * flushes: the errors are those of jitdump_flush().
 */
JITDUMP_API int jitdump_close(struct jitdump *dump);

/*
 * The absolute path of the dump, valid until jitdump_close(). NULL for a NULL handle, of a dump that
 * was opened by a descriptor, and in the child of a fork as long as it has no file of its own.
 */
JITDUMP_API const char *jitdump_path(const struct jitdump *dump);

/* One line of English for an error: the cause and the way out. Never NULL, also for
 * 0 and for values unknown to this version. Static; async-signal-safe. */
JITDUMP_API const char *jitdump_strerror(int error);

/* The version of the library that is loaded: major * 10000 + minor * 100 + patch.
 * Async-signal-safe. */
JITDUMP_API uint32_t jitdump_version(void);

/*
 * OPTIONS: what they choose
 *
 * Example:
 *
 *     // Written by a thread of the library, and emptied at the end: for services that always emit.
 *     int open_for_a_service(struct jitdump **dump)
 *     {
 *         struct jitdump_options options;
 *         jitdump_options_init(&options, sizeof(options));
 *         options.flush_mode = JITDUMP_FLUSH_BACKGROUND;
 *         options.flags = JITDUMP_EMPTY_AT_CLOSE;
 *         return jitdump_open(dump, &options);
 *     }
 */

/*
 * Sets all of `options` to zero and struct_size to `struct_size`, which is
 * sizeof(struct jitdump_options) as the caller sees it. For languages in which
 * that is easier than doing it by hand. NULL options: nothing happens.
 */
JITDUMP_API void jitdump_options_init(struct jitdump_options *options, uint32_t struct_size);

/* Bits of jitdump_options.flags. */
enum jitdump_option_flags {
    /* jitdump_close() removes the file, and those of JITDUMP_SOURCE_FILES and JITDUMP_PERF_MAP.
     * They are there, for profilers to find, until then; a process that dies without closing
     * leaves them behind. In a profile of several processes one dump that is missing makes perf
     * inject fail for all of them: JITDUMP_EMPTY_AT_CLOSE does not. */
    JITDUMP_UNLINK_AT_CLOSE = 1,
    /* Take JITDUMP_CLOCK_TSC without asking the kernel for a conversion. For those
     * who know that the perf.data will hold one. */
    JITDUMP_FORCE_TSC = 2,
    /* Where inlined code comes from several lines, one in the other, JIT_CODE_DEBUG_INFO,
     * and so perf, gets the outermost: the line of the function that was compiled. Without
     * it, the innermost: the line in the function that was inlined. */
    JITDUMP_OUTERMOST_LINES = 4,
    /* What jitdump_embed_source() is given is also written to files beside the dump,
     * `jit-<pid>-<number>-<name>`, and all records that name files name these in place of the
     * source's path, so that perf annotate shows source that is in no file. */
    JITDUMP_SOURCE_FILES = 8,
    /* Also writes /tmp/perf-<pid>.map, mode 0600: a line of text for each load and each move,
     * for what reads no jitdump: perf top, perf report without inject, bpftrace, bcc. It
     * knows no time: where an address was used twice, perf picks either line. Control
     * characters become '?', so that no name can make a line of its own, and what is over 1023
     * bytes is cut. Costs a `write` per load and move in every flush mode (jitdump_load_many(): one
     * for as many functions as it writes at once), and an allocation per load. What can't be written is an error of jitdump_flush() and jitdump_close(). perf as root
     * ignores the map of another user without its option -f. A map that another emitter in this
     * process has made is appended to, keeps its mode, and is never removed (CPython appends too;
     * V8 does not: its next lines overwrite these). */
    JITDUMP_PERF_MAP = 16,
    /* For services that always emit: as JITDUMP_UNLINK_AT_CLOSE, but in the dump's place
     * jitdump_close() leaves one of 40 bytes, a header without records, which stops no consumer.
     * It is a new file with a time of its own, so that who has the dump open can read it to its
     * end. Where no file can be made (no space left, the user changed), the dump itself is cut back
     * to its header. Not with JITDUMP_UNLINK_AT_CLOSE. */
    JITDUMP_EMPTY_AT_CLOSE = 32,
    /* With JITDUMP_DIALECT_SAMPLY_2023 only: each function that has a tier gets a SAMPLY_JIT_TIER.
     * No profiler is known to read it, and where samply reads inline records, in a branch that is
     * not released (March 2026), such a function has no lines, since the record's id is that
     * of the inline record of 2026. Tiers show without it, by their name_prefix. */
    JITDUMP_TIER_RECORDS = 64,
    /* Says on standard error, in one line for each, which calls on the dump return an error, of
     * which function and why: 100 lines at most, a sticky error once. SIGPIPE does not come
     * of it. And which functions are loaded into the room behind another (jitdump_unwind_size()); for
     * that each load is compared with all that were before. For the time in which a runtime is taught to
     * emit, and for users who miss a function or a caller: `JITDUMP=debug`. */
    JITDUMP_DEBUG = 128,
    /* The process has one dump with this flag, which all who ask for it share: the first
     * jitdump_open() makes it, those that follow get the same handle, and the last jitdump_close()
     * closes it. The options of the first count. Others' are not looked at but for elf_mach, which must
     * be the same (else OPTION), and a warning in error_message says if they differ. So two runtimes
     * in a process, or a runtime and a plug-in, emit into one file, if both call the same copy of this
     * library: libjitdump.so, not one linked into each. jitdump_open_from_environment() always sets
     * it. */
    JITDUMP_SHARED = 256,
    /* These three are for hosts that own their process. This: no pthread_atfork(). See
     * jitdump_after_fork(). */
    JITDUMP_NO_ATFORK = 512,
    /* Nothing is done at the exit of the process: what was not flushed is lost, and background mode's
     * thread is not ended. So close the dump before the library is unloaded. */
    JITDUMP_NO_EXIT_FLUSH = 1024,
    /* The thread's signal mask is left alone when the file is written, which saves a write two system
     * calls; where a write meets RLIMIT_FSIZE, SIGXFSZ comes, and kills a process that does not ignore it.
     * (Background mode's own thread has all signals blocked all the same.) */
    JITDUMP_NO_SIGNAL_MASK = 2048,
    /* What is put right by default is an error instead, and the function is not loaded: entries of a
     * line table or of a track at one address, outside of the code, without line; a section
     * without FDE for the code. For who tests a compiler's tables. */
    JITDUMP_STRICT = 4096
};

/* When appended records reach the file. */
enum jitdump_flush_mode {
    /* Each append ends by writing what is there, unless another thread is writing,
     * which then writes this append's records too. With one appending thread, what
     * a call has returned for survives any death of the process. With several, a
     * death can cost a suffix of the file, never leave a hole; jitdump_flush() is
     * the strict form. One `write` per append when alone. Who has written for others too, four
     * writes and some milliseconds long, is relieved by the next append of another thread,
     * which waits for the end of the write under way and then goes on with the writing. */
    JITDUMP_FLUSH_WRITE_THROUGH = 0,
    /* Written when flush_bytes are gathered, when an append finds that the last
     * flush is flush_interval_ns ago, at jitdump_flush(), jitdump_close(), and at
     * normal exit of the process. A killed process loses what was not written. */
    JITDUMP_FLUSH_BUFFERED = 1,
    /* As buffered, but a thread of the library (all signals blocked) does the writing
     * and bounds the wait to about flush_interval_ns even when no append follows.
     * No append executes a `write` unless the whole buffer is full, or its group is larger than
     * flush_bytes. The thread lives until jitdump_close() or exit(): where all other threads end
     * by pthread_exit() instead, the process stays. */
    JITDUMP_FLUSH_BACKGROUND = 2
};

/*
 * For a fatal-signal handler, and async-signal-safe, as no other function of a dump is:
 * writes what can be written without waiting for anybody. Returns 0 if that was all
 * there was, JITDUMP_ERROR_BUSY if not, because the signal has hit an append or a
 * write under way, of this thread or another; or the sticky error.
 */
JITDUMP_API int jitdump_flush_from_signal(struct jitdump *dump);

/* Where the records' timestamps come from. */
enum jitdump_clock {
    /* CLOCK_MONOTONIC, in nanoseconds (macOS: CLOCK_UPTIME_RAW). `perf record -k mono` is needed: perf inject
     * refuses the dump otherwise. samply reads this clock only. */
    JITDUMP_CLOCK_MONOTONIC = 0,
    /* The processor's own counter, raw: rdtsc on x86-64, cntvct_el0 on aarch64. Sets
     * JITDUMP_FLAGS_ARCH_TIMESTAMP in the file's header. For perf alone, which then
     * needs no `-k mono`, but a kernel that tells how to convert the counter; the
     * kernel is asked at open. */
    JITDUMP_CLOCK_TSC = 1
};

/* Which records describe lines and inlining. JIT_CODE_DEBUG_INFO is always among them. */
enum jitdump_dialect {
    /* No others. perf prints a line of warning for each record that it does not know. */
    JITDUMP_DIALECT_PERF = 0,
    /* samply's extensions as they were first written down: SAMPLY_JIT_CODE_DEBUG_INFO2 for
     * inlining, SAMPLY_EMBEDDED_SOURCE_FILE, and SAMPLY_JIT_TIER if JITDUMP_TIER_RECORDS asks for
     * it. No profiler is known to read these records: samply skips them, and has the lines from
     * JIT_CODE_DEBUG_INFO. A warning in error_message says so. */
    JITDUMP_DIALECT_SAMPLY_2023 = 1,
    /* The form of 2026, with the id that SAMPLY_JIT_TIER had for a newer inline record;
     * SAMPLY_EMBEDDED_SOURCE_FILE as before. Samply's branch `support-inlines` reads the inline
     * record; released samply (0.13) skips both. */
    JITDUMP_DIALECT_SAMPLY_2026 = 2
};

/*
 * ENVIRONMENT: the user decides
 *
 * Example:
 *
 *     // All that a runtime does about options and switches. The user says JITDUMP=1, or
 *     // JITDUMP=dir=/tmp/dumps,flush=background, and without that the handle stays NULL.
 *     struct jitdump *open_if_asked(void)
 *     {
 *         struct jitdump *dump;
 *         jitdump_open_from_environment(&dump, NULL);
 *         return dump;
 *     }
 */

/*
 * Opens a dump if the environment variable JITDUMP asks for one, else does nothing: `*dump` is
 * NULL, and the result 0. Setuid programs ignore the variable.
 *
 * JITDUMP=
 *     not set, empty, 0    no dump
 *     1                    a dump, as `defaults` say
 *     WORD,WORD...         a dump, and of these words each changes what `defaults` say:
 *
 *     dir=PATH             the directory. (A path with a comma can only be said by
 *                          $JITDUMPDIR, which is taken where no directory is given.)
 *     flush=through        JITDUMP_FLUSH_WRITE_THROUGH
 *     flush=buffered       JITDUMP_FLUSH_BUFFERED
 *     flush=background     JITDUMP_FLUSH_BACKGROUND
 *     limit=BYTES          the size limit; with K, M or G behind the number: times 2^10, 2^20, 2^30
 *     dialect=perf         JITDUMP_DIALECT_PERF
 *     dialect=2023         JITDUMP_DIALECT_SAMPLY_2023
 *     dialect=2026         JITDUMP_DIALECT_SAMPLY_2026
 *     clock=mono           JITDUMP_CLOCK_MONOTONIC
 *     clock=tsc            JITDUMP_CLOCK_TSC
 *     close=keep           what is written stays
 *     close=empty          JITDUMP_EMPTY_AT_CLOSE
 *     close=unlink         JITDUMP_UNLINK_AT_CLOSE
 *     lines=innermost      without JITDUMP_OUTERMOST_LINES
 *     lines=outermost      JITDUMP_OUTERMOST_LINES
 *     track=NAME           the track
 *     perf-map             JITDUMP_PERF_MAP
 *     source-files         JITDUMP_SOURCE_FILES
 *     debug                JITDUMP_DEBUG, and the dump's path, or why there is none, is said too
 *     1                    nothing more
 *
 * Of two words for the same thing the later one counts. A word that is not here, or with another
 * value, is an error, and no dump is opened: ENVIRONMENT.
 *
 * `defaults` may be NULL: those of jitdump_open(). Where they have an error_message, it says why
 * there is no dump, as jitdump_open() does, and the caller passes it on. Where they have none,
 * the library writes that line to standard error itself: the user has asked for a dump.
 *
 * Errors: ENVIRONMENT, those of jitdump_open().
 */
JITDUMP_API int jitdump_open_from_environment(struct jitdump **dump,
                                              const struct jitdump_options *defaults);

/*
 * PROCESS: sandboxes, and hosts that own their process
 *
 * Example:
 *
 *     // In a sandbox that may not open files. The descriptor comes from a process outside, which has
 *     // made an empty file of the name jit-<pid>.dump for it, with the pid that profilers see.
 *     int open_in_sandbox(struct jitdump **dump, int descriptor)
 *     {
 *         struct jitdump_options options;
 *         jitdump_options_init(&options, sizeof(options));
 *         options.descriptor = (uint64_t)descriptor;
 *         options.flags = JITDUMP_NO_ATFORK | JITDUMP_NO_EXIT_FLUSH | JITDUMP_NO_SIGNAL_MASK;
 *         return jitdump_open(dump, &options);
 *     }
 *
 * jitdump_options.descriptor is the descriptor of a regular file, empty, open for reading and
 * writing; else the error is DESCRIPTOR. The library works with a duplicate of its own, sets
 * O_APPEND, takes a lock on the file (flock), and maps it executable. The caller may close theirs,
 * and must not write through it. After an error of jitdump_open() the file is there still, and may
 * have a header.
 *
 * - Profilers find the dump by the name that the file has: it must be jit-<pid>.dump, with the
 *   pid of this process.
 * - The library does nothing by the file's path: jitdump_path() is NULL, JITDUMP_EMPTY_AT_CLOSE cuts
 *   the file back in its place, and JITDUMP_UNLINK_AT_CLOSE, JITDUMP_SOURCE_FILES and
 *   JITDUMP_PERF_MAP are OPTION.
 * - The child of a fork has no file: its first append returns DESCRIPTOR, sticky. It can close
 *   the handle and open a dump with a descriptor of its own.
 *
 * Which system calls the library makes, when, for filters: docs/integration.md.
 */

/*
 * For the child of a fork of a process whose dumps were opened with JITDUMP_NO_ATFORK: gives up the
 * parent's descriptors, so that the child has none of the dump's. Call it first thing in the child,
 * while that has one thread. Without it the child's first append does so (from Linux 4.14; before,
 * and on macOS, the child would go on writing into its parent's dump). Does nothing in the parent, where all this
 * is done already, and in a child that has the parent's pid, in a pid namespace of its own: such
 * children need the handlers of pthread_atfork(). Async-signal-safe.
 */
JITDUMP_API void jitdump_after_fork(void);

/*
 * FRAMES: so that call chains pass through the code
 *
 * Example:
 *
 *     // Code that begins and ends as the table below has it needs no more than this.
 *     int load_with_frame(struct jitdump *dump, struct jitdump_code *code, uint64_t *code_index)
 *     {
 *         struct jitdump_unwind unwind;
 *         memset(&unwind, 0, sizeof(unwind));
 *         unwind.struct_size = sizeof(unwind);
 *         unwind.frame = JITDUMP_FRAME_POINTER;
 *         code->unwind = &unwind;
 *         return jitdump_load(dump, code, code_index);
 *     }
 *
 *     // A compiler's object with an .eh_frame, which is loaded and relocated: for each function.
 *     int load_with_section(struct jitdump *dump, struct jitdump_code *code, const void *eh_frame,
 *                           uint64_t eh_frame_size)
 *     {
 *         code->eh_frame = eh_frame;
 *         code->eh_frame_size = eh_frame_size;
 *         return jitdump_load(dump, code, NULL);
 *     }
 */

/*
 * Of an .eh_frame section (jitdump_code.eh_frame) the library takes each FDE that says something of
 * the code, one or several, cuts it to the code, and makes new addresses and the header that perf
 * needs, for any machine. Personality and LSDA, which only exceptions need, are left out.
 *
 * CIEs and FDEs may have 32-bit or 64-bit lengths; the augmentations "" or z with R, P, L, S, B, G; and
 * addresses that are absolute or pc-relative, in any format. Reading ends at eh_frame_size or at the
 * terminator. Nothing is written to the section, and any bytes may be there: what can't be
 * read is JITDUMP_ERROR_UNWIND_SECTION, and nothing is appended.
 *
 * A function without FDE is loaded without unwinding data: compilers leave out what they think never
 * unwinds. jitdump_unwind_size() says JITDUMP_ERROR_UNWIND_MISSING of it, and with
 * JITDUMP_STRICT so does the load.
 *
 * Each load reads the section from its start up to the code's FDE, twice; jitdump_load_many() reads a
 * section that its functions have in common once. For many functions take that.
 */

/*
 * What a function's frame looks like at each instruction: from this the library builds the
 * unwinding data, for x86-64, aarch64 and riscv64 (options.elf_mach).
 *
 * The words are DWARF's. The canonical frame address (CFA) is the value that the stack pointer
 * had before the call: on x86-64 the return address lies at CFA - 8. At the function's first
 * instruction the CFA is rsp + 8, or sp + 0 on aarch64 and riscv64, and all registers are the
 * caller's. Each step says what holds from its code offset on, so it stands *behind* the
 * instruction that has made it so. What the compiler for C writes as .cfi_* directives can be
 * copied number by number.
 *
 * The three states of a function with frame pointer have ops of their own (FRAME_*), alike on
 * all machines. This is the standard frame, with the state behind each instruction:
 *
 *               x86-64              aarch64                     riscv64
 *
 *   ALLOCATED   push rbp            stp x29, x30, [sp, #-16]!   addi sp, sp, -16
 *                                                               sd ra, 8(sp)
 *                                                               sd s0, 0(sp)
 *   SET         mov rbp, rsp        mov x29, sp                 addi s0, sp, 16
 *               ...                 ...                         ...
 *                                                               ld ra, 8(sp)
 *   ALLOCATED                                                   ld s0, 0(sp)
 *   NONE        leave, or pop rbp   ldp x29, x30, [sp], #16     addi sp, sp, 16
 *               ret                 ret                         ret
 */
enum jitdump_unwind_op {
    /* CFA = reg + offset, offset from 0 to 2^31 - 1. */
    JITDUMP_UNWIND_DEF_CFA = 1,
    /* The caller's `reg` lies at CFA + offset, where offset is negative, a multiple of 8, and
     * not below -2^31. */
    JITDUMP_UNWIND_OFFSET = 2,
    /* The caller's `reg` is where it was at entry again: in itself. */
    JITDUMP_UNWIND_RESTORE = 3,
    /* Keep what holds here, for the next RESTORE_STATE; may be nested. Before an epilogue in
     * the middle of a function, say. */
    JITDUMP_UNWIND_REMEMBER_STATE = 4,
    /* What was remembered last holds again. Behind that epilogue's return. */
    JITDUMP_UNWIND_RESTORE_STATE = 5,

    /* As at entry: nothing but the return address (x86-64) is on the stack, and all registers
     * are the caller's. */
    JITDUMP_UNWIND_FRAME_NONE = 6,
    /* The stack pointer stands at the two words for the caller's frame pointer and the return
     * address, at CFA - 16; both registers still (or again) hold the caller's values. */
    JITDUMP_UNWIND_FRAME_ALLOCATED = 7,
    /* The two words are stored, and the frame pointer points to them: rbp and x29 to CFA - 16,
     * s0 to the CFA. */
    JITDUMP_UNWIND_FRAME_SET = 8
};

struct jitdump_unwind_step {
    /* From the code's start; not below the step before, up to code_size. */
    uint64_t code_offset;
    /* enum jitdump_unwind_op. */
    uint32_t op;
    /* By DWARF number, as below. reg and offset are looked at where the op names them. */
    uint32_t reg;
    int64_t offset;
};

/* DWARF numbers of the registers that a description may name. */
enum jitdump_x86_64_register {
    JITDUMP_X86_64_RAX = 0,
    JITDUMP_X86_64_RDX = 1,
    JITDUMP_X86_64_RCX = 2,
    JITDUMP_X86_64_RBX = 3,
    JITDUMP_X86_64_RSI = 4,
    JITDUMP_X86_64_RDI = 5,
    JITDUMP_X86_64_RBP = 6,
    JITDUMP_X86_64_RSP = 7,
    JITDUMP_X86_64_R8 = 8, /* r9 to r15 are 9 to 15 */
    JITDUMP_X86_64_R12 = 12,
    JITDUMP_X86_64_R13 = 13,
    JITDUMP_X86_64_R14 = 14,
    JITDUMP_X86_64_R15 = 15,
    JITDUMP_X86_64_RA = 16 /* the return address; not for DEF_CFA */
};
enum jitdump_aarch64_register {
    JITDUMP_AARCH64_X0 = 0, /* x1 to x28 are 1 to 28 */
    JITDUMP_AARCH64_X19 = 19,
    JITDUMP_AARCH64_X20 = 20,
    JITDUMP_AARCH64_X29 = 29, /* the frame pointer */
    JITDUMP_AARCH64_X30 = 30, /* the return address */
    JITDUMP_AARCH64_SP = 31,
    JITDUMP_AARCH64_V0 = 64, /* v1 to v31 are 65 to 95; not for DEF_CFA */
    JITDUMP_AARCH64_V8 = 72
};
enum jitdump_riscv64_register {
    JITDUMP_RISCV64_RA = 1, /* the return address */
    JITDUMP_RISCV64_SP = 2,
    JITDUMP_RISCV64_S0 = 8, /* the frame pointer */
    JITDUMP_RISCV64_S1 = 9,
    JITDUMP_RISCV64_S2 = 18, /* s3 to s11 are 19 to 27 */
    JITDUMP_RISCV64_F0 = 32, /* f1 to f31 are 33 to 63; not for DEF_CFA */
    JITDUMP_RISCV64_FS0 = 40
};

enum jitdump_unwind_frame {
    /* The steps say all. No steps: a function that leaves the stack pointer alone. */
    JITDUMP_FRAME_STEPS = 0,
    /* The code begins with the prologue of the table above and ends with its epilogue (of
     * uncompressed instructions, and a `ret` of 1 byte on x86-64): their steps are added by
     * the library, to steps for what lies between. So a function with one exit needs none. */
    JITDUMP_FRAME_POINTER = 1
};

struct jitdump_unwind {
    /* sizeof(struct jitdump_unwind). */
    uint32_t struct_size;
    /* enum jitdump_unwind_frame. */
    uint32_t frame;
    const struct jitdump_unwind_step *steps;
    uint64_t step_count;
};

/*
 * How many bytes to leave free behind the function's code for the unwinding data that perf
 * puts there: up to 7 that round code_size up to 8, and the data's size. Nothing is written
 * there in this process; the bytes may hold constants, or anything that is not executed.
 *
 *     code_addr           code_addr + code_size                      the next function
 *     | code              | to 8 | eh_frame          | eh_frame_hdr  |
 *                         |<---------------- *size ----------------->|
 *
 * Of `code`, only code_size and the unwinding data are looked at: it can be called before the
 * memory is allocated. 0 without unwinding data, and for a NULL handle: a runtime that is not
 * being profiled wastes no memory. It knows no sticky errors.
 *
 * Of a description the addresses need not be known. A linker that leaves the room before it relocates an
 * .eh_frame can't ask; what comes out of a section is never more than 24 bytes, and for each FDE 24 more,
 * the size of its CIE, and twice its own (both with their length field).
 *
 * Errors: ARGUMENT, STRUCT_SIZE, CODE_SIZE, UNWIND_*, and then *size is 0.
 */
JITDUMP_API int jitdump_unwind_size(const struct jitdump *dump, const struct jitdump_code *code,
                                    uint64_t *size);

/*
 * The bytes of an .eh_frame section from code->unwind, code_addr and code_size alone, with a
 * terminator, to give to __register_frame(), or in an ELF file to a debugger: so that
 * exceptions and backtraces pass through the code too. FDE addresses are absolute: the bytes
 * may lie anywhere, at an address divisible by 4, and must be made anew when the code moves.
 * jitdump_load() makes its own and does not need this.
 *
 * `elf_mach` as in the options; 0: that of the library's own build. `eh_frame` receives the
 * bytes, if there are at most `capacity`; *eh_frame_size says how many there are, also with
 * the error CAPACITY, so that a first call with NULL and 0 learns it. It is 0 after other
 * errors.
 *
 * Errors: ARGUMENT (code, code->unwind or eh_frame_size is NULL; or eh_frame is, and capacity
 * not 0), STRUCT_SIZE, CODE_SIZE, CODE_ADDR, UNWIND_*.
 */
JITDUMP_API int jitdump_unwind_eh_frame(uint32_t elf_mach, const struct jitdump_code *code,
                                        void *eh_frame, uint64_t capacity,
                                        uint64_t *eh_frame_size);

/*
 * INLINING: where code comes from, if not from one function
 *
 * A track describes where a piece of code comes from, as a compiler knows it: positions in functions, each
 * inlined at another position or not at all, and which position each offset in the code has.
 *
 * Example:
 *
 *     // sum() in main.js, into which square() of lib.js is inlined by the call in line 12.
 *     void describe_sum(struct jitdump_track *track)
 *     {
 *         static const struct jitdump_function functions[] = {
 *             {"sum", "main.js", 10, 1, 0, 0, 0, 0}, {"square", "lib.js", 3, 1, 0, 0, 0, 0}};
 *         static const struct jitdump_position positions[] = {
 *             {0, 11, 5, JITDUMP_NONE}, {0, 12, 9, JITDUMP_NONE}, {1, 4, 3, 1}};
 *         static const struct jitdump_offset offsets[] = {{0, 0}, {16, 2}, {28, 1}};
 *         memset(track, 0, sizeof(*track));
 *         track->struct_size = sizeof(*track);
 *         track->functions = functions;
 *         track->function_count = 2;
 *         track->positions = positions;
 *         track->position_count = 3;
 *         track->offsets = offsets;
 *         track->offset_count = 3;
 *     }
 */

/* "No position", or "no file", where there could be one. */
#define JITDUMP_NONE UINT32_MAX

/* The most callers that a position can have, one above the other. */
#define JITDUMP_INLINE_DEPTH_MAX 1023

/* The most elements of each of a track's three arrays. */
#define JITDUMP_TRACK_COUNT_MAX UINT64_C(0x7fffffff)

/* A function, in the sense of the source: the code's own, or one that is inlined in it. One whose code
 * comes from several files, by #include or #line in its body, has an element for each file, with the same
 * name. */
struct jitdump_function {
    /* Not empty. */
    const char *name;
    /* Where all the function's positions are. NULL or empty: unknown, and so are their
     * lines. */
    const char *file;
    /* Where it starts, each from 1; 0: unknown. */
    uint32_t start_line;
    uint32_t start_column;
    /* Handed on to SAMPLY_JIT_CODE_DEBUG_INFO2, which has given no bit a meaning yet. */
    uint32_t flags;
    /* How many bytes `name` and `file` have. They end there or at a NUL. 0: at their NUL. */
    uint32_t name_size;
    uint32_t file_size;
    uint32_t reserved; /* 0 */
};

/* A position in the source, in the place that inlining has brought it to. */
struct jitdump_position {
    /* Index of its function. */
    uint32_t function;
    /* Each from 1; 0: unknown. */
    uint32_t line;
    uint32_t column;
    /* Index of the position where its function was called and is inlined now: an earlier one.
     * Positions of one function with the same caller are in the same inlined call; two calls
     * need two callers, even if these are alike. JITDUMP_NONE: not inlined. The positions
     * that are not inlined are all of the code's own function: their functions have one name. */
    uint32_t caller;
};

/* The code from code_offset up to the next entry's, or to the end of the code, comes from
 * this position. */
struct jitdump_offset {
    /* From the start of the code. */
    uint32_t code_offset;
    /* Index; JITDUMP_NONE: from no position. */
    uint32_t position;
};

/* One view of the code: "source", or "bytecode", "ir". */
struct jitdump_track {
    /* sizeof(struct jitdump_track), the same in all of an array: they lie so far apart. */
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    /* By which it is chosen. NULL or empty: by none. */
    const char *name;
    /* Functions and positions to which no offset leads cost nothing in the file, so that the
     * arrays may be shared between pieces of code. */
    const struct jitdump_function *functions;
    uint64_t function_count;
    const struct jitdump_position *positions;
    uint64_t position_count;
    /* Ascending. Of several at one offset the last counts, and those outside of the code are left
     * out; with JITDUMP_STRICT these are errors. Code in front of the first has no position. */
    const struct jitdump_offset *offsets;
    uint64_t offset_count;
};

/*
 * TIERS AND SOURCES
 *
 * Example:
 *
 *     uint32_t baseline;
 *
 *     void know_tiers_and_sources(struct jitdump *dump)
 *     {
 *         static const char bytecode[] = "load 1\nreturn\n";
 *         jitdump_add_tier(dump, "Baseline", JITDUMP_COLOR_BLUE, "Baseline: ", &baseline);
 *         jitdump_embed_source(dump, "main.bytecode", bytecode, sizeof(bytecode) - 1);
 *     }
 */

/* The Firefox Profiler's colours, as SAMPLY_JIT_TIER numbers them. */
enum jitdump_color {
    JITDUMP_COLOR_TRANSPARENT = 0,
    JITDUMP_COLOR_LIGHT_BLUE = 1,
    JITDUMP_COLOR_RED = 2,
    JITDUMP_COLOR_LIGHT_RED = 3,
    JITDUMP_COLOR_ORANGE = 4,
    JITDUMP_COLOR_BLUE = 5,
    JITDUMP_COLOR_GREEN = 6,
    JITDUMP_COLOR_PURPLE = 7,
    JITDUMP_COLOR_YELLOW = 8,
    JITDUMP_COLOR_BROWN = 9,
    JITDUMP_COLOR_MAGENTA = 10,
    JITDUMP_COLOR_LIGHT_GREEN = 11,
    JITDUMP_COLOR_GRAY = 12,
    JITDUMP_COLOR_DARK_GRAY = 13
};

/* The most tiers of a dump. */
#define JITDUMP_TIERS_MAX 64

/*
 * Makes a tier known, an interpreter, a baseline compiler, an optimising one: `*tier`
 * receives the number for jitdump_code.tier, above 0, or 0 after an error and for a NULL
 * handle. `color_index` is an enum jitdump_color.
 *
 * `name_prefix`, if neither NULL nor empty, is put in front of the name of each function of
 * the tier, in every dialect and in the perf map: released samply knows a function's category
 * and colour by prefixes such as "Interpreter: ", "Baseline: ", "Ion: ". It may be missing only
 * with JITDUMP_TIER_RECORDS, which alone has a use for the name and the colour.
 *
 * Takes a lock, which opening, closing, embedding and a forked child's first append hold too
 * while they work on files; no fork waits for it. Appends nothing itself.
 *
 * Errors: ARGUMENT (tier NULL), TIER_NAME, TIER_COLOR, TIER_LIMIT, TIER_DIALECT, NO_MEMORY, the
 * sticky ones.
 */
JITDUMP_API int jitdump_add_tier(struct jitdump *dump, const char *name, uint32_t color_index,
                                 const char *name_prefix, uint32_t *tier);

/*
 * Gives the text of a source that profilers can't find as a file: bytecode or IR, one line of
 * text per instruction, or a program that was only ever in memory. `path` is the name that
 * lines and functions have for it, and any name will do. Call it before the first function
 * that names it is loaded, once per path.
 *
 * In samply's dialects it appends a SAMPLY_EMBEDDED_SOURCE_FILE. With JITDUMP_SOURCE_FILES it
 * writes a file beside the dump; no part of `path` leads out of that directory. With
 * neither it does nothing but keep the path. Takes the lock of jitdump_add_tier(). In samply's
 * dialects the dump keeps a copy of the text until it is closed, for the children of forks.
 *
 * Errors: SOURCE_PATH, SOURCE_MISSING, SOURCE_TWICE, SOURCE_FILE, RECORD_SIZE, NO_MEMORY:
 * nothing appended. Sticky ones as for jitdump_load().
 */
JITDUMP_API int jitdump_embed_source(struct jitdump *dump, const char *path, const void *source,
                                     uint64_t source_size);

/*
 * EXTENSIONS: records of other ids
 *
 * Example:
 *
 *     int append_note(struct jitdump *dump, const char *note)
 *     {
 *         return jitdump_append_raw(dump, 1000, note, strlen(note) + 1);
 *     }
 */

/*
 * Appends a record of any id that is not the specification's own, with the record
 * header made by the library: for extensions that this library does not know yet.
 * perf skips ids that it does not know, with a line of warning for each record. The
 * record is a group of its own: what must precede its function's JIT_CODE_LOAD
 * immediately can't be written this way.
 *
 * Errors: ARGUMENT (payload NULL), RECORD_EMPTY (a record without payload ends perf's
 * reading), RECORD_ID (0 to 4), RECORD_SIZE, NO_MEMORY: nothing appended. Sticky ones as for
 * jitdump_load().
 */
JITDUMP_API int jitdump_append_raw(struct jitdump *dump, uint32_t id, const void *payload,
                                   uint64_t payload_size);

/*
 * ERRORS
 *
 * Example:
 *
 *     void complain(int error)
 *     {
 *         if (error != 0)
 *             fprintf(stderr, "no profile: %s\n", jitdump_strerror(error));
 *     }
 */

/*
 * Errors. The values are fixed for ever; new ones are added at the end.
 * "Sticky" errors put the dump out of use: everything but jitdump_close(),
 * jitdump_path() and jitdump_unwind_size() returns them from then on, at once and without
 * a system call.
 */
enum jitdump_error {
    /* An argument that must not be NULL is NULL. */
    JITDUMP_ERROR_ARGUMENT = -1,
    /* A struct_size that no version of the struct has, or a larger struct than this library
     * knows, in which something that it does not know is not zero. */
    JITDUMP_ERROR_STRUCT_SIZE = -2,
    /* An unknown enum value or flag in the options, or a value out of its range. */
    JITDUMP_ERROR_OPTION = -3,
    /* Out of memory. */
    JITDUMP_ERROR_NO_MEMORY = -4,

    /* JITDUMP_CLOCK_TSC: no such clock on this processor architecture. */
    JITDUMP_ERROR_CLOCK_UNSUPPORTED = -5,
    /* JITDUMP_CLOCK_TSC: the kernel offers no conversion of it (cap_user_time_zero
     * is 0, as in many virtual machines), so that perf could not read the dump. */
    JITDUMP_ERROR_CLOCK_NO_CONVERSION = -6,
    /* JITDUMP_CLOCK_TSC: the kernel would not answer, because perf events are not
     * permitted to this process. */
    JITDUMP_ERROR_CLOCK_NOT_PERMITTED = -7,

    /* The directory for the dump does not exist or is no directory. */
    JITDUMP_ERROR_DIRECTORY_MISSING = -8,
    /* No file may be created in the directory. */
    JITDUMP_ERROR_DIRECTORY_NOT_WRITABLE = -9,
    /* The directory is on a file system mounted noexec, or a security policy says no: the
     * executable mapping by which profilers find the dump is refused. No file is left behind. */
    JITDUMP_ERROR_DIRECTORY_NOEXEC = -10,
    /* Something that is not a stale dump of ours has the dump's name: a symbolic
     * link, a directory, a FIFO, another user's file. It is left untouched. */
    JITDUMP_ERROR_FILE_FOREIGN = -11,
    /* A living dump has the name: a second one in this process, also of another emitter, as V8
     * and CPython have, or one of a process with the same pid in another pid namespace; or what
     * the program has dumped before it executed itself (exec). It is left untouched. */
    JITDUMP_ERROR_FILE_IN_USE = -12,
    /* The process or the system has no file descriptor left. */
    JITDUMP_ERROR_TOO_MANY_FILES = -13,

    /* Sticky: no space left for the file, or the quota is used up. The file has been
     * cut back to its last whole function or other record; so it is for the two errors
     * that follow. From jitdump_open(), all three: there is no file. */
    JITDUMP_ERROR_DISK_FULL = -14,
    /* Sticky: the file would grow past RLIMIT_FSIZE, as it is at the time of the write, or the
     * file system's limit. No SIGXFSZ comes of it. */
    JITDUMP_ERROR_FILE_TOO_LARGE = -15,
    /* Sticky: any other failure of a system call on the file, or the program has closed its
     * descriptor. */
    JITDUMP_ERROR_IO = -16,
    /* Sticky: the next group of records would pass jitdump_options.size_limit. What
     * was accepted before is written as usual; jitdump_flush() returns 0. */
    JITDUMP_ERROR_SIZE_LIMIT = -17,

    /* jitdump_flush_from_signal(): something could not be written from here. */
    JITDUMP_ERROR_BUSY = -18,

    /* The function has no name: NULL or empty. */
    JITDUMP_ERROR_NAME_MISSING = -19,
    /* code_size is not 0, but code_bytes and code_addr both are. */
    JITDUMP_ERROR_CODE_MISSING = -20,
    /* code_size is over JITDUMP_CODE_SIZE_MAX. */
    JITDUMP_ERROR_CODE_SIZE = -21,
    /* The code would reach past the end of the address space; if it is to be read there, of
     * this process's own. */
    JITDUMP_ERROR_CODE_ADDR = -22,
    /* code_index is 0, which no function has. */
    JITDUMP_ERROR_CODE_INDEX = -23,
    /* A record would be larger than 4 GiB - 1. */
    JITDUMP_ERROR_RECORD_SIZE = -24,
    /* A raw record has no payload. */
    JITDUMP_ERROR_RECORD_EMPTY = -25,
    /* A raw record has one of the specification's own ids (0 to 4). */
    JITDUMP_ERROR_RECORD_ID = -26,

    /* A count of lines, line_rows or files is not 0, but the array is NULL. */
    JITDUMP_ERROR_LINES_MISSING = -27,
    /* The addresses of the lines descend; or, with JITDUMP_STRICT, two are equal. */
    JITDUMP_ERROR_LINES_ORDER = -28,
    /* JITDUMP_STRICT: a line's address is outside of the code. */
    JITDUMP_ERROR_LINES_RANGE = -29,
    /* JITDUMP_STRICT: a line has the number 0; the first line of a file is 1. */
    JITDUMP_ERROR_LINE_NUMBER = -30,
    /* A row's file is no index of the files; or, with JITDUMP_STRICT, a line has no file. */
    JITDUMP_ERROR_LINE_FILE = -31,

    /* eh_frame is given without its size, or the size without the bytes; or eh_frame_hdr without
     * its size or without eh_frame. */
    JITDUMP_ERROR_UNWIND_EMPTY = -32,
    /* eh_frame and eh_frame_hdr together, or a section at eh_frame alone, are over
     * JITDUMP_CODE_SIZE_MAX; made from a description or out of a section, they and the code
     * together. */
    JITDUMP_ERROR_UNWIND_SIZE = -33,
    /* eh_frame_hdr is larger than eh_frame, which is never so: each FDE takes 8 bytes
     * of the header's table and at least 16 of the frame's. Are the two swapped? */
    JITDUMP_ERROR_UNWIND_HEADER_SIZE = -34,

    /* Background mode: its thread could not be started. */
    JITDUMP_ERROR_THREAD = -35,

    /* Both eh_frame and a description (`unwind`) are given. */
    JITDUMP_ERROR_UNWIND_TWICE = -36,
    /* Frames can't be described for this elf_mach: only for x86-64, aarch64, riscv64. */
    JITDUMP_ERROR_UNWIND_MACHINE = -37,
    /* `frame` has an unknown value, or the code is shorter than the instructions of the
     * standard frame. */
    JITDUMP_ERROR_UNWIND_FRAME = -38,
    /* step_count is not 0, but steps is NULL. */
    JITDUMP_ERROR_UNWIND_STEPS_MISSING = -39,
    /* The steps' code offsets descend. */
    JITDUMP_ERROR_UNWIND_STEP_ORDER = -40,
    /* A step is past the end of the code; with JITDUMP_FRAME_POINTER, before the end of the
     * prologue or past the beginning of the epilogue. */
    JITDUMP_ERROR_UNWIND_STEP_RANGE = -41,
    /* A step has an unknown op. */
    JITDUMP_ERROR_UNWIND_STEP_OP = -42,
    /* A step's register is none of the machine's, or none that the op can take. */
    JITDUMP_ERROR_UNWIND_STEP_REGISTER = -43,
    /* A step's offset can't be encoded, or has the wrong sign: see enum jitdump_unwind_op. */
    JITDUMP_ERROR_UNWIND_STEP_OFFSET = -44,
    /* A JITDUMP_UNWIND_RESTORE_STATE without a state remembered. */
    JITDUMP_ERROR_UNWIND_STEP_STATE = -45,
    /* jitdump_unwind_eh_frame(): the bytes do not fit into `capacity`. */
    JITDUMP_ERROR_UNWIND_CAPACITY = -46,

    /* Of lines, line_rows and tracks more than one is given: which is meant? */
    JITDUMP_ERROR_LINES_AND_TRACKS = -47,
    /* A count is not 0, but its array is NULL: of the tracks, or of something in one. */
    JITDUMP_ERROR_TRACK_MISSING = -48,
    /* JITDUMP_STRICT: the track has no offsets, or none of them leads to a position. */
    JITDUMP_ERROR_TRACK_EMPTY = -49,
    /* A count in the track is over JITDUMP_TRACK_COUNT_MAX. */
    JITDUMP_ERROR_TRACK_COUNT = -50,
    /* The offsets descend; or, with JITDUMP_STRICT, two are equal. */
    JITDUMP_ERROR_OFFSETS_ORDER = -51,
    /* JITDUMP_STRICT: an offset is outside of the code. */
    JITDUMP_ERROR_OFFSETS_RANGE = -52,
    /* An offset's position is no index of the positions. */
    JITDUMP_ERROR_POSITION_INDEX = -53,
    /* A position's function is no index of the functions. */
    JITDUMP_ERROR_POSITION_FUNCTION = -54,
    /* A position's caller is not an earlier position. (So there can be no cycle.) */
    JITDUMP_ERROR_POSITION_CALLER = -55,
    /* A position has more callers, one above the other, than JITDUMP_INLINE_DEPTH_MAX. */
    JITDUMP_ERROR_POSITION_DEPTH = -56,
    /* Two positions without caller are of functions of different names: the code's own function
     * is one. */
    JITDUMP_ERROR_POSITION_OUTERMOST = -57,
    /* A function of the track has no name: NULL or empty. */
    JITDUMP_ERROR_FUNCTION_NAME = -58,

    /* The tier is none that jitdump_add_tier() gave for this dump. */
    JITDUMP_ERROR_TIER = -59,
    /* The tier has no name: NULL or empty. */
    JITDUMP_ERROR_TIER_NAME = -60,
    /* The tier's colour is no enum jitdump_color. */
    JITDUMP_ERROR_TIER_COLOR = -61,
    /* The dump has JITDUMP_TIERS_MAX tiers already. */
    JITDUMP_ERROR_TIER_LIMIT = -62,
    /* A tier without name_prefix in a dump without JITDUMP_TIER_RECORDS: nothing could come of
     * it. */
    JITDUMP_ERROR_TIER_DIALECT = -63,

    /* The source has no path: NULL or empty. */
    JITDUMP_ERROR_SOURCE_PATH = -64,
    /* source_size is not 0, but source is NULL. */
    JITDUMP_ERROR_SOURCE_MISSING = -65,
    /* The dump has a source of that path already. */
    JITDUMP_ERROR_SOURCE_TWICE = -66,
    /* JITDUMP_SOURCE_FILES: the source could not be written beside the dump. */
    JITDUMP_ERROR_SOURCE_FILE = -67,

    /* JITDUMP_PERF_MAP: the map could not be created, most often because something that is no
     * stale map of ours has its name, or could not be written. */
    JITDUMP_ERROR_PERF_MAP = -68,

    /* A reserved field is not 0: of the track, or of a function to which one of its positions
     * leads. */
    JITDUMP_ERROR_RESERVED = -69,

    /* $JITDUMP has a word that is unknown, or with a value that it can't have:
     * jitdump_open_from_environment(). */
    JITDUMP_ERROR_ENVIRONMENT = -70,

    /* The section at eh_frame can't be read: entries that are cut off, or that nobody who unwinds
     * would understand, or addresses relative to something that the section does not say. */
    JITDUMP_ERROR_UNWIND_SECTION = -71,
    /* jitdump_unwind_size(), and with JITDUMP_STRICT every load: the section at eh_frame has no FDE
     * for the code. */
    JITDUMP_ERROR_UNWIND_MISSING = -72,

    /* jitdump_options.descriptor is none of an empty regular file that is open for reading and
     * writing. In the child of a fork, sticky: the dump has a descriptor of the parent's. */
    JITDUMP_ERROR_DESCRIPTOR = -73,

    /* There is no dump on this system. */
    JITDUMP_ERROR_UNSUPPORTED = -74
};

#ifdef __cplusplus
}
#endif

#endif
