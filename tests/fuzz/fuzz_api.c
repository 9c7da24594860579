/*
 * Calls of the whole API, in any order and with hostile arguments, on a system that fails. Each
 * call returns what it may, each file holds what was accepted, and in the end nothing is left.
 */
#define _GNU_SOURCE
#include "asked.h"
#include "directories.h"
#include "faults.h"
#include "model.h"
#include "options.h"
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS_MAX 60
#define MANY_MAX 9
#define MARK_ERRNO 4321

const char *target_output;

static struct model models[DUMPS];
static struct description descriptions[CALLS_MAX];
static uint32_t description_count;

/* The library's `call`, which leaves errno alone. */
#define CALL(result, call)                                                                         \
    do {                                                                                           \
        errno = MARK_ERRNO;                                                                        \
        faults_enter();                                                                            \
        result = call;                                                                             \
        faults_leave();                                                                            \
        expect("errno", (uint64_t)errno, MARK_ERRNO);                                              \
        if (result > 0 || result < JITDUMP_ERROR_UNSUPPORTED)                                         \
            wrong("result", (uint64_t)-(int64_t)result, 0);                                        \
    } while (0)

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    describe_init();
    directories_make();
    return 0;
}

/* The memory of strings and arrays lives until the input's end. */
static struct description *new_description(void)
{
    return &descriptions[description_count++];
}

static void open_dump(struct input *input, int which)
{
    struct model *model = &models[which];
    struct {
        struct jitdump_options options;
        unsigned char beyond[BEYOND_SIZE];
    } given = {.options = take_options(input, new_description())};
    struct jitdump_options options = given.options;
    options.directory = take_directory(input, directories[which]);
    const size_t message_size = take_u8(input);
    char *message = malloc(message_size + 1);
    memset(message, 'x', message_size + 1);
    options.error_message = message;
    options.error_message_size = message_size;
    given.options = options;
    suit_struct_size(&given, sizeof(options), offsetof(struct jitdump_options, flush_bytes));
    options = given.options;
    struct jitdump *dump = (struct jitdump *)(uintptr_t)1;
    int result;
    /* A second one at the same place is refused, where files can be locked. */
    if (model->dump != NULL && model->has_file && faults_possible(FAULT_FLOCK)) {
        free(message);
        return;
    }
    CALL(result, jitdump_open(&dump, &given.options));
    if (message[message_size] != 'x' ||
        (options.error_message_size != 0 && result != JITDUMP_ERROR_STRUCT_SIZE &&
         memchr(message, '\0', message_size) == NULL))
        wrong("message", 0, 1);
    if (result == 0 && options.error_message_size > 1)
        expect("a warning", message[0] != '\0', options.dialect == JITDUMP_DIALECT_SAMPLY_2023);
    free(message);
    options.error_message = NULL;
    if (result == 0 && options.directory == directories[which] && model->dump == NULL) {
        model_open(model, dump, &options, directories[which]);
    } else if (result == 0) {
        if (options.directory == directories[which] && model->has_file)
            wrong("a second dump of one name", 1, 0);
        CALL(result, jitdump_close(dump));
    } else {
        expect("handle after an error", (uintptr_t)dump, 0);
    }
}

/* The process has one at most that is shared. */
static bool is_shared(const struct model *model)
{
    return model->dump != NULL && (model->options.flags & JITDUMP_SHARED) != 0;
}

static void open_as_asked(struct input *input, int which)
{
    static char text[ASKED_SIZE];
    struct model *model = &models[which];
    char message[100] = "";
    struct jitdump_options defaults = take_options(input, new_description());
    defaults.struct_size = sizeof(defaults);
    defaults.directory = directories[which];
    defaults.error_message = message;
    defaults.error_message_size = sizeof(message);
    struct jitdump_options options = defaults;
    const enum asked asked = take_asked(input, directories[which], text, &options);
    if (is_shared(&models[0]) || is_shared(&models[1]) || model->dump != NULL)
        return;
    struct jitdump *dump = (struct jitdump *)(uintptr_t)1;
    int result;
    setenv("JITDUMP", text, 1);
    CALL(result, jitdump_open_from_environment(&dump, &defaults));
    unsetenv("JITDUMP");
    if (asked == ASKED_NOTHING)
        expect("result where nobody asked", (uint64_t)-(int64_t)result, 0);
    if (asked == ASKED_WRONGLY)
        expect("result of a bad word", (uint64_t)-(int64_t)result,
               (uint64_t)-JITDUMP_ERROR_ENVIRONMENT);
    if (asked == ASKED_DUMP && result == JITDUMP_ERROR_ENVIRONMENT)
        wrong("result of good words", (uint64_t)-JITDUMP_ERROR_ENVIRONMENT, 0);
    expect("a handle", dump != NULL, result == 0 && asked == ASKED_DUMP);
    if (result != 0 && message[0] == '\0')
        wrong("no message of an error", 0, 1);
    options.error_message = NULL;
    if (dump != NULL)
        model_open(model, dump, &options, directories[which]);
}

static void give_tier(struct input *input, const struct model *model, struct item *item,
                      struct jitdump_code *code)
{
    const uint8_t tier = take_u8(input);
    if (model->tier_count != 0 && tier != 0)
        item->tier = model->tiers[tier % model->tier_count];
    code->tier = tier == 255 ? model->tier_count + 1 : item->tier.number;
}

static void load(struct input *input, struct model *model)
{
    struct description *description = new_description();
    describe(description, input);
    struct item item = {.kind = ITEM_LOAD, .code = &description->code};
    give_tier(input, model, &item, &description->code);
    int result;
    item.code_index = 1;
    CALL(result, jitdump_load(model->dump, &description->code, &item.code_index));
    if ((result == 0) != (item.code_index != 0) && model->dump != NULL)
        wrong("code_index", item.code_index, 0);
    if (model->dump != NULL)
        model_appended(model, &item, result);
}

/* Of one size, that of the first: what others say of theirs may be wrong. */
static void suit_array(struct jitdump_code *code, uint32_t i)
{
    if (i == 0 || code->struct_size < sizeof(*code) || code->struct_size > sizeof(*code) + BEYOND_SIZE)
        code->struct_size = sizeof(*code);
}

static void load_many(struct input *input, struct model *model)
{
    struct jitdump_code codes[MANY_MAX];
    struct item items[MANY_MAX];
    uint64_t indices[MANY_MAX];
    const uint8_t bits = take_u8(input);
    const uint32_t count = (bits & 63) % (MANY_MAX + 1);
    if (description_count + count > CALLS_MAX - 2)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct description *description = new_description();
        struct jitdump_code *code = &description->code;
        describe(description, input);
        items[i] = (struct item){.kind = ITEM_LOAD, .code = code};
        give_tier(input, model, &items[i], code);
        suit_array(code, i);
        /* The section of a module, and the part of it that they all come from. */
        if (i != 0 && (bits & 0x40) != 0) {
            code->unwind = NULL;
            code->eh_frame = codes[0].eh_frame;
            code->eh_frame_size = codes[0].eh_frame_size;
            code->eh_frame_addr = codes[0].eh_frame_addr;
            code->eh_frame_hdr = codes[0].eh_frame_hdr;
            code->eh_frame_hdr_size = codes[0].eh_frame_hdr_size;
            if ((bits & 0x80) != 0 && code->code_bytes != NULL)
                code->code_addr = codes[0].code_addr + i;
        }
        codes[i] = *code;
        indices[i] = 1;
    }
    int result;
    CALL(result, jitdump_load_many(model->dump, codes, count, indices));
    bool all = true;
    for (uint32_t i = 0; i < count; i++) {
        if (indices[i] != 0 && codes[i].struct_size != sizeof(codes[i]))
            wrong("struct_size of an element", codes[i].struct_size, sizeof(codes[i]));
        if (indices[i] != 0 && model->dump != NULL) {
            items[i].code_index = indices[i];
            model_appended(model, &items[i], 0);
        }
        all = all && indices[i] != 0;
    }
    if (model->dump == NULL)
        return;
    if (count != 0)
        expect("all are loaded", all, result == 0);
    if (result != 0)
        model_batch(model, result);
}

/* Of a function that was loaded, or of none. */
static void move(struct input *input, struct model *model)
{
    const uint8_t choice = take_u8(input);
    struct item item = {.kind = ITEM_MOVE, .new_code_addr = (uint64_t)take_u16(input) << 12};
    for (uint32_t i = 0; i < model->count; i++)
        if (model->items[i].kind == ITEM_LOAD && (i & 7) == (choice & 7)) {
            item.code_index = model->items[i].code_index;
            item.old_code_addr = model->items[i].code->code_addr;
            item.code_size = model->items[i].code->code_size;
        }
    if (choice >= 0xe0) {
        uint64_t *const fields[] = {&item.code_index, &item.old_code_addr, &item.new_code_addr,
                                    &item.code_size};
        *fields[choice & 3] = take_hostile(input);
    }
    int result;
    CALL(result, jitdump_move(model->dump, item.code_index, item.old_code_addr,
                              item.new_code_addr, item.code_size));
    if (model->dump != NULL)
        model_appended(model, &item, result);
}

static void append_raw(struct input *input, struct model *model)
{
    const uint8_t choice = take_u8(input);
    struct item item = {.kind = ITEM_RAW, .id = choice & 15};
    item.size = choice >= 0xc0 ? take_hostile(input) : take_u16(input) % 6000;
    /* Not those of samply's that belong to a function: this is none. */
    if (choice >= 0xf0)
        item.id = (uint32_t)take_hostile(input);
    if (item.size > JITDUMP_CODE_SIZE_MAX && item.size <= UINT32_MAX)
        item.size = UINT32_MAX; /* more than take_bytes() has, and refused */
    item.bytes = (choice & 0x30) == 0x30 ? NULL : take_bytes(input, item.size);
    int result;
    CALL(result, jitdump_append_raw(model->dump, item.id, item.bytes, item.size));
    if (model->dump != NULL)
        model_appended(model, &item, result);
}

static void embed_source(struct input *input, struct model *model)
{
    struct description *strings = new_description();
    const char *path = take_string(strings, input);
    const uint8_t choice = take_u8(input);
    uint64_t size = take_u16(input) % 9000;
    if (choice >= 0xf0)
        size = POOL_SIZE - choice;
    if (choice == 0xff)
        size = UINT64_C(1) + UINT32_MAX + take_hostile(input) % INT64_MAX;
    const void *text = choice % 16 == 15 && size <= POOL_SIZE ? NULL : take_bytes(input, size);
    if (size > UINT32_MAX)
        text = ""; /* not looked at */
    int result;
    if (model->source_count == SOURCES_MAX)
        return;
    CALL(result, jitdump_embed_source(model->dump, path, text, size));
    if (model->dump != NULL)
        model_embedded(model, path, text, size, result);
}

static void add_tier(struct input *input, struct model *model)
{
    struct description *strings = new_description();
    const char *name = take_string(strings, input), *prefix = take_string(strings, input);
    const uint8_t color = take_u8(input);
    uint32_t tier = 77;
    int result;
    CALL(result, jitdump_add_tier(model->dump, name, color % 17, prefix,
                                  color < 250 ? &tier : NULL));
    if (model->dump != NULL)
        model_appended(model, NULL, result);
    if (model->dump != NULL && (result == 0 || result == JITDUMP_ERROR_TIER_DIALECT))
        expect("a tier of which nothing could come", result == 0,
               (prefix != NULL && prefix[0] != '\0') ||
                   (model->options.flags & JITDUMP_TIER_RECORDS) != 0);
    if (result != 0 || model->dump == NULL || color >= 250)
        return;
    if (tier == 0 || model->tier_count == JITDUMP_TIERS_MAX)
        wrong("tier", tier, model->tier_count + 1);
    model->tiers[model->tier_count++] =
        (struct tier_facts){tier, color % 17, name, prefix != NULL ? prefix : ""};
}

static void flush(struct model *model, bool from_signal)
{
    int result;
    if (from_signal)
        CALL(result, jitdump_flush_from_signal(model->dump));
    else
        CALL(result, jitdump_flush(model->dump));
    if (model->dump == NULL)
        return;
    model_flushed(model, result);
    /* Not while the library's thread is in the midst of a write. */
    if (result == 0 || model->options.flush_mode != JITDUMP_FLUSH_BACKGROUND)
        model_check_open(model);
}

static void close_dump(struct model *model)
{
    int result;
    CALL(result, jitdump_close(model->dump));
    if (model->dump != NULL)
        model_check_closed(model, result);
    model->dump = NULL;
    model->has_file = false;
    model->tier_count = model->count = 0;
}

/* A thread of the library would be the child's too, and write on for the parent. */
static void fork_process(void)
{
    for (int i = 0; i < DUMPS; i++)
        if (models[i].dump != NULL && models[i].options.flush_mode == JITDUMP_FLUSH_BACKGROUND)
            return;
    faults_enter();
    faults_fork();
    faults_leave();
    for (int i = 0; i < DUMPS; i++)
        if (models[i].dump != NULL)
            model_forked(&models[i]);
}

static void arm_fault(struct input *input)
{
    static const int errors[] = {ENOSPC, EIO, EINTR, EDQUOT, EFBIG, ENOMEM, EMFILE, EACCES,
                                 EPERM, EAGAIN, ENFILE, EROFS};
    const uint8_t kind = take_u8(input), error = take_u8(input), times = take_u8(input);
    /* Interrupted for ever is a hang by rights. */
    faults_arm((enum fault)(kind % FAULT_KINDS), kind / FAULT_KINDS % 8, times % 16,
               errors[error % (sizeof(errors) / sizeof(errors[0]))], take_u16(input));
}

/* What is told without a dump, and arguments that are missing. */
static void ask(struct input *input, struct model *model)
{
    uint64_t size = 77;
    struct description *description = new_description();
    describe(description, input);
    int result;
    CALL(result, jitdump_unwind_size(model->dump, &description->code, &size));
    if (result != 0)
        expect("size after an error", size, 0);
    CALL(result, jitdump_unwind_size(model->dump, NULL, NULL));
    CALL(result, jitdump_open(NULL, NULL));
    expect("open without a place for the handle", (uint64_t)-(int64_t)result,
           (uint64_t)-JITDUMP_ERROR_ARGUMENT);
    if (jitdump_strerror((int)take_hostile(input))[0] == '\0')
        wrong("strerror", 0, 1);
    if (model->dump == NULL)
        return;
    CALL(result, jitdump_load(model->dump, NULL, NULL));
    if (result == 0)
        wrong("load of nothing", 0, 1);
    if (result != JITDUMP_ERROR_ARGUMENT)
        model_appended(model, NULL, result);
    if (result != JITDUMP_ERROR_ARGUMENT && model->sticky == 0)
        wrong("load of nothing", (uint64_t)-(int64_t)result, 1);
}

static void call(struct input *input)
{
    const uint8_t choice = take_u8(input);
    const int which = choice >> 7;
    struct model *model = &models[which];
    switch (choice & 15) {
    case 0:
        open_dump(input, which);
        return;
    case 1:
        move(input, model);
        return;
    case 2:
        append_raw(input, model);
        return;
    case 3:
        embed_source(input, model);
        return;
    case 4:
        add_tier(input, model);
        return;
    case 5:
        flush(model, false);
        return;
    case 6:
        flush(model, true);
        return;
    case 7:
        close_dump(model);
        return;
    case 8:
        fork_process();
        return;
    case 9:
        arm_fault(input);
        return;
    case 10:
        ask(input, model);
        return;
    case 11:
        faults_limit_file_size(take_u16(input));
        return;
    case 12:
        load_many(input, model);
        return;
    case 13:
        open_as_asked(input, which);
        return;
    default:
        load(input, model);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input input = {bytes, size};
    description_count = 0;
    memset(descriptions, 0, sizeof(descriptions));
    faults_reset();
    open_dump(&input, 0);
    /* Each call takes a description at most. */
    while (input.left != 0 && description_count < CALLS_MAX - 2)
        call(&input);
    for (int i = 0; i < DUMPS; i++)
        close_dump(&models[i]);
    expect("descriptors", (uint64_t)faults_descriptors(), 0);
    expect("mappings", (uint64_t)faults_mappings(), 0);
    directories_empty();
    for (uint32_t i = 0; i < description_count; i++)
        describe_end(&descriptions[i]);
    return 0;
}
