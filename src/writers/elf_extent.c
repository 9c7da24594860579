#include "writers/elf_extent.h"

#include "writers/function_frames.h"

enum { PAGE = 4096 };

size_t elf_reach(const struct placed *pieces, size_t count)
{
    size_t i = 0;
    while (i < count && pieces[i].address - pieces[0].address < ELF_REACH &&
           pieces[i].piece->code_size < ELF_REACH - (pieces[i].address - pieces[0].address))
        i++;
    return i;
}

uint64_t elf_hole_size(const struct history *history, const struct placed *pieces, size_t count)
{
    /* Entries are written anew: with a CIE each, say, and with padding. */
    enum { FOR_EACH = 128 };
    uint64_t size = 0;
    for (size_t i = 0; i < count; i++) {
        struct function_frames frames;
        if (function_frames_find(&frames, history, &pieces[i]) == NULL)
            size += frames.eh_frame.size != 0 ? 2 * frames.eh_frame.size + FOR_EACH : 0;
    }
    return (size + PAGE - 1) / PAGE * PAGE;
}
