/*
 * A Breakpad symbol store: a folder in which readers look for NAME/ID/NAME.sym.
 */
#ifndef JITDUMP_TOOL_SYMBOL_STORE_H
#define JITDUMP_TOOL_SYMBOL_STORE_H

#include "tool/code_modules.h"

/* Writes the modules' files, and sets their build ids. The folder may be there already, and have others in it. All files are
 * written before the first gets its name. False, with a complaint; then nothing is left of them. */
bool symbol_store_write(const char *directory, struct code_modules *modules,
                        const struct problems *problems);

#endif
