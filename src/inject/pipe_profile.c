#include "inject/pipe_profile.h"

#include "writers/file_writer.h"

#include <errno.h>

enum { FEATURE_MAX = 256, PLACE_SIZE = sizeof(struct perf_data_section) };

/* What is to be written: passes over the events, with the same walk for each. */
struct converting {
    struct perf_data events;
    struct file_writer file;
    uint64_t offset; /* in the file */
    uint64_t attr_size;
    uint64_t attr_count;
    uint64_t id_size; /* of all attributes */
    struct span features[FEATURE_MAX]; /* data NULL: there is none */
    struct problem *problem;
};

bool jd_is_pipe_profile(struct span bytes)
{
    uint64_t header[2];
    if (bytes.size < sizeof(header))
        return false;
    memcpy(header, bytes.data, sizeof(header));
    return header[0] == PERF_DATA_MAGIC && header[1] == PERF_DATA_PIPE_HEADER_SIZE;
}

static void put(struct converting *converting, const void *bytes, uint64_t size)
{
    file_writer_put(&converting->file, converting->offset, bytes, (size_t)size);
    converting->offset += size;
}

static bool fail(struct converting *converting, uint64_t offset, const char *reason)
{
    *converting->problem = (struct problem){offset, reason};
    return false;
}

/* Reading */

static bool take_attr(struct converting *converting, const struct perf_event *event)
{
    uint32_t size = 0;
    if (event->payload.size >= PERF_ATTR_SIZE + sizeof(size))
        memcpy(&size, event->payload.data + PERF_ATTR_SIZE, sizeof(size));
    if (size < PERF_ATTR_SIZE_VER0 || size > event->payload.size)
        return fail(converting, event->offset, "an attribute is shorter than it says");
    if (converting->attr_count != 0 && size != converting->attr_size)
        return fail(converting, event->offset, "the attributes have different sizes");
    converting->attr_size = size;
    converting->attr_count++;
    converting->id_size += (event->payload.size - size) / 8 * 8;
    return true;
}

static bool take_feature(struct converting *converting, const struct perf_event *event)
{
    uint64_t feature = FEATURE_MAX;
    if (event->payload.size >= sizeof(feature))
        memcpy(&feature, event->payload.data, sizeof(feature));
    if (feature >= FEATURE_MAX)
        return fail(converting, event->offset, "a feature has a number that is not known");
    /* The mark behind the last one has the number of the first that this perf does not know. */
    if (event->payload.size == sizeof(feature))
        return true;
    converting->features[feature] = (struct span){event->payload.data + sizeof(feature),
                                                  event->payload.size - sizeof(feature)};
    return true;
}

/* The description of tracepoints, which lies behind its event. */
static bool take_tracing_data(struct converting *converting, const struct perf_event *event)
{
    const uint64_t header = sizeof(struct perf_event_header) + event->payload.size;
    converting->features[PERF_FEATURE_TRACING_DATA] =
        (struct span){event->payload.data + event->payload.size, event->size - header};
    return true;
}

static bool take_event(struct converting *converting, const struct perf_event *event)
{
    switch (event->type) {
    case PERF_EVENT_HEADER_ATTR:
        return take_attr(converting, event);
    case PERF_EVENT_HEADER_FEATURE:
        return take_feature(converting, event);
    case PERF_EVENT_TRACING_DATA:
        return take_tracing_data(converting, event);
    default:
        return true;
    }
}

static bool read_events(struct converting *converting)
{
    struct perf_event event;
    while (jd_perf_data_next(&converting->events, &event))
        if (!take_event(converting, &event))
            return false;
    if (converting->events.end == PERF_DATA_BROKEN)
        return fail(converting, converting->events.offset, converting->events.reason);
    return converting->attr_count != 0 || fail(converting, 0, "the profile has no attributes");
}

/* Writing */

static void put_attrs(struct converting *converting)
{
    struct perf_data *const events = &converting->events;
    struct perf_event event;
    uint64_t ids = converting->offset + converting->attr_count * (converting->attr_size + PLACE_SIZE);
    jd_perf_data_rewind(events);
    while (jd_perf_data_next(events, &event)) {
        if (event.type != PERF_EVENT_HEADER_ATTR)
            continue;
        const uint64_t size = (event.payload.size - converting->attr_size) / 8 * 8;
        const struct perf_data_section place = {ids, size};
        put(converting, event.payload.data, converting->attr_size);
        put(converting, &place, sizeof(place));
        ids += size;
    }
    jd_perf_data_rewind(events);
    while (jd_perf_data_next(events, &event))
        if (event.type == PERF_EVENT_HEADER_ATTR)
            put(converting, event.payload.data + converting->attr_size,
                (event.payload.size - converting->attr_size) / 8 * 8);
}

static void put_events(struct converting *converting)
{
    struct perf_data *const events = &converting->events;
    struct perf_event event;
    jd_perf_data_rewind(events);
    while (jd_perf_data_next(events, &event))
        if (event.type != PERF_EVENT_HEADER_ATTR && event.type != PERF_EVENT_HEADER_FEATURE &&
            event.type != PERF_EVENT_TRACING_DATA)
            put(converting, events->file.data + event.offset, event.size);
}

static void put_features(struct converting *converting, struct perf_data_header *header)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < FEATURE_MAX; i++)
        if (converting->features[i].data != NULL) {
            header->features[i / 64] |= UINT64_C(1) << i % 64;
            count++;
        }
    uint64_t at = converting->offset + count * PLACE_SIZE;
    for (unsigned i = 0; i < FEATURE_MAX; i++)
        if (converting->features[i].data != NULL) {
            const struct perf_data_section place = {at, converting->features[i].size};
            put(converting, &place, sizeof(place));
            at += place.size;
        }
    for (unsigned i = 0; i < FEATURE_MAX; i++)
        if (converting->features[i].data != NULL)
            put(converting, converting->features[i].data, converting->features[i].size);
}

enum pipe_error jd_pipe_profile_write(int fd, struct span bytes, struct problem *problem)
{
    struct perf_data_header header = {.magic = PERF_DATA_MAGIC, .size = sizeof(header)};
    struct converting converting = {.problem = problem, .offset = sizeof(header)};
    converting.events.file = bytes;
    converting.events.header.data.offset = PERF_DATA_PIPE_HEADER_SIZE;
    jd_perf_data_rewind(&converting.events);
    if (!read_events(&converting))
        return PIPE_NOT_READABLE;
    file_writer_init(&converting.file, fd);
    header.attr_size = converting.attr_size + PLACE_SIZE;
    header.attrs = (struct perf_data_section){converting.offset,
                                              converting.attr_count * header.attr_size};
    put_attrs(&converting);
    header.data.offset = converting.offset;
    put_events(&converting);
    header.data.size = converting.offset - header.data.offset;
    put_features(&converting, &header);
    errno = file_writer_finish(&converting.file, &header, sizeof(header));
    return errno == 0 ? PIPE_OK : PIPE_NOT_WRITTEN;
}
