#define _GNU_SOURCE
#include "platform/c_library.h"

#include "writers/breakpad_writer.h"

#include "format/elf_mach.h"
#include "reader/read_description.h"
#include "writers/breakpad_frames.h"
#include "writers/described_texts.h"
#include "writers/file_writer.h"
#include "writers/plain_lines.h"
#include "writers/text_line.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    /* breakpad's own reader splits a line into 512 words, and forgets the rest. */
    RANGES_OF_A_LINE = 254,
    /* symbolic goes down the inlined calls by recursion: with 8 MiB of stack 5000 levels work, and 10 000
     * do not. */
    LEVELS_MAX = 1000,
    COPY_SIZE = 1 << 16
};

/* A file on its way, or its middle: text goes behind text. */
struct text_file {
    struct file_writer writer;
    uint64_t size;
};

struct breakpad {
    struct breakpad_module *module;
    const struct problems *problems;
    struct description description;
    struct described_texts texts; /* the names are those of inlined functions */
    struct breakpad_frames frames;
    bool has_frames; /* readers know those of this machine */
    struct digest digest;
    struct bytes text;
    struct bytes name; /* memory for a function's name */
};

static void text_file_init(struct text_file *file, int fd)
{
    file->size = 0;
    file_writer_init(&file->writer, fd);
}

/* Moves the text to the file. */
static void flush(struct breakpad *breakpad, struct text_file *file)
{
    struct bytes *const text = &breakpad->text;
    file_writer_put(&file->writer, file->size, text->data, text->size);
    file->size += text->size;
    text->size = 0;
}

/* Functions. Numbers of files and names count from 0 in the file, from 1 in the tables. */

static void put_range(struct bytes *text, uint64_t base, struct code_range range)
{
    bytes_u8(text, ' ');
    line_hex(text, base + range.begin);
    bytes_u8(text, ' ');
    line_hex(text, range.end - range.begin);
}

/* Calls of more ranges take several lines, one after another. */
static void put_call(struct breakpad *breakpad, uint64_t base, const struct inlined_call *call)
{
    const struct description *const description = &breakpad->description;
    const uint32_t name = description->functions[call->function].name;
    const uint32_t file = described_file(&breakpad->texts, description, call->call_file);
    const uint32_t origin = described_name(&breakpad->texts, description, name).number;
    struct bytes *const text = &breakpad->text;
    for (uint32_t i = 0; i < call->range_count; i++) {
        if (i % RANGES_OF_A_LINE == 0) {
            line_text(text, i > 0 ? "\nINLINE " : "INLINE ");
            line_decimal(text, call->depth);
            bytes_u8(text, ' ');
            line_decimal(text, call->call_line);
            bytes_u8(text, ' ');
            line_decimal(text, file - 1);
            bytes_u8(text, ' ');
            line_decimal(text, origin - 1);
        }
        put_range(text, base, description->ranges[call->first_range + i]);
    }
    bytes_u8(text, '\n');
}

/* Code without a line has the line 0: without any, symbolic goes on with the line before, and loses the
 * innermost inlined call. */
static void put_lines(struct breakpad *breakpad, uint64_t base, uint32_t code_size)
{
    struct bytes *const text = &breakpad->text;
    struct plain_lines lines;
    struct plain_line line;
    if (breakpad->description.row_count == 0 && breakpad->description.call_count == 0)
        return;
    plain_lines_begin(&lines, &breakpad->description, code_size);
    while (plain_lines_next(&lines, &line)) {
        line_hex(text, base + line.begin);
        bytes_u8(text, ' ');
        line_hex(text, line.end - line.begin);
        bytes_u8(text, ' ');
        line_decimal(text, line.line);
        bytes_u8(text, ' ');
        line_decimal(text,
                     described_file(&breakpad->texts, &breakpad->description, line.file) - 1);
        bytes_u8(text, '\n');
    }
}

/* False: out of memory. */
static bool put_function(struct breakpad *breakpad, const struct placed *placed)
{
    const struct breakpad_module *const module = breakpad->module;
    const struct piece *const piece = placed->piece;
    const uint64_t base = placed->address - module->region.base;
    struct description *const description = &breakpad->description;
    struct bytes *const text = &breakpad->text;
    if (!jd_description_read(description, module->history, piece, breakpad->problems) ||
        !described_texts_begin(&breakpad->texts, description))
        return false;
    line_text(text, "FUNC ");
    line_hex(text, base);
    bytes_u8(text, ' ');
    line_hex(text, piece->code_size);
    line_text(text, " 0 ");
    line_span(text, printable_name(piece->name, TEXT_FIELD, &breakpad->name));
    bytes_u8(text, '\n');
    for (uint32_t i = 0; i < description->call_count; i++)
        if (description->calls[i].depth < LEVELS_MAX)
            put_call(breakpad, base, &description->calls[i]);
    put_lines(breakpad, base, (uint32_t)piece->code_size);
    return true;
}

static void put_frames(struct breakpad *breakpad, const struct placed *placed)
{
    struct function_frames function;
    const char *wrong = function_frames_find(&function, breakpad->module->history, placed);
    if (wrong == NULL && function.eh_frame.size > 0)
        wrong = breakpad_frames_add(&breakpad->frames, &function, &breakpad->text);
    if (wrong != NULL)
        tell_problem(breakpad->problems, placed->piece->unwinding, wrong);
}

/* False: out of memory. */
static bool write_pieces(struct breakpad *breakpad, struct text_file *functions,
                         struct text_file *frames)
{
    const struct code_region *const region = &breakpad->module->region;
    for (size_t i = 0; i < region->count; i++) {
        const struct placed *const placed = &region->pieces[i];
        build_id_add(&breakpad->digest, breakpad->module->history, placed);
        if (!put_function(breakpad, placed))
            return false;
        flush(breakpad, functions);
        if (breakpad->has_frames) {
            put_frames(breakpad, placed);
            flush(breakpad, frames);
        }
        if ((i + 1) % PIECES_BETWEEN_PROGRESS == 0)
            tell_progress(breakpad->problems, i + 1, region->count);
    }
    return !breakpad->text.failed && !breakpad->name.failed &&
           !breakpad_frames_failed(&breakpad->frames) && !described_texts_failed(&breakpad->texts);
}

/* What comes before the functions */

/* The readers that look at it refuse names that they do not know. */
static const char *cpu_name(uint32_t elf_mach)
{
    switch (elf_mach) {
    case ELF_MACH_386:
        return "x86";
    case ELF_MACH_X86_64:
        return "x86_64";
    case ELF_MACH_ARM:
        return "arm";
    case ELF_MACH_AARCH64:
        return "arm64";
    case ELF_MACH_MIPS:
        return "mips";
    case ELF_MACH_PPC:
        return "ppc";
    case ELF_MACH_PPC64:
        return "ppc64";
    default:
        return "unknown";
    }
}

static void put_id(struct bytes *text, const unsigned char *id, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes_u8(text, (unsigned char)"0123456789ABCDEF"[id[i] >> 4]);
        bytes_u8(text, (unsigned char)"0123456789ABCDEF"[id[i] & 15]);
    }
}

static void put_module(struct breakpad *breakpad)
{
    const struct breakpad_module *const module = breakpad->module;
    struct bytes *const text = &breakpad->text;
    char id[BREAKPAD_ID_SIZE];
    breakpad_id(module, id);
    line_text(text, "MODULE Linux ");
    line_text(text, cpu_name(jd_dump_machine(&module->history->reader)));
    bytes_u8(text, ' ');
    line_text(text, id);
    bytes_u8(text, ' ');
    line_text(text, module->name);
    line_text(text, "\nINFO CODE_ID ");
    put_id(text, module->build_id, DIGEST_SIZE);
    bytes_u8(text, '\n');
}

/* Breakpad's reader takes a first word of digits for a file's number (B10). */
static bool begins_with_digits(const char *name)
{
    const size_t digits = strspn(name, "0123456789");
    return digits > 0 && (name[digits] == ' ' || name[digits] == '\0');
}

/* A line for each string of the table. */
static void put_table(struct bytes *text, const char *record, const struct string_table *table,
                      bool is_origin)
{
    const unsigned char *at = table->bytes.data + 1;
    for (uint32_t i = 0; i < table->string_count; i++) {
        const char *const string = (const char *)at;
        line_text(text, record);
        line_decimal(text, i);
        line_text(text, is_origin && begins_with_digits(string) ? " _" : " ");
        line_text(text, string);
        bytes_u8(text, '\n');
        at += strlen(string) + 1;
    }
}

/* The id */

static void end_build_id(struct digest *digest, struct breakpad_module *module)
{
    unsigned char base[sizeof(module->region.base)];
    bytes_store(base, module->region.base, sizeof(base), false);
    digest_add(digest, base, sizeof(base));
    digest_end(digest, module->build_id);
}

void breakpad_identify(struct breakpad_module *module, const struct problems *problems)
{
    const struct code_region *const region = &module->region;
    struct digest digest;
    build_id_begin(&digest, module->history);
    for (size_t i = 0; i < region->count; i++) {
        build_id_add(&digest, module->history, &region->pieces[i]);
        if ((i + 1) % PIECES_BETWEEN_PROGRESS == 0)
            tell_progress(problems, i + 1, region->count);
    }
    end_build_id(&digest, module);
}

/* The file */

/* Returns 0, or why it can't be read. */
static int copy(int from, uint64_t size, struct breakpad *breakpad, struct text_file *to)
{
    uint64_t offset = 0;
    while (offset < size) {
        unsigned char *const room = bytes_room(&breakpad->text, COPY_SIZE);
        if (room == NULL)
            return ENOMEM;
        const ssize_t count = pread(from, room, COPY_SIZE, (off_t)offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? errno : EIO;
        breakpad->text.size = (size_t)count;
        offset += (uint64_t)count;
        flush(breakpad, to);
    }
    return 0;
}

/* Both return 0, or an errno value. */

static int write_middle(struct breakpad *breakpad, const int scratch[BREAKPAD_SCRATCH_FILES],
                        uint64_t sizes[BREAKPAD_SCRATCH_FILES])
{
    struct text_file files[BREAKPAD_SCRATCH_FILES];
    int error = 0;
    for (int i = 0; i < BREAKPAD_SCRATCH_FILES; i++)
        text_file_init(&files[i], scratch[i]);
    if (!write_pieces(breakpad, &files[0], &files[1]))
        error = ENOMEM;
    for (int i = 0; i < BREAKPAD_SCRATCH_FILES; i++) {
        const int file_error = file_writer_finish(&files[i].writer, NULL, 0);
        sizes[i] = files[i].size;
        error = error != 0 ? error : file_error;
    }
    return error;
}

static int write_file(struct breakpad *breakpad, int fd, const int scratch[BREAKPAD_SCRATCH_FILES],
                      const uint64_t sizes[BREAKPAD_SCRATCH_FILES])
{
    struct text_file file;
    text_file_init(&file, fd);
    put_module(breakpad);
    put_table(&breakpad->text, "FILE ", &breakpad->texts.files, false);
    put_table(&breakpad->text, "INLINE_ORIGIN ", &breakpad->texts.names, true);
    int error = breakpad->text.failed ? ENOMEM : 0;
    flush(breakpad, &file);
    for (int i = 0; i < BREAKPAD_SCRATCH_FILES && error == 0; i++)
        error = copy(scratch[i], sizes[i], breakpad, &file);
    const int file_error = file_writer_finish(&file.writer, NULL, 0);
    return error != 0 ? error : file_error;
}

enum breakpad_error breakpad_write(int fd, const int scratch[BREAKPAD_SCRATCH_FILES],
                                   struct breakpad_module *module, const struct problems *problems)
{
    struct breakpad breakpad = {.module = module, .problems = problems};
    uint64_t sizes[BREAKPAD_SCRATCH_FILES];
    described_texts_init(&breakpad.texts, TEXT_FIELD, "<unknown>");
    breakpad.has_frames = breakpad_frames_init(
        &breakpad.frames, jd_dump_machine(&module->history->reader), module->region.base);
    build_id_begin(&breakpad.digest, module->history);
    int error = write_middle(&breakpad, scratch, sizes);
    end_build_id(&breakpad.digest, module);
    if (error == 0)
        error = write_file(&breakpad, fd, scratch, sizes);
    jd_description_free(&breakpad.description);
    described_texts_free(&breakpad.texts);
    breakpad_frames_free(&breakpad.frames);
    bytes_free(&breakpad.text);
    bytes_free(&breakpad.name);
    errno = error;
    return error == 0 ? BREAKPAD_OK : error == ENOMEM ? BREAKPAD_NO_MEMORY : BREAKPAD_NOT_WRITTEN;
}

void breakpad_id(const struct breakpad_module *module, char text[BREAKPAD_ID_SIZE])
{
    /* The GUID's fields of more than a byte are in the machine's order in memory, and are written from
     * their high end. */
    static const unsigned char little[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    const bool is_big_endian = jd_dump_is_big_endian(&module->history->reader);
    for (unsigned char i = 0; i < 16; i++) {
        const unsigned char byte = module->build_id[is_big_endian ? i : little[i]];
        text[2 * i] = "0123456789ABCDEF"[byte >> 4];
        text[2 * i + 1] = "0123456789ABCDEF"[byte & 15];
    }
    text[32] = '0'; /* the age */
    text[33] = '\0';
}
