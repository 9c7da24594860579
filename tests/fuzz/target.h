/*
 * What a fuzz target is made of: libFuzzer calls it, or, without one, replay.c.
 */
#ifndef JITDUMP_TESTS_TARGET_H
#define JITDUMP_TESTS_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* If not NULL, the target leaves what another reader is to look at in this directory. */
extern const char *target_output;

#endif
