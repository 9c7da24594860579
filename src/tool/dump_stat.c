/*
 * How much there is of what in a dump.
 */
#include "tool/dump.h"

#include "tool/command.h"
#include "tool/dump_function.h"
#include "tool/json.h"
#include "tool/messages.h"
#include "tool/output.h"
#include "tool/text.h"

#include "reader/equal_spans.h"
#include "reader/grow.h"
#include "reader/text_hash.h"

#include <inttypes.h>
#include <stdlib.h>

struct group {
    struct span name;
    uint64_t hash;
    uint64_t count;
    uint64_t bytes;
};

/* By name: of tiers, or of functions. */
struct groups {
    struct group *groups;
    uint32_t count;
    uint64_t capacity;
    uint32_t *places; /* open addressing; HISTORY_NONE: free */
    uint64_t mask;
};

/* For `most` groups. */
static bool groups_init(struct groups *groups, uint32_t most)
{
    uint64_t size = 16;
    while (size < 2 * (uint64_t)most)
        size *= 2;
    *groups = (struct groups){.mask = size - 1};
    groups->places = malloc((size_t)size * sizeof(*groups->places));
    if (groups->places != NULL)
        memset(groups->places, 0xff, (size_t)size * sizeof(*groups->places));
    return groups->places != NULL;
}

static void groups_free(struct groups *groups)
{
    free(groups->groups);
    free(groups->places);
}

static bool groups_add(struct groups *groups, struct span name, uint64_t bytes)
{
    const uint64_t hash = text_hash(name);
    uint64_t at = hash & groups->mask;
    while (groups->places[at] != HISTORY_NONE) {
        struct group *const group = &groups->groups[groups->places[at]];
        if (group->hash == hash && spans_are_equal(group->name, name)) {
            group->count++;
            group->bytes += bytes;
            return true;
        }
        at = (at + 1) & groups->mask;
    }
    struct group *const more =
        grow(groups->groups, &groups->capacity, (uint64_t)groups->count + 1, sizeof(*more));
    if (more == NULL)
        return false;
    groups->groups = more;
    groups->places[at] = groups->count;
    more[groups->count++] = (struct group){name, hash, 1, bytes};
    return true;
}

/* Of code without a tier record: the prefix of its name that samply takes for one (S7), or that V8
 * gives. Empty: none. */
static struct span tier_of_name(struct span name)
{
    static const char *const prefixes[] = {
        "Interpreter: ", "Baseline: ", "BaselineInterpreter: ", "Ion: ", "Wasm: ", "IC: ",
        "Trampoline: ", "VMFunctionWrapper: ", "JS:~", "JS:^", "JS:+'", "JS:+", "JS:*'", "JS:*", "JS:o",
        "JS:?", "Builtin:", "BytecodeHandler:", "RegExp:", "Stub:",
    };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        const size_t size = strlen(prefixes[i]);
        if (name.size >= size && memcmp(name.data, prefixes[i], size) == 0)
            return (struct span){name.data, size};
    }
    return (struct span){name.data, 0};
}

struct statistics {
    uint64_t functions;
    uint64_t bytes;
    uint64_t with_lines;
    uint64_t with_inlining;
    uint64_t with_unwinding;
    uint64_t compiled_again;
    uint64_t moves;
    uint64_t covered;
    uint64_t live;
    uint64_t live_bytes;
    uint64_t sources;
    uint64_t records;
    uint64_t file_size;
};

static bool count(const struct history *history, const struct mapped_file *file,
                  struct statistics *statistics, struct groups *tiers)
{
    struct groups names;
    if (!groups_init(&names, history->piece_count))
        return false;
    *statistics = (struct statistics){
        .functions = history->piece_count,
        .moves = history->move_count,
        .sources = history->source_count,
        .records = history->record_count,
        .file_size = history->reader.file.size,
    };
    bool done = true;
    uint64_t passed = 0;
    for (uint32_t i = 0; done && i < history->piece_count; i++) {
        const struct piece *const piece = &history->pieces[i];
        if (jd_mapped_file_pass(file, &passed, piece->load))
            jd_mapped_file_release(file); /* the names before it, too, which were compared */
        struct tier_record tier;
        const struct span tier_name =
            piece_tier(history, piece, &tier) ? tier.name : tier_of_name(piece->name);
        const bool inlining = piece->inline_2023 != 0 || piece->inline_2026 != 0;
        statistics->bytes += piece->code_size;
        statistics->with_lines += piece->debug_info != 0 || inlining;
        statistics->with_inlining += inlining;
        statistics->with_unwinding += piece->unwinding != 0;
        done = groups_add(&names, piece->name, 0) && groups_add(tiers, tier_name, piece->code_size);
    }
    statistics->compiled_again = history->piece_count - names.count;
    for (uint32_t i = 0; i < history->life_count; i++) {
        const struct life *const life = &history->lives[i];
        statistics->covered += life->ended == LIFE_COVERED;
        statistics->live += life->ended == LIFE_TO_THE_END;
        if (life->ended == LIFE_TO_THE_END)
            statistics->live_bytes += life_size(history, life);
    }
    groups_free(&names);
    return done;
}

static void show_text(const struct history *history, const struct statistics *statistics,
                      const struct groups *tiers)
{
    const struct {
        uint64_t value;
        const char *text;
    } lines[] = {
        {statistics->file_size, "bytes of file"},
        {statistics->records, "records"},
        {statistics->functions, "functions loaded"},
        {statistics->bytes, "bytes of code in them"},
        {statistics->compiled_again, "of a name that was loaded before (compiled again)"},
        {statistics->with_lines, "with lines"},
        {statistics->with_inlining, "with an inline record"},
        {statistics->with_unwinding, "with unwinding data"},
        {statistics->moves, "moves"},
        {statistics->covered, "ended by other code at their address"},
        {statistics->live, "there at the end"},
        {statistics->live_bytes, "bytes of code in them"},
        {statistics->sources, "embedded sources"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        printf("%12" PRIu64 "  %s\n", lines[i].value, lines[i].text);
    fputs("records from ", stdout);
    print_time(stdout, &history->reader, history->first_timestamp);
    fputs(" to ", stdout);
    print_time(stdout, &history->reader, history->last_timestamp);
    fputs("\n\n   functions         bytes  tier\n", stdout);
    for (uint32_t i = 0; i < tiers->count; i++) {
        const struct group *const tier = &tiers->groups[i];
        printf("%12" PRIu64 "  %12" PRIu64 "  ", tier->count, tier->bytes);
        if (tier->name.size == 0)
            fputs("(none)", stdout);
        else
            print_text(stdout, tier->name);
        putchar('\n');
    }
}

static void show_json(const struct history *history, const struct statistics *statistics,
                      const struct groups *tiers)
{
    struct json json = {.to = stdout};
    json_open(&json, NULL, '{');
    json_number(&json, "file_size", statistics->file_size);
    json_number(&json, "records", statistics->records);
    json_number(&json, "functions", statistics->functions);
    json_number(&json, "code_bytes", statistics->bytes);
    json_number(&json, "compiled_again", statistics->compiled_again);
    json_number(&json, "with_lines", statistics->with_lines);
    json_number(&json, "with_inlining", statistics->with_inlining);
    json_number(&json, "with_unwinding", statistics->with_unwinding);
    json_number(&json, "moves", statistics->moves);
    json_number(&json, "covered", statistics->covered);
    json_number(&json, "live", statistics->live);
    json_number(&json, "live_bytes", statistics->live_bytes);
    json_number(&json, "sources", statistics->sources);
    json_number(&json, "begin", history->first_timestamp);
    json_number(&json, "end", history->last_timestamp);
    json_open(&json, "tiers", '[');
    for (uint32_t i = 0; i < tiers->count; i++) {
        json_open(&json, NULL, '{');
        json_text(&json, "name", tiers->groups[i].name);
        json_number(&json, "functions", tiers->groups[i].count);
        json_number(&json, "bytes", tiers->groups[i].bytes);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    json_end_line(&json);
}

int dump_statistics(const struct history *history, const struct mapped_file *file, bool json)
{
    struct statistics statistics;
    struct groups tiers;
    if (!groups_init(&tiers, history->piece_count) || !count(history, file, &statistics, &tiers)) {
        complain("out of memory");
        groups_free(&tiers);
        return STATUS_TROUBLE;
    }
    (json ? show_json : show_text)(history, &statistics, &tiers);
    groups_free(&tiers);
    return STATUS_OK;
}
