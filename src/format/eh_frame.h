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
 * The layout is that of the Linux Standard Base, "Exception Frames". Behind a 64-bit length the CIE's id
 * and the FDE's pointer to it have 64 bits too, as binutils, elfutils and libunwind have them (LLVM
 * has 32). Addresses are absolute or pc-relative: what others are relative to, the section does
 * not say.
 */
#ifndef JITDUMP_FORMAT_EH_FRAME_H
#define JITDUMP_FORMAT_EH_FRAME_H

#include "cursor.h"

#pragma GCC visibility push(hidden)

/* How a pointer is written: its format, and what it is relative to. DW_EH_PE_... elsewhere. */
enum pointer_encoding {
    POINTER_ABSOLUTE = 0x00,
    POINTER_ULEB128 = 0x01,
    POINTER_UDATA2 = 0x02,
    POINTER_UDATA4 = 0x03,
    POINTER_UDATA8 = 0x04,
    POINTER_SLEB128 = 0x09,
    POINTER_SDATA2 = 0x0a,
    POINTER_SDATA4 = 0x0b,
    POINTER_SDATA8 = 0x0c,
    POINTER_FORMAT = 0x0f,
    POINTER_PC_RELATIVE = 0x10,
    POINTER_DATA_RELATIVE = 0x30,
    POINTER_ALIGNED = 0x50,
    POINTER_BASE = 0xf0, /* with DW_EH_PE_indirect */
    POINTER_OMITTED = 0xff
};

/* What the FDEs of a CIE have in common. */
struct frame_cie {
    const unsigned char *start; /* by which it is known */
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
    /* The one that was read last: most sections have few. */
    struct frame_cie cie;
};

/* Over a section's bytes; `file` is what offsets in messages count from. */
void jd_eh_frame_init(struct eh_frame *reader, struct span section, const unsigned char *file,
                      bool swapped, uint64_t address, unsigned int address_size);

/* The next FDE. False: there is none, or none that can be read. */
bool jd_eh_frame_next(struct eh_frame *reader, struct frame_fde *fde);

/* An address in the section, written as `encoding` says. */
uint64_t jd_eh_frame_pointer(const struct eh_frame *reader, struct cursor *cursor,
                             uint8_t encoding);

#pragma GCC visibility pop

#endif
