/*
 * Memory that others have told of.
 */
#ifndef JITDUMP_COLLECTOR_MEMORY_H
#define JITDUMP_COLLECTOR_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* A copy, to be freed by the caller. NULL: the memory is not there or not readable, or there is no memory
 * for the copy; nothing crashes over it. */
void *jd_memory_copy(uint64_t address, uint64_t size);

/* Whether the page with the address can't be written, as the system says at once. False: it can be, or the
 * system can't tell; jd_memory_executable() knows more and takes longer. */
bool jd_memory_is_read_only(uint64_t address);

/* Calls `found` for all memory of the process that can be executed, by ascending addresses. */
typedef void found_memory(uint64_t start, uint64_t end, void *context);
void jd_memory_executable(found_memory *found, void *context);

#endif
