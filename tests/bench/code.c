#include "code.h"

#include "writers.h"

#include <stdlib.h>
#include <string.h>

/* A line for so many bytes of code, as compilers have them; at most so many lines. */
enum { LINE_SIZE = 16, LINES_MAX = 64, FUNCTIONS = 4 };

const char *const description_names[DESCRIPTIONS] = {"none", "lines", "inlining"};

static const char file_name[] = "/home/user/project/module.js";

struct function {
    struct jitdump_code code;
    struct jitdump_line lines[LINES_MAX];
    struct jitdump_function functions[FUNCTIONS];
    struct jitdump_position positions[LINES_MAX];
    struct jitdump_offset offsets[LINES_MAX];
    struct jitdump_track track;
    unsigned char bytes[];
};

static void describe_lines(struct function *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        f->lines[i] = (struct jitdump_line){f->code.code_addr + i * LINE_SIZE, 1 + i, 1, file_name};
    f->code.lines = f->lines;
    f->code.line_count = count;
}

/* Chains of calls as deep as there are functions, gone down and begun anew. */
static void describe_inlining(struct function *f, uint32_t count)
{
    static const char *const names[FUNCTIONS] = {"outermost", "caller", "callee", "innermost"};
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        f->functions[i] = (struct jitdump_function){names[i], file_name, 1 + 100 * i, 1, 0, 0, 0, 0};
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t depth = i % FUNCTIONS;
        f->positions[i] = (struct jitdump_position){depth, 1 + 100 * depth + i, 1,
                                                    depth == 0 ? JITDUMP_NONE : i - 1};
        f->offsets[i] = (struct jitdump_offset){i * LINE_SIZE, i};
    }
    f->track = (struct jitdump_track){
        sizeof(f->track), 0, "source", f->functions, FUNCTIONS, f->positions, count, f->offsets,
        count};
    f->code.tracks = &f->track;
    f->code.track_count = 1;
}

struct jitdump_code *code_make(size_t size, enum description description)
{
    struct function *f = calloc(1, sizeof(*f) + size);
    check(f == NULL, "calloc");
    memset(f->bytes, 0x90, size);
    f->code = (struct jitdump_code){.struct_size = sizeof(f->code),
                                    .name = "JS:*aFunctionOfTheBenchmark",
                                    .code_addr = UINT64_C(0x7f0000001000),
                                    .code_size = size,
                                    .code_bytes = f->bytes};
    const size_t lines = size / LINE_SIZE;
    const uint32_t count = (uint32_t)(lines < LINES_MAX ? lines : LINES_MAX);
    if (description == DESCRIPTION_LINES)
        describe_lines(f, count);
    if (description == DESCRIPTION_INLINING)
        describe_inlining(f, count);
    return &f->code;
}

void code_free(struct jitdump_code *code)
{
    free(code); /* the first member */
}
