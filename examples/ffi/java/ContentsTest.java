import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import jitdump.Code;
import jitdump.Code.Function;
import jitdump.Code.Line;
import jitdump.Code.Offset;
import jitdump.Code.Position;
import jitdump.Code.Step;
import jitdump.Code.Track;
import jitdump.Code.Unwind;
import jitdump.Constants;
import jitdump.Dump;
import jitdump.JitdumpException;
import jitdump.Options;

/**
 * The same calls as in tests/bindings/ffi/contents.c, whose dump is compared with this one. Expects
 * the name of the folder for it.
 */
public final class ContentsTest {
    private static final int EM_X86_64 = 62;
    private static final byte[] BYTES = new byte[24];

    public static void main(String[] arguments) {
        var options = new Options();
        options.flags = Constants.OUTERMOST_LINES | Constants.TIER_RECORDS;
        options.flushMode = Constants.FLUSH_BUFFERED;
        options.elfMach = EM_X86_64;
        options.dialect = Constants.DIALECT_SAMPLY_2023;
        options.flushBytes = 4096;
        options.flushIntervalNs = 3_600_000_000_000L;
        options.sizeLimit = 8192;
        options.directory = arguments[0];
        options.track = "second";
        for (int i = 0; i < BYTES.length; i++)
            BYTES[i] = (byte) (i + 1);

        var dump = Dump.open(options);
        if (!dump.warning().contains("no profiler"))
            throw new AssertionError("no warning: " + dump.warning());
        dump.appendRaw(1000, new byte[3500]);
        int firstTier = dump.addTier("first", Constants.COLOR_RED, null);
        int secondTier = dump.addTier("second", Constants.COLOR_GREEN, "Second: ");
        dump.embedSource("a.src", "one\ntwo\n".getBytes(StandardCharsets.UTF_8));
        dump.load(withLines(firstTier));
        dump.load(withFrame());
        var withTrack = withTrack(secondTier);
        long index = dump.load(withTrack);
        dump.move(index, 0x30000, 0x40000, 16 + dump.unwindSize(withTrack));
        dump.load(withEhFrame());
        dump.appendRaw(1001, Dump.unwindEhFrame(EM_X86_64, withTrack));
        dump.flush();
        dump.flushFromSignal();
        expectSizeLimit(() -> dump.appendRaw(1002, new byte[8192]));
        expectSizeLimit(dump::close);
    }

    private static Code withLines(int tier) {
        var code = new Code();
        code.tier = tier;
        code.name = "with lines";
        code.codeAddr = 0x10000;
        code.codeBytes = Arrays.copyOf(BYTES, 16);
        code.lines = List.of(new Line(0x10000, 1, 2, "a.src"), new Line(0x10008, 3, 4, "b.src"));
        return code;
    }

    private static Code withFrame() {
        var code = new Code();
        code.name = "with frame";
        code.codeAddr = 0x20000;
        code.codeSize = 24;
        code.codeBytes = BYTES;
        code.unwind = new Unwind(Constants.FRAME_POINTER, List.of());
        return code;
    }

    private static Code withTrack(int tier) {
        var functions = List.of(new Function("outer", "a.src", 5, 6, 7),
                new Function("inner", "b.src", 8, 9, 10));
        var positions = List.of(new Position(0, 11, 12, Constants.NONE),
                new Position(1, 13, 14, 0));
        var offsets = List.of(new Offset(2, 0), new Offset(4, 1));
        var code = new Code();
        code.tier = tier;
        code.name = "with träck";
        code.codeAddr = 0x30000;
        code.codeBytes = Arrays.copyOf(BYTES, 16);
        code.unwind = new Unwind(Constants.FRAME_STEPS, List.of(
                new Step(1, Constants.UNWIND_DEF_CFA, Constants.X86_64_RSP, 16),
                new Step(1, Constants.UNWIND_OFFSET, Constants.X86_64_RBX, -16),
                new Step(9, Constants.UNWIND_DEF_CFA, Constants.X86_64_RSP, 8)));
        code.tracks = List.of(
                new Track("first", functions.subList(0, 1), positions.subList(0, 1),
                        offsets.subList(0, 1)),
                new Track("second", functions, positions, offsets));
        return code;
    }

    private static Code withEhFrame() {
        var code = new Code();
        code.name = "with eh_frame";
        code.codeAddr = 0x50000;
        code.codeBytes = Arrays.copyOf(BYTES, 16);
        code.ehFrame = BYTES;
        code.ehFrameHdr = Arrays.copyOf(BYTES, 20);
        return code;
    }

    private static void expectSizeLimit(Runnable call) {
        try {
            call.run();
        } catch (JitdumpException e) {
            if (e.code == Constants.ERROR_SIZE_LIMIT)
                return;
            throw e;
        }
        throw new AssertionError("no error");
    }
}
