/*
 * A Brainfuck JIT that describes its code to profilers: what its parts share.
 *
 *     program.c             source text -> operations, cut into functions
 *     compile.c             operations -> a function in memory, described to the dump
 *     x86_64.c, aarch64.c   the machine code of one operation
 *     main.c                options, threads, the tape
 *
 * The language, as understood here: 8-bit cells that wrap around, a tape with a
 * guard at both ends, and end of input reads as 0.
 */
#ifndef BF_H
#define BF_H

#include <jitdump.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The limit on a source file. No straight run of `>` can be longer, so that a guard
 * of this many bytes at each end of the tape can't be jumped over unnoticed. */
#define SOURCE_MAX (1 << 20)

/* The most `>` or `<` that one operation holds: what aarch64's add takes. */
#define MOVE_MAX 4095

enum op_kind { OP_ADD, OP_MOVE, OP_CLEAR, OP_OUTPUT, OP_INPUT, OP_LOOP_BEGIN, OP_LOOP_END };

/* One operation of the source: a character, or several of one line that were folded. */
struct op {
    enum op_kind kind;
    /* Where its first character stands, both from 1. */
    uint32_t line;
    uint32_t column;
    /* OP_ADD: to the cell. OP_MOVE: cells to the right. */
    int32_t amount;
    /* OP_LOOP_BEGIN and OP_LOOP_END: the index of the other end. */
    uint32_t partner;
    /* OP_LOOP_BEGIN: the function that the loop is; 0 if it belongs to the one around it. */
    uint32_t function;
};

/* A piece of the program that is compiled for itself: a loop, or (number 0) all of it.
 * Functions call each other through `code`, which is all that has to change when one
 * of them moves. */
struct function {
    uint32_t first_op;
    uint32_t op_count;
    char *name;
    const uint8_t *code;
    /* With the room that profilers need behind the code, rounded up to pages. */
    size_t mapped_size;
    /* What the dump is told of the code, again at each place that it moves to. */
    struct jitdump_code description;
    struct jitdump_unwind unwind;
    struct jitdump_unwind_step *frame_steps;
    struct jitdump_line *lines;
    /* Counted when code is moved only. */
    uint64_t calls;
};

/* A program, and what its generated code gets as its second argument. */
struct program {
    struct function *functions;
    uint32_t function_count;
    uint32_t op_count;
    struct op *ops;
    /* Absolute, so that a profiler finds it from any directory. */
    char *path;
    struct jitdump *dump;
    /* The runtime, as generated code calls it. */
    void (*output)(uint8_t cell);
    uint8_t (*input)(void);
    const uint8_t *(*enter)(struct program *program, uint32_t function);
    /* Whether calls go through `enter`, which moves functions. */
    bool moving;
};

/* Generated functions: take the cell that is pointed at and return the one that is in
 * the end. */
typedef uint8_t *bf_function(uint8_t *cell, struct program *program);

/* program.c: reads and parses; on an error in it, says so and exits. */
void program_read(struct program *program, const char *path);
void program_free(struct program *program);

/* compile.c */
void compile(struct program *program, uint32_t function);
const uint8_t *enter(struct program *program, uint32_t function);

/* main.c: prints "bf: ..." and exits. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *allocate(void *old, size_t count, size_t size);
/* Says once that the profile will not be complete, if `error` is one. */
void check_dump(int error);

#define FRAME_STEPS_MAX 16

/* Machine code that is being made, and what its frame looks like. */
struct code {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
    struct jitdump_unwind_step frame_steps[FRAME_STEPS_MAX];
    uint64_t frame_step_count;
};

/* compile.c */
void put(struct code *code, const void *bytes, size_t size);
/* Says what the instruction that was just put has done to the frame. */
void describe_frame(struct code *code, enum jitdump_unwind_op op, uint32_t reg, int64_t offset);

/* x86_64.c or aarch64.c. The loop's end takes what its beginning has returned, and
 * completes the branch there. */
void put_function_begin(struct code *code);
void put_function_end(struct code *code);
void put_add(struct code *code, int32_t amount);
void put_move(struct code *code, int32_t amount);
void put_clear(struct code *code);
void put_output(struct code *code);
void put_input(struct code *code);
void put_call(struct code *code, uint32_t function, bool moving);
size_t put_loop_begin(struct code *code);
void put_loop_end(struct code *code, size_t begin);

#endif
