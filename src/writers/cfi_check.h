/*
 * Whether the bytes of a CIE or FDE are call frame instructions (DWARF 5, section 6.4.2) that mean
 * the same at another place. To carry them out would take ten times as long.
 */
#ifndef JITDUMP_WRITERS_CFI_CHECK_H
#define JITDUMP_WRITERS_CFI_CHECK_H

#include "format/cursor.h"

/* Returns NULL, or what is wrong with them, a static text. */
const char *cfi_check(struct cursor instructions);

#endif
