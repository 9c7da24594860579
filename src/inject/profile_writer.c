#include "inject/profile_writer.h"

#include "reader/perf_event.h"
#include "writers/file_writer.h"

#include <errno.h>

enum { PROT_READ_EXEC = 5, MAP_IS_PRIVATE = 2, EVENT_MAX = 8192 };

struct rewriting {
    struct perf_data *data;
    struct file_writer file;
    uint64_t offset; /* in the new file */
    const struct profile_mapping *mappings;
    uint64_t mapping_count;
    const uint64_t *dropped;
    uint64_t dropped_count;
};

static void put(struct rewriting *rewriting, const void *bytes, uint64_t size)
{
    file_writer_put(&rewriting->file, rewriting->offset, bytes, (size_t)size);
    rewriting->offset += size;
}

/* Events of our own */

struct event_bytes {
    unsigned char bytes[EVENT_MAX];
    size_t size;
};

static void event_u32(struct event_bytes *event, uint32_t value)
{
    memcpy(event->bytes + event->size, &value, sizeof(value));
    event->size += sizeof(value);
}

static void event_u64(struct event_bytes *event, uint64_t value)
{
    memcpy(event->bytes + event->size, &value, sizeof(value));
    event->size += sizeof(value);
}

/* As PERF_ATTR_SAMPLE_ID_ALL asks for it. An id of 0 is what perf takes for its own events. */
static void event_trailer(struct event_bytes *event, const struct perf_attr *attr,
                          const struct profile_mapping *mapping)
{
    static const enum perf_sample_type others[] = {PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
                                                   PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};
    if ((attr->flags & PERF_ATTR_SAMPLE_ID_ALL) == 0)
        return;
    if ((attr->sample_type & PERF_SAMPLE_TID) != 0) {
        event_u32(event, mapping->pid);
        event_u32(event, mapping->pid);
    }
    if ((attr->sample_type & PERF_SAMPLE_TIME) != 0)
        event_u64(event, mapping->time);
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if ((attr->sample_type & (uint64_t)others[i]) != 0)
            event_u64(event, 0);
}

static void put_mapping(struct rewriting *rewriting, const struct profile_mapping *mapping)
{
    struct event_bytes event = {.size = sizeof(struct perf_event_header)};
    const size_t path_size = strlen(mapping->path) + 1;
    event_u32(&event, mapping->pid);
    event_u32(&event, mapping->pid);
    event_u64(&event, mapping->address);
    event_u64(&event, mapping->size);
    event_u64(&event, mapping->file_offset);
    event_u64(&event, 0); /* device */
    event_u64(&event, 0); /* inode */
    event_u64(&event, 0); /* its generation */
    event_u32(&event, PROT_READ_EXEC);
    event_u32(&event, MAP_IS_PRIVATE);
    memcpy(event.bytes + event.size, mapping->path, path_size);
    event.size += (path_size + 7) / 8 * 8;
    event_trailer(&event, &rewriting->data->attrs[0], mapping);
    const struct perf_event_header header = {PERF_EVENT_MMAP2, PERF_MISC_USER,
                                             (uint16_t)event.size};
    memcpy(event.bytes, &header, sizeof(header));
    put(rewriting, event.bytes, event.size);
}

/* Those that belong in front of what happened at that time. */
static void put_mappings(struct rewriting *rewriting, uint64_t until)
{
    while (rewriting->mapping_count > 0 && rewriting->mappings->time <= until) {
        put_mapping(rewriting, rewriting->mappings);
        rewriting->mappings++;
        rewriting->mapping_count--;
    }
}

/* The profile's events */

static bool is_dropped(struct rewriting *rewriting, uint64_t offset)
{
    if (rewriting->dropped_count == 0 || *rewriting->dropped != offset)
        return false;
    rewriting->dropped++;
    rewriting->dropped_count--;
    return true;
}

static void put_events(struct rewriting *rewriting)
{
    struct perf_data *const data = rewriting->data;
    struct perf_event event;
    jd_perf_data_rewind(data);
    while (jd_perf_data_next(data, &event)) {
        const uint64_t time = jd_perf_event_time(data, &event);
        if (time != UINT64_MAX)
            put_mappings(rewriting, time);
        if (!is_dropped(rewriting, event.offset))
            put(rewriting, data->file.data + event.offset, event.size);
    }
    put_mappings(rewriting, UINT64_MAX);
}

/* What lies around them */

static uint64_t feature_count(const struct perf_data_header *header)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < 4; i++)
        count += (uint64_t)__builtin_popcountll(header->features[i]);
    return count;
}

/* The table of the features' places, and what follows it. */
static bool put_features(struct rewriting *rewriting, uint64_t growth)
{
    struct perf_data *const data = rewriting->data;
    uint64_t at = data->data_end;
    for (uint64_t left = feature_count(&data->header); left > 0; left--) {
        struct perf_data_section section;
        if (data->file.size - at < sizeof(section)) {
            data->reason = "the table of the features ends early";
            data->offset = at;
            return false;
        }
        memcpy(&section, data->file.data + at, sizeof(section));
        if (section.offset > data->file.size || section.size > data->file.size - section.offset) {
            data->reason = "a feature does not lie in the file: is it cut off?";
            data->offset = at;
            return false;
        }
        if (section.offset >= data->data_end)
            section.offset += growth;
        put(rewriting, &section, sizeof(section));
        at += sizeof(section);
    }
    put(rewriting, data->file.data + at, data->file.size - at);
    return true;
}

enum profile_write_error jd_profile_write(int fd, struct perf_data *data,
                                          const struct profile_mapping *mappings,
                                          uint64_t mapping_count, const uint64_t *dropped,
                                          uint64_t dropped_count)
{
    struct rewriting rewriting = {.data = data,
                                  .mappings = mappings,
                                  .mapping_count = mapping_count,
                                  .dropped = dropped,
                                  .dropped_count = dropped_count};
    file_writer_init(&rewriting.file, fd);
    const uint64_t begin = data->header.data.offset;
    put(&rewriting, data->file.data, begin);
    put_events(&rewriting);
    struct perf_data_header header = data->header;
    header.data.size = rewriting.offset - begin;
    bool readable = data->end == PERF_DATA_ENDS;
    const uint64_t growth = header.data.size - (data->data_end - begin);
    readable = readable && put_features(&rewriting, growth);
    struct perf_data_section *const sections[] = {&header.attrs, &header.event_types};
    for (unsigned i = 0; i < 2; i++)
        if (sections[i]->offset >= data->data_end)
            sections[i]->offset += growth;
    const int error = file_writer_finish(&rewriting.file, &header, sizeof(header));
    if (!readable)
        return PROFILE_NOT_READABLE;
    errno = error;
    return error == 0 ? PROFILE_WRITTEN : PROFILE_NOT_WRITTEN;
}
