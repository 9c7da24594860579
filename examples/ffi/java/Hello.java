import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

import jitdump.Code;
import jitdump.Dump;
import jitdump.Options;

/**
 * The smallest honest JIT in Java: one function, described to profilers, and run for about a
 * second. Its source is this file: each instruction comes from the line in which its bytes stand.
 */
public final class Hello {
    private static final int PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4;
    private static final int MAP_PRIVATE = 2, MAP_ANONYMOUS = 32;
    private static final long MAP_FAILED = -1;

    record Instruction(int line, byte[] bytes) {}

    static Instruction at(int... values) {
        var bytes = new ByteArrayOutputStream();
        for (int value : values)
            bytes.write(value);
        return new Instruction(new Throwable().getStackTrace()[1].getLineNumber(),
                bytes.toByteArray());
    }

    // Adds up the numbers from its argument down to 1.
    private static final List<Instruction> INSTRUCTIONS = Map.of(
            "amd64", List.of(
                    at(0x31, 0xc0),       // xor %eax, %eax
                    at(0x48, 0x01, 0xf8), // add %rdi, %rax    (the loop)
                    at(0x48, 0xff, 0xcf), // dec %rdi
                    at(0x75, 0xf8),       // jnz the loop
                    at(0xc3)),            // ret
            "aarch64", List.of(
                    at(0xe1, 0x03, 0x1f, 0xaa), // mov  x1, xzr
                    at(0x21, 0x00, 0x00, 0x8b), // add  x1, x1, x0    (the loop)
                    at(0x00, 0x04, 0x00, 0xf1), // subs x0, x0, #1
                    at(0xc1, 0xff, 0xff, 0x54), // b.ne the loop
                    at(0xe0, 0x03, 0x01, 0xaa), // mov  x0, x1
                    at(0xc0, 0x03, 0x5f, 0xd6)) // ret
            ).get(System.getProperty("os.arch"));

    private static final Linker LINKER = Linker.nativeLinker();

    private static MethodHandle function(SymbolLookup library, String name, MemoryLayout result,
                                         MemoryLayout... parameters) {
        return LINKER.downcallHandle(library.find(name).orElseThrow(),
                FunctionDescriptor.of(result, parameters));
    }

    /** Executable memory with the code in it. */
    private static MemorySegment place(byte[] code) throws Throwable {
        var libc = LINKER.defaultLookup();
        var mmap = function(libc, "mmap", ADDRESS,
                ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
        var mprotect = function(libc, "mprotect", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
        var clearCache = LINKER.downcallHandle(
                SymbolLookup.libraryLookup("libgcc_s.so.1", Arena.global())
                        .find("__clear_cache").orElseThrow(),
                FunctionDescriptor.ofVoid(ADDRESS, ADDRESS));

        var memory = (MemorySegment) mmap.invokeExact(MemorySegment.NULL, (long) code.length,
                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
        if (memory.address() == MAP_FAILED)
            throw new OutOfMemoryError("mmap has failed");
        memory = memory.reinterpret(code.length);
        MemorySegment.copy(code, 0, memory, JAVA_BYTE, 0, code.length);
        if ((int) mprotect.invokeExact(memory, (long) code.length, PROT_READ | PROT_EXEC) != 0)
            throw new OutOfMemoryError("mprotect has failed");
        clearCache.invokeExact(memory, memory.asSlice(code.length));
        return memory;
    }

    /** Expects the path of this file. */
    public static void main(String[] arguments) throws Throwable {
        var bytes = new ByteArrayOutputStream();
        for (var instruction : INSTRUCTIONS)
            bytes.write(instruction.bytes);

        try (var dump = Dump.open(new Options())) {
            var memory = place(bytes.toByteArray());
            var code = new Code();
            code.name = "hello_from_java";
            code.codeAddr = memory.address();
            code.codeSize = memory.byteSize();
            code.lines = new ArrayList<>();
            long addr = code.codeAddr;
            for (var instruction : INSTRUCTIONS) {
                code.lines.add(new Code.Line(addr, instruction.line, 0, arguments[0]));
                addr += instruction.bytes.length;
            }
            dump.load(code); // written, and not yet run

            var hello = LINKER.downcallHandle(memory, FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
            for (int round = 0; round < 2000; round++) {
                long sum = (long) hello.invokeExact(1000000L);
            }
            describe(dump, code, bytes.toByteArray());
        }
    }

    /** What is true, for tests/bindings/ffi to compare with what perf has seen. */
    private static void describe(Dump dump, Code code, byte[] bytes) {
        long pid = ProcessHandle.current().pid();
        var lines = code.lines.stream()
                .map(line -> "[%d, %d, 1]".formatted(line.codeAddr() - code.codeAddr, line.line()))
                .toList();
        System.out.printf("{\"dump\": \"%s\", \"pid\": %d}%n", dump.path(), pid);
        System.out.printf("{\"function\": \"%s\", \"pid\": %d, \"addr\": %d, \"size\": %d, "
                + "\"since\": 0, \"file\": \"%s\", \"lines\": %s, \"code\": \"%s\"}%n",
                code.name, pid, code.codeAddr, code.codeSize, code.lines.get(0).file(), lines,
                HexFormat.of().formatHex(bytes));
    }
}
