/*
 * What Intel's client of ITT looks for in the library named by $INTEL_LIBITTNOTIFY64. Of its many functions one
 * matters here: LLVM reports whole ELF objects by it, and where their sections lie.
 */
#ifndef JITDUMP_COLLECTOR_ITT_MODULES_H
#define JITDUMP_COLLECTOR_ITT_MODULES_H

/* Called once by each copy of the client, with its table of functions, which is filled in; `groups`, which are
 * wanted, does not matter. */
__attribute__((visibility("default"))) void __itt_api_init(void *global, unsigned int groups);

#endif
