package jitdump;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

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
        var memory = Memory.begin();
        long size = Native.OPTIONS.size(), c = memory.allocate(size);
        long message = memory.allocate(MESSAGE_SIZE);
        run(() -> {
            Native.OPTIONS_INIT.invokeExact(Memory.segment(c, size), (int) size);
            return null;
        });
        Native.OPTIONS.set(c, "flags", options.flags)
                .set(c, "clock", options.clock)
                .set(c, "flush_mode", options.flushMode)
                .set(c, "elf_mach", options.elfMach)
                .set(c, "dialect", options.dialect)
                .set(c, "flush_bytes", options.flushBytes)
                .set(c, "flush_interval_ns", options.flushIntervalNs)
                .set(c, "size_limit", options.sizeLimit)
                .set(c, "directory", memory.string(options.directory))
                .set(c, "error_message", message)
                .set(c, "error_message_size", MESSAGE_SIZE)
                .set(c, "track", memory.string(options.track))
                .set(c, "descriptor", options.descriptor);
        int result = (int) run(() -> (int) opener.invokeExact(memory.answer, Memory.segment(c, size)));
        var text = Memory.segment(message, MESSAGE_SIZE).getString(0);
        if (result != 0)
            throw new JitdumpException(result, text);
        return new Dump(MemorySegment.ofAddress(memory.answer.get(JAVA_LONG, 0)), text);
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
        var memory = Memory.begin();
        code.toC(memory, memory.code.address());
        int result;
        try {
            result = (int) Native.LOAD.invokeExact(handle, memory.code, memory.answer);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
        check(result);
        return memory.answer.get(JAVA_LONG, 0);
    }

    /** The indices of many; that of a function that has an error is 0, and if all have, it is thrown. */
    public long[] loadMany(List<Code> codes) {
        var indices = new long[codes.size()];
        if (!isOpen() || codes.isEmpty())
            return indices;
        var memory = Memory.begin();
        long size = codes.size() * Native.CODE.size();
        long all = Native.CODE.array(memory, codes);
        for (int i = 0; i < codes.size(); i++)
            codes.get(i).toC(memory, all + i * Native.CODE.size());
        long numbers = memory.allocate(codes.size() * 8L);
        int result = run(() -> (int) Native.LOAD_MANY.invokeExact(handle, Memory.segment(all, size),
                (long) codes.size(), Memory.segment(numbers, codes.size() * 8L)));
        for (int i = 0; i < codes.size(); i++)
            indices[i] = Memory.getLong(numbers + 8L * i);
        if (Arrays.stream(indices).allMatch(index -> index == 0))
            check(result);
        return indices;
    }

    public long unwindSize(Code code) {
        if (!isOpen())
            return 0;
        var memory = Memory.begin();
        code.toC(memory, memory.code.address());
        check(() -> (int) Native.UNWIND_SIZE.invokeExact(handle, memory.code, memory.answer));
        return memory.answer.get(JAVA_LONG, 0);
    }

    /** The bytes of an .eh_frame section, for other uses than profiling. */
    public static byte[] unwindEhFrame(int elfMach, Code code) {
        var memory = Memory.begin();
        code.toC(memory, memory.code.address());
        int result = (int) run(() -> (int) Native.UNWIND_EH_FRAME.invokeExact(
                elfMach, memory.code, MemorySegment.NULL, 0L, memory.answer));
        if (result != Constants.ERROR_UNWIND_CAPACITY)
            check(result);
        long size = memory.answer.get(JAVA_LONG, 0);
        var bytes = Memory.segment(memory.allocate(size), size);
        check(() -> (int) Native.UNWIND_EH_FRAME.invokeExact(
                elfMach, memory.code, bytes, size, memory.answer));
        return bytes.toArray(JAVA_BYTE);
    }

    public void move(long codeIndex, long oldCodeAddr, long newCodeAddr, long codeSize) {
        check(() -> (int) Native.MOVE.invokeExact(
                handle, codeIndex, oldCodeAddr, newCodeAddr, codeSize));
    }

    /** Returns the tier's number, for Code.tier; the prefix may be null. */
    public int addTier(String name, int color, String namePrefix) {
        var memory = Memory.begin();
        var cName = MemorySegment.ofAddress(memory.string(name));
        var cPrefix = MemorySegment.ofAddress(memory.string(namePrefix));
        check(() -> (int) Native.ADD_TIER.invokeExact(handle, cName, color, cPrefix, memory.answer));
        return memory.answer.get(JAVA_INT, 0);
    }

    public void embedSource(String path, byte[] source) {
        var memory = Memory.begin();
        var cPath = MemorySegment.ofAddress(memory.string(path));
        var cSource = MemorySegment.ofAddress(memory.bytes(source));
        check(() -> (int) Native.EMBED_SOURCE.invokeExact(
                handle, cPath, cSource, Code.size(source)));
    }

    public void appendRaw(int id, byte[] payload) {
        var cPayload = MemorySegment.ofAddress(Memory.begin().bytes(payload));
        check(() -> (int) Native.APPEND_RAW.invokeExact(handle, id, cPayload, Code.size(payload)));
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
        check(run(call));
    }

    private static void check(int result) {
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
