/*
 * Any bytes as a dump and the profile that goes with it, checked: nothing may be touched that is not
 * there, memory may run out anywhere, and the shares add up.
 *
 * The first byte says which allocation fails, the next four how long the dump is; dump and profile
 * follow.
 */
#include "failing_memory.h"
#include "require.h"
#include "target.h"

#include "check/dump_check.h"
#include "check/profile_check.h"
#include "reader/read_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *target_output;

#define INPUT_HEADER_SIZE 5

static void check_findings(const struct findings *findings, uint64_t size)
{
    for (unsigned i = 0; i < FINDING_COUNT; i++) {
        REQUIRE(jd_finding_kinds[i].name != NULL);
        for (uint64_t place = 0; place < findings->of[i].count && place < FINDING_PLACES; place++) {
            const struct finding_place *const at = &findings->of[i].places[place];
            REQUIRE(at->offset <= size || at->offset == FINDING_NOWHERE);
            REQUIRE(memchr(at->text, 0, sizeof(at->text)) != NULL);
        }
    }
}

static void check_shares(const struct history *history, const struct profile_shares *shares)
{
    uint64_t named = 0;
    for (uint32_t i = 0; i < history->piece_count; i++)
        named += shares->of_piece[i];
    REQUIRE(named == shares->named);
    REQUIRE(shares->generated <= shares->samples);
    REQUIRE(shares->with_line <= shares->named);
    REQUIRE(shares->chains <= shares->named && shares->whole_chains <= shares->chains);
}

static void check_with_profile(struct findings *findings, const struct history *history,
                               struct span profile)
{
    struct perf_data data;
    struct profile_shares shares = {0};
    const enum perf_data_error error = jd_perf_data_init(&data, profile);
    if (error == PERF_DATA_OK) {
        const enum profile_check result = jd_check_profile(findings, &shares, history, NULL, 0, &data);
        if (result == PROFILE_CHECKED && !shares.compressed)
            check_shares(history, &shares);
        REQUIRE(result != PROFILE_UNREADABLE || data.reason != NULL);
    }
    if (error == PERF_DATA_NOT_READABLE)
        REQUIRE(data.reason != NULL);
    REQUIRE(data.offset <= profile.size);
    free(shares.of_piece);
    jd_perf_data_free(&data);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct findings findings;
    if (size < INPUT_HEADER_SIZE)
        return 0;
    const size_t left = size - INPUT_HEADER_SIZE;
    uint32_t dump_size;
    memcpy(&dump_size, bytes + 1, sizeof(dump_size));
    if (dump_size > left)
        dump_size = (uint32_t)left;
    unsigned char *const dump = copy(bytes + INPUT_HEADER_SIZE, dump_size);
    unsigned char *const profile = copy(bytes + INPUT_HEADER_SIZE + dump_size, left - dump_size);
    const struct mapped_file file = {.data = dump, .size = dump_size};
    struct history history;
    memset(&findings, 0, sizeof(findings));
    failing = bytes[0];
    if (jd_history_read(&history, &file, NULL) == HISTORY_OK) {
        if (jd_check_dump(&findings, &history, &file, "jit-1.dump"))
            check_with_profile(&findings, &history, (struct span){profile, left - dump_size});
        check_findings(&findings, size);
        jd_history_free(&history);
    }
    failing = 0;
    free(dump);
    free(profile);
    return 0;
}
