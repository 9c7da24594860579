/*
 * The process's program and shared objects, as the C library's loader maps them.
 */
#ifndef JITDUMP_COLLECTOR_LOADED_OBJECTS_H
#define JITDUMP_COLLECTOR_LOADED_OBJECTS_H

#include <stdint.h>

/* What is looked for in each, by names of their symbols, local ones too. */
struct loaded_symbols {
    const char *function;
    const char *variable;
};

/* Of an object that has both: the addresses, and how far it is from the function to the next one. */
typedef void found_symbols(uintptr_t function, uint64_t room, uintptr_t variable, const char *object);

/* Looks at all objects that are there, and from now on at each before its code runs. Once; never again after
 * an unload. */
void jd_loaded_objects_watch(const struct loaded_symbols *symbols, found_symbols *found);

#endif
