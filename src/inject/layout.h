/*
 * Which pieces of a dump lie in which ELF file, and where the files are to be mapped from when on.
 *
 * Code lies in a file at the addresses where it was in the process. What was there at other times goes
 * into the next layer, a file of its own; so does what is more than 2 GiB away. Where addresses are
 * used very often, what is beyond a number of layers is packed into one more file, at addresses of
 * the file's own: unwinding data can't be used there.
 *
 * With copies of the stack, libdw decides (perf 7, P34). It knows a file for the addresses from the first
 * one's to the last one's, and never forgets it; of two that overlap it takes the one that it was
 * told of later, provided that this one begins later and ends at the same address; and perf gives up if
 * that is not the one it has mapped there, which it knows by the address of the file's first byte. So
 * there is a file for each epoch, in which no two functions share addresses, of all code that is in use in
 * it; each is told to begin one byte behind the one before, and to end where all code does.
 *
 * Code at addresses that were used only once is mapped in runs, from the time of the first piece on;
 * any other piece by itself, and so is one in whose place samples were taken earlier.
 */
#ifndef JITDUMP_INJECT_LAYOUT_H
#define JITDUMP_INJECT_LAYOUT_H

#include "inject/epochs.h"
#include "inject/ranges.h"
#include "inject/sample_marks.h"
#include "writers/elf_writer.h"

struct layout_options {
    /* 0: no limit. */
    uint32_t layer_max;
    /* All code packed, that of one name together: a symbol of its own for each name (P28). */
    bool by_name;
    /* What is not to be mapped over in gaps between pieces. */
    struct ranges *occupied;
    /* By index of history->lives: enum sample_mark, or'ed. NULL: there are none. */
    const unsigned char *marks;
    bool only_sampled; /* only lives with MARK_SAMPLED */
    /* For copies of the stack, with no limit of layers; else NULL. */
    const struct epochs *epochs;
    struct ranges *foreign; /* the code of others, which no file may be said to reach over */
};

struct layout_file {
    const struct placed *pieces; /* ascending, disjoint, in reach of each other */
    uint64_t count;
    bool packed;
    /* For struct elf_options. */
    uint64_t load_address;
    uint64_t load_end;
};

struct layout_mapping {
    uint64_t time; /* the dump's */
    uint64_t address;
    uint64_t size;
    uint64_t file_address; /* of the same byte, in the file */
    uint32_t file;
};

struct layout {
    struct layout_file *files;
    uint32_t file_count;
    struct layout_mapping *mappings; /* by file and address */
    uint64_t mapping_count;
    struct placed *placed;
};

/* False: out of memory. To be freed in any case. */
bool jd_layout_plan(struct layout *layout, const struct history *history,
                    const struct layout_options *options);
void jd_layout_free(struct layout *layout);

#endif
