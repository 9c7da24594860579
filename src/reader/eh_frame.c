#include "reader/eh_frame.h"

enum pointer_encoding {
    POINTER_ABSOLUTE = 0x00,
    POINTER_UDATA2 = 0x02,
    POINTER_UDATA4 = 0x03,
    POINTER_UDATA8 = 0x04,
    POINTER_SDATA2 = 0x0a,
    POINTER_SDATA4 = 0x0b,
    POINTER_SDATA8 = 0x0c,
    POINTER_FORMAT = 0x0f,
    POINTER_PC_RELATIVE = 0x10,
    POINTER_BASE = 0x70,
    POINTER_OMITTED = 0xff
};

static const char cut[] = ".eh_frame: an entry that is shorter than its fields";
static const char unknown[] = ".eh_frame: a pointer encoding or augmentation that is not known here";

void jd_eh_frame_init(struct eh_frame *reader, struct span section, const unsigned char *file,
                      bool swapped, uint64_t address, unsigned int address_size)
{
    *reader = (struct eh_frame){
        .cursor = {.at = section.data,
                   .end = section.data + section.size,
                   .base = file,
                   .swapped = swapped},
        .start = section.data,
        .address = address,
        .address_size = address_size,
    };
}

/* A number in the format of an encoding, sign-extended, whatever it is relative to. */
static uint64_t read_format(struct cursor *cursor, uint8_t encoding, unsigned int address_size)
{
    switch (encoding & POINTER_FORMAT) {
    case POINTER_ABSOLUTE:
        return address_size == 4 ? cursor_u32(cursor, cut) : cursor_u64(cursor, cut);
    case POINTER_UDATA2:
        return cursor_u16(cursor, cut);
    case POINTER_UDATA4:
        return cursor_u32(cursor, cut);
    case POINTER_SDATA2:
        return (uint64_t)(int64_t)(int16_t)cursor_u16(cursor, cut);
    case POINTER_SDATA4:
        return (uint64_t)(int64_t)(int32_t)cursor_u32(cursor, cut);
    case POINTER_UDATA8:
    case POINTER_SDATA8:
        return cursor_u64(cursor, cut);
    default:
        cursor_fail(cursor, unknown);
        return 0;
    }
}

static uint64_t read_pointer(const struct eh_frame *reader, struct cursor *cursor, uint8_t encoding)
{
    const uint64_t here = reader->address + (uint64_t)(cursor->at - reader->start);
    const uint64_t value = read_format(cursor, encoding, reader->address_size);
    switch (encoding & POINTER_BASE) {
    case POINTER_ABSOLUTE:
        return value;
    case POINTER_PC_RELATIVE:
        return here + value;
    default:
        cursor_fail(cursor, unknown);
        return 0;
    }
}

static void read_augmentation(const struct eh_frame *reader, struct cursor *cursor,
                              struct span letters, struct frame_cie *cie)
{
    if (letters.size == 0)
        return;
    if (letters.data[0] != 'z') {
        cursor_fail(cursor, unknown);
        return;
    }
    cie->has_augmentation_size = true;
    const uint64_t size = jd_cursor_uleb128(cursor, cut);
    struct cursor data = *cursor;
    if (cursor_take(cursor, size, cut) == NULL)
        return;
    data.end = cursor->at;
    for (uint64_t i = 1; i < letters.size; i++) {
        switch (letters.data[i]) {
        case 'R':
            cie->pointer_encoding = cursor_u8(&data, cut);
            break;
        case 'L':
            cie->has_lsda = cursor_u8(&data, cut) != POINTER_OMITTED;
            break;
        case 'P': {
            const uint8_t encoding = cursor_u8(&data, cut);
            if (encoding != POINTER_OMITTED)
                read_format(&data, encoding, reader->address_size);
            break;
        }
        case 'S':
            cie->signal_frame = true;
            break;
        case 'B':
            cie->b_key = true;
            break;
        default:
            cursor_fail(&data, unknown);
        }
    }
    if (data.error != NULL)
        cursor_fail_at(cursor, data.error_offset, data.error);
}

/* The bytes of an entry: behind its length, with the id or pointer that tells CIE from FDE. */
static struct cursor read_entry(struct cursor *cursor)
{
    const uint32_t length = cursor_u32(cursor, cut);
    if (length == UINT32_MAX)
        cursor_fail(cursor, ".eh_frame: an entry with a 64-bit length");
    struct cursor entry = *cursor;
    if (cursor_take(cursor, length, cut) != NULL)
        entry.end = cursor->at;
    else
        entry.at = entry.end;
    return entry;
}

/* The CIE whose length is at `at`. */
static void read_cie(const struct eh_frame *reader, const unsigned char *at, struct cursor *problem,
                     struct frame_cie *cie)
{
    struct cursor cursor = reader->cursor;
    cursor.at = at;
    cursor.error = NULL;
    struct cursor entry = read_entry(&cursor);
    entry.error = cursor.error;
    entry.error_offset = cursor.error_offset;
    *cie = (struct frame_cie){0};
    if (cursor_u32(&entry, cut) != 0)
        cursor_fail(&entry, ".eh_frame: an FDE that does not point to a CIE");
    const uint8_t version = cursor_u8(&entry, cut);
    if (version != 1 && version != 3)
        cursor_fail(&entry, ".eh_frame: a CIE of a version other than 1 and 3");
    const struct span letters = cursor_string(&entry, cut);
    cie->code_alignment = jd_cursor_uleb128(&entry, cut);
    cie->data_alignment = jd_cursor_sleb128(&entry, cut);
    cie->return_address_register =
        version == 1 ? cursor_u8(&entry, cut) : jd_cursor_uleb128(&entry, cut);
    read_augmentation(reader, &entry, letters, cie);
    cie->instructions = (struct span){entry.at, cursor_left(&entry)};
    if (entry.error != NULL)
        cursor_fail_at(problem, entry.error_offset, entry.error);
}

/* Where nothing can follow, the length is 0. V8 leaves it out, and goes on with the instructions. */
static void skip_augmentation(struct cursor *entry, const struct frame_cie *cie)
{
    if (cie->has_lsda)
        cursor_take(entry, jd_cursor_uleb128(entry, cut), cut);
    else if (cursor_left(entry) == 0 || *entry->at == 0)
        cursor_u8(entry, cut);
}

bool jd_eh_frame_next(struct eh_frame *reader, struct frame_fde *fde)
{
    struct cursor *const cursor = &reader->cursor;
    while (cursor->error == NULL && cursor_left(cursor) > 0) {
        struct cursor entry = read_entry(cursor);
        if (cursor->error != NULL)
            return false;
        /* Zero terminates the section. */
        if (cursor_left(&entry) == 0) {
            cursor->at = cursor->end;
            return false;
        }
        const unsigned char *const pointer = entry.at;
        const uint32_t distance = cursor_u32(&entry, cut);
        if (entry.error == NULL && distance == 0)
            continue;
        if (distance > (uint64_t)(pointer - reader->start)) {
            cursor_fail_at(cursor, cursor_offset(&entry),
                           ".eh_frame: an FDE whose CIE is outside of the section");
            return false;
        }
        read_cie(reader, pointer - distance, &entry, &fde->cie);
        fde->address = read_pointer(reader, &entry, fde->cie.pointer_encoding);
        fde->size =
            read_format(&entry, fde->cie.pointer_encoding & POINTER_FORMAT, reader->address_size);
        if (fde->cie.has_augmentation_size)
            skip_augmentation(&entry, &fde->cie);
        fde->instructions = (struct span){entry.at, cursor_left(&entry)};
        if (entry.error != NULL) {
            cursor_fail_at(cursor, entry.error_offset, entry.error);
            return false;
        }
        return true;
    }
    return false;
}
