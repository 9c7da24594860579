/* A function: from operations to executable memory and into the dump. */
#define _GNU_SOURCE
#include "bf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void put(struct code *code, const void *bytes, size_t size)
{
    if (code->capacity - code->size < size) {
        code->capacity = 2 * code->capacity + 4096;
        code->bytes = allocate(code->bytes, code->capacity, 1);
    }
    memcpy(code->bytes + code->size, bytes, size);
    code->size += size;
}

void describe_frame(struct code *code, enum jitdump_unwind_op op, uint32_t reg, int64_t offset)
{
    if (code->frame_step_count == FRAME_STEPS_MAX)
        die("too many steps in a frame");
    code->frame_steps[code->frame_step_count++] = (struct jitdump_unwind_step){
        .code_offset = code->size, .op = op, .reg = reg, .offset = offset
    };
}

static size_t in_pages(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

/* A copy of the code that can be executed. Each has pages of its own: they are never writable
 * and executable at once, and a thread that compiles never takes the right to execute from
 * code that another one runs. The memory is private and anonymous, which perf knows to be
 * covered by the dump; a mapping of a file would hide it. */
static const uint8_t *map_code(const uint8_t *bytes, size_t size, size_t mapped)
{
    uint8_t *code = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        die("no memory for code: %s", strerror(errno));
    memcpy(code, bytes, size);
    if (mprotect(code, mapped, PROT_READ | PROT_EXEC) != 0)
        die("code can't be made executable: %s", strerror(errno));
    __builtin___clear_cache((char *)code, (char *)code + size);
    return code;
}

/* The machine code of one operation. Returns the index of the next one. */
static uint32_t put_op(struct code *code, const struct program *program, uint32_t first_op,
                       uint32_t index, size_t *loop_begins)
{
    const struct op *op = &program->ops[index];
    switch (op->kind) {
    case OP_ADD:
        put_add(code, op->amount);
        break;
    case OP_MOVE:
        put_move(code, op->amount);
        break;
    case OP_CLEAR:
        put_clear(code);
        break;
    case OP_OUTPUT:
        put_output(code);
        break;
    case OP_INPUT:
        put_input(code);
        break;
    case OP_LOOP_BEGIN:
        if (op->function != 0 && index != first_op) {
            put_call(code, op->function, program->moving);
            return op->partner + 1;
        }
        loop_begins[index - first_op] = put_loop_begin(code);
        break;
    case OP_LOOP_END:
        put_loop_end(code, loop_begins[op->partner - first_op]);
        break;
    }
    return index + 1;
}

/* To be called when the code is where it will be executed, and before it is. */
static void describe(struct jitdump *dump, struct function *function)
{
    const uint64_t distance = (uintptr_t)function->code - function->description.code_addr;
    function->description.code_addr += distance;
    for (uint64_t i = 0; i < function->description.line_count; i++)
        function->lines[i].code_addr += distance;
    check_dump(jitdump_load(dump, &function->description, NULL));
}

void compile(struct program *program, uint32_t function_number)
{
    struct function *function = &program->functions[function_number];
    struct code code = { 0 };
    uint32_t first = function->first_op, end = first + function->op_count;
    size_t *loop_begins = allocate(NULL, function->op_count + 1, sizeof(*loop_begins));
    function->lines = allocate(NULL, function->op_count + 1, sizeof(*function->lines));
    uint64_t line_count = 0;

    /* What a function does before its first operation and after its last one counts as
     * theirs. */
    put_function_begin(&code);
    for (uint32_t i = first; i < end;) {
        function->lines[line_count] = (struct jitdump_line){
            .code_addr = line_count == 0 ? 0 : code.size,
            .line = program->ops[i].line,
            .column = program->ops[i].column,
            .file = program->path,
        };
        line_count++;
        i = put_op(&code, program, first, i, loop_begins);
    }
    put_function_end(&code);

    function->frame_steps = allocate(NULL, code.frame_step_count, sizeof(*function->frame_steps));
    memcpy(function->frame_steps, code.frame_steps,
           code.frame_step_count * sizeof(*function->frame_steps));
    function->unwind = (struct jitdump_unwind){
        .struct_size = sizeof(function->unwind),
        .steps = function->frame_steps,
        .step_count = code.frame_step_count,
    };
    function->description = (struct jitdump_code){
        .struct_size = sizeof(function->description),
        .name = function->name,
        .code_size = code.size,
        .lines = function->lines,
        .line_count = line_count,
        .unwind = &function->unwind,
    };
    /* What lay nearer to the code would break its unwinding. */
    uint64_t room;
    check_dump(jitdump_unwind_size(program->dump, &function->description, &room));
    function->mapped_size = in_pages(code.size + (size_t)room);
    function->code = map_code(code.bytes, code.size, function->mapped_size);
    describe(program->dump, function);
    free(loop_begins);
    free(code.bytes);
}

/* To be called while the function is not executing: its old place is gone at once. It is loaded
 * anew, since perf would lose the callers of a function with unwinding data that is moved (P24). */
static void move(struct jitdump *dump, struct function *function)
{
    const uint8_t *old = function->code;
    function->code = map_code(old, (size_t)function->description.code_size, function->mapped_size);
    describe(dump, function);
    munmap((void *)(uintptr_t)old, function->mapped_size);
}

/* A loop can't contain itself, so a function that is about to be entered is not executing:
 * the moment to move it. That happens at its 16th call, the 32nd, the 64th and so on. */
const uint8_t *enter(struct program *program, uint32_t function_number)
{
    struct function *function = &program->functions[function_number];
    function->calls++;
    if (function->calls >= 16 && (function->calls & (function->calls - 1)) == 0)
        move(program->dump, function);
    return function->code;
}
