/* Layouts: Linux Standard Base, "Exception Frames" and ".eh_frame_hdr". */
#include "writers/merged_frames.h"

#include "format/call_frame.h"

#include <stdlib.h>

enum {
    DW_EH_PE_udata4 = 0x03,
    DW_EH_PE_sdata4 = 0x0b,
    DW_EH_PE_pcrel = 0x10,
    DW_EH_PE_datarel = 0x30
};

/* Writing */

static size_t begin_entry(struct bytes *bytes)
{
    const size_t start = bytes->size;
    bytes_u32(bytes, 0);
    return start;
}

static void end_entry(struct bytes *bytes, size_t start)
{
    bytes_align(bytes, 4); /* DW_CFA_nop is 0 */
    bytes_put_length(bytes, start);
}

static void write_cie(struct bytes *bytes, const struct frame_cie *cie)
{
    const size_t start = begin_entry(bytes);
    bytes_u32(bytes, 0); /* a CIE, and no FDE */
    bytes_u8(bytes, 1);  /* version */
    bytes_copy(bytes, "zR", 2);
    if (cie->signal_frame)
        bytes_u8(bytes, 'S');
    if (cie->b_key)
        bytes_u8(bytes, 'B');
    bytes_u8(bytes, 0);
    bytes_uleb128(bytes, cie->code_alignment);
    bytes_sleb128(bytes, cie->data_alignment);
    bytes_u8(bytes, cie->return_address_register);
    bytes_u8(bytes, 1); /* the size of the augmentation's data */
    bytes_u8(bytes, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
    bytes_copy(bytes, cie->instructions.data, (size_t)cie->instructions.size);
    end_entry(bytes, start);
}

/* The offset of an equal one, written lately, or now. */
static size_t add_cie(struct merged_frames *frames, const struct frame_cie *cie)
{
    enum { KEPT = sizeof(frames->cies) / sizeof(frames->cies[0]) };
    struct bytes *const bytes = &frames->bytes;
    const size_t start = bytes->size;
    write_cie(bytes, cie);
    if (bytes->failed)
        return 0;
    const size_t size = bytes->size - start;
    for (uint32_t i = 0; i < KEPT && i < frames->cie_count; i++) {
        /* The length is compared, too. */
        if (memcmp(bytes->data + frames->cies[i], bytes->data + start, size) == 0) {
            bytes->size = start;
            return frames->cies[i];
        }
    }
    frames->cies[frames->cie_count++ % KEPT] = (uint32_t)start;
    return start;
}

static bool fits_32_bits(uint64_t difference)
{
    return (uint64_t)(int64_t)(int32_t)difference == difference;
}

static void add_entry(struct merged_frames *frames, uint64_t location, size_t offset)
{
    if (frames->entry_count == frames->entry_capacity) {
        const size_t capacity = frames->entry_capacity == 0 ? 256 : 2 * frames->entry_capacity;
        void *const entries = realloc(frames->entries, capacity * sizeof(*frames->entries));
        if (entries == NULL) {
            frames->bytes.failed = true;
            return;
        }
        frames->entries = entries;
        frames->entry_capacity = capacity;
    }
    if (frames->entry_count > 0 && frames->entries[frames->entry_count - 1].location > location)
        frames->is_sorted = false;
    frames->entries[frames->entry_count++] =
        (struct merged_frames_entry){location, (uint32_t)offset};
}

static const char *add_fde(struct merged_frames *frames, size_t cie, const struct frame_fde *fde)
{
    struct bytes *const bytes = &frames->bytes;
    const size_t start = begin_entry(bytes);
    bytes_u32(bytes, bytes->size - cie);
    const uint64_t distance = fde->address - (frames->address + bytes->size);
    if (!fits_32_bits(distance) || bytes->size > INT32_MAX)
        return "its code is more than 2 GiB away from the .eh_frame";
    bytes_u32(bytes, distance);
    bytes_u32(bytes, fde->size);
    bytes_u8(bytes, 0); /* no augmentation data */
    bytes_copy(bytes, fde->instructions.data, (size_t)fde->instructions.size);
    end_entry(bytes, start);
    add_entry(frames, fde->address, start);
    return NULL;
}

/* A function's data */

/* Returns NULL, or why these instructions would mean something else at another place. Carrying
 * them out to see would take ten times as long. */
static const char *check_instructions(struct span instructions, bool swapped)
{
    struct cursor cursor = {.at = instructions.data,
                            .end = instructions.data + instructions.size,
                            .base = instructions.data,
                            .swapped = swapped};
    struct call_frame_instruction instruction;
    uint64_t remembered = 0;
    while (jd_call_frame_next(&cursor, &instruction)) {
        if (instruction.opcode == CALL_FRAME_SET_LOC)
            return "it has DW_CFA_set_loc, an absolute address";
        if (instruction.opcode == CALL_FRAME_REMEMBER_STATE)
            remembered++;
        if (instruction.opcode == CALL_FRAME_RESTORE_STATE && remembered-- == 0)
            return "it restores a state that it has not remembered";
    }
    return cursor.error;
}

/* Most functions have the same. */
static const char *check_cie(struct merged_frames *frames, struct span instructions, bool swapped)
{
    struct span *const checked = &frames->checked;
    if (instructions.size != 0 && instructions.size == checked->size &&
        memcmp(instructions.data, checked->data, (size_t)checked->size) == 0)
        return NULL;
    const char *const wrong = check_instructions(instructions, swapped);
    if (wrong == NULL)
        *checked = instructions;
    return wrong;
}

static const char *add_one(void *context, struct eh_frame *reader, const struct frame_fde *fde)
{
    struct merged_frames *const frames = context;
    const bool swapped = reader->cursor.swapped;
    const char *wrong = check_cie(frames, fde->cie.instructions, swapped);
    if (wrong == NULL)
        wrong = check_instructions(fde->instructions, swapped);
    if (wrong != NULL)
        return wrong;
    if (fde->cie.return_address_register > UINT8_MAX)
        return "its .eh_frame has the return address in a register above 255";
    return add_fde(frames, add_cie(frames, &fde->cie), fde);
}

void merged_frames_init(struct merged_frames *frames, uint64_t address, bool big_endian,
                        uint8_t address_size)
{
    *frames = (struct merged_frames){.bytes = {.big_endian = big_endian},
                                     .address = address,
                                     .address_size = address_size,
                                     .is_sorted = true};
}

void merged_frames_free(struct merged_frames *frames)
{
    bytes_free(&frames->bytes);
    free(frames->entries);
    frames->entries = NULL;
}

const char *merged_frames_add(struct merged_frames *frames,
                              const struct function_frames *function)
{
    const size_t size = frames->bytes.size;
    const size_t entry_count = frames->entry_count;
    const uint32_t cie_count = frames->cie_count;
    const char *const wrong =
        function_frames_read(function, frames->address_size, add_one, frames);
    if (wrong != NULL) {
        frames->bytes.size = size;
        frames->entry_count = entry_count;
        /* CIEs that were written for it are gone. */
        if (frames->cie_count != cie_count)
            frames->cie_count = 0;
    }
    return wrong;
}

/* The table */

static int compare_entries(const void *left, const void *right)
{
    const struct merged_frames_entry *const a = left;
    const struct merged_frames_entry *const b = right;
    if (a->location != b->location)
        return a->location < b->location ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

void merged_frames_finish(struct merged_frames *frames, struct bytes *header)
{
    bytes_u32(&frames->bytes, 0); /* the terminator */
    const uint64_t header_address = frames->address + frames->bytes.size;
    if (!frames->is_sorted)
        qsort(frames->entries, frames->entry_count, sizeof(*frames->entries), compare_entries);
    bytes_u8(header, 1); /* version */
    bytes_u8(header, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
    bytes_u8(header, DW_EH_PE_udata4);
    bytes_u8(header, DW_EH_PE_datarel | DW_EH_PE_sdata4);
    bytes_u32(header, frames->address - (header_address + 4));
    bytes_u32(header, frames->entry_count);
    for (size_t i = 0; i < frames->entry_count; i++) {
        bytes_u32(header, frames->entries[i].location - header_address);
        bytes_u32(header, frames->address + frames->entries[i].offset - header_address);
    }
}
