#include "inject/profile_clock.h"

struct profile_clock jd_profile_clock(const struct profile_scan *scan, const struct perf_data *data,
                                      const struct history *history,
                                      const struct scanned_mapping *mapping)
{
    const struct jitdump_file_header *const header = &history->reader.header;
    const struct perf_attr *const attr = &data->attrs[0];
    if ((header->flags & JITDUMP_FLAGS_ARCH_TIMESTAMP) != 0) {
        if (!scan->conversion.known)
            return (struct profile_clock){.kind = CLOCK_UNKNOWN};
        return (struct profile_clock){.kind = CLOCK_CONVERTED, .conversion = scan->conversion};
    }
    if ((attr->flags & PERF_ATTR_USE_CLOCKID) != 0 && attr->clockid == PERF_CLOCK_MONOTONIC)
        return (struct profile_clock){.kind = CLOCK_SAME};
    if (mapping->time == 0)
        return (struct profile_clock){.kind = CLOCK_UNKNOWN};
    /* The dump is mapped just behind the moment that its header has; but of some emitters (V8) that
     * is of another clock than the records. */
    if (header->timestamp <= history->first_timestamp)
        return (struct profile_clock){.kind = CLOCK_INFERRED,
                                      .shift = mapping->time - header->timestamp};
    return (struct profile_clock){.kind = CLOCK_ROUGH,
                                  .shift = mapping->time - history->first_timestamp};
}

uint64_t jd_profile_time(const struct profile_clock *clock, uint64_t time)
{
    if (clock->kind == CLOCK_UNKNOWN)
        return 0;
    if (clock->kind != CLOCK_CONVERTED)
        return time + clock->shift;
    return jd_perf_convert(&clock->conversion, time);
}
