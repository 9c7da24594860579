/*
 * A little runtime with two tiers, which describes inlined code to profilers: what its parts
 * share.
 *
 *     parse.c               source text -> trees, and their listing as bytecode
 *     compile.c             a tree -> machine code and its description, in either tier
 *     x86_64.c, aarch64.c   the machine code of one step
 *     runtime.c             the code cache: install, move; what the dump is told
 *     main.c                options; runs the program, and compiles again what is hot
 *
 * A program is a list of functions of 64-bit integers, NAME(PARAMETER, ...) = EXPRESSION, with
 * numbers, names, + - * ( ), calls of functions above,
 *
 *     if EXPRESSION < EXPRESSION then EXPRESSION else EXPRESSION
 *     sum NAME < EXPRESSION of EXPRESSION      (NAME counts from 0)
 */
#ifndef TIERED_H
#define TIERED_H

#include <jitdump.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FUNCTIONS_MAX 32
#define PARAMETERS_MAX 3
#define LOCALS_MAX 8

enum kind { NUMBER, VARIABLE, ADD, SUBTRACT, MULTIPLY, IF, SUM, CALL };

struct node {
    enum kind kind;
    int32_t value;     /* of a NUMBER */
    uint32_t local;    /* of a VARIABLE, or the one that a SUM counts */
    uint32_t function; /* of a CALL */
    struct node *operands[4];
    uint32_t operand_count;
    /* Where it stands in the source, from 1; and the line of its instruction in the listing. */
    uint32_t line;
    uint32_t column;
    uint32_t instruction;
};

enum tier { BASELINE, OPTIMISED };

struct function {
    char name[32];
    uint32_t line;
    uint32_t parameter_count;
    uint32_t local_count; /* parameters included */
    struct node *body;
    /* The bytecode, which is in no file: its name, and its text. */
    char listing_path[64];
    char *listing;
    size_t listing_size;

    enum tier tier;
    uint8_t *code; /* through which all calls go */
    uint32_t code_size;
    struct compiled *compiled; /* kept, to describe the code again where it moves to */
    /* Of calls and of rounds of its loops, in the baseline tier. */
    uint64_t count;
};

struct program {
    /* Absolute, so that a profiler finds it from any directory. */
    char *path;
    struct function functions[FUNCTIONS_MAX];
    uint32_t function_count;
};

/* Machine code that is being made. */
struct code {
    uint8_t bytes[1 << 14];
    uint32_t size;
};

/* What a compiler knows when it is done: the code, and where each piece of it comes from, in
 * two views with the same offsets. */
struct compiled {
    struct code code;
    struct jitdump_position source[1024];
    struct jitdump_position bytecode[1024];
    uint32_t position_count;
    struct jitdump_offset offsets[4096];
    uint32_t offset_count;
};

/* parse.c: on an error in the program, says so and exits. */
void parse(struct program *program, const char *path);

/* compile.c */
void compile(struct program *program, uint32_t function, enum tier tier,
             struct compiled *compiled);

/* runtime.c */
struct runtime {
    struct program *program;
    struct jitdump *dump;
    uint32_t tiers[2];
    /* The same two lists of functions for all code. */
    struct jitdump_function source_functions[FUNCTIONS_MAX];
    struct jitdump_function bytecode_functions[FUNCTIONS_MAX];
    /* Where to write down what was described, for a test; or NULL. */
    FILE *log;
};
void runtime_start(struct runtime *runtime, struct program *program,
                   const struct jitdump_options *options);
/* Compiles, and installs the code in place of what there was. */
void runtime_compile(struct runtime *runtime, uint32_t function, enum tier tier);
/* Closes the gaps in the code cache. No generated code may be running. */
void runtime_compact(struct runtime *runtime);

/* main.c */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* x86_64.c or aarch64.c. There is a register A for results and a register B; slots are words
 * in the function's frame. */
void put(struct code *code, const void *bytes, size_t size); /* compile.c */
void put_begin(struct code *code);
void put_end(struct code *code, uint32_t slots);
void put_constant(struct code *code, int32_t value);       /* A = value */
void put_load(struct code *code, uint32_t slot);           /* A = slot */
void put_load_b(struct code *code, uint32_t slot);         /* B = slot */
void put_store(struct code *code, uint32_t slot);          /* slot = A */
void put_push(struct code *code);                          /* push A */
void put_pop(struct code *code);                           /* B = A, pop A */
void put_operation(struct code *code, enum kind kind);     /* A = A op B */
void put_parameter(struct code *code, uint32_t i, uint32_t slot); /* slot = i-th argument */
void put_argument(struct code *code, uint32_t i, uint32_t slot);  /* i-th argument = slot */
void put_call(struct code *code, uint8_t *const *target);
void put_count(struct code *code, uint64_t *count);        /* ++*count; leaves A and B */
/* Jumps return what put_target() takes to say where they lead to. */
uint32_t put_jump(struct code *code);
uint32_t put_jump_unless_less(struct code *code);          /* unless A < B */
void put_target(struct code *code, uint32_t jump, uint32_t target);

#endif
