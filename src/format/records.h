/*
 * The file's structures, byte for byte, in the byte order of the writing machine.
 * Sections are those of the jitdump specification, version 2.
 *
 * Nothing here is padded by the compiler: the assertions say so.
 */
#ifndef JITDUMP_FORMAT_RECORDS_H
#define JITDUMP_FORMAT_RECORDS_H

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

/* samply's extensions. Two texts give 827346260 two meanings; a dump's dialect says which. */
enum samply_record_type {
    SAMPLY_JIT_CODE_DEBUG_INFO2 = 827346259,
    SAMPLY_JIT_TIER = 827346260,
    SAMPLY_JIT_CODE_DEBUG_INFO_2026 = 827346260,
    SAMPLY_EMBEDDED_SOURCE_FILE = 827346261
};

/* Six lists follow, in the order of their counts: two of NUL-terminated strings, each padded
 * to a multiple of 4, and four of the structs below. */
struct samply_jit_code_debug_info2 {
    struct jit_record_header header;
    uint32_t file_count;
    uint32_t file_list_size;
    uint32_t function_names_count;
    uint32_t function_names_list_size;
    uint32_t function_count;
    uint32_t inline_call_record_count;
    uint32_t range_count;
    uint32_t line_record_count;
};
_Static_assert(sizeof(struct samply_jit_code_debug_info2) == 48, "DEBUG_INFO2");

struct samply_function_record {
    uint32_t function_name_index;
    uint32_t file_index;
    uint32_t start_line;
    uint32_t start_column;
    uint32_t flags;
};
_Static_assert(sizeof(struct samply_function_record) == 20, "DEBUG_INFO2");

struct samply_inline_call_record {
    uint32_t depth;
    uint32_t range_count;
    uint32_t function_index;
    uint32_t call_line_number;
    uint32_t call_column_number;
};
_Static_assert(sizeof(struct samply_inline_call_record) == 20, "DEBUG_INFO2");

struct samply_range_record {
    uint32_t start_offset;
    uint32_t size;
};
_Static_assert(sizeof(struct samply_range_record) == 8, "DEBUG_INFO2");

struct samply_line_record {
    uint32_t code_offset;
    uint32_t file_index;
    uint32_t line_number;
    uint32_t column_number;
};
_Static_assert(sizeof(struct samply_line_record) == 16, "DEBUG_INFO2");

/* The form of 2026: offsets, positions and NUL-terminated strings follow. */
struct samply_jit_code_debug_info_2026 {
    struct jit_record_header header;
    uint64_t code_addr;
    uint64_t code_offset_count;
    uint64_t source_position_count;
    uint64_t string_count;
};
_Static_assert(sizeof(struct samply_jit_code_debug_info_2026) == 48, "2026");

struct samply_code_offset {
    uint32_t code_offset;
    uint32_t source_position;
};
_Static_assert(sizeof(struct samply_code_offset) == 8, "2026");

struct samply_source_position {
    int32_t caller;
    uint32_t function_name;
    int32_t file;
    uint32_t function_start_line;
    uint32_t function_start_column;
    uint32_t line;
    uint32_t column;
};
_Static_assert(sizeof(struct samply_source_position) == 28, "2026");

/* The NUL-terminated name follows, padded to a multiple of 4. */
struct samply_jit_tier {
    struct jit_record_header header;
    uint32_t tier_index;
    uint32_t color_index;
};
_Static_assert(sizeof(struct samply_jit_tier) == 24, "JIT_TIER");

/* The path with its NUL and the source follow, padded to a multiple of 4. */
struct samply_embedded_source_file {
    struct jit_record_header header;
    uint32_t path_size;
    uint32_t source_size;
};
_Static_assert(sizeof(struct samply_embedded_source_file) == 24, "EMBEDDED_SOURCE_FILE");

#endif
