#include "reader/perf_data.h"

#include <stdlib.h>

static const char cut_off[] = "the file ends within its header";

static bool fail(struct perf_data *data, uint64_t offset, const char *reason)
{
    data->offset = offset;
    data->reason = reason;
    data->end = PERF_DATA_BROKEN;
    return false;
}

static struct cursor cursor_over(const struct perf_data *data, uint64_t offset, uint64_t size)
{
    return (struct cursor){.at = data->file.data + offset,
                           .end = data->file.data + offset + size,
                           .base = data->file.data};
}

static bool lies_in_file(const struct perf_data *data, struct perf_data_section section)
{
    return section.offset <= data->file.size && section.size <= data->file.size - section.offset;
}

/* Header */

static bool read_header(struct perf_data *data)
{
    struct perf_data_header *const header = &data->header;
    if (data->file.size < PERF_DATA_PIPE_HEADER_SIZE)
        return fail(data, 0, "no perf.data: the file is too short");
    struct cursor cursor = cursor_over(data, 0, data->file.size);
    header->magic = cursor_u64(&cursor, cut_off);
    header->size = cursor_u64(&cursor, cut_off);
    if (header->magic == PERF_DATA_MAGIC_SWAPPED)
        return fail(data, 0, "the profile is of a machine of the other byte order");
    if (header->magic != PERF_DATA_MAGIC)
        return fail(data, 0, "no perf.data: the file does not begin with PERFILE2");
    if (header->size == PERF_DATA_PIPE_HEADER_SIZE)
        return fail(data, 8, "the profile has been written to a pipe (perf record -o -)");
    if (header->size != sizeof(*header))
        return fail(data, 8, "the file's header has a size that is not known");
    header->attr_size = cursor_u64(&cursor, cut_off);
    struct perf_data_section *const sections[] = {&header->attrs, &header->data,
                                                  &header->event_types};
    for (unsigned i = 0; i < 3; i++) {
        sections[i]->offset = cursor_u64(&cursor, cut_off);
        sections[i]->size = cursor_u64(&cursor, cut_off);
    }
    for (unsigned i = 0; i < 4; i++)
        header->features[i] = cursor_u64(&cursor, cut_off);
    if (cursor.error != NULL)
        return fail(data, cursor.error_offset, cursor.error);
    if (!lies_in_file(data, header->attrs))
        return fail(data, 24, "the attributes do not lie in the file");
    if (!lies_in_file(data, header->data))
        return fail(data, 40, "the events do not lie in the file: is it cut off?");
    if (header->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(struct perf_data_section))
        return fail(data, 16, "the attributes have a size that is not known");
    return true;
}

/* Attributes */

static uint64_t attr_u64(const unsigned char *attr, uint64_t size, uint64_t offset)
{
    uint64_t value = 0;
    if (offset + sizeof(value) <= size)
        memcpy(&value, attr + offset, sizeof(value));
    return value;
}

static uint32_t attr_u32(const unsigned char *attr, uint64_t size, uint64_t offset)
{
    uint32_t value = 0;
    if (offset + sizeof(value) <= size)
        memcpy(&value, attr + offset, sizeof(value));
    return value;
}

static bool read_attr(struct perf_data *data, uint64_t offset, struct perf_attr *attr)
{
    /* Newer kernels have larger attributes; the place of the ids is at the end of each. */
    const uint64_t size = data->header.attr_size - sizeof(struct perf_data_section);
    const unsigned char *const from = data->file.data + offset;
    *attr = (struct perf_attr){
        .offset = offset,
        .type = attr_u32(from, size, PERF_ATTR_TYPE),
        .config = attr_u64(from, size, PERF_ATTR_CONFIG),
        .sample_type = attr_u64(from, size, PERF_ATTR_SAMPLE_TYPE),
        .read_format = attr_u64(from, size, PERF_ATTR_READ_FORMAT),
        .flags = attr_u64(from, size, PERF_ATTR_FLAGS),
        .branch_sample_type = attr_u64(from, size, PERF_ATTR_BRANCH_SAMPLE_TYPE),
        .sample_regs_user = attr_u64(from, size, PERF_ATTR_SAMPLE_REGS_USER),
        .sample_stack_user = attr_u32(from, size, PERF_ATTR_SAMPLE_STACK_USER),
        .clockid = (int32_t)attr_u32(from, size, PERF_ATTR_CLOCKID),
    };
    struct perf_data_section ids;
    memcpy(&ids, from + size, sizeof(ids));
    if (!lies_in_file(data, ids))
        return fail(data, offset + size, "the ids of an attribute do not lie in the file");
    attr->ids = (struct span){data->file.data + ids.offset, ids.size};
    return true;
}

static enum perf_data_error read_attrs(struct perf_data *data)
{
    const uint64_t count = data->header.attrs.size / data->header.attr_size;
    if (count == 0 || count > UINT32_MAX) {
        fail(data, 24, "the profile has no attributes");
        return PERF_DATA_NOT_READABLE;
    }
    data->attrs = calloc((size_t)count, sizeof(*data->attrs));
    if (data->attrs == NULL)
        return PERF_DATA_NO_MEMORY;
    data->attr_count = (uint32_t)count;
    for (uint32_t i = 0; i < data->attr_count; i++)
        if (!read_attr(data, data->header.attrs.offset + i * data->header.attr_size,
                       &data->attrs[i]))
            return PERF_DATA_NOT_READABLE;
    return PERF_DATA_OK;
}

enum perf_data_error jd_perf_data_init(struct perf_data *data, struct span file)
{
    *data = (struct perf_data){.file = file};
    if (!read_header(data))
        return PERF_DATA_NOT_READABLE;
    const enum perf_data_error error = read_attrs(data);
    if (error == PERF_DATA_OK)
        jd_perf_data_rewind(data);
    return error;
}

void jd_perf_data_free(struct perf_data *data)
{
    free(data->attrs);
    data->attrs = NULL;
    data->attr_count = 0;
}

void jd_perf_data_rewind(struct perf_data *data)
{
    data->offset = data->header.data.offset;
    data->data_end = data->header.data.size != 0 ? data->offset + data->header.data.size
                                                 : data->file.size;
    data->end = PERF_DATA_GOES_ON;
}

/* Events */

bool jd_perf_data_next(struct perf_data *data, struct perf_event *event)
{
    if (data->end != PERF_DATA_GOES_ON)
        return false;
    const uint64_t left = data->data_end - data->offset;
    if (left == 0) {
        data->end = PERF_DATA_ENDS;
        return false;
    }
    struct perf_event_header header;
    if (left < sizeof(header))
        return fail(data, data->offset, "the events end within the header of one");
    memcpy(&header, data->file.data + data->offset, sizeof(header));
    if (header.size < sizeof(header))
        return fail(data, data->offset, "an event is smaller than its header");
    if (header.size > left)
        return fail(data, data->offset, "the events end within one");
    *event = (struct perf_event){
        .offset = data->offset,
        .type = header.type,
        .misc = header.misc,
        .size = header.size,
        .payload = {data->file.data + data->offset + sizeof(header), header.size - sizeof(header)},
    };
    if (header.type == PERF_EVENT_AUXTRACE) {
        uint64_t trace = 0;
        if (event->payload.size >= sizeof(trace))
            memcpy(&trace, event->payload.data, sizeof(trace));
        if (trace > left - header.size)
            return fail(data, data->offset, "the events end within an AUX trace");
        event->size += trace;
    }
    if (header.type == PERF_EVENT_TRACING_DATA) { /* only in what went through a pipe */
        uint32_t behind = 0;
        if (event->payload.size >= sizeof(behind))
            memcpy(&behind, event->payload.data, sizeof(behind));
        const uint64_t padded = ((uint64_t)behind + 7) / 8 * 8;
        if (padded > left - header.size)
            return fail(data, data->offset, "the events end within the description of tracepoints");
        event->size += padded;
    }
    data->offset += event->size;
    return true;
}

struct cursor jd_perf_event_cursor(const struct perf_data *data, const struct perf_event *event)
{
    return (struct cursor){.at = event->payload.data,
                           .end = event->payload.data + event->payload.size,
                           .base = data->file.data};
}

/* Where the id lies: in a sample from its start, in other events of the kernel from their end. */

static bool sample_id(const struct perf_attr *attr, const struct perf_event *event, uint64_t *id)
{
    const uint64_t type = attr->sample_type;
    uint64_t at = 0;
    if ((type & PERF_SAMPLE_IDENTIFIER) == 0) {
        if ((type & PERF_SAMPLE_ID) == 0)
            return false;
        const uint64_t before[] = {PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
                                   PERF_SAMPLE_ADDR};
        for (unsigned i = 0; i < 4; i++)
            at += (type & before[i]) != 0 ? 8 : 0;
    }
    if (at + sizeof(*id) > event->payload.size)
        return false;
    memcpy(id, event->payload.data + at, sizeof(*id));
    return true;
}

static bool trailer_id(const struct perf_attr *attr, const struct perf_event *event, uint64_t *id)
{
    const uint64_t type = attr->sample_type;
    uint64_t back = 8;
    if ((type & PERF_SAMPLE_IDENTIFIER) == 0) {
        if ((type & PERF_SAMPLE_ID) == 0)
            return false;
        back += (type & PERF_SAMPLE_CPU) != 0 ? 8 : 0;
        back += (type & PERF_SAMPLE_STREAM_ID) != 0 ? 8 : 0;
    }
    if (back > event->payload.size)
        return false;
    memcpy(id, event->payload.data + event->payload.size - back, sizeof(*id));
    return true;
}

static bool has_id(const struct perf_attr *attr, uint64_t id)
{
    for (uint64_t at = 0; at + sizeof(id) <= attr->ids.size; at += sizeof(id))
        if (memcmp(attr->ids.data + at, &id, sizeof(id)) == 0)
            return true;
    return false;
}

const struct perf_attr *jd_perf_data_attr(const struct perf_data *data,
                                          const struct perf_event *event)
{
    /* perf makes the attributes such that the id lies at the same place for all. */
    const struct perf_attr *const first = &data->attrs[0];
    uint64_t id = 0;
    if (data->attr_count == 1)
        return first;
    if (event->type == PERF_EVENT_SAMPLE ? !sample_id(first, event, &id)
                                         : !trailer_id(first, event, &id))
        return first;
    if (id == 0)
        return first; /* what perf has made up itself: the processes that ran already */
    for (uint32_t i = 0; i < data->attr_count; i++)
        if (has_id(&data->attrs[i], id))
            return &data->attrs[i];
    return NULL;
}
