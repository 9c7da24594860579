#include "inject/plain_profile.h"

#include "writers/file_writer.h"

#include <errno.h>

enum { FEATURE_MAX = 256, PLACE_SIZE = sizeof(struct perf_data_section) };

struct plain_writing {
    struct file_writer file;
    uint64_t offset; /* in the file */
    struct plain_problem *problem;
};

static void put(struct plain_writing *writing, const void *bytes, uint64_t size)
{
    file_writer_put(&writing->file, writing->offset, bytes, (size_t)size);
    writing->offset += size;
}

struct perf_data jd_events_alone(struct span file)
{
    struct perf_data events = {.file = file};
    jd_perf_data_rewind(&events);
    return events;
}

/* What is compressed */

static bool is_compressed(const struct perf_event *event)
{
    return event->type == PERF_EVENT_COMPRESSED || event->type == PERF_EVENT_COMPRESSED2;
}

bool jd_part_is_compressed(struct profile_part *part)
{
    struct perf_event event;
    bool found = false;
    jd_perf_data_rewind(&part->events);
    while (!found && jd_perf_data_next(&part->events, &event))
        found = is_compressed(&event);
    return found;
}

/* The newer kind has its size in front, and is filled up to 8 bytes. */
static bool payload_of(const struct perf_event *event, struct span *payload)
{
    uint64_t size;
    *payload = event->payload;
    if (event->type == PERF_EVENT_COMPRESSED)
        return true;
    if (payload->size < sizeof(size))
        return false;
    memcpy(&size, payload->data, sizeof(size));
    if (size > payload->size - sizeof(size))
        return false;
    *payload = (struct span){payload->data + sizeof(size), size};
    return true;
}

/* perf flushes what it compresses, event by event, and never ends it. An empty block that is the last
 * does, so that who unpacks it can tell a whole one from one that is cut off. */
enum plain_error jd_part_write_frame(int fd, struct profile_part *part, struct problem *problem)
{
    static const unsigned char last_block[] = {1, 0, 0};
    struct plain_writing writing = {0};
    struct perf_event event;
    file_writer_init(&writing.file, fd);
    jd_perf_data_rewind(&part->events);
    *problem = (struct problem){0};
    while (problem->reason == NULL && jd_perf_data_next(&part->events, &event)) {
        struct span payload;
        if (!is_compressed(&event))
            continue;
        if (payload_of(&event, &payload))
            put(&writing, payload.data, payload.size);
        else
            *problem = (struct problem){event.offset, "compressed events are longer than they say"};
    }
    if (part->events.end == PERF_DATA_BROKEN)
        *problem = (struct problem){part->events.offset, part->events.reason};
    put(&writing, last_block, sizeof(last_block));
    errno = file_writer_finish(&writing.file, NULL, 0);
    if (problem->reason != NULL)
        return PLAIN_NOT_READABLE;
    return errno == 0 ? PLAIN_OK : PLAIN_NOT_WRITTEN;
}

/* The plain file */

static bool fail(struct plain_writing *writing, uint32_t part, uint64_t offset, const char *reason)
{
    *writing->problem = (struct plain_problem){{offset, reason}, part};
    return false;
}

/* But for what the new file does not have. */
static bool put_events(struct plain_writing *writing, struct perf_data *events, uint32_t part)
{
    struct perf_event event;
    jd_perf_data_rewind(events);
    while (jd_perf_data_next(events, &event))
        if (event.type != PERF_EVENT_FINISHED_ROUND && !is_compressed(&event))
            put(writing, events->file.data + event.offset, event.size);
    return events->end == PERF_DATA_ENDS || fail(writing, part, events->offset, events->reason);
}

static bool put_part(struct plain_writing *writing, struct profile_part *part, uint32_t index)
{
    struct perf_data unpacked = jd_events_alone(part->unpacked);
    if (!put_events(writing, &part->events, index))
        return false;
    return put_events(writing, &unpacked, index) ||
           fail(writing, index, part->events.header.data.offset, "what was compressed can't be read");
}

/* Takes the features that are no longer true off the header, and puts the others behind the events. */
static bool put_features(struct plain_writing *writing, const struct perf_data *old,
                         struct perf_data_header *header)
{
    struct perf_data_section kept[FEATURE_MAX];
    uint64_t at = old->data_end, count = 0;
    for (unsigned i = 0; i < FEATURE_MAX; i++) {
        if ((header->features[i / 64] >> i % 64 & 1) == 0)
            continue;
        struct perf_data_section section;
        if (old->file.size - at < sizeof(section))
            return fail(writing, 0, at, "the table of the features ends early");
        memcpy(&section, old->file.data + at, sizeof(section));
        if (section.offset > old->file.size || section.size > old->file.size - section.offset)
            return fail(writing, 0, at, "a feature does not lie in the file: is it cut off?");
        if (i == PERF_FEATURE_AUXTRACE)
            return fail(writing, 0, at, "AUX traces are not taken out of a profile that is compressed "
                                        "or of several files");
        at += sizeof(section);
        if (i == PERF_FEATURE_COMPRESSED || i == PERF_FEATURE_DIR_FORMAT)
            header->features[i / 64] &= ~(UINT64_C(1) << i % 64);
        else
            kept[count++] = section;
    }
    uint64_t place = writing->offset + count * PLACE_SIZE;
    for (uint64_t i = 0; i < count; i++) {
        const struct perf_data_section moved = {place, kept[i].size};
        put(writing, &moved, sizeof(moved));
        place += moved.size;
    }
    for (uint64_t i = 0; i < count; i++)
        put(writing, old->file.data + kept[i].offset, kept[i].size);
    return true;
}

enum plain_error jd_plain_profile_write(int fd, struct profile_part *parts, uint32_t count,
                                        struct plain_problem *problem)
{
    struct plain_writing writing = {.problem = problem};
    const struct perf_data *const first = &parts[0].events;
    struct perf_data_header header = first->header;
    bool readable = header.data.offset >= sizeof(header) ||
                    fail(&writing, 0, 40, "the events lie in the file's header");
    file_writer_init(&writing.file, fd);
    put(&writing, first->file.data, header.data.offset);
    for (uint32_t i = 0; i < count && readable; i++)
        readable = put_part(&writing, &parts[i], i);
    header.data.size = writing.offset - header.data.offset;
    /* A size of 0 would mean that nobody knows. */
    if (readable && header.data.size == 0)
        readable = fail(&writing, 0, header.data.offset, "the profile has no events");
    readable = readable && put_features(&writing, first, &header);
    errno = file_writer_finish(&writing.file, &header, sizeof(header));
    if (!readable)
        return PLAIN_NOT_READABLE;
    return errno == 0 ? PLAIN_OK : PLAIN_NOT_WRITTEN;
}
