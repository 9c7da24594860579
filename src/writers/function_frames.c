#include "writers/function_frames.h"

#include "reader/decode.h"

const char *function_frames_find(struct function_frames *frames, const struct history *history,
                                 const struct placed *placed)
{
    const struct piece *const piece = placed->piece;
    struct dump_record record;
    struct unwinding_record unwinding;
    struct problem problem;
    *frames = (struct function_frames){.swapped = history->reader.swapped,
                                       .loaded_at = piece->code_addr,
                                       .address = placed->address,
                                       .size = piece->code_size};
    if (piece->unwinding == 0)
        return NULL;
    if (!jd_dump_reader_at(&history->reader, piece->unwinding, &record))
        return "its record can't be read";
    if (!jd_decode_unwinding(&history->reader, &record, &unwinding, &problem))
        return problem.reason;
    frames->eh_frame = unwinding.eh_frame;
    frames->eh_frame_hdr = unwinding.eh_frame_hdr;
    return NULL;
}

/* Where the code lies now. NULL, or what is wrong. */
static const char *place_fde(const struct function_frames *frames, struct frame_fde *fde)
{
    uint64_t offset = fde->address - frames->loaded_at;
    /* A single entry that is as long as the code is taken for the code's, wherever its emitter
     * thought that the data lie. */
    if (offset >= frames->size && fde->size == frames->size)
        offset = 0;
    if (offset >= frames->size)
        return "its .eh_frame is of other code";
    if (fde->size > frames->size - offset)
        fde->size = frames->size - offset;
    fde->address = frames->address + offset;
    return NULL;
}

/* perf, and so most emitters, have .eh_frame first, the specification .eh_frame_hdr (P13). A header
 * begins with its version, 1, and an encoding; a CIE with its length, as four bytes of which in one
 * order or the other the first two are 0, or the second. */
static bool is_header_first(struct span data)
{
    return data.size >= 2 && data.data[0] == 1 && data.data[1] != 0;
}

const char *function_frames_read(const struct function_frames *frames, unsigned int address_size,
                                 const char *(*add)(void *context, struct eh_frame *reader,
                                                    const struct frame_fde *fde),
                                 void *context)
{
    struct span section = frames->eh_frame;
    uint64_t address = frames->loaded_at + (frames->size + 7) / 8 * 8;
    if (is_header_first(section)) {
        /* Both lie together; the frames follow the header's bytes. */
        section.data += frames->eh_frame_hdr.size;
        address += frames->eh_frame_hdr.size;
    }
    struct eh_frame reader;
    struct frame_fde fde;
    bool describes_any = false;
    jd_eh_frame_init(&reader, section, section.data, frames->swapped, address, address_size);
    while (jd_eh_frame_next(&reader, &fde)) {
        if (fde.size == 0) /* linkers leave such behind */
            continue;
        const char *wrong = place_fde(frames, &fde);
        if (wrong == NULL)
            wrong = add(context, &reader, &fde);
        if (wrong != NULL)
            return wrong;
        describes_any = true;
    }
    if (reader.cursor.error != NULL)
        return reader.cursor.error;
    return describes_any ? NULL : "its .eh_frame describes nothing";
}
