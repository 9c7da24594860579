/* Which code lies in which ELF file, for profiles with copies of the stack: by a model of what perf 7 and libdw
 * make of it (P34), on random histories; and sets of addresses. */
#include "inject/layout.h"
#include "inject/ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LOADS = 300, SPAN = 4096, SIZE_MAX_ = 256, USES_MAX = 3 };
static const uint64_t base = UINT64_C(0x7f0000000000);

static uint32_t random_number(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % below;
}

/* Loads, at times 1, 2, 3 …, each of which ends what it overlaps; and after each load some uses. */
struct fixture {
    struct piece pieces[LOADS];
    struct life lives[LOADS];
    struct history history;
    struct code_use uses[LOADS * USES_MAX];
    struct code_uses all;
    struct epochs epochs;
    struct layout layout;
};

static uint64_t end_of(const struct fixture *fixture, const struct life *life)
{
    return life->address + life_size(&fixture->history, life);
}

static void load(struct fixture *fixture, uint32_t i, uint64_t *seed, uint32_t span)
{
    struct life *const life = &fixture->lives[i];
    const uint32_t size = 1 + random_number(seed, SIZE_MAX_);
    fixture->pieces[i] = (struct piece){.code_size = size};
    *life = (struct life){.address = base + random_number(seed, span),
                          .begin = i + UINT64_C(1),
                          .end = UINT64_MAX,
                          .piece = i};
    for (uint32_t of = 0; of < i; of++) {
        struct life *const old = &fixture->lives[of];
        if (old->end == UINT64_MAX && old->address < end_of(fixture, life) &&
            life->address < end_of(fixture, old))
            old->end = life->begin;
    }
}

static void use(struct fixture *fixture, uint32_t loads, uint64_t *seed)
{
    for (uint32_t i = random_number(seed, USES_MAX + 1); i > 0; i--) {
        const uint32_t life = random_number(seed, loads);
        if (fixture->lives[life].end == UINT64_MAX)
            fixture->uses[fixture->all.count++] = (struct code_use){loads, life};
    }
}

static void make_history(struct fixture *fixture, uint64_t seed, uint32_t span)
{
    memset(fixture, 0, sizeof(*fixture));
    fixture->history = (struct history){.pieces = fixture->pieces, .lives = fixture->lives};
    fixture->all.of = fixture->uses;
    for (uint32_t i = 0; i < LOADS; i++) {
        fixture->history.piece_count = fixture->history.life_count = i + 1;
        load(fixture, i, &seed, span);
        use(fixture, i + 1, &seed);
    }
    jd_code_uses_settle(&fixture->all);
}

/* The latest mapping of the address at the time: of files, perf has the one that was mapped last. */
static const struct layout_mapping *mapped(const struct layout *layout, uint64_t address,
                                           uint64_t time)
{
    const struct layout_mapping *found = NULL;
    for (uint64_t i = 0; i < layout->mapping_count; i++) {
        const struct layout_mapping *const mapping = &layout->mappings[i];
        if (mapping->time <= time && mapping->address <= address &&
            address - mapping->address < mapping->size &&
            (found == NULL || mapping->time >= found->time))
            found = mapping;
    }
    assert_non_null(found);
    return found;
}

static bool has_piece(const struct layout_file *file, const struct piece *piece, uint64_t address)
{
    for (uint64_t i = 0; i < file->count; i++)
        if (file->pieces[i].piece == piece && file->pieces[i].address == address)
            return true;
    return false;
}

/* What libdw was told of, in this order. */
struct told {
    const struct layout_file *files[LOADS * USES_MAX];
    uint32_t count;
};

static const struct layout_file *find_told(const struct told *told, uint64_t address)
{
    for (uint32_t i = told->count; i-- > 0;)
        if (told->files[i]->load_address <= address && address < told->files[i]->load_end)
            return told->files[i];
    return NULL;
}

/* A file that overlaps one that was told of before has to begin within it and to end with it, or libdw's
 * table is in disorder. */
static void tell(struct told *told, const struct layout_file *file)
{
    for (uint32_t i = 0; i < told->count; i++) {
        const struct layout_file *const other = told->files[i];
        assert_ptr_not_equal(other, file);
        if (other->load_address < file->load_end && file->load_address < other->load_end) {
            assert_true(other->load_address < file->load_address);
            assert_int_equal(other->load_end, file->load_end);
        }
    }
    told->files[told->count++] = file;
}

static void unwind(const struct fixture *fixture, struct told *told, const struct code_use *use)
{
    const struct life *const life = &fixture->lives[use->life];
    const uint64_t last = end_of(fixture, life) - 1;
    const uint64_t addresses[] = {life->address, life->address + (last - life->address) / 2, last};
    for (unsigned i = 0; i < 3; i++) {
        const struct layout_file *const file =
            &fixture->layout.files[mapped(&fixture->layout, addresses[i], use->loads)->file];
        const struct layout_file *found = find_told(told, addresses[i]);
        if (found == NULL || found->load_address != file->load_address) {
            tell(told, file);
            found = find_told(told, addresses[i]);
        }
        assert_ptr_equal(found, file);
        assert_true(has_piece(found, &fixture->pieces[life->piece], life->address));
    }
}

/* A file's pieces are in order, and none lies over another. */
static void check_file(const struct layout_file *file)
{
    for (uint64_t i = 1; i < file->count; i++) {
        const struct placed *const before = &file->pieces[i - 1], *const after = before + 1;
        assert_true(after->address >= before->address + before->piece->code_size);
    }
}

static void check_layout(struct fixture *fixture, struct ranges *foreign)
{
    struct ranges occupied = {0};
    static struct told told;
    const struct layout_options options = {
        .occupied = &occupied, .foreign = foreign, .epochs = &fixture->epochs};
    assert_true(jd_epochs_find(&fixture->epochs, &fixture->history, &fixture->all));
    assert_true(jd_layout_plan(&fixture->layout, &fixture->history, &options));
    told.count = 0;
    for (uint64_t i = 0; i < fixture->all.count; i++)
        unwind(fixture, &told, &fixture->uses[i]);
    for (uint32_t i = 0; i < fixture->layout.file_count; i++)
        check_file(&fixture->layout.files[i]);
    for (uint32_t i = 0; i < LOADS; i++) /* also what was never in use has a name */
        mapped(&fixture->layout, fixture->lives[i].address, fixture->lives[i].begin);
    jd_layout_free(&fixture->layout);
    jd_epochs_free(&fixture->epochs);
}

static void whoever_is_in_use_is_found(void **state)
{
    (void)state;
    static struct fixture fixture;
    static const uint32_t spans[] = {1, 256, SPAN, 16 * SPAN, 1024 * SPAN};
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
            struct ranges none = {0};
            make_history(&fixture, seed, spans[i]);
            check_layout(&fixture, &none);
        }
}

/* No file may reach over a library between two regions. */
static void regions_around_a_library(void **state)
{
    (void)state;
    static struct fixture fixture;
    struct ranges library = {0};
    const uint64_t begin = base + 2 * SPAN, end = begin + SPAN;
    assert_true(jd_ranges_add(&library, begin, end));
    for (uint64_t seed = 1; seed <= 20; seed++) {
        make_history(&fixture, seed, SPAN);
        for (uint32_t i = 0; i < LOADS; i += 2) /* the same again, above it */
            fixture.lives[i].address += 4 * SPAN;
        for (uint32_t i = 0; i < LOADS; i++)
            fixture.lives[i].end = UINT64_MAX;
        for (uint32_t i = 0; i < LOADS; i++)
            for (uint32_t of = 0; of < i; of++) {
                struct life *const old = &fixture.lives[of], *const life = &fixture.lives[i];
                if (old->end == UINT64_MAX && old->address < end_of(&fixture, life) &&
                    life->address < end_of(&fixture, old))
                    old->end = life->begin;
            }
        uint64_t kept = 0;
        for (uint64_t i = 0; i < fixture.all.count; i++)
            if (fixture.lives[fixture.uses[i].life].end > fixture.uses[i].loads)
                fixture.uses[kept++] = fixture.uses[i];
        fixture.all.count = kept;
        const struct layout_options options = {
            .occupied = &library, .foreign = &library, .epochs = &fixture.epochs};
        assert_true(jd_epochs_find(&fixture.epochs, &fixture.history, &fixture.all));
        assert_true(jd_layout_plan(&fixture.layout, &fixture.history, &options));
        for (uint32_t i = 0; i < fixture.layout.file_count; i++) {
            const struct layout_file *const file = &fixture.layout.files[i];
            assert_true(file->load_end <= begin || file->load_address >= end);
        }
        jd_layout_free(&fixture.layout);
        jd_epochs_free(&fixture.epochs);
        check_layout(&fixture, &library);
    }
    jd_ranges_free(&library);
}

static void one_file_where_nothing_is_used_again(void **state)
{
    (void)state;
    static struct fixture fixture;
    struct ranges none = {0};
    uint64_t seed = 1;
    make_history(&fixture, 1, SPAN);
    fixture.all.count = 0;
    for (uint32_t i = 0; i < LOADS; i++) {
        fixture.lives[i].address = base + i * UINT64_C(512);
        fixture.lives[i].end = UINT64_MAX;
        use(&fixture, i + 1, &seed);
    }
    jd_code_uses_settle(&fixture.all);
    const struct layout_options options = {
        .occupied = &none, .foreign = &none, .epochs = &fixture.epochs};
    assert_true(jd_epochs_find(&fixture.epochs, &fixture.history, &fixture.all));
    assert_true(jd_layout_plan(&fixture.layout, &fixture.history, &options));
    assert_int_equal(fixture.epochs.count, 1);
    assert_int_equal(fixture.layout.file_count, 1);
    assert_int_equal(fixture.layout.mapping_count, 1);
    jd_layout_free(&fixture.layout);
    jd_epochs_free(&fixture.epochs);
}

/* Neighbours are mapped together, from the first load on; across a gap of up to 4 KiB in which there is nothing
 * else; and none in whose place there was something before. */
static void neighbours_are_mapped_together(void **state)
{
    (void)state;
    enum { COUNT = 7, SIZE = 256, GAP = 4096 };
    static const uint64_t gaps[COUNT] = {0, 0, GAP, GAP + 1, 64, 64, GAP};
    static const uint64_t begins[COUNT] = {5, 3, 1, 2, 4, 6, 7};
    static const uint64_t expected[][3] = { /* time, address, size */
        {1, 0, 3 * SIZE + GAP},
        {2, 3 * SIZE + 2 * GAP + 1, SIZE},
        {4, 4 * SIZE + 2 * GAP + 65, SIZE},
        {6, 5 * SIZE + 2 * GAP + 129, SIZE},
        {7, 6 * SIZE + 3 * GAP + 129, SIZE},
    };
    const unsigned char marks[COUNT] = {0, 0, 0, 0, MARK_EARLY, 0, 0};
    struct piece pieces[COUNT];
    struct life lives[COUNT];
    const struct history history = {
        .pieces = pieces, .piece_count = COUNT, .lives = lives, .life_count = COUNT};
    struct ranges occupied = {0};
    struct layout layout;
    uint64_t address = base;
    for (uint32_t i = 0; i < COUNT; i++) {
        address += gaps[i];
        pieces[i] = (struct piece){.code_size = SIZE};
        lives[i] = (struct life){
            .address = address, .begin = begins[i], .end = UINT64_MAX, .piece = i};
        address += SIZE;
    }
    assert_true(jd_ranges_add(&occupied, lives[6].address - 64, lives[6].address - 32));
    const struct layout_options options = {.occupied = &occupied, .marks = marks};
    assert_true(jd_layout_plan(&layout, &history, &options));
    assert_int_equal(layout.file_count, 1);
    assert_int_equal(layout.mapping_count, sizeof(expected) / sizeof(expected[0]));
    for (uint64_t i = 0; i < layout.mapping_count; i++) {
        assert_int_equal(layout.mappings[i].time, expected[i][0]);
        assert_int_equal(layout.mappings[i].address, base + expected[i][1]);
        assert_int_equal(layout.mappings[i].size, expected[i][2]);
    }
    jd_layout_free(&layout);
    jd_ranges_free(&occupied);
}

/* Each life is mapped where it lies, from where its piece is. What is packed lies close by, at multiples of 16.
 * Returns how many pieces are. */
static uint64_t check_bytes(struct fixture *fixture, const struct layout_options *options)
{
    struct layout *const layout = &fixture->layout;
    uint64_t packed = 0;
    assert_true(jd_layout_plan(layout, &fixture->history, options));
    for (uint32_t i = 0; i < LOADS; i++) {
        const struct life *const life = &fixture->lives[i];
        const struct layout_mapping *const mapping = mapped(layout, life->address, life->begin);
        const uint64_t in_file = mapping->file_address + (life->address - mapping->address);
        assert_true(has_piece(&layout->files[mapping->file], &fixture->pieces[life->piece], in_file));
        assert_true(layout->files[mapping->file].packed || in_file == life->address);
    }
    for (uint32_t i = 0; i < layout->file_count; i++) {
        const struct layout_file *const file = &layout->files[i];
        check_file(file);
        for (uint64_t of = 0; file->packed && of < file->count; of++, packed++) {
            const struct placed *const piece = &file->pieces[of];
            assert_int_equal(piece->address % 16, 0);
            assert_true(of == 0 || piece->address - (piece - 1)->address < (piece - 1)->piece->code_size + 16);
        }
    }
    return packed;
}

static void what_is_packed(void **state)
{
    (void)state;
    static struct fixture fixture;
    static const char names[][2] = {"a", "b", "c"};
    struct ranges none = {0};
    for (uint64_t seed = 1, of_names = 1; seed <= 10; seed++) {
        make_history(&fixture, seed, SPAN);
        struct layout_options options = {.occupied = &none, .foreign = &none};
        assert_int_equal(check_bytes(&fixture, &options), 0);
        const uint32_t layers = fixture.layout.file_count;
        jd_layout_free(&fixture.layout);
        for (options.layer_max = 1; options.layer_max <= layers; options.layer_max++) {
            const uint64_t packed = check_bytes(&fixture, &options);
            assert_int_equal(fixture.layout.file_count,
                             options.layer_max < layers ? options.layer_max + 1 : layers);
            assert_int_equal(packed != 0, options.layer_max < layers);
            jd_layout_free(&fixture.layout);
        }
        for (uint32_t i = 0; i < LOADS; i++)
            fixture.pieces[i].name =
                (struct span){(const unsigned char *)names[random_number(&of_names, 3)], 1};
        options = (struct layout_options){.occupied = &none, .foreign = &none, .by_name = true};
        assert_int_equal(check_bytes(&fixture, &options), LOADS);
        for (uint64_t i = 1; i < LOADS; i++) { /* a piece's index is when it was loaded */
            const struct piece *const one = fixture.layout.placed[i - 1].piece;
            const struct piece *const next = fixture.layout.placed[i].piece;
            const int order = memcmp(one->name.data, next->name.data, 1);
            assert_true(order < 0 || (order == 0 && one < next));
        }
        jd_layout_free(&fixture.layout);
    }
}

/* And nothing that has no bytes, or reaches beyond the last address. */
static void only_what_was_sampled(void **state)
{
    (void)state;
    enum { COUNT = 6, SIZE = 16 };
    static const unsigned char marks[COUNT] = {MARK_SAMPLED, MARK_EARLY, MARK_SAMPLED | MARK_EARLY, MARK_SAMPLED,
                                               MARK_SAMPLED, MARK_SAMPLED};
    const uint64_t addresses[COUNT] = {base, base + 65536, base + 131072, base + 262144, UINT64_MAX - SIZE,
                                       UINT64_MAX - SIZE + 1};
    static const uint32_t all[] = {0, 1, 2, 4}, sampled[] = {0, 2, 4};
    struct piece pieces[COUNT];
    struct life lives[COUNT];
    const struct history history = {
        .pieces = pieces, .piece_count = COUNT, .lives = lives, .life_count = COUNT};
    struct code_use of[COUNT];
    const struct code_uses uses = {.of = of, .count = COUNT};
    struct epochs epochs;
    struct ranges none = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        of[i] = (struct code_use){COUNT, i};
        pieces[i] = (struct piece){.code_size = i == 3 ? 0 : SIZE};
        lives[i] = (struct life){.address = addresses[i], .begin = i, .end = UINT64_MAX, .piece = i};
    }
    assert_true(jd_epochs_find(&epochs, &history, &uses));
    for (int round = 0; round < 4; round++) {
        const bool only = round % 2 == 1;
        const struct layout_options options = {.occupied = &none, .foreign = &none, .marks = marks, .only_sampled = only,
                                               .epochs = round < 2 ? NULL : &epochs};
        const uint32_t *const expected = only ? sampled : all;
        struct layout layout;
        assert_true(jd_layout_plan(&layout, &history, &options));
        assert_int_equal(layout.mapping_count, only ? 3 : 4);
        for (uint32_t i = 0; i < layout.mapping_count; i++)
            assert_int_equal(layout.mappings[i].address, addresses[expected[i]]);
        jd_layout_free(&layout);
    }
    jd_epochs_free(&epochs);
}

/* Where clocks are not exact, code may seem to be in use before it is loaded, in epochs that begin before, too. */
static void nothing_is_mapped_before_its_load(void **state)
{
    (void)state;
    enum { COUNT = 4, LAST = COUNT - 1, SIZE = 16 };
    static struct code_use of[] = {{1, LAST}, {2, 0}, {3, LAST}};
    static const struct code_uses uses = {.of = of, .count = 3};
    struct piece pieces[COUNT];
    struct life lives[COUNT];
    const struct history history = {
        .pieces = pieces, .piece_count = COUNT, .lives = lives, .life_count = COUNT};
    struct ranges none = {0};
    struct epochs epochs;
    struct layout layout;
    uint64_t mapped_count = 0;
    for (uint32_t i = 0; i < COUNT; i++) { /* the last one in the place of the first */
        pieces[i] = (struct piece){.code_size = SIZE};
        lives[i] = (struct life){
            .address = base + i % LAST * 4096, .begin = i + UINT64_C(1), .end = UINT64_MAX, .piece = i};
    }
    const struct layout_options options = {.occupied = &none, .foreign = &none, .epochs = &epochs};
    assert_true(jd_epochs_find(&epochs, &history, &uses));
    assert_int_equal(epochs.count, 3);
    assert_true(jd_layout_plan(&layout, &history, &options));
    for (uint64_t i = 0; i < layout.mapping_count; i++)
        if (layout.mappings[i].address == base)
            mapped_count += layout.mappings[i].time == lives[LAST].begin;
    assert_int_equal(mapped_count, 2);
    jd_layout_free(&layout);
    jd_epochs_free(&epochs);
}

/* Holes, against an array of flags. */
static void holes_are_taken_once(void **state)
{
    (void)state;
    enum { PAGES = 400, PAGE = 4096 };
    for (uint64_t seed = 1, run = 0; run < 200; run++) {
        struct ranges ranges = {0};
        bool taken[PAGES] = {true};
        for (uint32_t i = random_number(&seed, 40); i > 0; i--) {
            const uint32_t begin = random_number(&seed, PAGES);
            const uint32_t end = begin + random_number(&seed, PAGES - begin) / 8;
            assert_true(jd_ranges_add(&ranges, (uint64_t)begin * PAGE, (uint64_t)end * PAGE));
            for (uint32_t page = begin; page < end; page++)
                taken[page] = true;
            const uint64_t asked = 1 + random_number(&seed, PAGES - 1);
            assert_int_equal(jd_ranges_overlap(&ranges, asked * PAGE, (asked + 1) * PAGE), taken[asked]);
            assert_false(jd_ranges_overlap(&ranges, asked * PAGE + 1, asked * PAGE + 1));
        }
        for (unsigned i = 0; i < 100; i++) {
            const uint32_t end = 1 + random_number(&seed, PAGES - 1);
            const uint32_t lowest = 1 + random_number(&seed, end);
            const uint32_t size = 1 + random_number(&seed, 8);
            const uint32_t rest = random_number(&seed, 2) * random_number(&seed, PAGE);
            uint32_t expected = 0;
            for (uint32_t at = lowest; at + size <= end; at++) {
                bool is_free = true;
                for (uint32_t page = at; page < at + size; page++)
                    is_free = is_free && !taken[page];
                expected = is_free ? at : expected;
            }
            const uint64_t place =
                jd_ranges_take_hole(&ranges, (uint64_t)lowest * PAGE, (uint64_t)end * PAGE + rest,
                                    (uint64_t)size * PAGE, PAGE);
            assert_int_equal(place, (uint64_t)expected * PAGE);
            for (uint32_t page = expected; expected != 0 && page < expected + size; page++)
                taken[page] = true;
            if (expected != 0 && expected + size == end && rest != 0)
                taken[end] = true;
        }
        for (uint32_t page = 1; page < PAGES; page++)
            assert_int_equal(jd_ranges_overlap(&ranges, (uint64_t)page * PAGE,
                                               (uint64_t)page * PAGE + 1), taken[page]);
        jd_ranges_free(&ranges);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_is_in_use_is_found),
        cmocka_unit_test(regions_around_a_library),
        cmocka_unit_test(one_file_where_nothing_is_used_again),
        cmocka_unit_test(neighbours_are_mapped_together),
        cmocka_unit_test(what_is_packed),
        cmocka_unit_test(only_what_was_sampled),
        cmocka_unit_test(nothing_is_mapped_before_its_load),
        cmocka_unit_test(holes_are_taken_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
