/*
 * Puts a call of ours in front of a function that does nothing: those that programs have for debuggers to
 * put a breakpoint on.
 */
#ifndef JITDUMP_COLLECTOR_CODE_PATCH_H
#define JITDUMP_COLLECTOR_CODE_PATCH_H

#include <stdbool.h>
#include <stdint.h>

/* From now on, who calls the function at `address`, which takes nothing and returns nothing, calls
 * handler(context) in its place. `size` is how many bytes there are up to the next function: code, and
 * padding behind it. Must not be executed meanwhile. Returns NULL, or why it was left as it was. */
const char *jd_patch_function(uintptr_t address, uint64_t size, void (*handler)(void *), void *context);

#endif
