/*
 * What is asked of the C library: to be included before any header of its. All sources do it, so
 * that several can be compiled as one, in any order.
 *
 * In 32-bit processes, too, files may pass 2 GiB. In others _FILE_OFFSET_BITS would change nothing
 * but the names of functions, to open64 and the like, which who interposes them need not know.
 */
#ifndef JITDUMP_C_LIBRARY_H
#define JITDUMP_C_LIBRARY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#if defined(__APPLE__)
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif
#include <TargetConditionals.h>
#endif

/* Where there are dumps. Not on iOS and its kin: no code is generated there, and no profiler reads it. */
#if defined(__linux__) || (defined(__APPLE__) && TARGET_OS_OSX)
#define JD_HAS_DUMPS 1
#else
#define JD_HAS_DUMPS 0
#endif

#if !defined(__LP64__) && !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64
#endif

#endif
