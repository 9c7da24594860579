#include "reader/perf_event.h"

static const char too_short[] = "the event is too short for what it has to have";

/* True if all was there. */
static bool done(const struct cursor *cursor, struct problem *problem)
{
    if (cursor->error == NULL)
        return true;
    *problem = (struct problem){cursor->error_offset, cursor->error};
    return false;
}

static uint64_t if_recorded(struct cursor *cursor, const struct perf_attr *attr,
                            enum perf_sample_type what)
{
    return (attr->sample_type & (uint64_t)what) != 0 ? cursor_u64(cursor, too_short) : 0;
}

/* Reads the trailer and cuts it off the cursor's end, so that a string in front of it ends in
 * time. */
static void take_trailer(struct cursor *cursor, const struct perf_attr *attr,
                         struct perf_event_stamp *stamp)
{
    *stamp = (struct perf_event_stamp){.time = UINT64_MAX};
    if (attr == NULL || (attr->flags & PERF_ATTR_SAMPLE_ID_ALL) == 0)
        return;
    const uint64_t type = attr->sample_type;
    const uint64_t fields[] = {PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
                               PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,  PERF_SAMPLE_IDENTIFIER};
    uint64_t size = 0;
    for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        size += (type & fields[i]) != 0 ? 8 : 0;
    if (size > cursor_left(cursor)) {
        cursor_fail(cursor, too_short);
        return;
    }
    struct cursor trailer = *cursor;
    cursor->end -= size;
    trailer.at = cursor->end;
    if ((type & PERF_SAMPLE_TID) != 0) {
        stamp->pid = cursor_u32(&trailer, too_short);
        stamp->tid = cursor_u32(&trailer, too_short);
    }
    if ((type & PERF_SAMPLE_TIME) != 0)
        stamp->time = cursor_u64(&trailer, too_short);
}

static struct cursor begin(const struct perf_data *data, const struct perf_event *event,
                           struct perf_event_stamp *stamp)
{
    struct cursor cursor = jd_perf_event_cursor(data, event);
    take_trailer(&cursor, jd_perf_data_attr(data, event), stamp);
    return cursor;
}

/* Of a sample, in which it lies at its beginning. */
static uint64_t sample_time(const struct perf_data *data, const struct perf_event *event)
{
    const struct perf_attr *const attr = jd_perf_data_attr(data, event);
    if (attr == NULL || (attr->sample_type & PERF_SAMPLE_TIME) == 0)
        return UINT64_MAX;
    struct cursor cursor = jd_perf_event_cursor(data, event);
    if_recorded(&cursor, attr, PERF_SAMPLE_IDENTIFIER);
    if_recorded(&cursor, attr, PERF_SAMPLE_IP);
    if_recorded(&cursor, attr, PERF_SAMPLE_TID);
    const uint64_t time = cursor_u64(&cursor, too_short);
    return cursor.error == NULL ? time : UINT64_MAX;
}

uint64_t jd_perf_event_time(const struct perf_data *data, const struct perf_event *event)
{
    struct perf_event_stamp stamp;
    if (event->type == PERF_EVENT_SAMPLE)
        return sample_time(data, event);
    if (event->type >= PERF_EVENT_USER)
        return UINT64_MAX;
    begin(data, event, &stamp);
    return stamp.time;
}

bool jd_perf_mapping(const struct perf_data *data, const struct perf_event *event,
                     struct perf_mapping *mapping, struct problem *problem)
{
    struct cursor cursor = begin(data, event, &mapping->stamp);
    mapping->pid = cursor_u32(&cursor, too_short);
    mapping->tid = cursor_u32(&cursor, too_short);
    mapping->address = cursor_u64(&cursor, too_short);
    mapping->size = cursor_u64(&cursor, too_short);
    mapping->file_offset = cursor_u64(&cursor, too_short);
    mapping->executable = (event->misc & PERF_MISC_MMAP_DATA) == 0;
    mapping->file = (struct perf_file_id){0};
    if (event->type == PERF_EVENT_MMAP2) {
        mapping->file.major = cursor_u32(&cursor, too_short);
        mapping->file.minor = cursor_u32(&cursor, too_short);
        mapping->file.inode = cursor_u64(&cursor, too_short);
        cursor_u64(&cursor, too_short); /* the inode's generation */
        if ((event->misc & PERF_MISC_MMAP_BUILD_ID) != 0)
            mapping->file = (struct perf_file_id){0}; /* in its place */
        const uint32_t protection = cursor_u32(&cursor, too_short);
        cursor_u32(&cursor, too_short); /* flags */
        mapping->executable = (protection & 4) != 0; /* PROT_EXEC */
    }
    mapping->name = cursor_string(&cursor, "the name of a mapping has no end");
    return done(&cursor, problem);
}

bool jd_perf_task(const struct perf_data *data, const struct perf_event *event,
                  struct perf_task *task, struct problem *problem)
{
    struct cursor cursor = begin(data, event, &task->stamp);
    task->pid = cursor_u32(&cursor, too_short);
    task->parent_pid = cursor_u32(&cursor, too_short);
    task->tid = cursor_u32(&cursor, too_short);
    task->parent_tid = cursor_u32(&cursor, too_short);
    const uint64_t time = cursor_u64(&cursor, too_short);
    if (task->stamp.time == UINT64_MAX)
        task->stamp.time = time;
    return done(&cursor, problem);
}

/* PERF_SAMPLE_READ: counters, which are not used. */
static void skip_counters(struct cursor *cursor, const struct perf_attr *attr)
{
    const uint64_t format = attr->read_format;
    const bool group = (format & PERF_READ_GROUP) != 0;
    const uint64_t count = group ? cursor_u64(cursor, too_short) : 1;
    const uint64_t each = 8 * (UINT64_C(1) + ((format & PERF_READ_ID) != 0) +
                               ((format & PERF_READ_LOST) != 0));
    const uint64_t times = 8 * ((uint64_t)((format & PERF_READ_TOTAL_TIME_ENABLED) != 0) +
                                ((format & PERF_READ_TOTAL_TIME_RUNNING) != 0));
    if (count > cursor_left(cursor) / each)
        cursor_fail(cursor, too_short);
    else
        cursor_take(cursor, count * each + times, too_short);
}

static void skip_branches(struct cursor *cursor, const struct perf_attr *attr)
{
    const uint64_t count = cursor_u64(cursor, too_short);
    if ((attr->branch_sample_type & PERF_BRANCH_HW_INDEX) != 0)
        cursor_u64(cursor, too_short);
    const uint64_t each = (attr->branch_sample_type & PERF_BRANCH_COUNTERS) != 0 ? 32 : 24;
    if (count > cursor_left(cursor) / each)
        cursor_fail(cursor, too_short);
    else
        cursor_take(cursor, count * each, too_short);
}

/* False: they are of a kind that is not known, and so is where they end. */
static bool take_registers(struct cursor *cursor, const struct perf_attr *attr,
                           struct perf_sample *sample)
{
    const uint64_t size = 8 * (uint64_t)__builtin_popcountll(attr->sample_regs_user);
    const uint64_t kind = cursor_u64(cursor, too_short);
    if (kind != 0)
        sample->registers = (struct span){cursor_take(cursor, size, too_short), size};
    return kind <= PERF_REGISTERS_64;
}

static void take_chain(struct cursor *cursor, struct perf_sample *sample)
{
    const uint64_t count = cursor_u64(cursor, too_short);
    if (count > cursor_left(cursor) / 8)
        cursor_fail(cursor, "a call chain is longer than its sample");
    else
        sample->chain = (struct span){cursor_take(cursor, count * 8, too_short), count * 8};
}

/* How much was copied: the stack may be shorter than what was asked for. */
static void take_stack(struct cursor *cursor, struct perf_sample *sample)
{
    const uint64_t room = cursor_u64(cursor, too_short);
    if (room == 0)
        return;
    sample->has_stack = true;
    const unsigned char *const bytes = cursor_take(cursor, room, too_short);
    const uint64_t size = cursor_u64(cursor, too_short);
    sample->stack = (struct span){bytes, size < room ? size : room};
}

bool jd_perf_sample(const struct perf_data *data, const struct perf_event *event,
                    struct perf_sample *sample, struct problem *problem)
{
    const struct perf_attr *const attr = jd_perf_data_attr(data, event);
    if (attr == NULL) {
        *problem = (struct problem){event->offset,
                                               "a sample belongs to no event of the profile"};
        return false;
    }
    struct cursor cursor = jd_perf_event_cursor(data, event);
    *sample = (struct perf_sample){
        .user = (event->misc & PERF_MISC_CPUMODE) == PERF_MISC_USER,
        .stamp = {.time = UINT64_MAX},
    };
    const uint64_t type = attr->sample_type;
    if_recorded(&cursor, attr, PERF_SAMPLE_IDENTIFIER);
    sample->ip = if_recorded(&cursor, attr, PERF_SAMPLE_IP);
    if ((type & PERF_SAMPLE_TID) != 0) {
        sample->stamp.pid = cursor_u32(&cursor, too_short);
        sample->stamp.tid = cursor_u32(&cursor, too_short);
    }
    if ((type & PERF_SAMPLE_TIME) != 0)
        sample->stamp.time = cursor_u64(&cursor, too_short);
    if_recorded(&cursor, attr, PERF_SAMPLE_ADDR);
    if_recorded(&cursor, attr, PERF_SAMPLE_ID);
    if_recorded(&cursor, attr, PERF_SAMPLE_STREAM_ID);
    if_recorded(&cursor, attr, PERF_SAMPLE_CPU);
    if_recorded(&cursor, attr, PERF_SAMPLE_PERIOD);
    if ((type & PERF_SAMPLE_READ) != 0)
        skip_counters(&cursor, attr);
    if ((type & PERF_SAMPLE_CALLCHAIN) != 0)
        take_chain(&cursor, sample);
    if ((type & PERF_SAMPLE_RAW) != 0)
        cursor_take(&cursor, cursor_u32(&cursor, too_short), too_short);
    if ((type & PERF_SAMPLE_BRANCH_STACK) != 0)
        skip_branches(&cursor, attr);
    const bool goes_on = (type & PERF_SAMPLE_REGS_USER) == 0 || take_registers(&cursor, attr, sample);
    if ((type & PERF_SAMPLE_STACK_USER) != 0 && goes_on)
        take_stack(&cursor, sample);
    return done(&cursor, problem);
}

bool jd_perf_deferred_chain(const struct perf_data *data, const struct perf_event *event,
                            struct perf_sample *sample, struct problem *problem)
{
    *sample = (struct perf_sample){.user = true};
    struct cursor cursor = begin(data, event, &sample->stamp);
    cursor_u64(&cursor, too_short); /* by which the samples are found */
    take_chain(&cursor, sample);
    return done(&cursor, problem);
}

struct perf_conversion jd_perf_conversion(const struct perf_data *data,
                                          const struct perf_event *event)
{
    struct cursor cursor = jd_perf_event_cursor(data, event);
    struct perf_conversion conversion = {.shift = cursor_u64(&cursor, too_short)};
    conversion.mult = cursor_u64(&cursor, too_short);
    conversion.zero = cursor_u64(&cursor, too_short);
    conversion.known = cursor.error == NULL && conversion.shift < 64;
    return conversion;
}

uint64_t jd_perf_convert(const struct perf_conversion *conversion, uint64_t cycles)
{
    const uint64_t quotient = cycles >> conversion->shift;
    const uint64_t remainder = cycles & ((UINT64_C(1) << conversion->shift) - 1);
    return conversion->zero + quotient * conversion->mult +
           (remainder * conversion->mult >> conversion->shift);
}

static bool begins_with(struct span name, const char *text)
{
    const size_t size = strlen(text);
    return name.size >= size && memcmp(name.data, text, size) == 0;
}

bool jd_perf_is_anonymous(struct span name)
{
    return begins_with(name, "//anon") || begins_with(name, "[anon:") ||
           begins_with(name, "/memfd:");
}

bool jd_perf_has_perf_map(struct span name)
{
    return begins_with(name, "//anon") || begins_with(name, "/dev/zero") ||
           begins_with(name, "/anon_hugepage") || begins_with(name, "/SYSV") ||
           begins_with(name, "[heap]") || begins_with(name, "[stack");
}
