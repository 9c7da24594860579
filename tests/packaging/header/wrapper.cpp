// What jitdump.hpp adds: handles that close themselves, structs that know their size. The argument is a
// directory for the dump. The exit code is the line of what is wrong.
#include <jitdump.hpp>

#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return __LINE__ % 250 + 1;                                                             \
    } while (0)

static_assert(!std::is_copy_constructible_v<jitdump_cxx::Dump> &&
                  !std::is_copy_assignable_v<jitdump_cxx::Dump> &&
                  std::is_nothrow_move_constructible_v<jitdump_cxx::Dump> &&
                  std::is_nothrow_move_assignable_v<jitdump_cxx::Dump>,
              "one holder");

static long size_of(const std::string &path)
{
    std::FILE *file = std::fopen(path.c_str(), "rb");
    if (file == nullptr)
        return -1;
    std::fseek(file, 0, SEEK_END);
    const long size = std::ftell(file);
    std::fclose(file);
    return size;
}

enum { HEADER = 40, LOAD = 56, CLOSE = 16, DEBUG_INFO = 32, LINE = 16 };

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    static const unsigned char bytes[16] = {};
    jitdump_cxx::Dump none;
    std::uint64_t index = 1;
    CHECK(!none && none.get() == nullptr && none.path() == nullptr);
    CHECK(none.load(jitdump_cxx::Code("f", bytes, sizeof(bytes)), &index) == 0 && index == 0);
    CHECK(none.close() == 0 && none.flush() == 0);

    jitdump_cxx::Options options;
    CHECK(options.struct_size == sizeof(::jitdump_options) && options.flags == 0);
    options.directory = argv[1];
    std::string path;
    long size = HEADER;
    {
        jitdump_cxx::Dump dump;
        CHECK(dump.open(options) == 0 && dump);
        path = dump.path();
        CHECK(size_of(path) == size);

        CHECK(dump.load(jitdump_cxx::Code("f", bytes, sizeof(bytes)), &index) == 0 && index != 0);
        size += LOAD + 2 + 16;
        CHECK(size_of(path) == size);
        CHECK(dump.move(index, reinterpret_cast<std::uintptr_t>(bytes), 0x5000, 16) == 0);
        size += 64;

        const ::jitdump_line lines[] = {{0x1000, 1, 0, "a.js"}, {0x1004, 2, 0, "a.js"}};
        jitdump_cxx::Code described("gg", 0x1000, bytes, sizeof(bytes));
        CHECK(dump.load(described.set_lines(lines, 2)) == 0);
        size += DEBUG_INFO + 3 * (LINE + 5) + LOAD + 3 + 16;

        // A name that is a part of a text, and the same table by offset and index.
        const std::string_view text = "a name, and more";
        const ::jitdump_string files[] = {jitdump_cxx::string(std::string_view("a.js/").substr(0, 4))};
        const ::jitdump_line_row rows[] = {{0, 0, 1, 0}, {4, 0, 2, 0}};
        CHECK(dump.load(jitdump_cxx::Code(text.substr(2, 4), 0x1000, bytes, sizeof(bytes))
                            .set_lines(rows, 2, files, 1)) == 0);
        size += DEBUG_INFO + 3 * (LINE + 5) + LOAD + 5 + 16;
        const ::jitdump_function functions[] = {
            jitdump_cxx::function(text.substr(2, 4), std::string_view("a.js/").substr(0, 4), 1)};
        const ::jitdump_position positions[] = {{0, 1, 0, JITDUMP_NONE}};
        const ::jitdump_offset offsets[] = {{0, 0}};
        jitdump_cxx::Track track;
        track.functions = functions;
        track.positions = positions;
        track.offsets = offsets;
        track.function_count = track.position_count = track.offset_count = 1;
        /* A section without an entry. */
        CHECK(dump.load(jitdump_cxx::Code("gg", 0x1000, bytes, sizeof(bytes))
                            .set_tracks(&track, 1)
                            .set_eh_frame("\0\0\0", 4, 0x2000)) == 0);
        size += DEBUG_INFO + 2 * (LINE + 5) + LOAD + 3 + 16;
        CHECK(jitdump_cxx::function({}).name == nullptr && jitdump_cxx::function("f").file == nullptr);
        CHECK(dump.load(jitdump_cxx::Code(std::string_view(), bytes, 1)) ==
              JITDUMP_ERROR_NAME_MISSING);
        const jitdump_cxx::Code several[] = {{text.substr(0, 1), bytes, 16}, {"hh", bytes, 16}};
        std::uint64_t indices[2] = {};
        CHECK(dump.load_many(several, 2, indices) == 0 && indices[0] != 0 && indices[1] > indices[0]);
        size += 2 * (LOAD + 16) + 2 + 3;
#ifdef __cpp_lib_span
        CHECK(dump.load_many(std::span(several)) == 0);
        size += 2 * (LOAD + 16) + 2 + 3;
        CHECK(dump.load(jitdump_cxx::Code("gg", 0x1000, std::as_bytes(std::span(bytes)))
                            .set_lines(std::span(lines))) == 0);
        size += DEBUG_INFO + 3 * (LINE + 5) + LOAD + 3 + 16;
#else
        static_assert(__cplusplus < 202002L, "C++20 has std::span");
#endif
        CHECK(size_of(path) == size);

        std::uint32_t tier = 0;
        CHECK(dump.add_tier("Baseline", JITDUMP_COLOR_BLUE, "Baseline: ", tier) == 0 && tier != 0);
        CHECK(dump.embed_source("main.bytecode", std::string_view("load 1\nreturn\n")) == 0);
        CHECK(dump.append_raw(1000, "note", 4) == 0);
        size += 16 + 4;
        jitdump_cxx::Unwind unwind;
        CHECK(unwind.struct_size == sizeof(::jitdump_unwind));
        CHECK(dump.unwind_size(described, index) == 0 && index == 0);
        CHECK(dump.flush() == 0 && dump.flush_from_signal() == 0);

        // The handle has one holder, who closes it.
        jitdump_cxx::Dump moved(std::move(dump));
        CHECK(!dump && moved);
        dump = std::move(moved);
        CHECK(dump && !moved);
        jitdump_cxx::Dump &same = dump;
        dump = std::move(same);
        CHECK(dump);
        jitdump_cxx::Dump owner(dump.release());
        CHECK(!dump && owner && size_of(path) == size);
    }
    size += CLOSE;
    CHECK(size_of(path) == size);

    // An open one is closed before the next is opened.
    jitdump_cxx::Dump again;
    CHECK(again.open(options) == 0 && again.open(options) == 0);
    CHECK(size_of(path) == HEADER);
    jitdump_cxx::Dump second;
    CHECK(second.open(options) == JITDUMP_ERROR_FILE_IN_USE && !second);
    CHECK(second.open_from_environment() == 0 && !second);
    again = std::move(second);
    CHECK(!again && size_of(path) == HEADER + CLOSE);
    return 0;
}
