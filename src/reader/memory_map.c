#include "reader/memory_map.h"

#include "reader/grow.h"

void jd_memory_map_free(struct memory_map *map)
{
    free(map->ranges);
    *map = (struct memory_map){.count = 0};
}

bool jd_memory_map_add(struct memory_map *map, uint64_t begin, uint64_t end)
{
    void *const ranges = grow(map->ranges, &map->capacity, map->count + 1, sizeof(*map->ranges));
    if (ranges == NULL)
        return false;
    map->ranges = ranges;
    map->ranges[map->count++] = (struct memory_range){begin, end};
    return true;
}

/* A number in hexadecimal digits, and the character behind it. */
static uint64_t read_address(struct cursor *text, char terminator)
{
    static const char wrong[] = "no line of /proc/PID/maps: it begins with no address range";
    uint64_t address = 0;
    unsigned int digits = 0;
    for (;; digits++) {
        const uint8_t byte = cursor_u8(text, wrong);
        const bool is_digit = byte >= '0' && byte <= '9';
        if (text->error != NULL)
            return 0;
        if (byte == terminator && digits > 0)
            return address;
        if ((!is_digit && (byte < 'a' || byte > 'f')) || digits == 16) {
            cursor_fail(text, wrong);
            return 0;
        }
        address = address << 4 | (uint64_t)(is_digit ? byte - '0' : byte - 'a' + 10);
    }
}

static void skip_line(struct cursor *text)
{
    while (cursor_left(text) > 0 && *text->at != '\0' && *text->at++ != '\n')
        continue;
}

enum memory_map_error jd_memory_map_read(struct memory_map *map, struct span text,
                                         struct problem *problem)
{
    struct cursor cursor = {.at = text.data, .end = text.data, .base = text.data};
    bool has_memory = true;
    if (text.size > 0)
        cursor.end += text.size;
    *map = (struct memory_map){.count = 0};
    while (has_memory && cursor_left(&cursor) > 0 && *cursor.at != '\0') {
        const uint64_t line = cursor_offset(&cursor);
        const uint64_t begin = read_address(&cursor, '-');
        const uint64_t end = read_address(&cursor, ' ');
        const uint64_t last = map->count > 0 ? map->ranges[map->count - 1].end : 0;
        if (begin >= end || begin < last)
            cursor_fail_at(&cursor, line, "address ranges that do not ascend");
        if (cursor.error != NULL) {
            *problem = (struct problem){line, cursor.error};
            jd_memory_map_free(map);
            return MEMORY_MAP_WRONG;
        }
        has_memory = jd_memory_map_add(map, begin, end);
        skip_line(&cursor);
    }
    if (has_memory)
        return MEMORY_MAP_OK;
    jd_memory_map_free(map);
    return MEMORY_MAP_NO_MEMORY;
}

static int compare(const void *left, const void *right)
{
    const struct memory_range *const a = left;
    const struct memory_range *const b = right;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

void jd_memory_map_sort(struct memory_map *map)
{
    uint64_t count = 0;
    if (map->count > 1)
        qsort(map->ranges, (size_t)map->count, sizeof(*map->ranges), compare);
    for (uint64_t i = 0; i < map->count; i++) {
        const struct memory_range range = map->ranges[i];
        if (count == 0 || range.begin >= map->ranges[count - 1].end)
            map->ranges[count++] = range;
        else if (range.end > map->ranges[count - 1].end)
            map->ranges[count - 1].end = range.end;
    }
    map->count = count;
}

bool jd_memory_map_subtract(struct memory_map *map, const struct memory_map *other)
{
    struct memory_map left = {.count = 0};
    bool has_memory = true;
    uint64_t first = 0; /* of the other's ranges, that is not wholly before */
    for (uint64_t i = 0; i < map->count && has_memory; i++) {
        struct memory_range range = map->ranges[i];
        while (first < other->count && other->ranges[first].end <= range.begin)
            first++;
        for (uint64_t k = first; k < other->count && other->ranges[k].begin < range.end; k++) {
            if (other->ranges[k].begin > range.begin)
                has_memory &= jd_memory_map_add(&left, range.begin, other->ranges[k].begin);
            range.begin = other->ranges[k].end;
            if (range.begin >= range.end)
                break;
        }
        if (range.begin < range.end)
            has_memory &= jd_memory_map_add(&left, range.begin, range.end);
    }
    if (!has_memory) {
        jd_memory_map_free(&left);
        return false;
    }
    jd_memory_map_free(map);
    *map = left;
    return true;
}
