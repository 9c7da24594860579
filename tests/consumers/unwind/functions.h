/*
 * The functions of functions_*.S as generated code: copied to executable memory and described.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "jitdump.h"

#include <stddef.h>

/* A chain of calls: an array, the last one's function is `leaf`. */
struct link {
    uintptr_t code_addr;
    uint64_t exit; /* changes with each call: which of the function's two exits it takes */
};

struct function {
    const char *name;
    const unsigned char *code_bytes; /* the template */
    uint64_t code_size;
    uint64_t return_offset; /* behind its call */
    struct jitdump_unwind unwind;
    uint64_t code_addr; /* of the copy */
};

enum { FUNCTION_COUNT = 5, CHAIN_MAX = 8 };
extern struct function functions[FUNCTION_COUNT];

/* The functions that argv[1] and so on name, in call order, and `leaf`, which is added. Returns
 * the length. Ends the process if there is no such function. */
size_t chain_parse(int argc, char **argv, const struct function *chain[CHAIN_MAX]);

/* Executable memory, which ends the process if there is none. */
enum { FUNCTIONS_MEMORY_SIZE = 1 << 16 };
unsigned char *functions_memory(void);

/* Copies all functions to `to` and behind, number `first` in front, with the room that perf needs
 * behind each; with a NULL dump none. Returns the end. */
unsigned char *functions_place(unsigned char *to, size_t first, const struct jitdump *dump);

struct jitdump_code function_code(const struct function *function);

/* Ends the process with a line on standard error, if there is an error of the library's. */
void check(int error);

/* The function whose copy holds the address, or NULL. */
struct function *function_at(uint64_t addr);

/* `links` is the argument for call_chain(), which calls the chain. */
void chain_link(const struct function *const *chain, size_t length, struct link links[CHAIN_MAX]);
void call_chain(struct link *links);

#endif
