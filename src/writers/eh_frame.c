/* Layouts: Linux Standard Base, "Exception Frames" and ".eh_frame_hdr". */
#include "writers/eh_frame.h"

#include "writers/cfi_check.h"

#include <stdlib.h>

enum {
    DW_EH_PE_absptr = 0x00,
    DW_EH_PE_uleb128 = 0x01,
    DW_EH_PE_udata2 = 0x02,
    DW_EH_PE_udata4 = 0x03,
    DW_EH_PE_udata8 = 0x04,
    DW_EH_PE_signed = 0x08,
    DW_EH_PE_pcrel = 0x10,
    DW_EH_PE_datarel = 0x30,
    DW_EH_PE_sdata4 = DW_EH_PE_signed | DW_EH_PE_udata4,
    DW_EH_PE_form = 0x0f,
    DW_EH_PE_application = 0xf0,
    DW_EH_PE_omit = 0xff
};

static const char cut_off[] = "an entry of its .eh_frame is cut off";

/* Reading a function's entries */

struct cie {
    uint64_t offset; /* in the function's .eh_frame */
    uint64_t code_alignment;
    int64_t data_alignment;
    uint64_t return_address;
    bool has_augmentation; /* its FDEs have augmentation data, with a length */
    bool has_lsda;         /* of which the data are an address; else they are empty */
    bool is_signal_frame;
    bool has_b_key; /* aarch64: return addresses are signed with the B key */
    uint8_t fde_encoding;
    struct span instructions;
};

struct fde {
    uint64_t location;
    uint64_t size;
    struct span instructions;
};

/* `address` is that of the cursor's first byte. */
static uint64_t read_pointer(struct cursor *at, uint64_t address, uint8_t encoding,
                             uint8_t address_size)
{
    const uint64_t field = address + cursor_offset(at);
    uint64_t value = 0;
    switch (encoding & DW_EH_PE_form) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_signed:
        value = address_size == 8 ? cursor_u64(at, cut_off) : cursor_u32(at, cut_off);
        break;
    case DW_EH_PE_uleb128:
        value = jd_cursor_uleb128(at, cut_off);
        break;
    case DW_EH_PE_udata2:
        value = cursor_u16(at, cut_off);
        break;
    case DW_EH_PE_udata4:
        value = cursor_u32(at, cut_off);
        break;
    case DW_EH_PE_udata8:
    case DW_EH_PE_udata8 | DW_EH_PE_signed:
        value = cursor_u64(at, cut_off);
        break;
    case DW_EH_PE_uleb128 | DW_EH_PE_signed:
        value = (uint64_t)jd_cursor_sleb128(at, cut_off);
        break;
    case DW_EH_PE_udata2 | DW_EH_PE_signed:
        value = (uint64_t)(int64_t)(int16_t)cursor_u16(at, cut_off);
        break;
    case DW_EH_PE_sdata4:
        value = (uint64_t)(int64_t)(int32_t)cursor_u32(at, cut_off);
        break;
    default:
        cursor_fail(at, "its .eh_frame has addresses in an encoding that is not known");
        return 0;
    }
    if ((encoding & DW_EH_PE_application) == DW_EH_PE_pcrel)
        value += field;
    return address_size == 8 ? value : (uint32_t)value;
}

/* The letters of the augmentation string say what its data are. */
static void read_augmentation(struct cursor *at, struct cie *cie, struct span letters,
                              uint8_t address_size)
{
    cie->fde_encoding = DW_EH_PE_absptr;
    if (letters.size == 0)
        return;
    if (letters.data[0] != 'z') {
        cursor_fail(at, "a CIE of its .eh_frame has an augmentation that is not known");
        return;
    }
    cie->has_augmentation = true;
    const uint64_t size = jd_cursor_uleb128(at, cut_off);
    const unsigned char *const data = cursor_take(at, size, cut_off);
    struct cursor in = *at;
    if (data == NULL)
        return;
    in.end = in.at;
    in.at = data;
    for (uint64_t i = 1; i < letters.size && in.error == NULL; i++) {
        if (letters.data[i] == 'R') {
            cie->fde_encoding = cursor_u8(&in, cut_off);
        } else if (letters.data[i] == 'L') {
            cie->has_lsda = cursor_u8(&in, cut_off) != DW_EH_PE_omit;
        } else if (letters.data[i] == 'P') {
            const uint8_t encoding = cursor_u8(&in, cut_off);
            read_pointer(&in, 0, encoding & DW_EH_PE_form, address_size);
        } else if (letters.data[i] == 'S') {
            cie->is_signal_frame = true;
        } else if (letters.data[i] == 'B') {
            cie->has_b_key = true;
        } else {
            cursor_fail(&in, "a CIE of its .eh_frame has an augmentation that is not known");
        }
    }
    const unsigned application = cie->fde_encoding & DW_EH_PE_application;
    if (application != DW_EH_PE_absptr && application != DW_EH_PE_pcrel)
        cursor_fail(&in, "its .eh_frame has addresses in an encoding that is not known");
    if (in.error != NULL)
        cursor_fail(at, in.error);
}

static struct span rest(const struct cursor *at)
{
    return (struct span){at->at, cursor_left(at)};
}

static void read_cie(struct cursor *at, struct cie *cie, uint8_t address_size)
{
    const uint8_t version = cursor_u8(at, cut_off);
    if (at->error == NULL && version != 1 && version != 3)
        cursor_fail(at, "a CIE of its .eh_frame has a version that is not known");
    const struct span letters = cursor_string(at, cut_off);
    cie->code_alignment = jd_cursor_uleb128(at, cut_off);
    cie->data_alignment = jd_cursor_sleb128(at, cut_off);
    cie->return_address = version == 1 ? cursor_u8(at, cut_off) : jd_cursor_uleb128(at, cut_off);
    read_augmentation(at, cie, letters, address_size);
    cie->instructions = rest(at);
    const char *const wrong = cfi_check(*at);
    if (wrong != NULL)
        cursor_fail(at, wrong);
}

/* Where nothing can follow, the length is 0. V8 leaves it out, and begins with the instructions. */
static void skip_augmentation(struct cursor *at, const struct cie *cie)
{
    if (cie->has_lsda)
        cursor_take(at, jd_cursor_uleb128(at, cut_off), cut_off);
    else if (cursor_left(at) == 0 || *at->at == 0)
        cursor_u8(at, cut_off);
}

static void read_fde(struct cursor *at, uint64_t address, const struct cie *cie, struct fde *fde,
                     uint8_t address_size)
{
    fde->location = read_pointer(at, address, cie->fde_encoding, address_size);
    fde->size = read_pointer(at, 0, cie->fde_encoding & DW_EH_PE_form, address_size);
    if (cie->has_augmentation)
        skip_augmentation(at, cie);
    fde->instructions = rest(at);
    const char *const wrong = cfi_check(*at);
    if (wrong != NULL)
        cursor_fail(at, wrong);
}

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

static void write_cie(struct bytes *bytes, const struct cie *cie)
{
    const size_t start = begin_entry(bytes);
    bytes_u32(bytes, 0); /* a CIE, and no FDE */
    bytes_u8(bytes, 1);  /* version */
    bytes_copy(bytes, "zR", 2);
    if (cie->is_signal_frame)
        bytes_u8(bytes, 'S');
    if (cie->has_b_key)
        bytes_u8(bytes, 'B');
    bytes_u8(bytes, 0);
    bytes_uleb128(bytes, cie->code_alignment);
    bytes_sleb128(bytes, cie->data_alignment);
    bytes_u8(bytes, cie->return_address);
    bytes_u8(bytes, 1); /* the size of the augmentation's data */
    bytes_u8(bytes, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
    bytes_copy(bytes, cie->instructions.data, (size_t)cie->instructions.size);
    end_entry(bytes, start);
}

/* The offset of an equal one, written lately, or now. */
static size_t add_cie(struct eh_frame *frame, const struct cie *cie)
{
    enum { KEPT = sizeof(frame->cies) / sizeof(frame->cies[0]) };
    struct bytes *const bytes = &frame->bytes;
    const size_t start = bytes->size;
    write_cie(bytes, cie);
    if (bytes->failed)
        return 0;
    const size_t size = bytes->size - start;
    for (uint32_t i = 0; i < KEPT && i < frame->cie_count; i++) {
        /* Its length, too, is among the compared bytes. */
        if (memcmp(bytes->data + frame->cies[i], bytes->data + start, size) == 0) {
            bytes->size = start;
            return frame->cies[i];
        }
    }
    frame->cies[frame->cie_count++ % KEPT] = (uint32_t)start;
    return start;
}

static bool fits_32_bits(uint64_t difference)
{
    return (uint64_t)(int64_t)(int32_t)difference == difference;
}

static void add_entry(struct eh_frame *frame, uint64_t location, size_t offset)
{
    if (frame->entry_count == frame->entry_capacity) {
        const size_t capacity = frame->entry_capacity == 0 ? 256 : 2 * frame->entry_capacity;
        void *const entries = realloc(frame->entries, capacity * sizeof(*frame->entries));
        if (entries == NULL) {
            frame->bytes.failed = true;
            return;
        }
        frame->entries = entries;
        frame->entry_capacity = capacity;
    }
    if (frame->entry_count > 0 && frame->entries[frame->entry_count - 1].location > location)
        frame->is_sorted = false;
    frame->entries[frame->entry_count++] = (struct eh_frame_entry){location, (uint32_t)offset};
}

static const char *add_fde(struct eh_frame *frame, size_t cie, const struct fde *fde)
{
    struct bytes *const bytes = &frame->bytes;
    const size_t start = begin_entry(bytes);
    bytes_u32(bytes, bytes->size - cie);
    const uint64_t distance = fde->location - (frame->address + bytes->size);
    if (!fits_32_bits(distance) || bytes->size > INT32_MAX)
        return "its code is more than 2 GiB away from the .eh_frame";
    bytes_u32(bytes, distance);
    bytes_u32(bytes, fde->size);
    bytes_u8(bytes, 0); /* no augmentation data */
    bytes_copy(bytes, fde->instructions.data, (size_t)fde->instructions.size);
    end_entry(bytes, start);
    add_entry(frame, fde->location, start);
    return NULL;
}

/* A function's .eh_frame from one entry to the next */

struct walk {
    struct eh_frame *frame;
    const struct eh_frame_input *input;
    struct cursor all; /* offsets are from .eh_frame's first byte */
    uint64_t address;  /* of that byte, when the function was loaded */
    struct cie cie;    /* the last that was read */
    bool has_cie;
    size_t fde_count;
};

static const char *read_cie_at(struct walk *walk, uint64_t offset)
{
    if (walk->has_cie && walk->cie.offset == offset)
        return NULL;
    struct cursor at = walk->all;
    at.at = at.base;
    cursor_take(&at, offset, cut_off);
    const uint32_t length = cursor_u32(&at, cut_off);
    const unsigned char *const body = cursor_take(&at, length, cut_off);
    if (body == NULL)
        return at.error;
    at.end = at.at;
    at.at = body;
    if (cursor_u32(&at, cut_off) != 0 && at.error == NULL)
        return "an FDE of its .eh_frame has no CIE";
    walk->cie = (struct cie){.offset = offset};
    read_cie(&at, &walk->cie, walk->frame->address_size);
    walk->has_cie = at.error == NULL;
    return at.error;
}

/* Where the code lies now. NULL, or what is wrong. */
static const char *place_fde(const struct walk *walk, struct fde *fde)
{
    const struct eh_frame_input *const input = walk->input;
    uint64_t offset = fde->location - input->loaded_at;
    /* One entry that is as long as the code is the code's, whatever its emitter took the place of the
     * data for. */
    if (offset >= input->size && fde->size == input->size)
        offset = 0;
    if (offset >= input->size)
        return "its .eh_frame is of other code";
    if (fde->size > input->size - offset)
        fde->size = input->size - offset;
    fde->location = input->address + offset;
    return NULL;
}

static const char *add_one(struct walk *walk, struct cursor at, uint64_t body)
{
    const uint32_t id = cursor_u32(&at, cut_off);
    if (at.error != NULL)
        return at.error;
    if (id == 0)
        return NULL; /* a CIE is read when an FDE asks for it */
    if (id > body)
        return "an FDE of its .eh_frame has no CIE";
    const char *wrong = read_cie_at(walk, body - id);
    if (wrong != NULL)
        return wrong;
    struct fde fde = {.location = 0};
    read_fde(&at, walk->address, &walk->cie, &fde, walk->frame->address_size);
    wrong = at.error;
    if (wrong == NULL && fde.size == 0)
        return NULL; /* of no code: linkers leave such behind */
    if (wrong == NULL)
        wrong = place_fde(walk, &fde);
    if (wrong != NULL)
        return wrong;
    if (walk->cie.return_address > UINT8_MAX)
        return "its .eh_frame has the return address in a register above 255";
    walk->fde_count++;
    return add_fde(walk->frame, add_cie(walk->frame, &walk->cie), &fde);
}

static const char *add_all(struct walk *walk)
{
    struct cursor *const all = &walk->all;
    while (cursor_left(all) > 0) {
        const uint32_t length = cursor_u32(all, cut_off);
        const uint64_t body = cursor_offset(all);
        struct cursor at = *all;
        if (length == 0)
            break; /* the terminator */
        cursor_take(all, length, cut_off);
        if (all->error != NULL)
            return all->error;
        at.end = all->at;
        const char *const wrong = add_one(walk, at, body);
        if (wrong != NULL)
            return wrong;
    }
    if (all->error != NULL)
        return all->error;
    return walk->fde_count == 0 ? "its .eh_frame describes nothing" : NULL;
}

/* perf, and so most emitters, have .eh_frame first, the specification .eh_frame_hdr (P13). A header
 * begins with its version, 1, and an encoding; a CIE with its length, as four bytes of which in one
 * order or the other the first two are 0, or the second. */
static bool is_header_first(struct span data)
{
    return data.size >= 2 && data.data[0] == 1 && data.data[1] != 0;
}

void eh_frame_init(struct eh_frame *frame, uint64_t address, bool big_endian, uint8_t address_size)
{
    *frame = (struct eh_frame){.bytes = {.big_endian = big_endian},
                               .address = address,
                               .address_size = address_size,
                               .is_sorted = true};
}

void eh_frame_free(struct eh_frame *frame)
{
    bytes_free(&frame->bytes);
    free(frame->entries);
    frame->entries = NULL;
}

const char *eh_frame_add(struct eh_frame *frame, const struct eh_frame_input *input)
{
    struct span section = input->eh_frame;
    uint64_t address = input->loaded_at + (input->size + 7) / 8 * 8;
    if (is_header_first(section)) {
        /* Both lie together: the section is what is behind the first so many bytes. */
        section.data += input->eh_frame_hdr.size;
        address += input->eh_frame_hdr.size;
    }
    struct walk walk = {.frame = frame,
                        .input = input,
                        .all = {.at = section.data,
                                .end = section.data + section.size,
                                .base = section.data,
                                .swapped = input->swapped},
                        .address = address};
    const size_t size = frame->bytes.size;
    const size_t entry_count = frame->entry_count;
    const uint32_t cie_count = frame->cie_count;
    const char *const wrong = add_all(&walk);
    if (wrong != NULL) {
        frame->bytes.size = size;
        frame->entry_count = entry_count;
        /* CIEs that were written for it are gone. */
        if (frame->cie_count != cie_count)
            frame->cie_count = 0;
    }
    return wrong;
}

/* The table */

static int compare_entries(const void *left, const void *right)
{
    const struct eh_frame_entry *const a = left;
    const struct eh_frame_entry *const b = right;
    if (a->location != b->location)
        return a->location < b->location ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

void eh_frame_finish(struct eh_frame *frame, struct bytes *header)
{
    bytes_u32(&frame->bytes, 0); /* the terminator */
    const uint64_t header_address = frame->address + frame->bytes.size;
    if (!frame->is_sorted)
        qsort(frame->entries, frame->entry_count, sizeof(*frame->entries), compare_entries);
    bytes_u8(header, 1); /* version */
    bytes_u8(header, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
    bytes_u8(header, DW_EH_PE_udata4);
    bytes_u8(header, DW_EH_PE_datarel | DW_EH_PE_sdata4);
    bytes_u32(header, frame->address - (header_address + 4));
    bytes_u32(header, frame->entry_count);
    for (size_t i = 0; i < frame->entry_count; i++) {
        bytes_u32(header, frame->entries[i].location - header_address);
        bytes_u32(header, frame->address + frame->entries[i].offset - header_address);
    }
}
