/*
 * Finds the functions that are asked for.
 */
#include "tool/dump_function.h"

#include "tool/command.h"
#include "tool/dump.h"
#include "tool/messages.h"
#include "tool/output.h"

#include "format/machine.h"
#include "reader/equal_spans.h"
#include "reader/read_description.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* What --function asks for. */
struct wanted {
    struct span name;
    bool exact; /* a function has this very name */
    bool by_address;
    uint64_t address;
    struct dump_time at;
};

static bool name_contains(struct span name, struct span part)
{
    for (uint64_t i = 0; i + part.size <= name.size; i++)
        if (part.size == 0 || memcmp(name.data + i, part.data, (size_t)part.size) == 0)
            return true;
    return part.size == 0;
}

static struct wanted parse_wanted(const struct history *history, const char *text,
                                  struct dump_time at)
{
    struct wanted wanted = {
        .name = {(const unsigned char *)text, strlen(text)},
        .at = at,
    };
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        char *end;
        errno = 0;
        wanted.address = strtoull(text, &end, 16);
        wanted.by_address = errno == 0 && *end == '\0' && end > text + 2;
    }
    for (uint32_t i = 0; i < history->piece_count && !wanted.exact; i++)
        wanted.exact = spans_are_equal(history->pieces[i].name, wanted.name);
    return wanted;
}

static bool life_is_wanted(const struct history *history, const struct wanted *wanted,
                           const struct life *life)
{
    if (wanted->at.given && !life_holds(life, wanted->at.time))
        return false;
    return !wanted->by_address ||
           (wanted->address >= life->address &&
            wanted->address - life->address < life_size(history, life));
}

/* Whether the piece is asked for, and where it is to be shown: at the address of its last life
 * that fits. */
static bool piece_is_wanted(const struct history *history, const struct wanted *wanted,
                            const struct piece *piece, uint64_t *address)
{
    if (!wanted->by_address && !(wanted->exact ? spans_are_equal(piece->name, wanted->name)
                                               : name_contains(piece->name, wanted->name)))
        return false;
    bool found = piece->first_life == HISTORY_NONE && !wanted->by_address && !wanted->at.given;
    *address = piece->code_addr;
    for (uint32_t i = piece->first_life; i != HISTORY_NONE; i = history->lives[i].next) {
        if (life_is_wanted(history, wanted, &history->lives[i])) {
            *address = history->lives[i].address;
            found = true;
        }
    }
    return found;
}

static void tell(void *context, uint64_t offset, const char *reason)
{
    bool *const all_read = context;
    complain("at offset 0x%" PRIx64 ": %s", offset, reason);
    *all_read = false;
}

int dump_functions(const struct history *history, const struct mapped_file *file,
                   const char *text, struct dump_time at, bool json)
{
    const struct wanted wanted = parse_wanted(history, text, at);
    struct description description = {0};
    bool all_read = true;
    const struct problems problems = {.tell = tell, .context = &all_read};
    int status = STATUS_NO;
    uint64_t passed = 0;
    for (uint32_t i = 0; i < history->piece_count && !output_failed(); i++) {
        jd_mapped_file_pass(file, &passed, history->pieces[i].load);
        struct function_view view = {history, &history->pieces[i], &description, 0};
        if (!piece_is_wanted(history, &wanted, view.piece, &view.address))
            continue;
        if (!jd_description_read(&description, history, view.piece, &problems)) {
            complain("out of memory");
            status = STATUS_TROUBLE;
            break;
        }
        if (!json && status == STATUS_OK)
            putchar('\n');
        (json ? show_function_json : show_function_text)(&view);
        status = STATUS_OK;
    }
    jd_description_free(&description);
    if (status == STATUS_NO)
        complain("no function %s '%s'%s", wanted.by_address ? "at" : "with the name", text,
                 at.given ? " at that time" : "");
    return status == STATUS_OK && !all_read ? STATUS_TROUBLE : status;
}

const char *description_source_name(const struct description *description)
{
    switch (description->source) {
    case DESCRIPTION_DEBUG_INFO:
        return "DEBUG_INFO";
    case DESCRIPTION_INLINE_2023:
        return "INLINE_2023";
    case DESCRIPTION_INLINE_2026:
        return "INLINE_2026";
    default:
        return "none";
    }
}

const char *life_end_name(const struct life *life)
{
    switch (life->ended) {
    case LIFE_MOVED:
        return "moved";
    case LIFE_COVERED:
        return "covered";
    default:
        return "to the end";
    }
}

bool piece_tier(const struct history *history, const struct piece *piece, struct tier_record *tier)
{
    struct dump_record record;
    struct problem problem;
    return piece->tier != 0 && jd_dump_reader_at(&history->reader, piece->tier, &record) &&
           jd_decode_tier(&history->reader, &record, tier, &problem);
}

struct relocating {
    void (*row)(void *context, const struct frame_row *row);
    void *context;
    uint64_t code_addr;
};

static void relocate(void *context, const struct frame_row *row)
{
    const struct relocating *const relocating = context;
    struct frame_row moved = *row;
    moved.begin -= relocating->code_addr;
    moved.end -= relocating->code_addr;
    relocating->row(relocating->context, &moved);
}

const char *for_each_frame_row(const struct history *history, const struct piece *piece,
                               void (*row)(void *context, const struct frame_row *row),
                               void *context)
{
    const struct dump_reader *const reader = &history->reader;
    struct dump_record record;
    struct unwinding_record unwinding;
    struct problem problem;
    if (piece->unwinding == 0 || !jd_dump_reader_at(reader, piece->unwinding, &record))
        return NULL;
    if (!jd_decode_unwinding(reader, &record, &unwinding, &problem))
        return problem.reason;
    struct eh_frame eh_frame;
    jd_eh_frame_init(&eh_frame, unwinding.eh_frame, reader->file.data, reader->swapped,
                     piece->code_addr + (piece->code_size + 7) / 8 * 8,
                     elf_mach_address_size(jd_dump_machine(reader)));
    struct relocating relocating = {row, context, piece->code_addr};
    struct frame_fde fde;
    while (jd_eh_frame_next(&eh_frame, &fde) && jd_frame_rows(&eh_frame, &fde, relocate, &relocating))
        continue;
    return eh_frame.cursor.error;
}
