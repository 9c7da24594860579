#include "check/finding.h"

#include <stdarg.h>
#include <stdio.h>

const struct finding_kind jd_finding_kinds[FINDING_COUNT] = {
    [FINDING_HEADER_FLAGS] = {"header-flags", "P4", SEVERITY_ERROR,
                              "the header has flags that perf does not know: it refuses the file",
                              "write no flag but bit 0 (TSC timestamps)"},
    [FINDING_HEADER_SIZE] = {"header-size", "", SEVERITY_WARNING,
                             "the header's size is not 40", "write total_size 40"},
    [FINDING_HEADER_MACHINE] = {"header-machine", "P23", SEVERITY_NOTE,
                                "the header names no machine (elf_mach is 0)",
                                "write the EM_* of the code"},
    [FINDING_FILE_NAME] = {"file-name", "P1", SEVERITY_NOTE,
                           "perf finds a dump by its name, jit-<pid>.dump with the header's pid",
                           "give the file that name before the process maps it"},
    [FINDING_BYTE_ORDER] = {"byte-order", "P22", SEVERITY_WARNING,
                            "the dump is of the other byte order than this machine: perf shows "
                            "names, but wrong lines",
                            "inject on a machine of the dump's byte order"},
    [FINDING_CUT_OFF] = {"cut-off", "S1", SEVERITY_NOTE,
                         "the file ends within a record: it is being written, or its process died",
                         "what is before is whole; flush, or close the dump at exit"},
    [FINDING_BROKEN] = {"broken", "P6", SEVERITY_ERROR,
                        "this can't be a record: every consumer stops here",
                        "write whole records only, never zeros or space set aside"},
    [FINDING_EMPTY_RECORD] = {"empty-record", "P5", SEVERITY_ERROR,
                              "a record without payload ends perf's reading: what follows is lost",
                              "give each record but the last at least one byte"},
    [FINDING_AFTER_CLOSE] = {"after-close", "S5", SEVERITY_ERROR,
                             "records follow JIT_CODE_CLOSE: perf does not read them, and samply has "
                             "dropped all functions",
                             "write JIT_CODE_CLOSE as the very last record, or not at all"},
    [FINDING_UNKNOWN_ID] = {"unknown-id", "P6", SEVERITY_NOTE,
                            "a record has an id that perf does not know: it prints a warning for each",
                            "none needed; or write extension records only where they are wanted"},
    [FINDING_TIME_BACKWARDS] = {"time-backwards", "S3", SEVERITY_ERROR,
                                "times run backwards: samply holds back what comes behind the late one",
                                "read the clock under the lock that orders the records"},
    [FINDING_UNREADABLE_RECORD] = {"unreadable-record", "", SEVERITY_ERROR,
                                   "a record does not hold what it says",
                                   "compare its sizes with docs/format.md"},
    [FINDING_NAME_EMPTY] = {"name-empty", "", SEVERITY_WARNING, "a function has no name",
                            "name it, if only by its address or kind"},
    [FINDING_NAME_CONTROL] = {"name-control", "", SEVERITY_WARNING,
                              "a function's name has control characters, which perf prints as they are",
                              "replace them before they are written"},
    [FINDING_NAME_UTF8] = {"name-utf8", "", SEVERITY_NOTE, "a function's name is not UTF-8",
                           "write names as UTF-8"},
    [FINDING_NAME_TWICE_SHOWN] = {"name-twice-shown", "S15", SEVERITY_NOTE,
                                  "samply takes names with this prefix for JavaScript, and shows them "
                                  "twice",
                                  "none needed; or use another prefix"},
    [FINDING_PADDING] = {"padding", "P7", SEVERITY_ERROR,
                         "bytes lie between a function's name and its code: perf and samply see other "
                         "code",
                         "write the code right behind the name's NUL"},
    [FINDING_CODE_SIZE] = {"code-size", "P8", SEVERITY_ERROR,
                           "a function's code is over 2 GiB - 1, which perf keeps in an int",
                           "describe it in parts"},
    [FINDING_INDEX_TWICE] = {"index-twice", "P8", SEVERITY_ERROR,
                             "two functions have one code_index: perf writes one ELF file for both",
                             "count code_index up, and never use one twice"},
    [FINDING_ORPHAN] = {"orphan", "P9", SEVERITY_ERROR,
                        "a debug, tier or unwinding record is followed by no load of its function: "
                        "it is lost, or another function's",
                        "write a function's records and its load as one piece"},
    [FINDING_MUCH_CODE] = {"much-code", "S6", SEVERITY_WARNING,
                           "the dump has more than 4 GiB of code, which is samply's end",
                           "describe less, or start a new process"},
    [FINDING_MANY_FUNCTIONS] = {"many-functions", "P18", SEVERITY_NOTE,
                                "perf inject writes an ELF file for each function, and takes a second "
                                "for some thousands of them",
                                "jitdump inject makes one file of all"},
    [FINDING_LINES_ADDRESS] = {"lines-address", "P9", SEVERITY_WARNING,
                               "a debug record gives another address than the load that follows it: is "
                               "it that function's?",
                               "write a function's records and its load as one piece"},
    [FINDING_LINES_OUTSIDE] = {"lines-outside", "P11", SEVERITY_WARNING,
                               "line entries lie outside of their function's code",
                               "write absolute addresses of the code as it is executed"},
    [FINDING_LINES_HEADER_ADDED] = {"lines-header-added", "P11", SEVERITY_WARNING,
                                    "all line entries are 0x40 too high, as older perfs wanted them",
                                    "add nothing to the addresses"},
    [FINDING_LINES_ORDER] = {"lines-order", "S4", SEVERITY_WARNING,
                             "line entries do not ascend by address: samply finds them by halving",
                             "sort them by address, one for each"},
    [FINDING_LINES_SENTINEL] = {"lines-sentinel", "P10", SEVERITY_WARNING,
                                "the line table is not closed: perf gives the code behind its last "
                                "entry no line",
                                "write one more entry at the end of the code"},
    [FINDING_LINES_SAME_FILE] = {"lines-same-file", "P12", SEVERITY_WARNING,
                                 "a line's file is \"\\xff\", which is shown as a file's name",
                                 "write the name in each entry"},
    [FINDING_LINES_FILE_LOST] = {"lines-file-lost", "P38", SEVERITY_WARNING,
                                 "files' names are memory that was freed: perf and samply show wrong "
                                 "lines, or none",
                                 "jitdump inject, elf and the like, which find the entries again"},
    [FINDING_LINES_COLON] = {"lines-colon", "P39", SEVERITY_NOTE,
                             "a file's name has a colon, where perf up to 6.12 ends it: line 0",
                             "write paths, no URLs"},
    [FINDING_INLINE_UNREADABLE] = {"inline-unreadable", "", SEVERITY_WARNING,
                                   "an inline record breaks its format's rules",
                                   "compare it with docs/format.md"},
    [FINDING_TIER_HIDES_LINES] = {"tier-hides-lines", "S13", SEVERITY_WARNING,
                                  "samply with support for inlining takes tier records for inline "
                                  "records, and shows no lines",
                                  "write no tier records, or the inline record of 2026"},
    [FINDING_UNWINDING_ORDER] = {"unwinding-order", "P13", SEVERITY_ERROR,
                                 "eh_frame_hdr comes before eh_frame: perf reads them the other way "
                                 "round, and loses the caller",
                                 "write eh_frame first, against the specification"},
    [FINDING_UNWINDING_UNMAPPED] = {"unwinding-unmapped", "P14", SEVERITY_ERROR,
                                    "mapped_size is 0: perf does not use the unwinding data",
                                    "write unwind_data_size there"},
    [FINDING_UNWINDING_ROOM] = {"unwinding-room", "P15", SEVERITY_WARNING,
                                "a function was loaded into the room behind another, where perf keeps "
                                "that one's unwinding data: call chains end there",
                                "leave jitdump_unwind_size() bytes free behind the code; jitdump "
                                "inject and perf 7.2 need none"},
    [FINDING_UNWINDING_HIDES] = {"unwinding-hides", "P15", SEVERITY_ERROR,
                                 "a function was loaded whose unwinding data perf puts over another "
                                 "function's code, which has no name there",
                                 "leave jitdump_unwind_size() bytes free behind the code; jitdump "
                                 "inject needs none"},
    [FINDING_UNWINDING_MOVED] = {"unwinding-moved", "P24", SEVERITY_WARNING,
                                 "a function with unwinding data was moved: perf unwinds it wrongly, "
                                 "always if it was moved upwards",
                                 "load it anew at its new address; or jitdump inject"},
    [FINDING_UNWINDING_REUSED] = {"unwinding-reused", "P25", SEVERITY_NOTE,
                                  "functions with unwinding data follow each other at an address: "
                                  "perf loses some call chains",
                                  "use fresh addresses where that costs nothing"},
    [FINDING_MOVE_UNKNOWN] = {"move-unknown", "P16", SEVERITY_ERROR,
                              "a function is moved that was not loaded",
                              "give the code_index of its load"},
    [FINDING_MOVE_FROM] = {"move-from", "P16", SEVERITY_WARNING,
                           "a function is moved from where it was not",
                           "give the address of its load or last move"},
    [FINDING_MOVE_CRASHES] = {"move-crashes", "P29", SEVERITY_NOTE,
                              "the dump has moves, on which perf inject of perf 7.2 crashes",
                              "jitdump inject; or load functions anew at their new addresses"},
    [FINDING_CLOCK] = {"clock", "P3", SEVERITY_ERROR,
                       "the profile was recorded with another clock than the dump's: perf inject "
                       "resolves nothing",
                       "perf record -k mono; or jitdump inject, which takes it"},
    [FINDING_TIME_CONVERSION] = {"time-conversion", "P4", SEVERITY_ERROR,
                                 "the dump has TSC times, and the profile does not say how to convert "
                                 "them",
                                 "write CLOCK_MONOTONIC times, and perf record -k mono"},
    [FINDING_COMPRESSED] = {"compressed", "P32", SEVERITY_ERROR,
                            "the profile is compressed: perf inject --jit finds nothing in it",
                            "perf record without -z; or jitdump inject, which unpacks it by zstd"},
    [FINDING_NO_MAPPING] = {"no-mapping", "P1", SEVERITY_ERROR,
                            "the profile has no executable mapping of the dump: perf does not know that "
                            "there is one",
                            "start perf before the dump is opened, or attach while it is open; the "
                            "emitter must map the file executable"},
    [FINDING_OTHER_NAMESPACE] = {"other-namespace", "P19", SEVERITY_WARNING,
                                 "the process has another pid in the profile than in the dump: it ran "
                                 "in a container",
                                 "record inside the container, or jitdump inject, with --pid if need be"},
    [FINDING_HIDDEN] = {"hidden", "P17", SEVERITY_ERROR,
                        "a file was mapped executable over functions that had been loaded: perf shows "
                        "the file in their place",
                        "take JIT memory from anonymous memory or a memfd; or map it executable once, "
                        "before the first load"},
    [FINDING_BEFORE_LOAD] = {"before-load", "", SEVERITY_WARNING,
                             "samples lie in code before it was loaded", "load code before it is run"},
    [FINDING_AFTER_LIFE] = {"after-life", "", SEVERITY_WARNING,
                            "samples lie in code that something else was loaded over, or that had "
                            "moved away",
                            "describe what lies there now; load after the last run of the old code"},
    [FINDING_BETWEEN] = {"between", "", SEVERITY_WARNING,
                         "samples lie between functions that are described",
                         "describe stubs, trampolines and constants that are run, too"},
    [FINDING_NEVER_DESCRIBED] = {"never-described", "", SEVERITY_WARNING,
                                 "samples lie in executable memory of no file where no function was ever "
                                 "loaded",
                                 "describe that code; or another runtime of the process has made it"},
    [FINDING_LOST] = {"lost", "", SEVERITY_WARNING, "the kernel has lost events",
                      "perf record with a larger buffer (-m 16M) or a lower rate (-F)"},
};

void jd_finding_add(struct findings *findings, enum finding finding, uint64_t offset,
                    const char *format, ...)
{
    const uint64_t count = findings->of[finding].count++;
    if (count >= FINDING_PLACES)
        return;
    struct finding_place *const place = &findings->of[finding].places[count];
    place->offset = offset;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(place->text, sizeof(place->text), format, arguments);
    va_end(arguments);
    for (char *c = place->text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == '\x7f')
            *c = '?';
}

int jd_findings_worst(const struct findings *findings)
{
    int worst = -1;
    for (unsigned i = 0; i < FINDING_COUNT; i++)
        if (findings->of[i].count != 0 && (int)jd_finding_kinds[i].severity > worst)
            worst = (int)jd_finding_kinds[i].severity;
    return worst;
}
