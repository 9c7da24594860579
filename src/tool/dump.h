/*
 * What the parts of `jitdump dump` share.
 */
#ifndef JITDUMP_TOOL_DUMP_H
#define JITDUMP_TOOL_DUMP_H

#include "reader/history.h"

#include <stdio.h>

/* When: of --at. */
struct dump_time {
    bool given;
    uint64_t time; /* as in the file; UINT64_MAX: the dump's end */
};

/* Each prints a part of a dump on standard output, as text or as JSON, and returns an exit status. */
/* From the reader's place to the end. */
int dump_records(struct dump_reader *reader, const struct mapped_file *file, bool json);
int dump_lives(const struct history *history, uint64_t time, bool json);
int dump_functions(const struct history *history, const struct mapped_file *file,
                   const char *wanted, struct dump_time at, bool json);
int dump_statistics(const struct history *history, const struct mapped_file *file, bool json);

/* What was wrong with the dump as a whole, if anything, goes to standard error. */
int tell_end(const char *path, const struct dump_reader *reader);

/* Nanoseconds as seconds, and raw counter values as they are. */
void print_time(FILE *to, const struct dump_reader *reader, uint64_t time);
/* What print_time() prints, or "end". False: it is neither. */
bool parse_time(const struct dump_reader *reader, const char *text, uint64_t *time);

/* "x86-64", or "machine 4711" in `buffer`. */
const char *machine_name(uint32_t elf_mach, char buffer[32]);

/* As text, and "(no name)" for an empty one. */
void print_name(FILE *to, struct span name);

#endif
