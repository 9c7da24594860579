/*
 * A tree -> machine code, with a position for every piece of it.
 *
 * The baseline tier does as an interpreter would: every operand over the stack, every call a
 * call. The optimising tier keeps operands in slots, inlines calls two levels deep, and puts
 * the arm of an if that is expected to be rare, the else, behind everything else; so the code
 * of an inlined call may be in several pieces.
 */
#include "tiered.h"

#include <string.h>

#define INLINE_DEPTH 2
#define RARE_MAX 64

/* A function that is being compiled, in the place where it is inlined. */
struct scope {
    uint32_t function;
    uint32_t caller;     /* position, or JITDUMP_NONE */
    uint32_t first_slot; /* of its locals */
    uint32_t depth;
};

/* An else that is still to be compiled. */
struct rare {
    struct scope scope;
    const struct node *branch;
    uint32_t jump;   /* which leads to it */
    uint32_t resume; /* where it leads to */
};

struct compiler {
    struct program *program;
    enum tier tier;
    struct compiled *out;
    uint32_t slot_count;
    struct rare rare[RARE_MAX];
    uint32_t rare_count;
};

void put(struct code *code, const void *bytes, size_t size)
{
    if (size > sizeof(code->bytes) - code->size)
        die("a function is too large");
    memcpy(code->bytes + code->size, bytes, size);
    code->size += (uint32_t)size;
}

/* Positions */

/* The node's position in the scope: the same one each time. */
static uint32_t position_of(struct compiler *compiler, const struct scope *scope,
                            const struct node *node)
{
    struct compiled *out = compiler->out;
    const struct jitdump_position source = {scope->function, node->line, node->column,
                                            scope->caller};
    const struct jitdump_position bytecode = {scope->function, node->instruction, 0,
                                              scope->caller};
    uint32_t i = 0;
    while (i < out->position_count &&
           (memcmp(&out->source[i], &source, sizeof(source)) != 0 ||
            memcmp(&out->bytecode[i], &bytecode, sizeof(bytecode)) != 0))
        i++;
    if (i == sizeof(out->source) / sizeof(out->source[0]))
        die("a function is too large");
    if (i == out->position_count) {
        out->source[i] = source;
        out->bytecode[i] = bytecode;
        out->position_count++;
    }
    return i;
}

/* What is put from here on is the node's. Returns where to put it. */
static struct code *at(struct compiler *compiler, const struct scope *scope,
                       const struct node *node)
{
    struct compiled *out = compiler->out;
    const uint32_t position = position_of(compiler, scope, node);
    if (out->offset_count > 0 &&
        out->offsets[out->offset_count - 1].code_offset == out->code.size)
        out->offset_count--; /* nothing was put for that one */
    if (out->offset_count == sizeof(out->offsets) / sizeof(out->offsets[0]))
        die("a function is too large");
    if (out->offset_count == 0 || out->offsets[out->offset_count - 1].position != position)
        out->offsets[out->offset_count++] = (struct jitdump_offset){out->code.size, position};
    return &out->code;
}

/* Expressions: the value is in A afterwards. */

static void compile_value(struct compiler *compiler, const struct scope *scope,
                          const struct node *node);

/* The left operand into A, the right one into B. */
static void compile_operands(struct compiler *compiler, const struct scope *scope,
                             const struct node *node)
{
    const struct node *left = node->operands[0], *right = node->operands[1];
    if (compiler->tier == BASELINE) {
        compile_value(compiler, scope, left);
        put_push(at(compiler, scope, node));
        compile_value(compiler, scope, right);
        put_pop(at(compiler, scope, node));
        return;
    }
    uint32_t slot;
    if (right->kind == VARIABLE) {
        slot = scope->first_slot + right->local;
    } else {
        compile_value(compiler, scope, right);
        slot = compiler->slot_count++;
        put_store(at(compiler, scope, node), slot);
    }
    compile_value(compiler, scope, left);
    put_load_b(at(compiler, scope, node), slot);
}

static void compile_if(struct compiler *compiler, const struct scope *scope,
                       const struct node *node)
{
    compile_operands(compiler, scope, node);
    const uint32_t jump = put_jump_unless_less(at(compiler, scope, node));
    compile_value(compiler, scope, node->operands[2]);
    struct code *code = at(compiler, scope, node);
    if (compiler->tier == BASELINE) {
        const uint32_t end = put_jump(code);
        put_target(code, jump, code->size);
        compile_value(compiler, scope, node->operands[3]);
        put_target(at(compiler, scope, node), end, code->size);
    } else {
        if (compiler->rare_count == RARE_MAX)
            die("a function is too large");
        compiler->rare[compiler->rare_count++] = (struct rare){*scope, node, jump, code->size};
    }
}

/* All the elses, and those that they bring with them. */
static void compile_rare(struct compiler *compiler)
{
    for (uint32_t i = 0; i < compiler->rare_count; i++) {
        const struct rare rare = compiler->rare[i];
        struct code *code = at(compiler, &rare.scope, rare.branch);
        put_target(code, rare.jump, code->size);
        compile_value(compiler, &rare.scope, rare.branch->operands[3]);
        at(compiler, &rare.scope, rare.branch);
        put_target(code, put_jump(code), rare.resume);
    }
}

static void compile_sum(struct compiler *compiler, const struct scope *scope,
                        const struct node *node)
{
    const uint32_t counter = scope->first_slot + node->local;
    const uint32_t limit = compiler->slot_count++;
    const uint32_t total = compiler->slot_count++;
    compile_value(compiler, scope, node->operands[0]);
    struct code *code = at(compiler, scope, node);
    put_store(code, limit);
    put_constant(code, 0);
    put_store(code, counter);
    put_store(code, total);
    const uint32_t round = code->size;
    put_load(code, counter);
    put_load_b(code, limit);
    const uint32_t end = put_jump_unless_less(code);
    if (compiler->tier == BASELINE)
        put_count(code, &compiler->program->functions[scope->function].count);
    compile_value(compiler, scope, node->operands[1]);
    at(compiler, scope, node);
    put_load_b(code, total);
    put_operation(code, ADD);
    put_store(code, total);
    put_constant(code, 1);
    put_load_b(code, counter);
    put_operation(code, ADD);
    put_store(code, counter);
    put_target(code, put_jump(code), round);
    put_target(code, end, code->size);
    put_load(code, total);
}

static void compile_call(struct compiler *compiler, const struct scope *scope,
                         const struct node *node)
{
    struct function *callee = &compiler->program->functions[node->function];
    /* A recursive call's slots are another's, and so are those of each inlined call. */
    const uint32_t first_slot = compiler->slot_count;
    compiler->slot_count += callee->local_count;
    for (uint32_t i = 0; i < node->operand_count; i++) {
        compile_value(compiler, scope, node->operands[i]);
        put_store(at(compiler, scope, node), first_slot + i);
    }
    if (compiler->tier == OPTIMISED && scope->depth < INLINE_DEPTH) {
        const struct scope inner = {node->function, position_of(compiler, scope, node),
                                    first_slot, scope->depth + 1};
        compile_value(compiler, &inner, callee->body);
        return;
    }
    struct code *code = at(compiler, scope, node);
    for (uint32_t i = 0; i < node->operand_count; i++)
        put_argument(code, i, first_slot + i);
    put_call(code, &callee->code);
}

static void compile_value(struct compiler *compiler, const struct scope *scope,
                          const struct node *node)
{
    switch (node->kind) {
    case NUMBER:
        put_constant(at(compiler, scope, node), node->value);
        break;
    case VARIABLE:
        put_load(at(compiler, scope, node), scope->first_slot + node->local);
        break;
    case ADD:
    case SUBTRACT:
    case MULTIPLY:
        compile_operands(compiler, scope, node);
        put_operation(at(compiler, scope, node), node->kind);
        break;
    case IF:
        compile_if(compiler, scope, node);
        break;
    case SUM:
        compile_sum(compiler, scope, node);
        break;
    case CALL:
        compile_call(compiler, scope, node);
        break;
    }
}

void compile(struct program *program, uint32_t number, enum tier tier, struct compiled *compiled)
{
    struct function *function = &program->functions[number];
    struct compiler compiler = {.program = program, .tier = tier, .out = compiled};
    const struct scope scope = {number, JITDUMP_NONE, 0, 0};
    compiled->code.size = compiled->position_count = compiled->offset_count = 0;
    compiler.slot_count = function->local_count;

    struct code *code = at(&compiler, &scope, function->body);
    put_begin(code);
    for (uint32_t i = 0; i < function->parameter_count; i++)
        put_parameter(code, i, i);
    if (tier == BASELINE)
        put_count(code, &function->count);
    compile_value(&compiler, &scope, function->body);
    at(&compiler, &scope, function->body);
    const uint32_t end = put_jump(code);
    compile_rare(&compiler);
    at(&compiler, &scope, function->body);
    put_target(code, end, code->size);
    put_end(code, compiler.slot_count);
}
