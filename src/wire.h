/*
 * The file's structures, byte for byte, in the byte order of the writing machine.
 * Sections are those of the jitdump specification, version 2.
 *
 * Nothing here is padded by the compiler: the assertions say so.
 */
#ifndef JITDUMP_WIRE_H
#define JITDUMP_WIRE_H

#include <stdint.h>

/* Section III. Read in the wrong byte order, the magic number is 0x4454694a. */
#define JITDUMP_MAGIC UINT32_C(0x4a695444)
#define JITDUMP_FILE_VERSION UINT32_C(1)

/* The header's flags. perf refuses a file with any other bit set. */
#define JITDUMP_FLAGS_ARCH_TIMESTAMP UINT64_C(1)

/* For structures that are filled in where they lie among the file's bytes, at any address.
 * Built elsewhere and copied, they cost ten nanoseconds more: the copy reads them in wider
 * pieces than they were stored in, and waits until the stores are through. */
#define JITDUMP_IN_PLACE __attribute__((packed, may_alias))

struct jitdump_file_header {
    uint32_t magic;
    uint32_t version;
    uint32_t total_size;
    uint32_t elf_mach;
    uint32_t pad1;
    uint32_t pid;
    uint64_t timestamp;
    uint64_t flags;
};
_Static_assert(sizeof(struct jitdump_file_header) == 40, "section III");

/* Section IV. */
enum jit_record_type {
    JIT_CODE_LOAD = 0,
    JIT_CODE_MOVE = 1,
    JIT_CODE_DEBUG_INFO = 2,
    JIT_CODE_CLOSE = 3,
    JIT_CODE_UNWINDING_INFO = 4,
    JIT_CODE_LAST_SPECIFIED = JIT_CODE_UNWINDING_INFO
};

struct jit_record_header {
    uint32_t id;
    uint32_t total_size;
    uint64_t timestamp;
};
_Static_assert(sizeof(struct jit_record_header) == 16, "section IV");

/* Section V. The NUL-terminated name follows, then the code, and nothing after it:
 * perf finds the code from the record's end, samply from the name's. */
struct JITDUMP_IN_PLACE jit_code_load {
    struct jit_record_header header;
    uint32_t pid;
    uint32_t tid;
    uint64_t vma;
    uint64_t code_addr;
    uint64_t code_size;
    uint64_t code_index;
};
_Static_assert(sizeof(struct jit_code_load) == 56, "section V");

/* Section VI. */
struct JITDUMP_IN_PLACE jit_code_move {
    struct jit_record_header header;
    uint32_t pid;
    uint32_t tid;
    uint64_t vma;
    uint64_t old_code_addr;
    uint64_t new_code_addr;
    uint64_t code_size;
    uint64_t code_index;
};
_Static_assert(sizeof(struct jit_code_move) == 64, "section VI");

/* Section VII. nr_entry times a debug_entry and its NUL-terminated file name follow,
 * unaligned. */
struct JITDUMP_IN_PLACE jit_code_debug_info {
    struct jit_record_header header;
    uint64_t code_addr;
    uint64_t nr_entry;
};
_Static_assert(sizeof(struct jit_code_debug_info) == 32, "section VII");

struct JITDUMP_IN_PLACE debug_entry {
    uint64_t code_addr;
    uint32_t line;
    uint32_t discrim;
};
_Static_assert(sizeof(struct debug_entry) == 16, "section VII");

/* Section VIII: a record header alone. perf takes any record of that size for the
 * end of the file. */
struct jit_code_close {
    struct jit_record_header header;
};

/* Section IX, but with the data as perf reads it: eh_frame first, eh_frame_hdr last. */
struct JITDUMP_IN_PLACE jit_code_unwinding_info {
    struct jit_record_header header;
    uint64_t unwind_data_size;
    uint64_t eh_frame_hdr_size;
    uint64_t mapped_size;
};
_Static_assert(sizeof(struct jit_code_unwinding_info) == 40, "section IX");

#endif
