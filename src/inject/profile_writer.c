#include "inject/profile_writer.h"

#include "reader/grow.h"
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
    struct moved_trace *traces; /* ascending */
    uint64_t trace_count;
    uint64_t trace_capacity;
    bool no_memory;
};

/* An AUX trace's event, which a feature names by its offset. */
struct moved_trace {
    uint64_t from;
    uint64_t to;
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

static void note_trace(struct rewriting *rewriting, uint64_t from)
{
    struct moved_trace *const grown = grow(rewriting->traces, &rewriting->trace_capacity,
                                           rewriting->trace_count + 1, sizeof(*grown));
    if (grown == NULL) {
        rewriting->no_memory = true;
        return;
    }
    rewriting->traces = grown;
    grown[rewriting->trace_count++] = (struct moved_trace){from, rewriting->offset};
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
        if (event.type == PERF_EVENT_AUXTRACE)
            note_trace(rewriting, event.offset);
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

static bool has_feature(const struct perf_data_header *header, unsigned int feature)
{
    return (header->features[feature / 64] >> feature % 64 & 1) != 0;
}

/* Which of the table's entries the feature is. */
static uint64_t feature_index(const struct perf_data_header *header, unsigned int feature)
{
    uint64_t index = 0;
    for (unsigned int before = 0; before < feature; before++)
        index += has_feature(header, before);
    return index;
}

/* Where an event lies now that was at `offset`; there, if none was. */
static uint64_t moved_to(const struct rewriting *rewriting, uint64_t offset)
{
    uint64_t low = 0, high = rewriting->trace_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (rewriting->traces[middle].from < offset)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < rewriting->trace_count && rewriting->traces[low].from == offset;
    return found ? rewriting->traces[low].to : offset;
}

/* What follows the table, from `begin` on; `index` is the feature that names AUX traces. */
static void put_behind_table(struct rewriting *rewriting, uint64_t begin,
                             struct perf_data_section index)
{
    const struct span file = rewriting->data->file;
    uint64_t count = 0, at = begin;
    if (index.offset >= begin && index.size >= sizeof(count))
        memcpy(&count, file.data + index.offset, sizeof(count));
    if (count > index.size / 16)
        count = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t place = index.offset + 8 + 16 * i;
        uint64_t offset;
        if (place + sizeof(offset) > index.offset + index.size)
            break;
        memcpy(&offset, file.data + place, sizeof(offset));
        offset = moved_to(rewriting, offset);
        put(rewriting, file.data + at, place - at);
        put(rewriting, &offset, sizeof(offset));
        at = place + sizeof(offset);
    }
    put(rewriting, file.data + at, file.size - at);
}

/* The table of the features' places, and what follows it. */
static bool put_features(struct rewriting *rewriting, uint64_t growth)
{
    struct perf_data *const data = rewriting->data;
    uint64_t at = data->data_end;
    struct perf_data_section index = {0};
    const uint64_t count = feature_count(&data->header);
    const uint64_t of_traces = has_feature(&data->header, PERF_FEATURE_AUXTRACE)
                                   ? feature_index(&data->header, PERF_FEATURE_AUXTRACE)
                                   : count;
    for (uint64_t i = 0; i < count; i++) {
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
        if (i == of_traces)
            index = section;
        if (section.offset >= data->data_end)
            section.offset += growth;
        put(rewriting, &section, sizeof(section));
        at += sizeof(section);
    }
    put_behind_table(rewriting, at, index);
    return true;
}

/* But for the features, which follow: what lies in front of the events stays where it is. */
static bool events_are_last(struct perf_data *data)
{
    const struct perf_data_header *const header = &data->header;
    const uint64_t begin = header->data.offset;
    const struct perf_data_section *const types = &header->event_types;
    bool last = begin >= sizeof(*header) && header->attrs.offset + header->attrs.size <= begin &&
                (types->size == 0 || (types->offset <= begin && types->size <= begin - types->offset));
    for (uint32_t i = 0; i < data->attr_count; i++)
        last = last && data->attrs[i].ids.data + data->attrs[i].ids.size <=
                           data->file.data + begin;
    if (!last) {
        data->reason = "the events come before other things that belong in front of them";
        data->offset = 40; /* which is where the header has their place */
    }
    return last;
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
    const uint64_t begin = data->header.data.offset;
    if (!events_are_last(data))
        return PROFILE_NOT_READABLE;
    file_writer_init(&rewriting.file, fd);
    put(&rewriting, data->file.data, begin);
    put_events(&rewriting);
    struct perf_data_header header = data->header;
    header.data.size = rewriting.offset - begin;
    bool readable = data->end == PERF_DATA_ENDS;
    const uint64_t growth = header.data.size - (data->data_end - begin);
    readable = readable && put_features(&rewriting, growth);
    const int written = file_writer_finish(&rewriting.file, &header, sizeof(header));
    const int error = rewriting.no_memory ? ENOMEM : written;
    free(rewriting.traces);
    if (!readable)
        return PROFILE_NOT_READABLE;
    errno = error;
    return error == 0 ? PROFILE_WRITTEN : PROFILE_NOT_WRITTEN;
}
