/* The ELF writer as one calls it who decides where pieces lie. */
#include <jitdump.h>

#include "reader/read_history.h"
#include "writers/elf_extent.h"
#include "writers/elf_writer.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { FUNCTIONS = 3, CODE_SIZE = 64 };
static const uint64_t code_addr = UINT64_C(0x7f0000010000);
static const uint64_t apart = UINT64_C(1) << 31;

struct fixture {
    char path[256];
    struct mapped_file dump;
    struct history history;
    FILE *file; /* of the ELF file */
    struct elf_result result;
};

static int set_up(void **state)
{
    static const unsigned char bytes[CODE_SIZE];
    struct fixture *const fixture = calloc(1, sizeof(*fixture));
    char directory[] = "/tmp/jitdump-elf-XXXXXX";
    assert_non_null(mkdtemp(directory));
    const struct jitdump_options options = {
        .struct_size = sizeof(options), .elf_mach = EM_X86_64, .directory = directory};
    const struct jitdump_unwind unwind = {.struct_size = sizeof(unwind),
                                          .frame = JITDUMP_FRAME_POINTER};
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, &options), 0);
    snprintf(fixture->path, sizeof(fixture->path), "%s", jitdump_path(dump));
    for (uint64_t i = 0; i < FUNCTIONS; i++) {
        const struct jitdump_code code = {.struct_size = sizeof(code),
                                          .name = "function",
                                          .code_addr = code_addr + i * 4096,
                                          .code_size = CODE_SIZE,
                                          .code_bytes = bytes,
                                          .unwind = &unwind};
        assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    }
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(jd_mapped_file_open(&fixture->dump, fixture->path), 0);
    assert_int_equal(jd_history_read(&fixture->history, &fixture->dump, NULL), HISTORY_OK);
    assert_int_equal(fixture->history.piece_count, FUNCTIONS);
    unlink(fixture->path);
    rmdir(directory);
    fixture->file = tmpfile();
    assert_non_null(fixture->file);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *const fixture = *state;
    fclose(fixture->file);
    jd_history_free(&fixture->history);
    jd_mapped_file_close(&fixture->dump);
    free(fixture);
    return 0;
}

static enum elf_error write_with(struct fixture *fixture, const struct placed *pieces, size_t count,
                                 const struct elf_options *options)
{
    const int fd = fileno(fixture->file);
    assert_int_equal(ftruncate(fd, 0), 0);
    return elf_write(fd, &fixture->history, pieces, count, options, &fixture->result);
}

static enum elf_error write_elf(struct fixture *fixture, const struct placed *pieces, size_t count,
                                uint64_t hole)
{
    const struct elf_options options = {.hole_address = hole, .hole_size = hole != 0 ? 4096 : 0};
    return write_with(fixture, pieces, count, &options);
}

static void read_at(const struct fixture *fixture, uint64_t offset, void *to, size_t size)
{
    assert_int_equal(pread(fileno(fixture->file), to, size, (off_t)offset), size);
}

static Elf64_Shdr section(const struct fixture *fixture, const char *name)
{
    Elf64_Ehdr header;
    Elf64_Shdr names, found;
    read_at(fixture, 0, &header, sizeof(header));
    read_at(fixture, header.e_shoff + header.e_shstrndx * sizeof(names), &names, sizeof(names));
    for (uint64_t i = 0; i < header.e_shnum; i++) {
        char text[16] = "";
        read_at(fixture, header.e_shoff + i * sizeof(found), &found, sizeof(found));
        (void)!pread(fileno(fixture->file), text, sizeof(text) - 1,
                     (off_t)(names.sh_offset + found.sh_name));
        if (strcmp(text, name) == 0)
            return found;
    }
    fail_msg("there is no %s", name);
    return found;
}

static Elf64_Phdr segment(const struct fixture *fixture, uint32_t type)
{
    Elf64_Ehdr header;
    Elf64_Phdr found = {.p_type = PT_NULL};
    read_at(fixture, 0, &header, sizeof(header));
    for (uint64_t i = 0; i < header.e_phnum && found.p_type != type; i++)
        read_at(fixture, header.e_phoff + i * sizeof(found), &found, sizeof(found));
    assert_int_equal(found.p_type, type);
    return found;
}

/* The locations of the search table. */
static void expect_frames(const struct fixture *fixture, const struct placed *pieces, size_t count)
{
    const Elf64_Shdr table = section(fixture, ".eh_frame_hdr");
    const uint64_t address = segment(fixture, PT_GNU_EH_FRAME).p_vaddr;
    assert_int_equal(table.sh_size, 12 + 8 * count);
    for (size_t i = 0; i < count; i++) {
        int32_t location;
        read_at(fixture, table.sh_offset + 12 + 8 * i, &location, sizeof(location));
        assert_int_equal(address + (uint64_t)(int64_t)location, pieces[i].address);
    }
}

/* perf with libunwind needs the unwinding data in a hole of the address space. */
static void frames_in_a_hole(void **state)
{
    struct fixture *const fixture = *state;
    const struct piece *const piece = fixture->history.pieces;
    const struct placed pieces[] = {{&piece[0], code_addr}, {&piece[1], code_addr + 4096}};
    const uint64_t hole = code_addr - (UINT64_C(1) << 24);
    assert_int_equal(elf_hole_size(&fixture->history, pieces, 2), 4096);
    assert_int_equal(write_elf(fixture, pieces, 2, hole), ELF_OK);
    const Elf64_Shdr frames = section(fixture, ".eh_frame"), text = section(fixture, ".text"),
                     table = section(fixture, ".eh_frame_hdr");
    assert_int_equal(fixture->result.load_address, code_addr - 4096);
    assert_int_equal(frames.sh_addr, hole);
    assert_int_equal(fixture->result.frame_address, hole);
    assert_int_equal(fixture->result.frame_offset, frames.sh_offset);
    assert_int_equal(segment(fixture, PT_GNU_EH_FRAME).p_vaddr, hole + frames.sh_size);
    assert_int_equal(fixture->result.frame_size, frames.sh_size + 12 + 2 * 8);
    assert_int_equal(text.sh_addr - text.sh_offset, fixture->result.load_address);
    assert_int_equal(table.sh_addr - table.sh_offset, fixture->result.load_address);
    expect_frames(fixture, pieces, 2);

    assert_int_equal(write_elf(fixture, pieces, 2, code_addr), ELF_HOLE);
    assert_int_equal(write_elf(fixture, pieces, 2, code_addr - 2 * apart), ELF_HOLE);
}

/* elfutils takes all that the one PT_LOAD is said to reach over for this file's. */
static void a_load_from_elsewhere(void **state)
{
    struct fixture *const fixture = *state;
    const struct piece *const piece = fixture->history.pieces;
    const struct placed pieces[] = {{&piece[0], code_addr}, {&piece[1], code_addr + 4096}};
    struct elf_options options = {.hole_address = code_addr - 8192,
                                  .hole_size = 4096,
                                  .load_address = code_addr - ELF_FIRST_SIZE - 1,
                                  .load_end = code_addr + 16384};
    assert_int_equal(write_with(fixture, pieces, 2, &options), ELF_OK);
    const Elf64_Phdr load = segment(fixture, PT_LOAD);
    const Elf64_Shdr text = section(fixture, ".text"), table = section(fixture, ".eh_frame_hdr");
    assert_int_equal(fixture->result.load_address, options.load_address);
    assert_int_equal(load.p_vaddr & -load.p_align, options.load_address);
    assert_int_equal(load.p_vaddr + load.p_memsz, options.load_end);
    assert_int_equal(load.p_vaddr + load.p_filesz, code_addr + 4096 + CODE_SIZE);
    assert_int_equal(text.sh_addr - text.sh_offset, options.load_address);
    assert_int_equal(table.sh_addr - table.sh_offset, options.load_address / 4096 * 4096);
    expect_frames(fixture, pieces, 2);

    options.load_address++;
    options.load_end = code_addr + 4096 + CODE_SIZE - 1;
    assert_int_equal(write_with(fixture, pieces, 2, &options), ELF_SPREAD);
    options.load_end++;
    assert_int_equal(write_with(fixture, pieces, 2, &options), ELF_OK);
    options.load_address++;
    assert_int_equal(write_with(fixture, pieces, 2, &options), ELF_SPREAD);
}

/* A move is a copy at another place, and a layer has whatever one puts there. */
static void one_piece_at_several_places(void **state)
{
    struct fixture *const fixture = *state;
    const struct piece *const piece = fixture->history.pieces;
    const struct placed pieces[] = {{&piece[2], 0x5000}, {&piece[0], 0x5040}, {&piece[2], 0x9001}};
    assert_int_equal(write_elf(fixture, pieces, 3, 0), ELF_OK);
    assert_int_equal(fixture->result.unwound, 3);
    assert_int_equal(fixture->result.load_address, 0x4000);
    expect_frames(fixture, pieces, 3);
}

static void pieces_that_cannot_be(void **state)
{
    struct fixture *const fixture = *state;
    const struct piece *const piece = fixture->history.pieces;
    const struct placed descending[] = {{&piece[1], code_addr + 4096}, {&piece[0], code_addr}};
    const struct placed overlapping[] = {{&piece[0], code_addr},
                                         {&piece[1], code_addr + CODE_SIZE - 1}};
    const struct placed spread[] = {{&piece[0], code_addr},
                                    {&piece[1], code_addr + 4096},
                                    {&piece[2], code_addr + apart}};
    const struct placed low[] = {{&piece[0], 4095}};
    const struct placed high[] = {{&piece[0], UINT64_MAX - CODE_SIZE}};
    assert_int_equal(write_elf(fixture, descending, 2, 0), ELF_OUT_OF_ORDER);
    assert_int_equal(write_elf(fixture, overlapping, 2, 0), ELF_OUT_OF_ORDER);
    assert_int_equal(write_elf(fixture, spread, 3, 0), ELF_SPREAD);
    assert_int_equal(elf_reach(spread, 3), 2);
    assert_int_equal(write_elf(fixture, spread, 2, 0), ELF_OK);
    assert_int_equal(write_elf(fixture, low, 1, 0), ELF_ADDRESS);
    assert_int_equal(write_elf(fixture, high, 1, 0), ELF_ADDRESS);
    assert_int_equal(write_elf(fixture, NULL, 0, 0), ELF_EMPTY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(frames_in_a_hole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_load_from_elsewhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_piece_at_several_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pieces_that_cannot_be, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
