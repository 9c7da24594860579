#include "writers/elf_writer.h"

#include "format/machine.h"
#include "reader/equal_spans.h"
#include "reader/read_description.h"
#include "writers/dwarf.h"
#include "writers/elf_extent.h"
#include "writers/elf_symbols.h"
#include "writers/file_writer.h"
#include "writers/merged_frames.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

enum {
    PAGE = 4096,
    SECTION_MAX = 20,
    SECTION_NOTE = 1,
    SECTION_TEXT = 2,
    SEGMENT_COUNT = 3,
    NOTE_HEADER = 16 /* three words and the name "GNU" */
};

/* A file on its way. All addresses are the process's, except in the fields of sections, symbols and
 * DWARF: those count from `base`. */
struct elf {
    const struct elf_options *options;
    struct elf_result *result;
    struct elf_machine machine;
    uint32_t elf_mach;
    bool big_endian;
    uint64_t load_address; /* of the file's first byte */
    uint64_t code_address;
    uint64_t code_end;
    uint64_t offset; /* the end of what has a place in the file */

    struct file_writer file;
    struct digest digest;
    struct elf_section sections[SECTION_MAX];
    uint16_t section_count;

    struct description description;
    struct dwarf dwarf;
    struct merged_frames frames;
    struct bytes frame_header;
    struct elf_symbols symbols;
};

const char *elf_strerror(enum elf_error error)
{
    static const char *const texts[] = {
        [ELF_OK] = "no error",
        [ELF_NO_MEMORY] = "out of memory",
        [ELF_NOT_WRITTEN] = "the file can't be written",
        [ELF_EMPTY] = "there is no code",
        [ELF_OUT_OF_ORDER] = "code that overlaps",
        [ELF_HOLE] = "no room for unwinding data",
        [ELF_SPREAD] = "code that is too far apart for one file",
        [ELF_ADDRESS] = "code at addresses that no process of this machine has",
        [ELF_TOO_LARGE] = "more than 4 GiB of debug information",
    };
    return texts[error];
}

/* Sections */

static uint16_t add_section(struct elf *elf, struct elf_section section)
{
    elf->sections[elf->section_count] = section;
    return elf->section_count++;
}

/* Puts the bytes behind everything else. */
static uint16_t put_section(struct elf *elf, struct elf_section section, const struct bytes *bytes)
{
    elf->offset += (section.alignment - elf->offset % section.alignment) % section.alignment;
    section.offset = elf->offset;
    section.size = bytes->failed ? 0 : bytes->size;
    if ((section.flags & SHF_ALLOC) != 0)
        section.address = elf->load_address + elf->offset - elf->result->base;
    file_writer_put(&elf->file, elf->offset, bytes->data, (size_t)section.size);
    elf->offset += section.size;
    return add_section(elf, section);
}

/* Pieces */

/* Of the pieces from `first` to `last`; `name` is that of them all. */
static void add_symbol(struct elf *elf, struct table_string name, const struct placed *first,
                       const struct placed *last)
{
    elf_symbols_add(&elf->symbols, &elf->dwarf.texts.names, name,
                    first->address - elf->result->base,
                    last->address + last->piece->code_size - first->address, SECTION_TEXT);
}

/* Whether the symbol that this piece is in ends with it. */
static bool ends_symbol(const struct elf *elf, const struct placed *pieces, size_t count, size_t at)
{
    return !elf->options->merge_names || at + 1 == count ||
           !spans_are_equal(pieces[at].piece->name, pieces[at + 1].piece->name);
}

static void add_frames(struct elf *elf, const struct history *history, const struct placed *placed)
{
    struct function_frames frames;
    const char *wrong = function_frames_find(&frames, history, placed);
    if (wrong == NULL && frames.eh_frame.size == 0)
        return;
    if (wrong == NULL)
        wrong = merged_frames_add(&elf->frames, &frames);
    elf->result->unwound += wrong == NULL;
    elf->result->refused += wrong != NULL;
    if (wrong != NULL)
        tell_problem(elf->options->problems, placed->piece->unwinding, wrong);
}

/* `name` receives the piece's in `dwarf`. */
static bool add_piece(struct elf *elf, const struct history *history, const struct placed *placed,
                      struct table_string *name)
{
    const struct piece *const piece = placed->piece;
    string_table_read_ahead(&elf->dwarf.texts.names, piece->name.data, (size_t)piece->name.size);
    build_id_add(&elf->digest, history, placed);
    file_writer_put(&elf->file, placed->address - elf->load_address, piece->code,
                    (size_t)piece->code_size);

    if (!jd_description_read(&elf->description, history, piece, elf->options->problems))
        return false;
    elf->result->described += elf->description.row_count > 0;
    *name = dwarf_add(&elf->dwarf, piece->name, placed->address - elf->result->base,
                      piece->code_size, &elf->description);
    add_frames(elf, history, placed);
    return true;
}

/* What is loaded beside the code */

static void add_frame_section(struct elf *elf, const char *name, uint64_t address,
                              uint64_t offset, uint64_t size)
{
    add_section(elf, (struct elf_section){.name = name,
                                          .type = SHT_PROGBITS,
                                          .flags = SHF_ALLOC,
                                          .address = address,
                                          .offset = offset,
                                          .size = size,
                                          .alignment = 4});
}

/* In a hole, perf's libunwind takes .eh_frame_hdr for as far from the first segment's page as it is in the
 * file from its beginning (P33); .eh_frame and PT_GNU_EH_FRAME say where they are. */
static void put_frames(struct elf *elf)
{
    if (elf->frames.entry_count == 0)
        return;
    const bool in_hole = elf->options->hole_address != 0;
    const uint64_t offset = in_hole ? (elf->offset + PAGE - 1) / PAGE * PAGE
                                    : elf->frames.address - elf->load_address;
    merged_frames_finish(&elf->frames, &elf->frame_header);
    const struct bytes *const frames = &elf->frames.bytes, *const table = &elf->frame_header;
    const uint64_t frames_size = frames->failed ? 0 : frames->size;
    const uint64_t table_size = table->failed ? 0 : table->size;
    const uint64_t address = elf->frames.address - elf->result->base;
    const uint64_t table_address =
        in_hole ? elf->result->load_address / PAGE * PAGE + offset : address;
    add_frame_section(elf, ".eh_frame", address, offset, frames_size);
    add_frame_section(elf, ".eh_frame_hdr", table_address + frames_size, offset + frames_size,
                      table_size);
    elf->result->frame_address = address;
    elf->result->frame_offset = offset;
    elf->result->frame_size = frames_size + table_size;
    file_writer_put(&elf->file, offset, frames->data, (size_t)frames_size);
    file_writer_put(&elf->file, offset + frames_size, table->data, (size_t)table_size);
    elf->offset = offset + elf->result->frame_size;
}

static void put_dynamic_symbols(struct elf *elf)
{
    put_section(elf,
                (struct elf_section){.name = ".dynsym",
                                     .type = SHT_DYNSYM,
                                     .flags = SHF_ALLOC,
                                     .link = elf->section_count + 1U,
                                     .info = 1,
                                     .alignment = 8,
                                     .entry_size = elf_symbol_size(&elf->machine)},
                &elf->symbols.entries);
    put_section(elf,
                (struct elf_section){.name = ".dynstr",
                                     .type = SHT_STRTAB,
                                     .flags = SHF_ALLOC,
                                     .alignment = 1},
                &elf->symbols.names);
}

/* What is not */

static void put_debug_sections(struct elf *elf)
{
    const struct {
        const char *name;
        const struct bytes *bytes;
        uint32_t flags;
        uint32_t entry_size;
    } sections[] = {
        {".debug_abbrev", &elf->dwarf.abbrev, 0, 0},
        {".debug_info", &elf->dwarf.info, 0, 0},
        {".debug_line", &elf->dwarf.line, 0, 0},
        {".debug_ranges", &elf->dwarf.ranges, 0, 0},
        {".debug_aranges", &elf->dwarf.aranges, 0, 0},
        {".debug_str", &elf->dwarf.texts.names.bytes, SHF_MERGE | SHF_STRINGS, 1},
    };
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        if (sections[i].bytes->size > 0)
            put_section(elf,
                        (struct elf_section){.name = sections[i].name,
                                             .type = SHT_PROGBITS,
                                             .flags = sections[i].flags,
                                             .alignment = 1,
                                             .entry_size = sections[i].entry_size},
                        sections[i].bytes);
}

/* Where the symbols are in .dynsym, the first one stays: a file without .symtab counts as
 * stripped. */
static void put_symbols(struct elf *elf)
{
    struct bytes symbols = elf->symbols.entries;
    struct bytes names = elf->symbols.names;
    if (elf->options->dynsym && names.size > 1) { /* else memory ran out before the first name */
        symbols.size = 2U * elf_symbol_size(&elf->machine);
        names.size = 1 + strlen((const char *)names.data + 1) + 1;
    }
    put_section(elf,
                (struct elf_section){.name = ".symtab",
                                     .type = SHT_SYMTAB,
                                     .link = elf->section_count + 1U,
                                     .info = 1,
                                     .alignment = 8,
                                     .entry_size = elf_symbol_size(&elf->machine)},
                &symbols);
    put_section(elf, (struct elf_section){.name = ".strtab", .type = SHT_STRTAB, .alignment = 1},
                &names);
}

/* Returns where the section headers are. */
static uint64_t put_section_headers(struct elf *elf)
{
    struct string_table names;
    struct bytes headers = {.big_endian = elf->big_endian};
    string_table_init(&names);
    const uint16_t own = add_section(elf, (struct elf_section){.name = ".shstrtab"});
    uint32_t name_offsets[SECTION_MAX];
    for (uint16_t i = 0; i < elf->section_count; i++) {
        const char *const name = elf->sections[i].name;
        name_offsets[i] = string_table_add(&names, name, strlen(name)).offset;
    }
    elf->section_count--;
    put_section(elf, (struct elf_section){.name = ".shstrtab", .type = SHT_STRTAB, .alignment = 1},
                &names.bytes);
    for (uint16_t i = 0; i <= own; i++)
        elf_put_section(&headers, &elf->machine, &elf->sections[i], name_offsets[i]);
    const uint64_t offset = (elf->offset + 7) / 8 * 8;
    file_writer_put(&elf->file, offset, headers.data, headers.size);
    if (names.bytes.failed || headers.failed)
        elf->file.error = ENOMEM;
    string_table_free(&names);
    bytes_free(&headers);
    return offset;
}

/* The file's first bytes */

static uint64_t note_offset(const struct elf *elf)
{
    return elf_headers_size(&elf->machine, SEGMENT_COUNT);
}

/* Of the search table. PT_NULL where there is none: the headers' size must be known early. */
static struct elf_segment frame_segment(const struct elf *elf)
{
    const struct elf_result *const result = elf->result;
    for (uint16_t i = 0; i < elf->section_count; i++) {
        const struct elf_section *const section = &elf->sections[i];
        if (strcmp(section->name, ".eh_frame_hdr") == 0)
            return (struct elf_segment){
                PT_GNU_EH_FRAME, PF_R, section->offset,
                result->frame_address + (section->offset - result->frame_offset),
                section->size, section->size, section->alignment};
    }
    return (struct elf_segment){.type = PT_NULL};
}

static void put_segments(const struct elf *elf, uint64_t loaded_size, struct bytes *to)
{
    const struct elf_result *const result = elf->result;
    const uint64_t load_address = elf->load_address - result->base;
    const uint64_t load_end = elf->options->load_end;
    struct elf_segment load = {PT_LOAD,     PF_R | PF_X, 0,   load_address,
                               loaded_size, loaded_size, PAGE};
    if (load_end != 0) { /* of which the code alone is loaded */
        load.size = elf->code_end - elf->load_address;
        load.memory_size = load_end - elf->load_address;
        load.alignment = 1;
    }
    const struct elf_segment segments[SEGMENT_COUNT] = {
        load,
        {PT_NOTE, PF_R, note_offset(elf), load_address + note_offset(elf),
         NOTE_HEADER + DIGEST_SIZE, NOTE_HEADER + DIGEST_SIZE, 4},
        frame_segment(elf)};
    for (size_t i = 0; i < SEGMENT_COUNT; i++)
        elf_put_segment(to, &elf->machine, &segments[i]);
}

/* The options make other files of the same pieces. With none of them the id is that of the pieces. */
static void put_build_id(struct elf *elf, struct bytes *to)
{
    const struct elf_options *const options = elf->options;
    if (options->relative || options->dynsym || options->merge_names ||
        options->hole_address != 0 || options->load_address != 0) {
        unsigned char bytes[3 + 3 * 8] = {options->relative, options->dynsym,
                                          options->merge_names};
        bytes_store(bytes + 3, options->hole_address, 8, false);
        bytes_store(bytes + 3 + 8, options->load_address, 8, false);
        bytes_store(bytes + 3 + 16, options->load_end, 8, false);
        digest_add(&elf->digest, bytes, sizeof(bytes));
    }
    digest_end(&elf->digest, elf->result->build_id);
    bytes_u32(to, 4);
    bytes_u32(to, DIGEST_SIZE);
    bytes_u32(to, NT_GNU_BUILD_ID);
    bytes_copy(to, "GNU", 4);
    bytes_copy(to, elf->result->build_id, DIGEST_SIZE);
}

/* The file */

/* Far enough below the highest one that sums do not wrap. */
static uint64_t last_address(const struct elf *elf)
{
    return elf->machine.address_size == 8 ? UINT64_MAX - 2 * ELF_REACH : UINT32_MAX;
}

static enum elf_error check_pieces(const struct elf *elf, const struct placed *pieces, size_t count)
{
    if (count == 0)
        return ELF_EMPTY;
    if (!placed_are_disjoint(pieces, count))
        return ELF_OUT_OF_ORDER;
    if (elf_reach(pieces, count) != count)
        return ELF_SPREAD;
    const uint64_t end = pieces[count - 1].address + pieces[count - 1].piece->code_size;
    if (pieces[0].address < PAGE || end > last_address(elf))
        return ELF_ADDRESS;
    const uint64_t hole = elf->options->hole_address, hole_size = elf->options->hole_size;
    if (hole != 0 && (hole % PAGE != 0 || hole_size < PAGE || hole > pieces[0].address ||
                      pieces[0].address - hole < hole_size || end - hole > ELF_HOLE_REACH))
        return ELF_HOLE;
    const uint64_t load_address = elf->options->load_address, load_end = elf->options->load_end;
    if ((load_address != 0 || load_end != 0) &&
        (load_address > pieces[0].address || pieces[0].address - load_address < ELF_FIRST_SIZE ||
         load_end < end || load_end > last_address(elf)))
        return ELF_SPREAD;
    return ELF_OK;
}

static void begin(struct elf *elf, const struct placed *pieces, size_t count)
{
    const struct placed *const last = &pieces[count - 1];
    const uint64_t hole = elf->options->hole_address;
    elf->code_address = pieces[0].address;
    elf->code_end = last->address + last->piece->code_size;
    elf->load_address = elf->options->load_address != 0 ? elf->options->load_address
                                                        : elf->code_address / PAGE * PAGE - PAGE;
    elf->result->base = elf->options->relative ? elf->load_address : 0;
    elf->result->load_address = elf->load_address - elf->result->base;
    elf->offset = elf->code_end - elf->load_address;

    add_section(elf, (struct elf_section){.name = "", .type = SHT_NULL});
    add_section(elf, (struct elf_section){.name = ".note.gnu.build-id",
                                          .type = SHT_NOTE,
                                          .flags = SHF_ALLOC,
                                          .address = elf->result->load_address + note_offset(elf),
                                          .offset = note_offset(elf),
                                          .size = NOTE_HEADER + DIGEST_SIZE,
                                          .alignment = 4});
    add_section(elf, (struct elf_section){.name = ".text",
                                          .type = SHT_PROGBITS,
                                          .flags = SHF_ALLOC | SHF_EXECINSTR,
                                          .address = elf->code_address - elf->result->base,
                                          .offset = elf->code_address - elf->load_address,
                                          .size = elf->code_end - elf->code_address,
                                          .alignment = 1});
    dwarf_init(&elf->dwarf, elf->big_endian, elf->machine.address_size);
    elf->dwarf.texts.renamed = elf->options->renamed;
    merged_frames_init(&elf->frames,
                       hole != 0 ? hole : (elf->code_end + 7) / 8 * 8,
                       elf->big_endian, elf->machine.address_size);
    elf->frame_header.big_endian = elf->big_endian;
    elf_symbols_init(&elf->symbols, &elf->machine, elf->big_endian);
}

static enum elf_error finish(struct elf *elf)
{
    const enum dwarf_error dwarf_error = dwarf_finish(&elf->dwarf);
    put_frames(elf);
    if (elf->options->dynsym)
        put_dynamic_symbols(elf);
    const uint64_t loaded_size = elf->offset;
    const bool has_room = elf->load_address + loaded_size <= last_address(elf);
    put_debug_sections(elf);
    put_symbols(elf);
    const uint64_t section_offset = put_section_headers(elf);

    const struct elf_header header = {
        .type = elf->options->relative ? ET_DYN : ET_EXEC,
        .elf_mach = elf->elf_mach,
        .machine = elf->machine,
        .section_offset = section_offset,
        .section_count = elf->section_count,
        .names = (uint16_t)(elf->section_count - 1),
        .segment_count = SEGMENT_COUNT,
    };
    struct bytes first = {.big_endian = elf->big_endian};
    elf_put_header(&first, &header);
    put_segments(elf, loaded_size, &first);
    put_build_id(elf, &first);
    elf->result->system_error = file_writer_finish(&elf->file, first.data, first.size);
    const bool no_memory = first.failed || elf->frames.bytes.failed || elf->frame_header.failed ||
                           elf_symbols_failed(&elf->symbols) ||
                           elf->result->system_error == ENOMEM;
    bytes_free(&first);
    if (no_memory || dwarf_error == DWARF_NO_MEMORY)
        return ELF_NO_MEMORY;
    if (dwarf_error == DWARF_TOO_LARGE)
        return ELF_TOO_LARGE;
    if (!has_room)
        return ELF_ADDRESS;
    if (elf->options->hole_address != 0 &&
        elf->result->frame_size > elf->options->hole_size)
        return ELF_HOLE;
    return elf->result->system_error != 0 ? ELF_NOT_WRITTEN : ELF_OK;
}

static struct elf_machine machine_of(uint32_t elf_mach)
{
    const struct machine *const machine = jd_machine(elf_mach);
    return (struct elf_machine){elf_mach_address_size(elf_mach),
                                machine != NULL ? machine->elf_flags : 0};
}

enum elf_error elf_write(int fd, const struct history *history, const struct placed *pieces,
                         size_t count, const struct elf_options *options,
                         struct elf_result *result)
{
    struct elf elf = {.options = options,
                      .result = result,
                      .elf_mach = jd_dump_machine(&history->reader),
                      .machine = machine_of(jd_dump_machine(&history->reader))};
    elf.big_endian = jd_dump_is_big_endian(&history->reader);
    build_id_begin(&elf.digest, history);
    *result = (struct elf_result){.base = 0};
    enum elf_error error = check_pieces(&elf, pieces, count);
    if (error != ELF_OK)
        return error;
    begin(&elf, pieces, count);
    file_writer_init(&elf.file, fd);
    bool has_memory = true;
    size_t symbol = 0; /* the first piece of the next one */
    for (size_t i = 0; i < count; i++) {
        struct table_string name;
        placed_read_ahead(history, pieces, count, i);
        has_memory = add_piece(&elf, history, &pieces[i], &name);
        if (!has_memory)
            break;
        if (ends_symbol(&elf, pieces, count, i)) {
            add_symbol(&elf, name, &pieces[symbol], &pieces[i]);
            symbol = i + 1;
        }
        if ((i + 1) % PIECES_BETWEEN_PROGRESS == 0)
            tell_progress(options->problems, i + 1, count);
    }
    error = finish(&elf);
    jd_description_free(&elf.description);
    dwarf_free(&elf.dwarf);
    merged_frames_free(&elf.frames);
    bytes_free(&elf.frame_header);
    elf_symbols_free(&elf.symbols);
    return has_memory ? error : ELF_NO_MEMORY;
}
