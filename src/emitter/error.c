/*
 * What is the same on all systems: the errors' texts, the version, and options that are all zero.
 */
#include "../platform/c_library.h"

#include "jitdump.h"

#include <string.h>

uint32_t jitdump_version(void)
{
    return JITDUMP_VERSION_MAJOR * 10000 + JITDUMP_VERSION_MINOR * 100 + JITDUMP_VERSION_PATCH;
}

void jitdump_options_init(struct jitdump_options *options, uint32_t struct_size)
{
    if (options == NULL || struct_size < sizeof(struct_size))
        return;
    memset(options, 0, struct_size);
    options->struct_size = struct_size;
}

/* Each line: the cause, then the way out. */
const char *jitdump_strerror(int error)
{
    switch (error) {
    case 0:
        return "success";
    case JITDUMP_ERROR_ARGUMENT:
        return "an argument is NULL that must not be";
    case JITDUMP_ERROR_STRUCT_SIZE:
        return "struct_size is of no version, or what this library does not know of the struct is "
               "not zero: set it to sizeof the struct, and load the library that belongs to the "
               "header";
    case JITDUMP_ERROR_OPTION:
        return "unknown enum value or flag, or a value out of its range: see the field's comment "
               "in jitdump.h";
    case JITDUMP_ERROR_NO_MEMORY:
        return "out of memory";
    case JITDUMP_ERROR_CLOCK_UNSUPPORTED:
        return "this system or processor has no JITDUMP_CLOCK_TSC: use JITDUMP_CLOCK_MONOTONIC";
    case JITDUMP_ERROR_CLOCK_NO_CONVERSION:
        return "the kernel offers no conversion of TSC timestamps (cap_user_time_zero is 0), "
               "so that perf could not use the dump: use JITDUMP_CLOCK_MONOTONIC";
    case JITDUMP_ERROR_CLOCK_NOT_PERMITTED:
        return "the kernel can't be asked whether it converts TSC timestamps, because perf events "
               "are not permitted: lower /proc/sys/kernel/perf_event_paranoid to 2, or use "
               "JITDUMP_CLOCK_MONOTONIC";
    case JITDUMP_ERROR_DIRECTORY_MISSING:
        return "the directory does not exist or is no directory: create it, or name another by "
               "the option or $JITDUMPDIR";
    case JITDUMP_ERROR_DIRECTORY_NOT_WRITABLE:
        return "no file may be created in the directory: name another by the option or "
               "$JITDUMPDIR";
    case JITDUMP_ERROR_DIRECTORY_NOEXEC:
        return "the directory is on a file system that forbids executable mappings (mounted "
               "noexec, or by a security policy), by which profilers find the dump: name another "
               "by the option or $JITDUMPDIR";
    case JITDUMP_ERROR_FILE_FOREIGN:
        return "something that is no dump of this user has the dump's name: remove it, or name "
               "another directory by the option or $JITDUMPDIR";
    case JITDUMP_ERROR_FILE_IN_USE:
        return "an open dump has that name already: close it first, or name another directory "
               "by the option or $JITDUMPDIR";
    case JITDUMP_ERROR_TOO_MANY_FILES:
        return "no file descriptor is left: raise RLIMIT_NOFILE, or close some";
    case JITDUMP_ERROR_DISK_FULL:
        return "no space left on the file system for the dump, or quota used up: make space, or "
               "name another directory by the option or $JITDUMPDIR";
    case JITDUMP_ERROR_FILE_TOO_LARGE:
        return "the dump would grow past RLIMIT_FSIZE or the file system's limit: raise the limit";
    case JITDUMP_ERROR_IO:
        return "a system call on the dump failed: is its file system sound, or has the program "
               "closed its descriptor?";
    case JITDUMP_ERROR_SIZE_LIMIT:
        return "the dump has reached size_limit and takes no more: raise it, or go without";
    case JITDUMP_ERROR_BUSY:
        return "not all could be written from the signal handler, because an append or a write "
               "was under way";
    case JITDUMP_ERROR_NAME_MISSING:
        return "the function's name is NULL or empty: give it one";
    case JITDUMP_ERROR_CODE_MISSING:
        return "code_size is not 0, but there is neither code_bytes nor code_addr: set code_addr";
    case JITDUMP_ERROR_CODE_SIZE:
        return "code_size is over 2 GiB - 1, more than perf can take: describe it in parts";
    case JITDUMP_ERROR_CODE_ADDR:
        return "the code reaches past the end of the address space: check code_addr and code_size";
    case JITDUMP_ERROR_CODE_INDEX:
        return "code_index 0 is no function's: pass what jitdump_load() has given";
    case JITDUMP_ERROR_RECORD_SIZE:
        return "the record would be over 4 GiB - 1: describe less at once";
    case JITDUMP_ERROR_RECORD_EMPTY:
        return "a record without payload ends a consumer's reading: give it at least one byte";
    case JITDUMP_ERROR_RECORD_ID:
        return "ids 0 to 4 are the specification's own: use jitdump_load() or jitdump_move()";
    case JITDUMP_ERROR_LINES_MISSING:
        return "a count of lines, line_rows or files is not 0, but the array is NULL";
    case JITDUMP_ERROR_LINES_ORDER:
        return "the lines' addresses do not ascend, or with JITDUMP_STRICT two are equal: sort them";
    case JITDUMP_ERROR_LINES_RANGE:
        return "a line's address is outside of the code: addresses are absolute, from code_addr";
    case JITDUMP_ERROR_LINE_NUMBER:
        return "a line has the number 0: lines count from 1; leave out what has no line";
    case JITDUMP_ERROR_LINE_FILE:
        return "a row's file is no index of files, or with JITDUMP_STRICT a line has no file";
    case JITDUMP_ERROR_LINES_AND_TRACKS:
        return "of lines, line_rows and tracks more than one is given: give one of them";
    case JITDUMP_ERROR_TRACK_MISSING:
        return "a count is not 0, but its array is NULL: tracks, or an array of a track";
    case JITDUMP_ERROR_TRACK_EMPTY:
        return "no offset of the track leads to a position: leave the track out";
    case JITDUMP_ERROR_TRACK_COUNT:
        return "a count in the track is over 2^31 - 1: is it initialised?";
    case JITDUMP_ERROR_OFFSETS_ORDER:
        return "the offsets do not ascend, or with JITDUMP_STRICT two are equal: sort them";
    case JITDUMP_ERROR_OFFSETS_RANGE:
        return "an offset is outside of the code: offsets count from the code's start";
    case JITDUMP_ERROR_POSITION_INDEX:
        return "an offset's position is no index of positions, nor JITDUMP_NONE";
    case JITDUMP_ERROR_POSITION_FUNCTION:
        return "a position's function is no index of functions";
    case JITDUMP_ERROR_POSITION_CALLER:
        return "a position's caller is not an earlier position: put callers first, and "
               "JITDUMP_NONE where nothing is inlined";
    case JITDUMP_ERROR_POSITION_DEPTH:
        return "a position has more callers above it than JITDUMP_INLINE_DEPTH_MAX";
    case JITDUMP_ERROR_POSITION_OUTERMOST:
        return "two positions without caller are of functions of different names: those of "
               "inlined functions need callers";
    case JITDUMP_ERROR_FUNCTION_NAME:
        return "a function of the track has no name: NULL or empty";
    case JITDUMP_ERROR_TIER:
        return "the tier is not known: pass what jitdump_add_tier() has given for this dump";
    case JITDUMP_ERROR_TIER_NAME:
        return "the tier's name is NULL or empty: give it one";
    case JITDUMP_ERROR_TIER_COLOR:
        return "the tier's colour is no enum jitdump_color";
    case JITDUMP_ERROR_TIER_LIMIT:
        return "the dump has JITDUMP_TIERS_MAX tiers already: make each known once";
    case JITDUMP_ERROR_TIER_DIALECT:
        return "the dump has no record for tiers (JITDUMP_TIER_RECORDS): give the tier a name_prefix";
    case JITDUMP_ERROR_SOURCE_PATH:
        return "the source's path is NULL or empty: give it one";
    case JITDUMP_ERROR_SOURCE_MISSING:
        return "source_size is not 0, but source is NULL";
    case JITDUMP_ERROR_SOURCE_TWICE:
        return "the dump has a source of that path already: embed each once";
    case JITDUMP_ERROR_SOURCE_FILE:
        return "the source could not be written to a file beside the dump: make space there, or "
               "go without JITDUMP_SOURCE_FILES";
    case JITDUMP_ERROR_PERF_MAP:
        return "/tmp/perf-<pid>.map could not be created, since something else has its name, or "
               "could not be written: remove it, or go without JITDUMP_PERF_MAP";
    case JITDUMP_ERROR_RESERVED:
        return "a reserved field is not 0: set all that is not filled in to zero, and load the "
               "library that belongs to the header";
    case JITDUMP_ERROR_UNWIND_EMPTY:
        return "eh_frame or eh_frame_hdr is given without its size, or a size without the bytes, or "
               "eh_frame_hdr without eh_frame";
    case JITDUMP_ERROR_UNWIND_SECTION:
        return "eh_frame can't be read: is it relocated, is its size right, and are its addresses "
               "absolute or pc-relative?";
    case JITDUMP_ERROR_UNWIND_MISSING:
        return "eh_frame has no FDE for the code: check eh_frame_addr, or give none";
    case JITDUMP_ERROR_UNWIND_SIZE:
        return "eh_frame and eh_frame_hdr are over 2 GiB - 1 together, or with the code if they "
               "are made from a description";
    case JITDUMP_ERROR_UNWIND_HEADER_SIZE:
        return "eh_frame_hdr is larger than eh_frame: they seem to be swapped";
    case JITDUMP_ERROR_THREAD:
        return "the flusher thread could not be started: use another flush mode";
    case JITDUMP_ERROR_UNWIND_TWICE:
        return "both eh_frame and an unwind description are given: give one";
    case JITDUMP_ERROR_UNWIND_MACHINE:
        return "frames can't be described for this elf_mach, only for x86-64, aarch64 and riscv64: "
               "give eh_frame and eh_frame_hdr";
    case JITDUMP_ERROR_UNWIND_FRAME:
        return "unwind->frame is unknown, or the code is shorter than the standard frame's "
               "instructions: use JITDUMP_FRAME_STEPS";
    case JITDUMP_ERROR_UNWIND_STEPS_MISSING:
        return "unwind->step_count is not 0, but steps is NULL";
    case JITDUMP_ERROR_UNWIND_STEP_ORDER:
        return "an unwinding step is at a lower code offset than the one before: sort them";
    case JITDUMP_ERROR_UNWIND_STEP_RANGE:
        return "an unwinding step is past the end of the code, or inside of the prologue or "
               "epilogue that JITDUMP_FRAME_POINTER describes: offsets count from code_addr";
    case JITDUMP_ERROR_UNWIND_STEP_OP:
        return "an unwinding step has an unknown op: see enum jitdump_unwind_op";
    case JITDUMP_ERROR_UNWIND_STEP_REGISTER:
        return "an unwinding step names a register that the machine or the op does not have: "
               "registers go by DWARF number, see the enums in jitdump.h";
    case JITDUMP_ERROR_UNWIND_STEP_OFFSET:
        return "an unwinding step's offset can't be encoded: from 0 to 2^31 - 1 for the CFA, "
               "negative and a multiple of 8 for a saved register";
    case JITDUMP_ERROR_UNWIND_STEP_STATE:
        return "an unwinding step restores a state, but none is remembered";
    case JITDUMP_ERROR_UNWIND_CAPACITY:
        return "the eh_frame bytes do not fit: give as many as eh_frame_size says";
    case JITDUMP_ERROR_ENVIRONMENT:
        return "not understood; it takes 0, 1, or words with commas between: dir=PATH, "
               "flush=through|buffered|background, limit=BYTES, dialect=perf|2023|2026, "
               "clock=mono|tsc, close=keep|empty|unlink, lines=innermost|outermost, track=NAME, "
               "perf-map, source-files, debug";
    case JITDUMP_ERROR_DESCRIPTOR:
        return "the descriptor is not that of an empty regular file, open for reading and writing; "
               "or this is the child of a fork, which has none of its own: open a new dump there";
    case JITDUMP_ERROR_UNSUPPORTED:
        return "there is no dump on this system: profile on Linux or macOS";
    default:
        return "an error unknown to this version of the library";
    }
}
