#include "writers/elf_extent.h"

#include "writers/function_frames.h"

enum { PAGE = 4096 };

bool elf_reaches(const struct placed *first, const struct placed *piece)
{
    const uint64_t distance = piece->address - first->address;
    return distance < ELF_REACH && piece->piece->code_size < ELF_REACH - distance;
}

size_t elf_reach(const struct placed *pieces, size_t count)
{
    size_t i = 0;
    while (i < count && elf_reaches(&pieces[0], &pieces[i]))
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
