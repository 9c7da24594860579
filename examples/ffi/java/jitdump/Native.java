package jitdump;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;

/** The library's structs and functions, as jitdump.h declares them. */
final class Native {
    private Native() {}

    static final Struct OPTIONS = Struct.of("jitdump_options",
            JAVA_INT.withName("struct_size"),
            JAVA_INT.withName("flags"),
            JAVA_INT.withName("clock"),
            JAVA_INT.withName("flush_mode"),
            JAVA_INT.withName("elf_mach"),
            JAVA_INT.withName("dialect"),
            JAVA_LONG.withName("flush_bytes"),
            JAVA_LONG.withName("flush_interval_ns"),
            JAVA_LONG.withName("size_limit"),
            ADDRESS.withName("directory"),
            ADDRESS.withName("error_message"),
            JAVA_LONG.withName("error_message_size"),
            ADDRESS.withName("track"),
            JAVA_LONG.withName("descriptor"));

    static final Struct LINE = Struct.of("jitdump_line",
            JAVA_LONG.withName("code_addr"),
            JAVA_INT.withName("line"),
            JAVA_INT.withName("column"),
            ADDRESS.withName("file"));

    static final Struct UNWIND_STEP = Struct.of("jitdump_unwind_step",
            JAVA_LONG.withName("code_offset"),
            JAVA_INT.withName("op"),
            JAVA_INT.withName("reg"),
            JAVA_LONG.withName("offset"));

    static final Struct UNWIND = Struct.of("jitdump_unwind",
            JAVA_INT.withName("struct_size"),
            JAVA_INT.withName("frame"),
            ADDRESS.withName("steps"),
            JAVA_LONG.withName("step_count"));

    static final Struct FUNCTION = Struct.of("jitdump_function",
            ADDRESS.withName("name"),
            ADDRESS.withName("file"),
            JAVA_INT.withName("start_line"),
            JAVA_INT.withName("start_column"),
            JAVA_INT.withName("flags"),
            JAVA_INT.withName("name_size"),
            JAVA_INT.withName("file_size"),
            JAVA_INT.withName("reserved"));

    static final Struct POSITION = Struct.of("jitdump_position",
            JAVA_INT.withName("function"),
            JAVA_INT.withName("line"),
            JAVA_INT.withName("column"),
            JAVA_INT.withName("caller"));

    static final Struct OFFSET = Struct.of("jitdump_offset",
            JAVA_INT.withName("code_offset"),
            JAVA_INT.withName("position"));

    static final Struct TRACK = Struct.of("jitdump_track",
            JAVA_INT.withName("struct_size"),
            JAVA_INT.withName("reserved"),
            ADDRESS.withName("name"),
            ADDRESS.withName("functions"),
            JAVA_LONG.withName("function_count"),
            ADDRESS.withName("positions"),
            JAVA_LONG.withName("position_count"),
            ADDRESS.withName("offsets"),
            JAVA_LONG.withName("offset_count"));

    static final Struct LINE_ROW = Struct.of("jitdump_line_row",
            JAVA_INT.withName("code_offset"),
            JAVA_INT.withName("file"),
            JAVA_INT.withName("line"),
            JAVA_INT.withName("column"));

    static final Struct STRING = Struct.of("jitdump_string",
            ADDRESS.withName("bytes"),
            JAVA_LONG.withName("size"));

    static final Struct CODE = Struct.of("jitdump_code",
            JAVA_INT.withName("struct_size"),
            JAVA_INT.withName("tier"),
            ADDRESS.withName("name"),
            JAVA_LONG.withName("code_addr"),
            JAVA_LONG.withName("code_size"),
            ADDRESS.withName("code_bytes"),
            ADDRESS.withName("lines"),
            JAVA_LONG.withName("line_count"),
            ADDRESS.withName("eh_frame"),
            JAVA_LONG.withName("eh_frame_size"),
            ADDRESS.withName("eh_frame_hdr"),
            JAVA_LONG.withName("eh_frame_hdr_size"),
            ADDRESS.withName("unwind"),
            ADDRESS.withName("tracks"),
            JAVA_LONG.withName("track_count"),
            JAVA_LONG.withName("eh_frame_addr"),
            JAVA_LONG.withName("name_size"),
            ADDRESS.withName("line_rows"),
            JAVA_LONG.withName("line_row_count"),
            ADDRESS.withName("files"),
            JAVA_LONG.withName("file_count"));

    private static final SymbolLookup LIBRARY = library();

    static final MethodHandle OPTIONS_INIT =
            function("jitdump_options_init", FunctionDescriptor.ofVoid(ADDRESS, JAVA_INT));
    static final MethodHandle OPEN = function("jitdump_open", JAVA_INT, ADDRESS, ADDRESS);
    static final MethodHandle OPEN_FROM_ENVIRONMENT =
            function("jitdump_open_from_environment", JAVA_INT, ADDRESS, ADDRESS);
    static final MethodHandle CLOSE = function("jitdump_close", JAVA_INT, ADDRESS);
    static final MethodHandle AFTER_FORK =
            function("jitdump_after_fork", FunctionDescriptor.ofVoid());
    static final MethodHandle PATH = function("jitdump_path", ADDRESS, ADDRESS);
    static final MethodHandle LOAD =
            function("jitdump_load", JAVA_INT, ADDRESS, ADDRESS, ADDRESS);
    static final MethodHandle LOAD_MANY =
            function("jitdump_load_many", JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
    static final MethodHandle UNWIND_SIZE =
            function("jitdump_unwind_size", JAVA_INT, ADDRESS, ADDRESS, ADDRESS);
    static final MethodHandle UNWIND_EH_FRAME = function("jitdump_unwind_eh_frame",
            JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
    static final MethodHandle MOVE = function("jitdump_move",
            JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle ADD_TIER = function("jitdump_add_tier",
            JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS);
    static final MethodHandle EMBED_SOURCE = function("jitdump_embed_source",
            JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG);
    static final MethodHandle APPEND_RAW = function("jitdump_append_raw",
            JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_LONG);
    static final MethodHandle FLUSH = function("jitdump_flush", JAVA_INT, ADDRESS);
    static final MethodHandle FLUSH_FROM_SIGNAL =
            function("jitdump_flush_from_signal", JAVA_INT, ADDRESS);
    static final MethodHandle STRERROR = function("jitdump_strerror", ADDRESS, JAVA_INT);
    static final MethodHandle VERSION = function("jitdump_version", JAVA_INT);

    /** That of the jar, if it has one for this machine, or the installed one. */
    private static SymbolLookup library() {
        var resource = "linux-" + System.getProperty("os.arch") + "/libjitdump.so";
        try (var bundled = Native.class.getResourceAsStream(resource)) {
            if (bundled == null)
                return SymbolLookup.libraryLookup("libjitdump.so.0.2", Arena.global());
            var file = Files.createTempFile("libjitdump", ".so");
            try {
                Files.copy(bundled, file, StandardCopyOption.REPLACE_EXISTING);
                return SymbolLookup.libraryLookup(file, Arena.global());
            } finally {
                Files.delete(file); // it stays mapped
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static MethodHandle function(String name, MemoryLayout result,
                                         MemoryLayout... parameters) {
        return function(name, FunctionDescriptor.of(result, parameters));
    }

    private static MethodHandle function(String name, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(LIBRARY.find(name).orElseThrow(), descriptor);
    }
}
