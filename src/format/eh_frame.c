#include "eh_frame.h"

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
    case POINTER_ULEB128:
        return jd_cursor_uleb128(cursor, cut);
    case POINTER_SLEB128:
        return (uint64_t)jd_cursor_sleb128(cursor, cut);
    default:
        cursor_fail(cursor, unknown);
        return 0;
    }
}

uint64_t jd_eh_frame_pointer(const struct eh_frame *reader, struct cursor *cursor,
                             uint8_t encoding)
{
    const uint64_t all = reader->address_size == 4 ? UINT32_MAX : UINT64_MAX;
    const uint64_t here = reader->address + (uint64_t)(cursor->at - reader->start);
    const uint64_t value = read_format(cursor, encoding, reader->address_size);
    switch (encoding & POINTER_BASE) {
    case POINTER_ABSOLUTE:
        return value & all;
    case POINTER_PC_RELATIVE:
        return (here + value) & all;
    default:
        cursor_fail(cursor, unknown);
        return 0;
    }
}

/* Whose code to call is of no interest here, but what is behind it is. */
static void skip_personality(const struct eh_frame *reader, struct cursor *cursor)
{
    const uint8_t encoding = cursor_u8(cursor, cut);
    if (encoding == POINTER_OMITTED)
        return;
    if (encoding == POINTER_ALIGNED) {
        const uint64_t here = reader->address + (uint64_t)(cursor->at - reader->start);
        cursor_take(cursor, -here % reader->address_size, cut);
    }
    read_format(cursor, encoding, reader->address_size);
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
        case 'P':
            skip_personality(reader, &data);
            break;
        case 'S':
            cie->signal_frame = true;
            break;
        case 'B':
            cie->b_key = true;
            break;
        case 'G': /* aarch64: the stack's memory is tagged, which only matters to who frees it */
            break;
        default:
            cursor_fail(&data, unknown);
        }
    }
    if (data.error != NULL)
        cursor_fail_at(cursor, data.error_offset, data.error);
}

struct entry {
    struct cursor fields; /* behind the id */
    /* A CIE's is 0, an FDE's says how far before it the CIE begins. NULL: an empty entry, which
     * terminates the section. */
    const unsigned char *id_at;
    uint64_t id;
};

static struct entry read_entry(struct cursor *cursor)
{
    uint64_t length = cursor_u32(cursor, cut);
    const bool wide = length == UINT32_MAX;
    if (wide)
        length = cursor_u64(cursor, cut);
    struct entry entry = {.fields = *cursor};
    if (cursor_take(cursor, length, cut) == NULL || length == 0) {
        entry.fields.at = entry.fields.end;
        return entry;
    }
    entry.fields.end = cursor->at;
    entry.id_at = entry.fields.at;
    entry.id = wide ? cursor_u64(&entry.fields, cut) : cursor_u32(&entry.fields, cut);
    return entry;
}

/* The CIE whose length is at `at`. */
static void read_cie(const struct eh_frame *reader, const unsigned char *at, struct cursor *problem,
                     struct frame_cie *cie)
{
    struct cursor cursor = reader->cursor;
    cursor.at = at;
    cursor.error = NULL;
    const struct entry entry = read_entry(&cursor);
    struct cursor fields = entry.fields;
    if (cursor.error != NULL)
        cursor_fail_at(&fields, cursor.error_offset, cursor.error);
    *cie = (struct frame_cie){.start = at};
    if (entry.id_at == NULL || entry.id != 0)
        cursor_fail(&fields, ".eh_frame: an FDE that does not point to a CIE");
    const uint8_t version = cursor_u8(&fields, cut);
    if (version != 1 && version != 3)
        cursor_fail(&fields, ".eh_frame: a CIE of a version other than 1 and 3");
    const struct span letters = cursor_string(&fields, cut);
    cie->code_alignment = jd_cursor_uleb128(&fields, cut);
    cie->data_alignment = jd_cursor_sleb128(&fields, cut);
    cie->return_address_register =
        version == 1 ? cursor_u8(&fields, cut) : jd_cursor_uleb128(&fields, cut);
    read_augmentation(reader, &fields, letters, cie);
    cie->instructions = (struct span){fields.at, cursor_left(&fields)};
    if (fields.error != NULL)
        cursor_fail_at(problem, fields.error_offset, fields.error);
}

/* Where nothing can follow, the length is 0. V8 leaves it out, and goes on with the instructions. */
static void skip_augmentation(struct cursor *entry, const struct frame_cie *cie)
{
    if (cie->has_lsda)
        cursor_take(entry, jd_cursor_uleb128(entry, cut), cut);
    else if (cursor_left(entry) == 0 || *entry->at == 0)
        cursor_u8(entry, cut);
}

/* Of an FDE, what is behind the pointer to its CIE. */
static void read_fde(const struct eh_frame *reader, struct cursor *entry, struct frame_fde *fde)
{
    const uint8_t encoding = reader->cie.pointer_encoding;
    fde->cie = reader->cie;
    fde->address = jd_eh_frame_pointer(reader, entry, encoding);
    fde->size = read_format(entry, encoding & POINTER_FORMAT, reader->address_size);
    if (fde->cie.has_augmentation_size)
        skip_augmentation(entry, &fde->cie);
    fde->instructions = (struct span){entry->at, cursor_left(entry)};
}

bool jd_eh_frame_next(struct eh_frame *reader, struct frame_fde *fde)
{
    struct cursor *const cursor = &reader->cursor;
    while (cursor->error == NULL && cursor_left(cursor) > 0) {
        struct entry entry = read_entry(cursor);
        if (cursor->error == NULL && entry.id_at == NULL)
            cursor->at = cursor->end;
        if (cursor->error != NULL || entry.id_at == NULL)
            return false;
        if (entry.fields.error == NULL && entry.id == 0)
            continue;
        if (entry.id > (uint64_t)(entry.id_at - reader->start)) {
            cursor_fail_at(cursor, cursor_offset(&entry.fields),
                           ".eh_frame: an FDE whose CIE is outside of the section");
            return false;
        }
        if (reader->cie.start != entry.id_at - entry.id)
            read_cie(reader, entry.id_at - entry.id, &entry.fields, &reader->cie);
        read_fde(reader, &entry.fields, fde);
        if (entry.fields.error != NULL) {
            cursor_fail_at(cursor, entry.fields.error_offset, entry.fields.error);
            return false;
        }
        return true;
    }
    return false;
}
