#define _GNU_SOURCE
#include "describe.h"

#include "section.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static unsigned char pool[POOL_SIZE];
static const unsigned char *zeros;

void describe_init(void)
{
    for (uint32_t i = 0; i < POOL_SIZE; i++)
        pool[i] = (unsigned char)(i * UINT32_C(2654435761) >> 13);
    zeros = mmap(NULL, JITDUMP_CODE_SIZE_MAX + 1, PROT_READ,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
}

const unsigned char *take_bytes(struct input *input, uint64_t size)
{
    if (size > POOL_SIZE)
        return zeros;
    return pool + take_u16(input) % (POOL_SIZE - size + 1);
}

static void *own(struct description *description, size_t size)
{
    if (description->owned_count == OWNED_MAX)
        abort();
    void *memory = calloc(1, size);
    description->owned[description->owned_count++] = memory;
    return memory;
}

void describe_end(struct description *description)
{
    for (int i = 0; i < description->owned_count; i++)
        free(description->owned[i]);
}

/* A length, and from what letter on the alphabet goes: few strings are alike, but some are. */
char *take_string(struct description *description, struct input *input)
{
    const uint8_t choice = take_u8(input);
    if (choice == 255)
        return NULL;
    const size_t length = choice < 240 ? choice % 24 : (size_t)(choice - 239) * 700;
    char *string = own(description, length + 1);
    const uint8_t first = take_u8(input);
    for (size_t i = 0; i < length; i++)
        string[i] = (char)('a' + (first + i) % 23);
    /* Any bytes but NUL. */
    if (length != 0 && (first & 0x80) != 0)
        string[length - 1] = (char)(take_u8(input) | 1);
    return string;
}

/* Some strings to choose from, of which some are NULL or empty. */
#define STRINGS 4

static void take_strings(struct description *description, struct input *input,
                         const char *strings[STRINGS], uint8_t sound)
{
    for (int i = 0; i < STRINGS; i++) {
        strings[i] = take_string(description, input);
        if (sound && (strings[i] == NULL || strings[i][0] == '\0'))
            strings[i] = "sound";
    }
}

/* One element of `count` is spoilt by the hostile; none is where `hostile` is 0. */
static uint64_t spoilt(struct input *input, uint8_t hostile, uint64_t count)
{
    return hostile && count != 0 ? take_u8(input) % count : UINT64_MAX;
}

/* The same as rows; the files' names without NUL. */
static void take_rows(struct description *description, const struct jitdump_line *lines,
                      uint64_t count, const char *const files[STRINGS])
{
    struct jitdump_code *code = &description->code;
    struct jitdump_string *strings = own(description, STRINGS * sizeof(*strings));
    for (int i = 0; i < STRINGS; i++) {
        const size_t size = files[i] != NULL ? strlen(files[i]) : 0;
        strings[i].size = size;
        if (size != 0)
            strings[i].bytes = memcpy(own(description, size), files[i], size);
    }
    struct jitdump_line_row *rows = own(description, count * sizeof(*rows));
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t offset = lines[i].code_addr - code->code_addr;
        uint32_t file = 0;
        while (files[file] != lines[i].file)
            file++;
        rows[i] = (struct jitdump_line_row){
            offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX,
            lines[i].line % 16 == 15 ? JITDUMP_NONE : file, lines[i].line, lines[i].column};
    }
    code->lines = NULL;
    code->line_count = 0;
    code->line_rows = rows;
    code->line_row_count = count;
    code->files = strings;
    code->file_count = STRINGS;
}

static void take_lines(struct description *description, struct input *input)
{
    struct jitdump_code *code = &description->code;
    const uint8_t kind = take_u8(input), hostile = kind & 1;
    const bool messy = (kind & 2) != 0; /* as compilers make them */
    const uint64_t count = take_u8(input) % 48;
    const char *files[STRINGS];
    take_strings(description, input, files, !hostile);
    struct jitdump_line *lines = own(description, count * sizeof(*lines));
    uint64_t code_addr = code->code_addr;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t bits = take_u8(input);
        code_addr += i == 0 && (bits & 0x80) != 0 ? 0 : (uint64_t)!messy + bits % 16;
        lines[i] = (struct jitdump_line){code_addr, (uint32_t)!messy + take_u8(input), bits >> 5,
                                         files[bits >> 4 & 3]};
    }
    const uint64_t which = spoilt(input, hostile, count);
    if (which != UINT64_MAX)
        switch (take_u8(input) & 3) {
        case 0:
            lines[which].code_addr = take_hostile(input);
            break;
        case 1:
            lines[which].code_addr += take_hostile(input);
            break;
        case 2:
            lines[which].line = (uint32_t)take_hostile(input);
            break;
        default:
            lines[which].column = (uint32_t)take_hostile(input);
        }
    code->lines = lines;
    code->line_count = count;
    if ((kind & 4) != 0 && count != 0) {
        take_rows(description, lines, count, files);
        return;
    }
    if (hostile && which == UINT64_MAX) {
        code->lines = NULL;
        code->line_count = take_hostile(input);
    }
}

static void spoil_track(struct input *input, struct jitdump_track *track,
                        struct jitdump_position *positions, struct jitdump_offset *offsets)
{
    const uint64_t position = spoilt(input, 1, track->position_count);
    const uint64_t offset = spoilt(input, 1, track->offset_count);
    const uint8_t choice = take_u8(input) % 8;
    const uint64_t value = take_hostile(input);
    if (choice < 4 && position != UINT64_MAX) {
        uint32_t *const fields[] = {&positions[position].function, &positions[position].caller,
                                    &positions[position].line, &positions[position].column};
        *fields[choice] = (uint32_t)value;
    } else if (choice < 6 && offset != UINT64_MAX) {
        uint32_t *const fields[] = {&offsets[offset].code_offset, &offsets[offset].position};
        *fields[choice - 4] = (uint32_t)value;
    } else if (choice == 6) {
        /* More than the library takes must not be looked at. */
        track->position_count = value > JITDUMP_TRACK_COUNT_MAX ? value : 0;
    } else {
        track->functions = NULL;
        track->function_count = value;
        if (value == 0)
            track->struct_size++;
    }
}

static void take_track(struct description *description, struct input *input,
                       struct jitdump_track *track)
{
    const uint8_t bits = take_u8(input);
    const uint64_t code_size = description->code.code_size;
    const char *strings[STRINGS];
    track->struct_size = sizeof(*track);
    track->name = (bits & 1) != 0 ? "one" : (bits & 2) != 0 ? "two" : NULL;
    take_strings(description, input, strings, 1);

    track->function_count = 1 + take_u8(input) % 12;
    struct jitdump_function *functions =
        own(description, track->function_count * sizeof(*functions));
    for (uint64_t i = 0; i < track->function_count; i++) {
        const uint8_t choice = take_u8(input);
        functions[i] = (struct jitdump_function){
            .name = strings[choice & 3],
            .file = (choice & 4) != 0 ? strings[choice >> 3 & 3] : (choice & 8) != 0 ? "" : NULL,
            .start_line = choice,
            .start_column = choice >> 5,
            .flags = choice};
    }

    /* The code's own function, and perhaps a part of it from another file. */
    const uint32_t outers =
        track->function_count > 1 && functions[1].name == functions[0].name ? 2 : 1;

    /* As deep a chain as there may be, and one position more; or a tree. */
    const bool deep = (bits & 12) == 12;
    track->position_count = deep ? 1000 + take_u8(input) % 32 : 1 + take_u8(input) % 100;
    struct jitdump_position *positions =
        own(description, track->position_count * sizeof(*positions));
    for (uint32_t i = 0; i < track->position_count; i++) {
        const uint8_t choice = deep ? 0x41 : take_u8(input);
        const bool inlined = i != 0 && (choice & 0xc0) != 0;
        positions[i] = (struct jitdump_position){
            .function = inlined ? choice % (uint32_t)track->function_count : (choice & 1) % outers,
            .line = choice & 7,
            .column = choice >> 3 & 3,
            .caller = !inlined             ? JITDUMP_NONE
                      : (choice & 0x80) == 0 ? i - 1
                                             : i - 1 - take_u8(input) % i};
    }

    track->offset_count = take_u8(input) % 100;
    struct jitdump_offset *offsets = own(description, track->offset_count * sizeof(*offsets));
    uint32_t code_offset = take_u8(input) & 1;
    uint64_t count = 0;
    while (count < track->offset_count && code_offset < code_size) {
        const uint8_t choice = take_u8(input);
        offsets[count++] = (struct jitdump_offset){
            code_offset,
            choice >= 0xf0 ? JITDUMP_NONE
                           : (choice * (uint32_t)(deep ? 5 : 1)) % (uint32_t)track->position_count};
        code_offset += 1 + choice % 5;
    }
    track->offset_count = count;
    track->functions = functions;
    track->positions = positions;
    track->offsets = offsets;
    if ((bits & 0x30) == 0x30)
        spoil_track(input, track, positions, offsets);
}

static void take_unwind(struct description *description, struct input *input)
{
    static const uint32_t registers[] = {0, 1, 2, 3, 5, 6, 7, 8, 9, 12, 16, 18, 29, 30, 31, 32,
                                         40, 63, 64, 72, 95, 96, 17, UINT32_MAX};
    struct jitdump_unwind *unwind = &description->unwind;
    const uint8_t bits = take_u8(input);
    unwind->struct_size = sizeof(*unwind) + ((bits & 0xf0) == 0xf0);
    unwind->frame = bits & 1;
    unwind->step_count = take_u8(input) % 48;
    struct jitdump_unwind_step *steps = own(description, unwind->step_count * sizeof(*steps));
    uint64_t code_offset = 0;
    for (uint64_t i = 0; i < unwind->step_count; i++) {
        const uint8_t choice = take_u8(input);
        const uint8_t distance = take_u8(input);
        code_offset += distance < 0xe0 ? distance & 15 : (uint64_t)(distance & 31) << 6;
        const uint32_t op = choice % 9;
        steps[i] = (struct jitdump_unwind_step){
            .code_offset = code_offset,
            .op = op,
            .reg = registers[(choice >> 4) + (distance >> 5) % 9],
            .offset = op == JITDUMP_UNWIND_OFFSET ? -8 * (int64_t)(1 + distance % 64)
                                                  : 8 * (int64_t)(distance % 64)};
        if (choice == 0xff)
            steps[i].offset = (int64_t)take_hostile(input);
        if (choice == 0xfe)
            steps[i].code_offset = take_hostile(input);
    }
    unwind->steps = steps;
    if ((bits & 0x0e) == 0x0e) {
        unwind->steps = NULL;
        unwind->frame = (uint32_t)take_hostile(input);
    }
    description->code.unwind = unwind;
}

/* Not one that is accepted and takes seconds to copy. */
static uint64_t take_hostile_size(struct input *input)
{
    const uint64_t size = take_hostile(input);
    return size > POOL_SIZE && size <= JITDUMP_CODE_SIZE_MAX ? size + JITDUMP_CODE_SIZE_MAX : size;
}

static void take_eh_frame(struct description *description, struct input *input)
{
    struct jitdump_code *code = &description->code;
    const uint8_t bits = take_u8(input);
    if ((bits & 0x40) != 0) {
        unsigned char section[SECTION_SIZE_MAX];
        code->eh_frame_size = make_section(section, input, code);
        code->eh_frame_addr = SECTION_ADDRESS;
        unsigned char *kept = own(description, (size_t)code->eh_frame_size);
        code->eh_frame = memcpy(kept, section, (size_t)code->eh_frame_size);
        return;
    }
    code->eh_frame_size = (bits & 1) != 0 ? take_hostile_size(input) : take_u16(input) % 300;
    code->eh_frame_hdr_size = (bits & 2) != 0 ? take_hostile_size(input) : take_u8(input) % 64;
    code->eh_frame = (bits & 12) == 12 ? NULL : take_bytes(input, code->eh_frame_size);
    code->eh_frame_hdr = (bits & 48) == 48 ? NULL : take_bytes(input, code->eh_frame_hdr_size);
}

enum has { HAS_LINES = 1, HAS_TRACKS = 2, HAS_UNWIND = 4, HAS_EH_FRAME = 8, HAS_HOSTILITY = 16 };

static void take_code(struct description *description, struct input *input, uint8_t has)
{
    struct jitdump_code *code = &description->code;
    const uint8_t bits = take_u8(input);
    code->struct_size = sizeof(*code);
    code->name = take_string(description, input);
    code->code_size = (bits & 1) != 0 ? take_u16(input) : take_u8(input);
    code->code_addr = 0x10000 + (uint64_t)take_u16(input) * 16;
    if ((has & HAS_HOSTILITY) == 0) {
        if (code->name == NULL || code->name[0] == '\0')
            code->name = "sound";
        code->code_bytes = take_bytes(input, code->code_size);
        return;
    }
    if ((bits & 2) != 0)
        code->code_size = take_hostile(input);
    if ((bits & 4) != 0)
        code->code_addr = take_hostile(input);
    code->code_bytes = take_bytes(input, code->code_size);
    if ((bits & 8) != 0) {
        /* Where it will be executed. */
        code->code_addr = (uintptr_t)code->code_bytes;
        code->code_bytes = NULL;
    } else if ((bits & 16) != 0) {
        code->code_addr = 0;
        code->code_bytes = NULL;
    }
    if ((bits & 0xe0) == 0xe0)
        code->struct_size = (uint32_t)take_hostile(input);
}

void suit_struct_size(void *structure, size_t known_size, size_t minimum)
{
    unsigned char *bytes = structure;
    uint32_t size;
    memcpy(&size, bytes, sizeof(size));
    if (size >= minimum && size < known_size && size % sizeof(void *) == 0) {
        memset(bytes + size, 0, known_size - size);
    } else if (size > known_size + BEYOND_SIZE) {
        size |= 1; /* of no version: what is there must not be looked at */
        memcpy(bytes, &size, sizeof(size));
    } else if (size > known_size && size % 16 == 0) {
        bytes[size - 1] = 1;
    }
}

void describe(struct description *description, struct input *input)
{
    const uint8_t has = take_u8(input);
    *description = (struct description){.owned_count = 0};
    take_code(description, input, has);
    if ((has & HAS_LINES) != 0)
        take_lines(description, input);
    if ((has & HAS_TRACKS) != 0) {
        const uint8_t count = 1 + (has >> 7);
        for (uint8_t i = 0; i < count; i++)
            take_track(description, input, &description->tracks[i]);
        description->code.tracks = description->tracks;
        description->code.track_count = count;
        if ((has & 0x70) == 0x70)
            description->code.tracks = NULL;
    }
    if ((has & HAS_UNWIND) != 0)
        take_unwind(description, input);
    if ((has & HAS_EH_FRAME) != 0)
        take_eh_frame(description, input);
    struct jitdump_code *code = &description->code;
    if ((has & 0x60) == 0x20 && code->struct_size == sizeof(*code) && code->name != NULL && code->name[0] != '\0') {
        code->name_size = strlen(code->name);
        code->name = memcpy(own(description, (size_t)code->name_size), code->name,
                            (size_t)code->name_size);
    }
    /* The code is the first member, and must have what is in front of `lines`. */
    suit_struct_size(description, sizeof(description->code), offsetof(struct jitdump_code, lines));
}
