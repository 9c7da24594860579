package jitdump;

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

    /** Writes it to the address, and what it points to into the memory. */
    void toC(Memory memory, long c) {
        if (codeBytes != null && codeSize != 0 && codeSize != codeBytes.length)
            throw new IllegalArgumentException("%d codeBytes, but codeSize is %d"
                    .formatted(codeBytes.length, codeSize));
        Native.CODE
                .set(c, "struct_size", Native.CODE.size())
                .set(c, "tier", tier)
                .set(c, "name", memory.string(name))
                .set(c, "code_addr", codeAddr)
                .set(c, "code_size", codeBytes == null ? codeSize : size(codeBytes))
                .set(c, "code_bytes", memory.bytes(codeBytes))
                .set(c, "lines", linesToC(memory))
                .set(c, "line_count", lines.size())
                .set(c, "eh_frame", memory.bytes(ehFrame))
                .set(c, "eh_frame_size", size(ehFrame))
                .set(c, "eh_frame_hdr", memory.bytes(ehFrameHdr))
                .set(c, "eh_frame_hdr_size", size(ehFrameHdr))
                .set(c, "unwind", unwindToC(memory))
                .set(c, "tracks", tracksToC(memory))
                .set(c, "track_count", tracks.size())
                .set(c, "eh_frame_addr", ehFrameAddr)
                .set(c, "line_rows", rowsToC(memory))
                .set(c, "line_row_count", lineRows.size())
                .set(c, "files", filesToC(memory))
                .set(c, "file_count", files.size());
    }

    private long linesToC(Memory memory) {
        long array = Native.LINE.array(memory, lines);
        for (int i = 0; i < lines.size(); i++) {
            var line = lines.get(i);
            long c = array + i * Native.LINE.size();
            Native.LINE.set(c, "code_addr", line.codeAddr)
                    .set(c, "line", line.line)
                    .set(c, "column", line.column)
                    .set(c, "file", memory.string(line.file));
        }
        return array;
    }

    private long rowsToC(Memory memory) {
        long array = Native.LINE_ROW.array(memory, lineRows);
        for (int i = 0; i < lineRows.size(); i++) {
            var row = lineRows.get(i);
            long c = array + i * Native.LINE_ROW.size();
            Native.LINE_ROW.set(c, "code_offset", row.codeOffset)
                    .set(c, "file", row.file)
                    .set(c, "line", row.line)
                    .set(c, "column", row.column);
        }
        return array;
    }

    private long filesToC(Memory memory) {
        long array = Native.STRING.array(memory, files);
        for (int i = 0; i < files.size(); i++) {
            long c = array + i * Native.STRING.size();
            long bytes = memory.string(files.get(i));
            Native.STRING.set(c, "bytes", bytes).set(c, "size", Memory.length(bytes));
        }
        return array;
    }

    private long unwindToC(Memory memory) {
        if (unwind == null)
            return 0;
        var steps = unwind.steps;
        long array = Native.UNWIND_STEP.array(memory, steps);
        for (int i = 0; i < steps.size(); i++) {
            var step = steps.get(i);
            long c = array + i * Native.UNWIND_STEP.size();
            Native.UNWIND_STEP.set(c, "code_offset", step.codeOffset)
                    .set(c, "op", step.op)
                    .set(c, "reg", step.reg)
                    .set(c, "offset", step.offset);
        }
        long c = memory.allocate(Native.UNWIND.size());
        Native.UNWIND.set(c, "struct_size", Native.UNWIND.size())
                .set(c, "frame", unwind.frame)
                .set(c, "steps", array)
                .set(c, "step_count", steps.size());
        return c;
    }

    private long tracksToC(Memory memory) {
        long array = Native.TRACK.array(memory, tracks);
        for (int i = 0; i < tracks.size(); i++) {
            var track = tracks.get(i);
            long c = array + i * Native.TRACK.size();
            Native.TRACK.set(c, "struct_size", Native.TRACK.size())
                    .set(c, "name", memory.string(track.name))
                    .set(c, "functions", functionsToC(memory, track.functions))
                    .set(c, "function_count", track.functions.size())
                    .set(c, "positions", positionsToC(memory, track.positions))
                    .set(c, "position_count", track.positions.size())
                    .set(c, "offsets", offsetsToC(memory, track.offsets))
                    .set(c, "offset_count", track.offsets.size());
        }
        return array;
    }

    private static long functionsToC(Memory memory, List<Function> functions) {
        long array = Native.FUNCTION.array(memory, functions);
        for (int i = 0; i < functions.size(); i++) {
            var function = functions.get(i);
            long c = array + i * Native.FUNCTION.size();
            Native.FUNCTION.set(c, "name", memory.string(function.name))
                    .set(c, "file", memory.string(function.file))
                    .set(c, "start_line", function.startLine)
                    .set(c, "start_column", function.startColumn)
                    .set(c, "flags", function.flags);
        }
        return array;
    }

    private static long positionsToC(Memory memory, List<Position> positions) {
        long array = Native.POSITION.array(memory, positions);
        for (int i = 0; i < positions.size(); i++) {
            var position = positions.get(i);
            long c = array + i * Native.POSITION.size();
            Native.POSITION.set(c, "function", position.function)
                    .set(c, "line", position.line)
                    .set(c, "column", position.column)
                    .set(c, "caller", position.caller);
        }
        return array;
    }

    private static long offsetsToC(Memory memory, List<Offset> offsets) {
        long array = Native.OFFSET.array(memory, offsets);
        for (int i = 0; i < offsets.size(); i++) {
            var offset = offsets.get(i);
            long c = array + i * Native.OFFSET.size();
            Native.OFFSET.set(c, "code_offset", offset.codeOffset)
                    .set(c, "position", offset.position);
        }
        return array;
    }

    static long size(byte[] bytes) {
        return bytes == null ? 0 : bytes.length;
    }
}
