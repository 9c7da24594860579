package jitdump;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;

/**
 * C memory for one call at a time. It is used again by the thread's later calls, and written to by
 * address, without an object for each struct or string: so a load allocates nothing once there is
 * enough.
 */
final class Memory {
    private static final ThreadLocal<Memory> OF_THREAD = ThreadLocal.withInitial(Memory::new);

    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final long SIZE_MIN = 16 << 10;
    private static final long SIZE_KEPT = 1 << 20;

    /** Where a call's description, and its one number of output, are. */
    final MemorySegment code = Arena.ofAuto().allocate(Native.CODE.layout());
    final MemorySegment answer = Arena.ofAuto().allocate(JAVA_LONG);

    /** The last is being filled; those before became too small, and are in use to the call's end. */
    private final ArrayList<MemorySegment> blocks = new ArrayList<>();
    private long next;
    private long end;

    /** The thread's, empty. */
    static Memory begin() {
        var memory = OF_THREAD.get();
        memory.rewind();
        return memory;
    }

    private void rewind() {
        while (blocks.size() > 1 || (!blocks.isEmpty() && blocks.get(0).byteSize() > SIZE_KEPT))
            blocks.remove(0);
        code.fill((byte) 0);
        next = end = 0;
        if (!blocks.isEmpty())
            use(blocks.get(0));
    }

    private void use(MemorySegment block) {
        next = block.address();
        end = next + block.byteSize();
    }

    /** Zeros, at an address that is divisible by 8 and nobody else's. */
    long allocate(long size) {
        size = (size + 8) & -8;
        if (end - next < size) {
            long last = blocks.isEmpty() ? 0 : blocks.get(blocks.size() - 1).byteSize();
            var block = Arena.ofAuto().allocate(2 * last + size + SIZE_MIN, 8);
            blocks.add(block);
            use(block);
        }
        long address = next;
        next += size;
        for (long at = address; at < next; at += 8)
            putLong(at, 0);
        return address;
    }

    static void putInt(long address, int value) {
        ALL.set(JAVA_INT, address, value);
    }

    static void putLong(long address, long value) {
        ALL.set(JAVA_LONG, address, value);
    }

    static long getLong(long address) {
        return ALL.get(JAVA_LONG, address);
    }

    /** For a call. */
    static MemorySegment segment(long address, long size) {
        return MemorySegment.ofAddress(address).reinterpret(size);
    }

    /** NULL without any. */
    long bytes(byte[] bytes) {
        if (bytes == null)
            return 0;
        long address = allocate(bytes.length);
        MemorySegment.copy(bytes, 0, ALL, JAVA_BYTE, address, bytes.length);
        return address;
    }

    /** In UTF-8, with a NUL; NULL for null. */
    long string(String string) {
        if (string == null)
            return 0;
        if (string.indexOf('\0') >= 0)
            throw new IllegalArgumentException("there is a NUL in the string " + string);
        long address = allocate(3L * string.length() + 1);
        long at = address;
        for (int i = 0; i < string.length();) {
            int letter = string.codePointAt(i);
            i += Character.charCount(letter);
            at = putLetter(at, letter);
        }
        return address;
    }

    /** Of a string that was put there. */
    static long length(long address) {
        long at = address;
        while (ALL.get(JAVA_BYTE, at) != 0)
            at++;
        return at - address;
    }

    private static long putLetter(long at, int letter) {
        if (letter < 0x80)
            return put(at, letter);
        if (letter < 0x800)
            return put(put(at, 0xc0 | letter >> 6), 0x80 | letter & 0x3f);
        if (letter >= 0xd800 && letter < 0xe000)
            return put(at, '?'); // half of a pair
        if (letter < 0x10000)
            at = put(at, 0xe0 | letter >> 12);
        else
            at = put(put(at, 0xf0 | letter >> 18), 0x80 | letter >> 12 & 0x3f);
        return put(put(at, 0x80 | letter >> 6 & 0x3f), 0x80 | letter & 0x3f);
    }

    private static long put(long at, int value) {
        ALL.set(JAVA_BYTE, at, (byte) value);
        return at + 1;
    }
}
