/*
 * The unwinding data of all functions as the command line tool merges them.
 */
#ifndef ELF_FRAMES_H
#define ELF_FRAMES_H

/* Describes the functions, which lie in their places, in a dump, makes the tool's ELF file of it,
 * and puts that file's .eh_frame in memory at its address, which is behind the functions. Returns
 * it. Ends the process if anything fails. */
void *elf_frames_place(const char *tool);

#endif
