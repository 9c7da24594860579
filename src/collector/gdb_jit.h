/*
 * The interface by which JITs tell GDB of their code: ELF objects in memory, of which a list and an empty
 * function tell. As "JIT Compilation Interface" of GDB's manual has it.
 */
#ifndef JITDUMP_COLLECTOR_GDB_JIT_H
#define JITDUMP_COLLECTOR_GDB_JIT_H

/* Looks for the interface in all objects of the process, now and later. */
void jd_gdb_jit_watch(void);

#endif
