#include "reader/minidump.h"

enum {
    SIGNATURE = 0x504d444d, /* "MDMP" */
    SIGNATURE_SWAPPED = 0x4d444d50,
    VERSION = 0xa793, /* the low half; the other is the writer's own */

    MISC_INFO = 15,
    MEMORY_INFO_LIST = 16,
    LINUX_PROC_STATUS = 0x47670004,
    LINUX_MAPS = 0x47670009,

    MISC_INFO_HAS_PID = 1,
    MEMORY_INFO_SIZE = 48,
    MEMORY_FREE = 0x10000 /* a state */
};

static const char cut[] = "the file is shorter than its header and directory say";

/* Where a stream lies. */
struct stream {
    uint64_t entry; /* in the directory; 0: there is none */
    uint64_t offset;
    uint64_t size;
};

struct streams {
    struct stream modules;
    struct stream misc_info;
    struct stream status;
    struct stream maps;
    struct stream memory_info;
};

static struct cursor cursor_at(const struct minidump *minidump, uint64_t offset, uint64_t size)
{
    struct cursor cursor = {.at = minidump->file.data,
                            .end = minidump->file.data,
                            .base = minidump->file.data,
                            .swapped = minidump->swapped};
    if (offset > minidump->file.size || size > minidump->file.size - offset) {
        cursor_fail_at(&cursor, offset, "a stream that is not in the file");
    } else if (size > 0) {
        cursor.at += offset;
        cursor.end += offset + size;
    }
    return cursor;
}

static bool fail(struct problem *problem, uint64_t offset, const char *reason)
{
    *problem = (struct problem){offset, reason};
    return false;
}

/* The first of each type. */
static void keep(struct stream *kept, struct stream stream)
{
    if (kept->entry == 0)
        *kept = stream;
}

static bool read_directory(struct minidump *minidump, struct streams *streams,
                           struct problem *problem)
{
    struct cursor header = {.at = minidump->file.data,
                            .end = minidump->file.data,
                            .base = minidump->file.data};
    if (minidump->file.size > 0)
        header.end += minidump->file.size;
    const uint32_t signature = cursor_u32(&header, cut);
    minidump->swapped = header.swapped = signature == SIGNATURE_SWAPPED;
    if (signature != SIGNATURE && signature != SIGNATURE_SWAPPED)
        return fail(problem, 0, "no minidump");
    if ((cursor_u32(&header, cut) & 0xffff) != VERSION)
        return fail(problem, 4, "a minidump of another version");
    const uint32_t count = cursor_u32(&header, cut);
    const uint32_t offset = cursor_u32(&header, cut);
    if (header.error != NULL)
        return fail(problem, header.error_offset, header.error);
    struct cursor entries =
        cursor_at(minidump, offset, (uint64_t)count * MINIDUMP_DIRECTORY_SIZE);
    while (cursor_left(&entries) > 0) {
        struct stream stream = {.entry = cursor_offset(&entries)};
        const uint32_t type = cursor_u32(&entries, cut);
        stream.size = cursor_u32(&entries, cut);
        stream.offset = cursor_u32(&entries, cut);
        switch (type) {
        case MINIDUMP_MODULE_LIST:
            keep(&streams->modules, stream);
            break;
        case MISC_INFO:
            keep(&streams->misc_info, stream);
            break;
        case LINUX_PROC_STATUS:
            keep(&streams->status, stream);
            break;
        case LINUX_MAPS:
            keep(&streams->maps, stream);
            break;
        case MEMORY_INFO_LIST:
            keep(&streams->memory_info, stream);
            break;
        default:
            break;
        }
    }
    return entries.error == NULL || fail(problem, entries.error_offset, cut);
}

/* Behind the count some writers leave four bytes free. */
static enum minidump_error read_modules(struct minidump *minidump, struct stream stream,
                                        struct problem *problem)
{
    static const char wrong[] = "a list of modules whose size is not that of its modules";
    struct cursor list = cursor_at(minidump, stream.offset, stream.size);
    const uint64_t size = cursor_u32(&list, wrong) * (uint64_t)MINIDUMP_MODULE_SIZE;
    if (list.error == NULL && cursor_left(&list) == size + 4)
        cursor_u32(&list, wrong);
    if (list.error == NULL && cursor_left(&list) != size)
        cursor_fail(&list, wrong);
    minidump->module_entry = stream.entry;
    minidump->modules = (struct span){list.at, size};
    while (cursor_left(&list) > 0) {
        const uint64_t base = cursor_u64(&list, wrong);
        const uint32_t module_size = cursor_u32(&list, wrong);
        cursor_take(&list, MINIDUMP_MODULE_SIZE - 12, wrong);
        const uint64_t end = module_size < UINT64_MAX - base ? base + module_size : UINT64_MAX;
        if (end > base && !jd_memory_map_add(&minidump->module_ranges, base, end))
            return MINIDUMP_NO_MEMORY;
    }
    jd_memory_map_sort(&minidump->module_ranges);
    if (list.error != NULL) {
        fail(problem, list.error_offset, list.error);
        return MINIDUMP_WRONG;
    }
    return MINIDUMP_OK;
}

static enum minidump_error read_map(struct minidump *minidump, struct stream stream,
                                    struct problem *problem)
{
    const struct cursor text = cursor_at(minidump, stream.offset, stream.size);
    if (text.error != NULL) {
        fail(problem, text.error_offset, text.error);
        return MINIDUMP_WRONG;
    }
    switch (jd_memory_map_read(&minidump->map, (struct span){text.at, cursor_left(&text)},
                               problem)) {
    case MEMORY_MAP_OK:
        return MINIDUMP_OK;
    case MEMORY_MAP_NO_MEMORY:
        return MINIDUMP_NO_MEMORY;
    default:
        problem->offset += stream.offset;
        return MINIDUMP_WRONG;
    }
}

/* What Crashpad has in the place of /proc/PID/maps. */
static enum minidump_error read_memory_info(struct minidump *minidump, struct stream stream,
                                            struct problem *problem)
{
    static const char wrong[] = "a list of memory regions whose size is not that of its regions";
    struct cursor list = cursor_at(minidump, stream.offset, stream.size);
    const uint64_t start = cursor_left(&list);
    const uint32_t header_size = cursor_u32(&list, wrong);
    const uint32_t size = cursor_u32(&list, wrong);
    uint64_t count = cursor_u64(&list, wrong);
    cursor_take(&list, header_size - (start - cursor_left(&list)), wrong);
    if (size < MEMORY_INFO_SIZE)
        cursor_fail(&list, wrong);
    for (; count > 0 && list.error == NULL; count--) {
        const uint64_t begin = cursor_u64(&list, wrong);
        cursor_take(&list, 16, wrong); /* what was allocated, and how */
        const uint64_t length = cursor_u64(&list, wrong);
        const uint32_t state = cursor_u32(&list, wrong);
        cursor_take(&list, size - 36, wrong);
        if (list.error == NULL && state != MEMORY_FREE && length > 0 &&
            length <= UINT64_MAX - begin &&
            !jd_memory_map_add(&minidump->map, begin, begin + length))
            return MINIDUMP_NO_MEMORY;
    }
    jd_memory_map_sort(&minidump->map);
    if (list.error == NULL)
        return MINIDUMP_OK;
    fail(problem, list.error_offset, list.error);
    return MINIDUMP_WRONG;
}

static void add_pid(struct minidump *minidump, uint64_t pid)
{
    if (pid > 0 && pid <= UINT32_MAX && minidump->pid_count < MINIDUMP_PIDS_MAX)
        minidump->pids[minidump->pid_count++] = (uint32_t)pid;
}

/* The numbers up to the line's end. */
static void read_pids(struct minidump *minidump, struct cursor *line)
{
    uint64_t number = 0;
    bool has_digits = false;
    while (cursor_left(line) > 0) {
        const unsigned char byte = *line->at;
        if (byte >= '0' && byte <= '9' && number <= UINT32_MAX) {
            number = 10 * number + (byte - (unsigned char)'0');
            has_digits = true;
        } else {
            if (has_digits)
                add_pid(minidump, number);
            number = 0;
            has_digits = false;
            if (byte == '\n')
                return;
        }
        line->at++;
    }
    if (has_digits)
        add_pid(minidump, number);
}

static bool begins_with(const struct cursor *line, const char *text)
{
    const size_t length = strlen(text);
    return cursor_left(line) >= length && memcmp(line->at, text, length) == 0;
}

/* "Pid:" is the thread's that crashed. */
static void read_status(struct minidump *minidump, struct cursor text)
{
    while (cursor_left(&text) > 0) {
        if (begins_with(&text, "Tgid:") || begins_with(&text, "NStgid:"))
            read_pids(minidump, &text);
        while (cursor_left(&text) > 0 && *text.at++ != '\n')
            continue;
    }
}

static void read_misc_info(struct minidump *minidump, struct cursor info)
{
    static const char wrong[] = "a stream of process information that is too short";
    cursor_u32(&info, wrong); /* its size */
    const uint32_t flags = cursor_u32(&info, wrong);
    const uint32_t pid = cursor_u32(&info, wrong);
    if ((flags & MISC_INFO_HAS_PID) != 0)
        add_pid(minidump, pid);
}

static enum minidump_error read_streams(struct minidump *minidump, const struct streams *streams,
                                        struct problem *problem)
{
    if (streams->modules.entry == 0) {
        fail(problem, 0, "the minidump has no list of modules");
        return MINIDUMP_WRONG;
    }
    if (streams->maps.entry == 0 && streams->memory_info.entry == 0) {
        fail(problem, 0, "the minidump does not say what was mapped");
        return MINIDUMP_WRONG;
    }
    enum minidump_error error = read_modules(minidump, streams->modules, problem);
    if (error == MINIDUMP_OK)
        error = streams->maps.entry != 0
                    ? read_map(minidump, streams->maps, problem)
                    : read_memory_info(minidump, streams->memory_info, problem);
    if (error == MINIDUMP_OK && !jd_memory_map_subtract(&minidump->map, &minidump->module_ranges))
        error = MINIDUMP_NO_MEMORY;
    if (error != MINIDUMP_OK)
        return error;
    if (streams->status.entry != 0)
        read_status(minidump, cursor_at(minidump, streams->status.offset, streams->status.size));
    if (streams->misc_info.entry != 0)
        read_misc_info(minidump,
                       cursor_at(minidump, streams->misc_info.offset, streams->misc_info.size));
    if (minidump->pid_count > 0)
        return MINIDUMP_OK;
    fail(problem, 0, "the minidump does not say of which process it is");
    return MINIDUMP_WRONG;
}

enum minidump_error jd_minidump_read(struct minidump *minidump, struct span file,
                                     struct problem *problem)
{
    struct streams streams = {.modules = {.entry = 0}};
    *minidump = (struct minidump){.file = file};
    enum minidump_error error = MINIDUMP_WRONG;
    if (read_directory(minidump, &streams, problem))
        error = read_streams(minidump, &streams, problem);
    if (error != MINIDUMP_OK)
        jd_minidump_free(minidump);
    return error;
}

void jd_minidump_free(struct minidump *minidump)
{
    jd_memory_map_free(&minidump->module_ranges);
    jd_memory_map_free(&minidump->map);
    *minidump = (struct minidump){.pid_count = 0};
}

bool jd_minidump_has_pid(const struct minidump *minidump, uint32_t pid)
{
    for (unsigned int i = 0; i < minidump->pid_count; i++)
        if (minidump->pids[i] == pid)
            return true;
    return false;
}
