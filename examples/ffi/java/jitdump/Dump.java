package jitdump;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.List;

/**
 * An open dump, by which generated machine code is visible in perf and samply.
 *
 * <p>The manual is the library's header, jitdump.h: methods and fields are its functions and
 * fields, in camel case. Errors are a {@link JitdumpException}.
 */
public final class Dump implements AutoCloseable {
    /** What a program has that is not being profiled: all calls do nothing. */
    public static final Dump NONE = new Dump(MemorySegment.NULL, "");

    private static final long MESSAGE_SIZE = 1024;

    private MemorySegment handle;
    private final String warning;

    private Dump(MemorySegment handle, String warning) {
        this.handle = handle;
        this.warning = warning;
    }

    /** Creates the dump, before the first generated code runs. */
    public static Dump open(Options options) {
        return openBy(Native.OPEN, options);
    }

    /** If $JITDUMP asks for a dump, whose words change the options; else all calls do nothing. */
    public static Dump openFromEnvironment(Options defaults) {
        return openBy(Native.OPEN_FROM_ENVIRONMENT, defaults);
    }

    private static Dump openBy(MethodHandle opener, Options options) {
        try (var arena = Arena.ofConfined()) {
            var message = arena.allocate(MESSAGE_SIZE);
            var c = Native.OPTIONS.allocate(arena);
            run(() -> {
                Native.OPTIONS_INIT.invokeExact(
                        c.memory(), (int) Native.OPTIONS.layout().byteSize());
                return null;
            });
            c.set("flags", options.flags)
                    .set("clock", options.clock)
                    .set("flush_mode", options.flushMode)
                    .set("elf_mach", options.elfMach)
                    .set("dialect", options.dialect)
                    .set("flush_bytes", options.flushBytes)
                    .set("flush_interval_ns", options.flushIntervalNs)
                    .set("size_limit", options.sizeLimit)
                    .set("directory", Code.string(arena, options.directory))
                    .set("error_message", message)
                    .set("error_message_size", MESSAGE_SIZE)
                    .set("track", Code.string(arena, options.track))
                    .set("descriptor", options.descriptor);
            var dump = arena.allocate(ADDRESS);
            int result = (int) run(() -> (int) opener.invokeExact(dump, c.memory()));
            if (result != 0)
                throw new JitdumpException(result, message.getString(0));
            return new Dump(dump.get(ADDRESS, 0), message.getString(0));
        }
    }

    /** No other call may be under way; those that follow do nothing. */
    @Override
    public void close() {
        var closing = handle;
        handle = MemorySegment.NULL;
        check(() -> (int) Native.CLOSE.invokeExact(closing));
    }

    /** Without it, line tables need not be collected. */
    public boolean isOpen() {
        return !handle.equals(MemorySegment.NULL);
    }

    /** Empty, or that what was asked for is of less use than it seems. */
    public String warning() {
        return warning;
    }

    /** The dump's path, or null where there is none. */
    public String path() {
        return text(() -> (MemorySegment) Native.PATH.invokeExact(handle));
    }

    /** Describes a function that is written and has not run yet. Returns its index, for move. */
    public long load(Code code) {
        if (!isOpen())
            return 0;
        try (var arena = Arena.ofConfined()) {
            var c = code.toC(arena);
            var index = arena.allocate(JAVA_LONG);
            check(() -> (int) Native.LOAD.invokeExact(handle, c, index));
            return index.get(JAVA_LONG, 0);
        }
    }

    /** The indices of many; that of a function that has an error is 0, and if all have, it is thrown. */
    public long[] loadMany(List<Code> codes) {
        var indices = new long[codes.size()];
        if (!isOpen() || codes.isEmpty())
            return indices;
        try (var arena = Arena.ofConfined()) {
            long size = Native.CODE.layout().byteSize();
            var all = arena.allocate(Native.CODE.layout(), codes.size());
            for (int i = 0; i < codes.size(); i++)
                MemorySegment.copy(codes.get(i).toC(arena), 0, all, i * size, size);
            var numbers = arena.allocate(JAVA_LONG, codes.size());
            try {
                check(() -> (int) Native.LOAD_MANY.invokeExact(handle, all, (long) codes.size(), numbers));
            } catch (JitdumpException e) {
                if (Arrays.stream(numbers.toArray(JAVA_LONG)).allMatch(index -> index == 0))
                    throw e;
            }
            return numbers.toArray(JAVA_LONG);
        }
    }

    public long unwindSize(Code code) {
        if (!isOpen())
            return 0;
        try (var arena = Arena.ofConfined()) {
            var c = code.toC(arena);
            var size = arena.allocate(JAVA_LONG);
            check(() -> (int) Native.UNWIND_SIZE.invokeExact(handle, c, size));
            return size.get(JAVA_LONG, 0);
        }
    }

    /** The bytes of an .eh_frame section, for other uses than profiling. */
    public static byte[] unwindEhFrame(int elfMach, Code code) {
        try (var arena = Arena.ofConfined()) {
            var c = code.toC(arena);
            var size = arena.allocate(JAVA_LONG);
            int result = (int) run(() -> (int) Native.UNWIND_EH_FRAME.invokeExact(
                    elfMach, c, MemorySegment.NULL, 0L, size));
            if (result != Constants.ERROR_UNWIND_CAPACITY)
                check(() -> result);
            var bytes = arena.allocate(size.get(JAVA_LONG, 0));
            check(() -> (int) Native.UNWIND_EH_FRAME.invokeExact(
                    elfMach, c, bytes, bytes.byteSize(), size));
            return bytes.toArray(JAVA_BYTE);
        }
    }

    public void move(long codeIndex, long oldCodeAddr, long newCodeAddr, long codeSize) {
        check(() -> (int) Native.MOVE.invokeExact(
                handle, codeIndex, oldCodeAddr, newCodeAddr, codeSize));
    }

    /** Returns the tier's number, for Code.tier; the prefix may be null. */
    public int addTier(String name, int color, String namePrefix) {
        try (var arena = Arena.ofConfined()) {
            var cName = Code.string(arena, name);
            var cPrefix = Code.string(arena, namePrefix);
            var tier = arena.allocate(JAVA_INT);
            check(() -> (int) Native.ADD_TIER.invokeExact(handle, cName, color, cPrefix, tier));
            return tier.get(JAVA_INT, 0);
        }
    }

    public void embedSource(String path, byte[] source) {
        try (var arena = Arena.ofConfined()) {
            var cPath = Code.string(arena, path);
            var cSource = Code.bytes(arena, source);
            check(() -> (int) Native.EMBED_SOURCE.invokeExact(
                    handle, cPath, cSource, Code.size(source)));
        }
    }

    public void appendRaw(int id, byte[] payload) {
        try (var arena = Arena.ofConfined()) {
            var cPayload = Code.bytes(arena, payload);
            check(() -> (int) Native.APPEND_RAW.invokeExact(
                    handle, id, cPayload, Code.size(payload)));
        }
    }

    public void flush() {
        check(() -> (int) Native.FLUSH.invokeExact(handle));
    }

    /** Writes what can be written without waiting. Java has no handlers in which flush can't be. */
    public void flushFromSignal() {
        check(() -> (int) Native.FLUSH_FROM_SIGNAL.invokeExact(handle));
    }

    /** Of the library that is loaded: major * 10000 + minor * 100 + patch. */
    public static int version() {
        return (int) run(() -> (int) Native.VERSION.invokeExact());
    }

    private interface Call<T> {
        T run() throws Throwable;
    }

    /** A method handle may throw anything, as far as the compiler knows; these don't. */
    private static <T> T run(Call<T> call) {
        try {
            return call.run();
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static void check(Call<Integer> call) {
        int result = run(call);
        if (result != 0)
            throw new JitdumpException(result,
                    text(() -> (MemorySegment) Native.STRERROR.invokeExact(result)));
    }

    private static String text(Call<MemorySegment> call) {
        var found = run(call);
        return found.equals(MemorySegment.NULL) ? null
                : found.reinterpret(Long.MAX_VALUE).getString(0);
    }
}
