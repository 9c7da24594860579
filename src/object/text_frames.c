#include "text_frames.h"

#include "format/cursor.h"

static const char cut[] = "the frames end too early";

/* DW_EH_PE_textrel with 4 bytes, unsigned or signed, and DW_EH_PE_pcrel with 4 signed ones. */
enum { TEXT_U4 = 0x23, TEXT_S4 = 0x2b, RELATIVE_S4 = 0x1b };

/* From behind its id; `start` is the section's. */
static bool change_cie(struct cursor *cie, unsigned char *start)
{
    cursor_u8(cie, cut); /* version */
    const struct span augmentation = cursor_string(cie, cut);
    jd_cursor_uleb128(cie, cut);
    jd_cursor_sleb128(cie, cut);
    jd_cursor_uleb128(cie, cut); /* return address; a byte in version 1, which reads the same up to 127 */
    jd_cursor_uleb128(cie, cut);
    const uint64_t at = cursor_offset(cie);
    const uint8_t encoding = cursor_u8(cie, cut);
    if (cie->error != NULL || augmentation.size != 2 || memcmp(augmentation.data, "zR", 2) != 0 ||
        (encoding != TEXT_U4 && encoding != TEXT_S4))
        return false;
    start[at] = RELATIVE_S4;
    return true;
}

static bool change_fde(struct cursor *fde, unsigned char *start)
{
    const uint64_t at = cursor_offset(fde);
    const uint32_t value = cursor_u32(fde, cut) - (uint32_t)at;
    if (fde->error != NULL)
        return false;
    memcpy(start + at, &value, sizeof(value));
    return true;
}

bool jd_text_frames_to_relative(unsigned char *section, uint64_t size)
{
    struct cursor cursor = {.at = section, .end = section + size, .base = section};
    while (cursor_left(&cursor) >= sizeof(uint32_t)) {
        const uint32_t length = cursor_u32(&cursor, cut);
        struct cursor entry = cursor;
        if (length == 0)
            break;
        if (cursor_take(&cursor, length, cut) == NULL)
            return false;
        entry.end = cursor.at;
        if (cursor_u32(&entry, cut) == 0 ? !change_cie(&entry, section) : !change_fde(&entry, section))
            return false;
    }
    return true;
}
