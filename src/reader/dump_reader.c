#include "reader/dump_reader.h"

#include "reader/read_ahead.h"

#include "format/elf_mach.h"

#define SWAPPED_MAGIC UINT32_C(0x4454694a)

static struct cursor cursor_over(const struct dump_reader *reader, uint64_t begin, uint64_t end)
{
    return (struct cursor){
        .at = reader->file.data + begin,
        .end = reader->file.data + end,
        .base = reader->file.data,
        .swapped = reader->swapped,
    };
}

static bool refuse(struct dump_reader *reader, uint64_t offset, const char *reason)
{
    reader->offset = offset;
    reader->end = DUMP_BROKEN;
    reader->reason = reason;
    return false;
}

bool jd_dump_reader_init(struct dump_reader *reader, struct span file)
{
    *reader = (struct dump_reader){.file = file};
    if (file.size < sizeof(reader->header))
        return refuse(reader, 0, file.size == 0 ? "the file is empty"
                                                : "too short for the header of a dump, 40 bytes");
    uint32_t magic;
    memcpy(&magic, file.data, sizeof(magic));
    if (magic == 0)
        return refuse(reader, 0, "no dump: zeros where the magic number belongs");
    if (memcmp(file.data, "PERFILE2", 8) == 0)
        return refuse(reader, 0, "no dump, but a profile of perf's");
    if (magic != JITDUMP_MAGIC && magic != SWAPPED_MAGIC)
        return refuse(reader, 0, "no dump: it does not begin with the magic number \"JiTD\"");
    reader->swapped = magic == SWAPPED_MAGIC;

    struct cursor cursor = cursor_over(reader, 0, sizeof(reader->header));
    reader->header = (struct jitdump_file_header){
        .magic = cursor_u32(&cursor, NULL),
        .version = cursor_u32(&cursor, NULL),
        .total_size = cursor_u32(&cursor, NULL),
        .elf_mach = cursor_u32(&cursor, NULL),
        .pad1 = cursor_u32(&cursor, NULL),
        .pid = cursor_u32(&cursor, NULL),
        .timestamp = cursor_u64(&cursor, NULL),
        .flags = cursor_u64(&cursor, NULL),
    };
    if (reader->header.version != JITDUMP_FILE_VERSION)
        return refuse(reader, offsetof(struct jitdump_file_header, version),
                      "a version of the format other than 1");
    if (reader->header.total_size < sizeof(reader->header) || reader->header.total_size > file.size)
        return refuse(reader, offsetof(struct jitdump_file_header, total_size),
                      "the header's size is less than 40, or more than the file's");
    reader->offset = reader->header.total_size;
    return true;
}

static enum dump_end find_end(const struct dump_reader *reader, uint64_t offset,
                              struct dump_record *record, const char **reason)
{
    const uint64_t left = reader->file.size - offset;
    if (left == 0)
        return DUMP_ENDS_WHOLE;
    if (left < sizeof(struct jit_record_header))
        return DUMP_CUT_OFF;
    struct cursor cursor = cursor_over(reader, offset, reader->file.size);
    record->offset = offset;
    record->id = cursor_u32(&cursor, NULL);
    record->total_size = cursor_u32(&cursor, NULL);
    record->timestamp = cursor_u64(&cursor, NULL);
    if (record->total_size < sizeof(struct jit_record_header)) {
        *reason = "a record's size of less than its header, 16 bytes (P6)";
        return DUMP_BROKEN;
    }
    if (record->total_size > left)
        return DUMP_CUT_OFF;
    record->payload =
        (struct span){cursor.at, record->total_size - sizeof(struct jit_record_header)};
    return DUMP_GOES_ON;
}

/* Of what lies so far behind the record as many bytes as it has. */
static void read_ahead_of(const struct dump_reader *reader, const struct dump_record *record)
{
    enum { DISTANCE = 4096 };
    const struct span file = reader->file;
    if (file.size - record->offset > DISTANCE + READ_AHEAD_MAX)
        read_ahead(file.data + record->offset + DISTANCE, record->total_size);
}

bool jd_dump_reader_next(struct dump_reader *reader, struct dump_record *record)
{
    if (reader->end != DUMP_GOES_ON)
        return false;
    reader->end = find_end(reader, reader->offset, record, &reader->reason);
    if (reader->end != DUMP_GOES_ON)
        return false;
    reader->offset += record->total_size;
    read_ahead_of(reader, record);
    return true;
}

bool jd_dump_reader_at(const struct dump_reader *reader, uint64_t offset, struct dump_record *record)
{
    const char *reason;
    return offset <= reader->file.size &&
           find_end(reader, offset, record, &reason) == DUMP_GOES_ON;
}

struct cursor jd_dump_record_cursor(const struct dump_reader *reader, const struct dump_record *record)
{
    const uint64_t begin = (uint64_t)(record->payload.data - reader->file.data);
    return cursor_over(reader, begin, begin + record->payload.size);
}

uint32_t jd_dump_machine(const struct dump_reader *reader)
{
    const uint32_t elf_mach = reader->header.elf_mach;
    return elf_mach != ELF_MACH_NONE ? elf_mach : BUILD_ELF_MACH;
}

bool jd_dump_is_big_endian(const struct dump_reader *reader)
{
    return reader->file.data[0] == (unsigned char)(JITDUMP_MAGIC >> 24);
}
