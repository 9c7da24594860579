/*
 * Any bytes as the ELF object of a JIT: its functions, lines and inlined calls are read as the collector does
 * it; memory may run out anywhere. What comes out must be a description that jitdump_load() can take.
 *
 * The first byte says which allocation fails; the object follows.
 */
#define _GNU_SOURCE
#include "collected.h"
#include "failing_memory.h"
#include "target.h"

#include "collector/memory.h"
#include "collector/object_code.h"
#include "collector/process_dump.h"

#include <stdlib.h>
#include <string.h>

const char *target_output;

/* In the place of the collector's own. */
void jd_collector_report(atomic_uint *said, const char *format, ...)
{
    (void)said;
    (void)format;
}

void *jd_memory_copy(uint64_t address, uint64_t size)
{
    (void)address;
    (void)size;
    return NULL;
}

void jd_collector_load(struct jitdump_code *code, enum loaded_by by)
{
    REQUIRE(by == LOADED_BY_GDB && code->code_addr <= UINT64_MAX - code->code_size);
    check_code(code);
}

static void check_parts(const struct object_code *code)
{
    for (size_t i = 1; i < code->lines.row_count; i++)
        REQUIRE(code->lines.rows[i - 1].address < code->lines.rows[i].address);
    for (size_t i = 0; i < code->lines.row_count; i++)
        REQUIRE(code->lines.rows[i].file == UINT32_MAX ||
                code->lines.rows[i].file < code->lines.files.count);
    for (size_t i = 0; i < code->calls.count; i++) {
        const struct dwarf_call *const call = &code->calls.items[i];
        REQUIRE(call->parent == DWARF_NO_CALL ? call->depth == 0 : call->parent < i);
        REQUIRE(call->first_range + call->range_count <= code->calls.ranges.count);
    }
    for (size_t i = 1; i < code->function_count; i++)
        REQUIRE(code->functions[i - 1].address < code->functions[i].address);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 2)
        return 0;
    unsigned char *const object = __real_malloc(size - 1); /* so that what is behind it is guarded */
    REQUIRE(object != NULL);
    memcpy(object, bytes + 1, size - 1);
    failing = bytes[0];
    struct object_code *const code = jd_object_code_read(object, size - 1, LOADED_BY_GDB, NULL, NULL);
    if (code != NULL) {
        check_parts(code);
        jd_object_code_load(code, 0, UINT64_MAX);
        jd_object_code_free(code);
    }
    failing = 0;
    return 0;
}
