/*
 * .eh_frame: which code has which call frame instructions.
 *
 *     struct eh_frame reader;
 *     jd_eh_frame_init(&reader, ...);
 *     while (jd_eh_frame_next(&reader, &fde))
 *         ...
 *     if (reader.cursor.error != NULL)
 *         ...
 *
 * The layout is that of the Linux Standard Base, "Exception Frames". Sections with 64-bit lengths are
 * refused, and pointers other than absolute and pc-relative ones; nobody's code for one function
 * needs them.
 */
#ifndef JITDUMP_READER_EH_FRAME_H
#define JITDUMP_READER_EH_FRAME_H

#include "format/cursor.h"

/* What the FDEs of a CIE have in common. */
struct frame_cie {
    uint64_t code_alignment;
    int64_t data_alignment;
    uint64_t return_address_register;
    bool signal_frame;
    bool b_key; /* aarch64: return addresses are signed with the B key */
    uint8_t pointer_encoding;
    bool has_augmentation_size;
    bool has_lsda; /* the FDEs' augmentation data are an address; else they are empty */
    struct span instructions;
};

struct frame_fde {
    struct frame_cie cie;
    /* The first address of the code, and its size in bytes. */
    uint64_t address;
    uint64_t size;
    struct span instructions;
};

struct eh_frame {
    /* Over the rest of the section. Reading ends when it fails. */
    struct cursor cursor;
    const unsigned char *start;
    /* Where the section's first byte lies in memory: what pc-relative addresses count from. */
    uint64_t address;
    unsigned int address_size; /* 4 or 8 */
};

/* Over a section's bytes; `file` is what offsets in messages count from. */
void jd_eh_frame_init(struct eh_frame *reader, struct span section, const unsigned char *file,
                      bool swapped, uint64_t address, unsigned int address_size);

/* The next FDE. False: there is none, or none that can be read. */
bool jd_eh_frame_next(struct eh_frame *reader, struct frame_fde *fde);

#endif
