/* Without the machines that came late, as an older GNU C library. */
#include_next <elf.h>

#undef EM_RISCV
#undef EM_LOONGARCH
