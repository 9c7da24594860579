/*
 * DWARF 4 of placed code: names, lines and inlined calls, in such a way that binutils, LLVM,
 * elfutils, gdb and perf all read the same from it.
 */
#ifndef JITDUMP_WRITERS_DWARF_H
#define JITDUMP_WRITERS_DWARF_H

#include "writers/described_texts.h"
#include "writers/line_program.h"

struct dwarf {
    /* The sections. That of strings is texts.names.bytes. */
    struct bytes abbrev;
    struct bytes info;
    struct bytes line;
    struct bytes ranges;
    struct bytes aranges;
    struct described_texts texts; /* the files are the unit's */
    uint8_t address_size;

    /* The unit that is being written, if it has any functions. */
    uint32_t unit_functions;
    size_t unit_start;   /* in `info`, as the next */
    size_t unit_high_pc; /* to be filled in */
    uint64_t unit_low;
    uint64_t unit_high;
    struct line_program program;

    uint32_t unit; /* counts from 1 */
    /* By the number of a name in `texts`: where the unit says that this function is inlined. */
    struct inlined_function {
        uint32_t unit; /* another one: it has not been said in this */
        uint32_t offset; /* from the unit's start */
    } *inlined;
    uint32_t inlined_count;

    struct bytes boundaries; /* as an array of uint32_t */
    bool failed;
};

void dwarf_init(struct dwarf *dwarf, bool big_endian, uint8_t address_size);
void dwarf_free(struct dwarf *dwarf);

/* A function called `name`, of `size` bytes of code at `address`. Addresses ascend. Returns the name in
 * texts.names. */
struct table_string dwarf_add(struct dwarf *dwarf, struct span name, uint64_t address,
                              uint64_t size, const struct description *description);

enum dwarf_error {
    DWARF_OK,
    DWARF_NO_MEMORY,
    DWARF_TOO_LARGE /* a section of more than 4 GiB, where offsets end */
};

/* Ends the last unit. */
enum dwarf_error dwarf_finish(struct dwarf *dwarf);

#endif
