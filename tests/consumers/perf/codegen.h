/*
 * Assembles functions whose cost, source lines and stack frames are known.
 *
 * A function takes a number of iterations and spins: each iteration is a chain of
 * multiplications, each waiting for the one before, so that it takes the same time in
 * every function whatever its address, and the time of a function follows from the
 * iterations counted. Frames have no frame pointer: the callers can only be found with
 * the unwinding data.
 */
#ifndef CODEGEN_H
#define CODEGEN_H

#include <stdint.h>

#define CODE_MAX 1024
#define CFI_MAX 128
#define LINES_MAX 32

/* The code from `offset` on comes from `line`; loops that begin there make `weight` rounds per
 * iteration. */
struct line_mark {
    uint32_t offset;
    uint32_t line;
    uint32_t weight;
};

/* A function under construction, zero at the start. */
struct assembler {
    uint8_t code[CODE_MAX];
    uint32_t size;
    struct line_mark lines[LINES_MAX];
    uint32_t line_count;
    /* DW_CFA_* instructions of the frame; cfi_offset is how far in the code they are. */
    uint8_t cfi[CFI_MAX];
    uint32_t cfi_size;
    uint32_t cfi_offset;
    uint32_t frame_size;
    uint32_t loop_start;
};

/* What follows comes from this line. */
void assemble_line(struct assembler *, uint32_t line);

/* Enters the function; leave gives the frame back and returns. frame_size is a multiple of 16. */
void assemble_enter(struct assembler *, uint32_t frame_size);
void assemble_leave(struct assembler *);

/* A loop of weight * iterations rounds. spin is a whole one, with the usual four
 * multiplications. */
void assemble_loop(struct assembler *, uint32_t weight);
void assemble_multiply(struct assembler *);
void assemble_loop_end(struct assembler *);
void assemble_spin(struct assembler *, uint32_t weight);

/* Calls another function with the same number of iterations. */
void assemble_call(struct assembler *, const void *target);

/* What JITDUMP_CLOCK_TSC reads. */
uint64_t processor_counter(void);

/* What the eh_frame's CIE says of a processor. */
struct unwind_convention {
    uint8_t code_alignment;
    uint8_t data_alignment; /* SLEB128 */
    uint8_t return_register;
    const uint8_t *initial_cfi;
    uint32_t initial_cfi_size;
};
extern const struct unwind_convention unwind_convention;

/* Between the parts for all processors and those for one: the start of a loop; bytes of code,
 * and of CFI that hold from here on. */
void assemble_loop_start(struct assembler *, uint32_t weight);
void assemble_bytes(struct assembler *, const void *bytes, uint32_t size);
void assemble_cfi(struct assembler *, const void *bytes, uint32_t size);

#endif
