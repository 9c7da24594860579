/*
 * libjitdump in C++17 and later: a handle that closes itself, structs that know their size, names and
 * tables as views.
 *
 * Thin: no allocation, no exception, no virtual function, nothing that jitdump.h does not do, and no
 * library of its own. jitdump.h is the manual; results are its errors, 0 for success. With C++20
 * there is std::span beside pointer and count.
 *
 * Example:
 *
 *     jitdump_cxx::Dump dump; // one for the process
 *
 *     void profiling_wanted()
 *     {
 *         dump.open_from_environment();
 *     }
 *
 *     // Names are views: a part of a larger text needs no copy.
 *     void function_generated(std::string_view name, const void *entry, std::size_t size)
 *     {
 *         dump.load(jitdump_cxx::Code(name, entry, size));
 *     }
 */
#ifndef JITDUMP_HPP
#define JITDUMP_HPP

#include <jitdump.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#if __has_include(<span>) && __cplusplus >= 202002L
#include <span>
#endif

namespace jitdump_cxx {

/* A struct of jitdump.h, all zero but for struct_size: Options, Unwind, Track. */
template <class Struct> struct Sized : Struct {
    Sized() noexcept : Struct() { this->struct_size = sizeof(Struct); }
};
using Options = Sized<::jitdump_options>;
using Unwind = Sized<::jitdump_unwind>;
using Track = Sized<::jitdump_track>;

/* For jitdump_code.files. */
inline ::jitdump_string string(std::string_view text) noexcept
{
    return {text.data(), text.size()};
}

/* For jitdump_track.functions. Without `file`, unknown; a line or column of 0, too. */
inline ::jitdump_function function(std::string_view name, std::string_view file = {},
                                   std::uint32_t start_line = 0,
                                   std::uint32_t start_column = 0) noexcept
{
    ::jitdump_function result = {};
    result.name = name.empty() ? nullptr : name.data();
    result.name_size = static_cast<std::uint32_t>(name.size());
    result.file = file.empty() ? nullptr : file.data();
    result.file_size = static_cast<std::uint32_t>(file.size());
    result.start_line = start_line;
    result.start_column = start_column;
    return result;
}

/*
 * A struct jitdump_code, whose fields can be set directly too. It points to what it is given:
 * that must be there until the load has returned. `name` and `entry` as jitdump_code.name and
 * code_addr.
 */
struct Code : Sized<::jitdump_code> {
    Code() noexcept = default;

    /* Code that lies where it will be executed. */
    Code(std::string_view name, const void *entry, std::size_t size) noexcept
        : Code(name, reinterpret_cast<std::uintptr_t>(entry), nullptr, size)
    {
    }

    /* Code of which `bytes` are a copy, or the writable mapping. */
    Code(std::string_view name, std::uint64_t entry, const void *bytes, std::size_t size) noexcept
    {
        set_name(name);
        code_addr = entry;
        code_bytes = bytes;
        code_size = size;
    }

    Code &set_name(std::string_view text) noexcept
    {
        /* Of size 0 it would end at its NUL, which a view has not. */
        name = text.empty() ? nullptr : text.data();
        name_size = text.size();
        return *this;
    }

    Code &set_lines(const ::jitdump_line *table, std::size_t count) noexcept
    {
        lines = table;
        line_count = count;
        return *this;
    }

    Code &set_lines(const ::jitdump_line_row *rows, std::size_t count,
                    const ::jitdump_string *names, std::size_t name_count) noexcept
    {
        line_rows = rows;
        line_row_count = count;
        files = names;
        file_count = name_count;
        return *this;
    }

    /* A section as compilers make it. `address`: where it is loaded, if not at `bytes`. */
    Code &set_eh_frame(const void *bytes, std::size_t size, std::uint64_t address = 0) noexcept
    {
        eh_frame = bytes;
        eh_frame_size = size;
        eh_frame_addr = address;
        return *this;
    }

    Code &set_tracks(const Track *array, std::size_t count) noexcept
    {
        tracks = array;
        track_count = count;
        return *this;
    }

#ifdef __cpp_lib_span
    Code(std::string_view name, std::span<const std::byte> code) noexcept
        : Code(name, code.data(), code.size())
    {
    }

    Code(std::string_view name, std::uint64_t entry, std::span<const std::byte> bytes) noexcept
        : Code(name, entry, bytes.data(), bytes.size())
    {
    }

    Code &set_lines(std::span<const ::jitdump_line> table) noexcept
    {
        return set_lines(table.data(), table.size());
    }

    Code &set_lines(std::span<const ::jitdump_line_row> rows,
                    std::span<const ::jitdump_string> names) noexcept
    {
        return set_lines(rows.data(), rows.size(), names.data(), names.size());
    }

    Code &set_tracks(std::span<const Track> array) noexcept
    {
        return set_tracks(array.data(), array.size());
    }
#endif
};
/* So that an array of these is an array of those. */
static_assert(sizeof(Code) == sizeof(::jitdump_code) && sizeof(Track) == sizeof(::jitdump_track),
              "nothing is added to the structs");

/*
 * An open dump, or none: then every call does nothing and returns 0. It is closed at its end. Calls
 * may be made from any thread, as those of jitdump.h; open(), close(), assignment and the end are not to
 * be done while others are under way.
 */
class Dump {
public:
    Dump() noexcept = default;

    /* Takes over a handle of jitdump.h's. */
    explicit Dump(::jitdump *handle) noexcept : handle_(handle) {}

    Dump(Dump &&other) noexcept : handle_(other.release()) {}

    Dump &operator=(Dump &&other) noexcept
    {
        if (this != &other) {
            close();
            handle_ = other.release();
        }
        return *this;
    }

    ~Dump() { close(); }

    /* An open one is closed before. */
    int open() noexcept
    {
        close();
        return ::jitdump_open(&handle_, nullptr);
    }

    int open(const ::jitdump_options &options) noexcept
    {
        close();
        return ::jitdump_open(&handle_, &options);
    }

    int open_from_environment() noexcept
    {
        close();
        return ::jitdump_open_from_environment(&handle_, nullptr);
    }

    int open_from_environment(const ::jitdump_options &defaults) noexcept
    {
        close();
        return ::jitdump_open_from_environment(&handle_, &defaults);
    }

    int close() noexcept { return ::jitdump_close(release()); }

    explicit operator bool() const noexcept { return handle_ != nullptr; }

    ::jitdump *get() const noexcept { return handle_; }

    /* The caller closes it. */
    ::jitdump *release() noexcept { return std::exchange(handle_, nullptr); }

    /* `code_index`, here and below: where the function's number goes, if it is wanted. */
    int load(const ::jitdump_code &code, std::uint64_t *code_index = nullptr) noexcept
    {
        return ::jitdump_load(handle_, &code, code_index);
    }

    int load_many(const Code *codes, std::size_t count,
                  std::uint64_t *code_indices = nullptr) noexcept
    {
        return ::jitdump_load_many(handle_, codes, count, code_indices);
    }

#ifdef __cpp_lib_span
    int load_many(std::span<const Code> codes, std::uint64_t *code_indices = nullptr) noexcept
    {
        return load_many(codes.data(), codes.size(), code_indices);
    }
#endif

    int move(std::uint64_t code_index, std::uint64_t old_code_addr, std::uint64_t new_code_addr,
             std::uint64_t code_size) noexcept
    {
        return ::jitdump_move(handle_, code_index, old_code_addr, new_code_addr, code_size);
    }

    int unwind_size(const ::jitdump_code &code, std::uint64_t &size) const noexcept
    {
        return ::jitdump_unwind_size(handle_, &code, &size);
    }

    int add_tier(const char *name, ::jitdump_color color, const char *name_prefix,
                 std::uint32_t &tier) noexcept
    {
        return ::jitdump_add_tier(handle_, name, static_cast<std::uint32_t>(color), name_prefix,
                                  &tier);
    }

    int embed_source(const char *path, std::string_view source) noexcept
    {
        return ::jitdump_embed_source(handle_, path, source.data(), source.size());
    }

    int append_raw(std::uint32_t id, const void *payload, std::size_t size) noexcept
    {
        return ::jitdump_append_raw(handle_, id, payload, size);
    }

    int flush() noexcept { return ::jitdump_flush(handle_); }

    int flush_from_signal() noexcept { return ::jitdump_flush_from_signal(handle_); }

    /* nullptr where there is none. */
    const char *path() const noexcept { return ::jitdump_path(handle_); }

private:
    ::jitdump *handle_ = nullptr;
};

} // namespace jitdump_cxx

#endif
