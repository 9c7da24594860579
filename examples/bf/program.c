/* Source text into operations, and these into functions. */
#define _GNU_SOURCE
#include "bf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A loop becomes a function when it has at least this many operations of its own, those
 * of loops that are functions themselves not counted. Small enough for a profile that
 * tells a program's parts apart, large enough that calls cost little. */
#define FUNCTION_OPS_MIN 16

static char *read_source(const char *path, size_t *size)
{
    FILE *file = fopen(path, "r");
    if (!file)
        die("%s: %s", path, strerror(errno));
    char *source = allocate(NULL, SOURCE_MAX + 1, 1);
    *size = fread(source, 1, SOURCE_MAX + 1, file);
    if (ferror(file))
        die("%s: %s", path, strerror(errno));
    if (*size > SOURCE_MAX)
        die("%s: the file is larger than %d bytes", path, SOURCE_MAX);
    fclose(file);
    return source;
}

/* Takes `amount` into the operation before, if that is of the same kind. Not across lines:
 * each line keeps its own code. */
static bool fold(struct op *ops, uint32_t op_count, const struct op *next)
{
    if (op_count == 0)
        return false;
    struct op *last = &ops[op_count - 1];
    if (last->kind != next->kind || last->line != next->line)
        return false;
    int32_t sum = last->amount + next->amount;
    if (sum > MOVE_MAX || sum < -MOVE_MAX)
        return false;
    last->amount = sum;
    return true;
}

/* Whether what ends with a `]` on `line` is `[-]` or `[+]`, and on that line as a whole. */
static bool is_clear(const struct op *ops, uint32_t begin, uint32_t end, uint32_t line)
{
    return end - begin == 2 && ops[begin].line == line && ops[begin + 1].kind == OP_ADD &&
           abs(ops[begin + 1].amount) == 1;
}

static void parse(struct program *program, const char *source, size_t size)
{
    struct op *ops = allocate(NULL, size + 1, sizeof(*ops));
    uint32_t *open_loops = allocate(NULL, size + 1, sizeof(*open_loops));
    uint32_t count = 0, depth = 0, line = 1, column = 0;

    for (size_t i = 0; i < size; i++) {
        struct op op = { .line = line, .column = ++column };
        switch (source[i]) {
        case '\n':
            line++;
            column = 0;
            continue;
        case '+':
        case '-':
            op.kind = OP_ADD;
            op.amount = source[i] == '+' ? 1 : -1;
            break;
        case '>':
        case '<':
            op.kind = OP_MOVE;
            op.amount = source[i] == '>' ? 1 : -1;
            break;
        case '.':
            op.kind = OP_OUTPUT;
            break;
        case ',':
            op.kind = OP_INPUT;
            break;
        case '[':
            op.kind = OP_LOOP_BEGIN;
            open_loops[depth++] = count;
            break;
        case ']':
            if (depth == 0)
                die("%s:%u:%u: this ] has no [", program->path, line, column);
            op.kind = OP_LOOP_END;
            op.partner = open_loops[--depth];
            if (is_clear(ops, op.partner, count, line)) {
                count = op.partner;
                ops[count++].kind = OP_CLEAR;
                continue;
            }
            ops[op.partner].partner = count;
            break;
        default:
            continue;
        }
        if (op.amount == 0 || !fold(ops, count, &op))
            ops[count++] = op;
    }
    if (depth > 0) {
        const struct op *open = &ops[open_loops[depth - 1]];
        die("%s:%u:%u: this [ has no ]", program->path, open->line, open->column);
    }
    free(open_loops);
    program->ops = ops;
    program->op_count = count;
}

/* Its name tells the file and, if it is a loop, the line and column of the `[`. */
static void add_function(struct program *program, uint32_t first_op, uint32_t op_count)
{
    const char *file = strrchr(program->path, '/') + 1;
    uint32_t number = program->function_count++;
    program->functions = allocate(program->functions, program->function_count,
                                  sizeof(*program->functions));
    struct function *function = &program->functions[number];
    *function = (struct function){ .first_op = first_op, .op_count = op_count };
    const struct op *begin = &program->ops[first_op];
    int length = number == 0 ? asprintf(&function->name, "bf:%s", file)
                             : asprintf(&function->name, "bf:%s:%u:%u", file, begin->line,
                                        begin->column);
    if (length < 0)
        die("out of memory");
}

/* Loops from the inside to the outside, as their ends come: whether one is large enough
 * depends on what is left of it. */
static void cut_into_functions(struct program *program)
{
    uint32_t *own_ops = allocate(NULL, program->op_count + 1, sizeof(*own_ops));
    uint32_t depth = 0;

    add_function(program, 0, program->op_count);
    own_ops[0] = 0;
    for (uint32_t i = 0; i < program->op_count; i++) {
        struct op *op = &program->ops[i];
        if (op->kind == OP_LOOP_BEGIN)
            own_ops[++depth] = 0;
        own_ops[depth]++;
        if (op->kind != OP_LOOP_END)
            continue;
        uint32_t loop_ops = own_ops[depth--];
        if (loop_ops < FUNCTION_OPS_MIN) {
            own_ops[depth] += loop_ops;
            continue;
        }
        program->ops[op->partner].function = program->function_count;
        add_function(program, op->partner, i + 1 - op->partner);
        own_ops[depth]++;
    }
    free(own_ops);
}

void program_read(struct program *program, const char *path)
{
    program->path = realpath(path, NULL);
    if (!program->path)
        die("%s: %s", path, strerror(errno));
    size_t size;
    char *source = read_source(path, &size);
    parse(program, source, size);
    free(source);
    cut_into_functions(program);
}

void program_free(struct program *program)
{
    for (uint32_t i = 0; i < program->function_count; i++) {
        free(program->functions[i].name);
        free(program->functions[i].frame_steps);
        free(program->functions[i].lines);
    }
    free(program->functions);
    free(program->ops);
    free(program->path);
}
