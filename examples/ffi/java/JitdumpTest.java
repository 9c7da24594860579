import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import jitdump.Code;
import jitdump.Code.Line;
import jitdump.Code.LineRow;
import jitdump.Code.Track;
import jitdump.Code.Unwind;
import jitdump.Constants;
import jitdump.Dump;
import jitdump.JitdumpException;
import jitdump.Options;

/** Bad input is an exception with the library's text. Expects the name of an empty folder. */
public final class JitdumpTest {
    private static final byte[] BYTES = new byte[16];

    public static void main(String[] arguments) throws IOException {
        var directory = Path.of(arguments[0]);
        testOpenError(directory.resolve("missing"));
        testErrors(directory);
        testNotC(directory);
        testNoDump(directory);
        testAllocations(directory);
        check(Dump.version() >= 100, "the version is " + Dump.version());
        System.out.println("passed");
    }

    private static Dump open(Path directory) {
        return open(directory, 0);
    }

    private static Dump open(Path directory, int flags) {
        var options = new Options();
        options.flags = flags;
        options.directory = directory.toString();
        return Dump.open(options);
    }

    private static void check(boolean condition, String otherwise) {
        if (!condition)
            throw new AssertionError(otherwise);
    }

    private static void refuses(Runnable call, int code, String text) {
        try {
            call.run();
        } catch (JitdumpException e) {
            check(e.code == code && e.getMessage().contains(text),
                    "%s (%d), not error %d with \"%s\"".formatted(e, e.code, code, text));
            return;
        }
        throw new AssertionError("no error %d".formatted(code));
    }

    private static Code code(Consumer<Code> fill) {
        var code = new Code();
        code.name = "f";
        code.codeBytes = BYTES;
        fill.accept(code);
        return code;
    }

    private static void testOpenError(Path missing) {
        refuses(() -> open(missing), Constants.ERROR_DIRECTORY_MISSING, missing + ": ");
    }

    private static void testErrors(Path directory) throws IOException {
        try (var dump = open(directory, Constants.STRICT)) {
            refuses(() -> dump.load(code(c -> c.name = null)),
                    Constants.ERROR_NAME_MISSING, "name");
            refuses(() -> dump.load(code(c -> { c.codeBytes = null; c.codeSize = 1; })),
                    Constants.ERROR_CODE_MISSING, "code");
            var line = new Line(0x1000, 1, 0, "f");
            refuses(() -> dump.load(code(c -> {
                c.codeAddr = 0x1000;
                c.lines = List.of(line, line);
            })), Constants.ERROR_LINES_ORDER, "ascend");
            refuses(() -> dump.load(code(c -> c.ehFrame = new byte[] {1})),
                    Constants.ERROR_UNWIND_SECTION, "eh_frame");
            var badFrame = code(c -> c.unwind = new Unwind(7, List.of()));
            refuses(() -> dump.load(badFrame), Constants.ERROR_UNWIND_FRAME, "frame");
            refuses(() -> dump.unwindSize(badFrame), Constants.ERROR_UNWIND_FRAME, "frame");
            refuses(() -> dump.load(code(c -> c.tracks = List.of(
                    new Track(null, List.of(), List.of(), List.of())))),
                    Constants.ERROR_TRACK_EMPTY, "track");
            refuses(() -> dump.load(code(c -> c.tier = 5)), Constants.ERROR_TIER, "tier");
            refuses(() -> dump.move(0, 1, 2, 3), Constants.ERROR_CODE_INDEX, "code_index");
            refuses(() -> dump.appendRaw(1, BYTES), Constants.ERROR_RECORD_ID, "id");
            refuses(() -> dump.appendRaw(99, new byte[0]),
                    Constants.ERROR_RECORD_EMPTY, "payload");
            refuses(() -> dump.embedSource("", BYTES), Constants.ERROR_SOURCE_PATH, "path");
            refuses(() -> dump.addTier("t", 99, null), Constants.ERROR_TIER_COLOR, "colo");
            refuses(() -> Dump.unwindEhFrame(0, new Code()), Constants.ERROR_ARGUMENT, "NULL");
            dump.flush(); // no error has stuck
            Files.delete(Path.of(dump.path()));
        }
    }

    /** What does not fit into C is refused, and not cut off. */
    private static void testNotC(Path directory) throws IOException {
        var badOptions = new Options();
        badOptions.directory = "a\0b";
        try (var dump = open(directory)) {
            for (Runnable call : List.<Runnable>of(
                    () -> Dump.open(badOptions),
                    () -> dump.addTier("a\0b", Constants.COLOR_RED, null),
                    () -> dump.embedSource("a\0b", BYTES),
                    () -> dump.load(code(c -> c.name = "a\0b")),
                    () -> dump.load(code(c -> c.lines = List.of(new Line(0, 1, 0, "a\0b")))),
                    () -> dump.load(code(c -> c.codeSize = 15)))) {
                try {
                    call.run();
                } catch (IllegalArgumentException expected) {
                    continue;
                }
                throw new AssertionError("not refused");
            }
            Files.delete(Path.of(dump.path()));
        }
    }

    private static void testNoDump(Path directory) throws IOException {
        var closed = open(directory);
        Files.delete(Path.of(closed.path()));
        check(closed.isOpen(), "no dump is open");
        closed.close();
        for (var dump : List.of(Dump.NONE, closed)) {
            check(!dump.isOpen(), "a dump is open");
            check(dump.path() == null, "there is a path");
            check(dump.load(new Code()) == 0, "there is an index");
            dump.flush();
            dump.close();
        }
    }

    /** A load with all that there may be takes no memory of Java's, once C's is there. */
    private static void testAllocations(Path directory) throws IOException {
        var lines = IntStream.range(0, 20)
                .mapToObj(i -> new Line(0x1000 + i % 16, 1 + i, 0, "fil\u00e9")).toList();
        var rows = IntStream.range(0, 20).mapToObj(i -> new LineRow(i, 0, 1 + i, 0)).toList();
        var track = new Track("t", List.of(new Code.Function("f", "file", 1, 1, 0)),
                List.of(new Code.Position(0, 1, 1, Constants.NONE)), List.of(new Code.Offset(0, 0)));
        var unwind = new Unwind(0, List.of(new Code.Step(1, Constants.UNWIND_FRAME_NONE, 0, 0)));
        var options = new Options();
        options.directory = directory.toString();
        options.flushMode = Constants.FLUSH_BUFFERED;
        options.sizeLimit = 1 << 30;
        try (var dump = Dump.open(options)) {
            for (Consumer<Code> fill : List.<Consumer<Code>>of(
                    c -> c.unwind = unwind,
                    c -> { c.lineRows = rows; c.files = List.of("file"); },
                    c -> c.tracks = List.of(track),
                    c -> c.lines = lines.subList(0, 16))) {
                var code = code(fill);
                code.codeAddr = 0x1000;
                long bytes = bytesOfLoads(dump, code);
                System.out.println(bytes + " bytes allocated by " + LOADS + " loads");
                check(bytes < LOADS, bytes + " bytes allocated by " + LOADS + " loads");
            }
            Files.delete(Path.of(dump.path()));
        }
    }

    private static final int LOADS = 2000;

    /** After as many that the compiler has learned from. */
    private static long bytesOfLoads(Dump dump, Code code) {
        var thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long bytes = 0;
        for (int round = 0; round < 5; round++) {
            bytes = -thread.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < LOADS; i++)
                dump.load(code);
            bytes += thread.getCurrentThreadAllocatedBytes();
        }
        return bytes;
    }
}
