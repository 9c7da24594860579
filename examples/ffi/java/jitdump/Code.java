package jitdump;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** All about one piece of generated code. */
public final class Code {
    public int tier;
    public String name;
    public long codeAddr;
    public long codeSize;
    /** Where they are given, codeSize may be 0. */
    public byte[] codeBytes;
    public List<Line> lines = List.of();
    public byte[] ehFrame;
    public byte[] ehFrameHdr;
    /** Needed for an ehFrame without header, since the library sees a copy of it. */
    public long ehFrameAddr;
    /** The same as lines, by indices of files. */
    public List<LineRow> lineRows = List.of();
    public List<String> files = List.of();
    public Unwind unwind;
    public List<Track> tracks = List.of();

    public record Line(long codeAddr, int line, int column, String file) {}

    /** File is an index, or Constants.NONE. */
    public record LineRow(int codeOffset, int file, int line, int column) {}

    public record Unwind(int frame, List<Step> steps) {}

    public record Step(long codeOffset, int op, int reg, long offset) {}

    public record Track(String name, List<Function> functions, List<Position> positions,
                        List<Offset> offsets) {}

    public record Function(String name, String file, int startLine, int startColumn, int flags) {}

    /** Function and caller are indices, or Constants.NONE. */
    public record Position(int function, int line, int column, int caller) {}

    public record Offset(int codeOffset, int position) {}

    MemorySegment toC(Arena arena) {
        if (codeBytes != null && codeSize != 0 && codeSize != codeBytes.length)
            throw new IllegalArgumentException("%d codeBytes, but codeSize is %d"
                    .formatted(codeBytes.length, codeSize));
        return Native.CODE.allocate(arena)
                .set("struct_size", (int) Native.CODE.layout().byteSize())
                .set("tier", tier)
                .set("name", string(arena, name))
                .set("code_addr", codeAddr)
                .set("code_size", codeBytes == null ? codeSize : size(codeBytes))
                .set("code_bytes", bytes(arena, codeBytes))
                .set("lines", Native.LINE.array(arena, lines, (c, line) -> c
                        .set("code_addr", line.codeAddr)
                        .set("line", line.line)
                        .set("column", line.column)
                        .set("file", string(arena, line.file))))
                .set("line_count", size(lines))
                .set("eh_frame", bytes(arena, ehFrame))
                .set("eh_frame_size", size(ehFrame))
                .set("eh_frame_hdr", bytes(arena, ehFrameHdr))
                .set("eh_frame_hdr_size", size(ehFrameHdr))
                .set("unwind", unwindToC(arena))
                .set("tracks", Native.TRACK.array(arena, tracks, (c, track) -> c
                        .set("struct_size", (int) Native.TRACK.layout().byteSize())
                        .set("name", string(arena, track.name))
                        .set("functions", functionsToC(arena, track.functions))
                        .set("function_count", size(track.functions))
                        .set("positions", positionsToC(arena, track.positions))
                        .set("position_count", size(track.positions))
                        .set("offsets", offsetsToC(arena, track.offsets))
                        .set("offset_count", size(track.offsets))))
                .set("track_count", size(tracks))
                .set("eh_frame_addr", ehFrameAddr)
                .set("line_rows", Native.LINE_ROW.array(arena, lineRows, (c, row) -> c
                        .set("code_offset", row.codeOffset)
                        .set("file", row.file)
                        .set("line", row.line)
                        .set("column", row.column)))
                .set("line_row_count", size(lineRows))
                .set("files", Native.STRING.array(arena, files, (c, file) -> {
                    var bytes = string(arena, file);
                    c.set("bytes", bytes).set("size", bytes.byteSize() - 1);
                }))
                .set("file_count", size(files))
                .memory();
    }

    private MemorySegment unwindToC(Arena arena) {
        if (unwind == null)
            return MemorySegment.NULL;
        return Native.UNWIND.allocate(arena)
                .set("struct_size", (int) Native.UNWIND.layout().byteSize())
                .set("frame", unwind.frame)
                .set("steps", Native.UNWIND_STEP.array(arena, unwind.steps, (c, step) -> c
                        .set("code_offset", step.codeOffset)
                        .set("op", step.op)
                        .set("reg", step.reg)
                        .set("offset", step.offset)))
                .set("step_count", size(unwind.steps))
                .memory();
    }

    private static MemorySegment functionsToC(Arena arena, List<Function> functions) {
        return Native.FUNCTION.array(arena, functions, (c, function) -> c
                .set("name", string(arena, function.name))
                .set("file", string(arena, function.file))
                .set("start_line", function.startLine)
                .set("start_column", function.startColumn)
                .set("flags", function.flags));
    }

    private static MemorySegment positionsToC(Arena arena, List<Position> positions) {
        return Native.POSITION.array(arena, positions, (c, position) -> c
                .set("function", position.function)
                .set("line", position.line)
                .set("column", position.column)
                .set("caller", position.caller));
    }

    private static MemorySegment offsetsToC(Arena arena, List<Offset> offsets) {
        return Native.OFFSET.array(arena, offsets, (c, offset) -> c
                .set("code_offset", offset.codeOffset)
                .set("position", offset.position));
    }

    static MemorySegment string(Arena arena, String string) {
        if (string != null && string.indexOf('\0') >= 0)
            throw new IllegalArgumentException("there is a NUL in the string " + string);
        return string == null ? MemorySegment.NULL : arena.allocateFrom(string);
    }

    static MemorySegment bytes(Arena arena, byte[] bytes) {
        return bytes == null ? MemorySegment.NULL : arena.allocateFrom(JAVA_BYTE, bytes);
    }

    static long size(byte[] bytes) {
        return bytes == null ? 0 : bytes.length;
    }

    private static long size(List<?> elements) {
        return elements.size();
    }
}
