/*
 * To be included before any header of the C library: in 32-bit processes, too, files may pass
 * 2 GiB. In others it would change nothing but the names of functions, to open64 and the like,
 * which who interposes them need not know.
 */
#ifndef JITDUMP_LARGE_FILES_H
#define JITDUMP_LARGE_FILES_H

#ifndef __LP64__
#define _FILE_OFFSET_BITS 64
#endif

#endif
