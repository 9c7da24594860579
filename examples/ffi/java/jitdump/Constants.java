package jitdump;

/** The header's constants, without their prefix JITDUMP_; what they mean is told there. */
public final class Constants {
    private Constants() {}

    // JitdumpException.code
    public static final int ERROR_ARGUMENT = -1;
    public static final int ERROR_STRUCT_SIZE = -2;
    public static final int ERROR_OPTION = -3;
    public static final int ERROR_NO_MEMORY = -4;
    public static final int ERROR_CLOCK_UNSUPPORTED = -5;
    public static final int ERROR_CLOCK_NO_CONVERSION = -6;
    public static final int ERROR_CLOCK_NOT_PERMITTED = -7;
    public static final int ERROR_DIRECTORY_MISSING = -8;
    public static final int ERROR_DIRECTORY_NOT_WRITABLE = -9;
    public static final int ERROR_DIRECTORY_NOEXEC = -10;
    public static final int ERROR_FILE_FOREIGN = -11;
    public static final int ERROR_FILE_IN_USE = -12;
    public static final int ERROR_TOO_MANY_FILES = -13;
    public static final int ERROR_DISK_FULL = -14;
    public static final int ERROR_FILE_TOO_LARGE = -15;
    public static final int ERROR_IO = -16;
    public static final int ERROR_SIZE_LIMIT = -17;
    public static final int ERROR_BUSY = -18;
    public static final int ERROR_NAME_MISSING = -19;
    public static final int ERROR_CODE_MISSING = -20;
    public static final int ERROR_CODE_SIZE = -21;
    public static final int ERROR_CODE_ADDR = -22;
    public static final int ERROR_CODE_INDEX = -23;
    public static final int ERROR_RECORD_SIZE = -24;
    public static final int ERROR_RECORD_EMPTY = -25;
    public static final int ERROR_RECORD_ID = -26;
    public static final int ERROR_LINES_MISSING = -27;
    public static final int ERROR_LINES_ORDER = -28;
    public static final int ERROR_LINES_RANGE = -29;
    public static final int ERROR_LINE_NUMBER = -30;
    public static final int ERROR_LINE_FILE = -31;
    public static final int ERROR_UNWIND_EMPTY = -32;
    public static final int ERROR_UNWIND_SIZE = -33;
    public static final int ERROR_UNWIND_HEADER_SIZE = -34;
    public static final int ERROR_THREAD = -35;
    public static final int ERROR_UNWIND_TWICE = -36;
    public static final int ERROR_UNWIND_MACHINE = -37;
    public static final int ERROR_UNWIND_FRAME = -38;
    public static final int ERROR_UNWIND_STEPS_MISSING = -39;
    public static final int ERROR_UNWIND_STEP_ORDER = -40;
    public static final int ERROR_UNWIND_STEP_RANGE = -41;
    public static final int ERROR_UNWIND_STEP_OP = -42;
    public static final int ERROR_UNWIND_STEP_REGISTER = -43;
    public static final int ERROR_UNWIND_STEP_OFFSET = -44;
    public static final int ERROR_UNWIND_STEP_STATE = -45;
    public static final int ERROR_UNWIND_CAPACITY = -46;
    public static final int ERROR_LINES_AND_TRACKS = -47;
    public static final int ERROR_TRACK_MISSING = -48;
    public static final int ERROR_TRACK_EMPTY = -49;
    public static final int ERROR_TRACK_COUNT = -50;
    public static final int ERROR_OFFSETS_ORDER = -51;
    public static final int ERROR_OFFSETS_RANGE = -52;
    public static final int ERROR_POSITION_INDEX = -53;
    public static final int ERROR_POSITION_FUNCTION = -54;
    public static final int ERROR_POSITION_CALLER = -55;
    public static final int ERROR_POSITION_DEPTH = -56;
    public static final int ERROR_POSITION_OUTERMOST = -57;
    public static final int ERROR_FUNCTION_NAME = -58;
    public static final int ERROR_TIER = -59;
    public static final int ERROR_TIER_NAME = -60;
    public static final int ERROR_TIER_COLOR = -61;
    public static final int ERROR_TIER_LIMIT = -62;
    public static final int ERROR_TIER_DIALECT = -63;
    public static final int ERROR_SOURCE_PATH = -64;
    public static final int ERROR_SOURCE_MISSING = -65;
    public static final int ERROR_SOURCE_TWICE = -66;
    public static final int ERROR_SOURCE_FILE = -67;
    public static final int ERROR_PERF_MAP = -68;
    public static final int ERROR_RESERVED = -69;
    public static final int ERROR_ENVIRONMENT = -70;
    public static final int ERROR_UNWIND_SECTION = -71;
    public static final int ERROR_UNWIND_MISSING = -72;
    public static final int ERROR_DESCRIPTOR = -73;
    public static final int ERROR_UNSUPPORTED = -74;

    // Options.clock
    public static final int CLOCK_MONOTONIC = 0;
    public static final int CLOCK_TSC = 1;

    // Options.flushMode
    public static final int FLUSH_WRITE_THROUGH = 0;
    public static final int FLUSH_BUFFERED = 1;
    public static final int FLUSH_BACKGROUND = 2;

    // Options.flags, or'ed
    public static final int UNLINK_AT_CLOSE = 1;
    public static final int FORCE_TSC = 2;
    public static final int OUTERMOST_LINES = 4;
    public static final int SOURCE_FILES = 8;
    public static final int PERF_MAP = 16;
    public static final int EMPTY_AT_CLOSE = 32;
    public static final int TIER_RECORDS = 64;
    public static final int DEBUG = 128;
    public static final int SHARED = 256;
    public static final int NO_ATFORK = 512;
    public static final int NO_EXIT_FLUSH = 1024;
    public static final int NO_SIGNAL_MASK = 2048;
    public static final int STRICT = 4096;

    // Options.dialect
    public static final int DIALECT_PERF = 0;
    public static final int DIALECT_SAMPLY_2023 = 1;
    public static final int DIALECT_SAMPLY_2026 = 2;

    // Step.op
    public static final int UNWIND_DEF_CFA = 1;
    public static final int UNWIND_OFFSET = 2;
    public static final int UNWIND_RESTORE = 3;
    public static final int UNWIND_REMEMBER_STATE = 4;
    public static final int UNWIND_RESTORE_STATE = 5;
    public static final int UNWIND_FRAME_NONE = 6;
    public static final int UNWIND_FRAME_ALLOCATED = 7;
    public static final int UNWIND_FRAME_SET = 8;

    // Step.reg of x86-64
    public static final int X86_64_RAX = 0;
    public static final int X86_64_RDX = 1;
    public static final int X86_64_RCX = 2;
    public static final int X86_64_RBX = 3;
    public static final int X86_64_RSI = 4;
    public static final int X86_64_RDI = 5;
    public static final int X86_64_RBP = 6;
    public static final int X86_64_RSP = 7;
    public static final int X86_64_R8 = 8;
    public static final int X86_64_R12 = 12;
    public static final int X86_64_R13 = 13;
    public static final int X86_64_R14 = 14;
    public static final int X86_64_R15 = 15;
    public static final int X86_64_RA = 16;

    // Step.reg of aarch64
    public static final int AARCH64_X0 = 0;
    public static final int AARCH64_X19 = 19;
    public static final int AARCH64_X20 = 20;
    public static final int AARCH64_X29 = 29;
    public static final int AARCH64_X30 = 30;
    public static final int AARCH64_SP = 31;
    public static final int AARCH64_V0 = 64;
    public static final int AARCH64_V8 = 72;

    // Step.reg of riscv64
    public static final int RISCV64_RA = 1;
    public static final int RISCV64_SP = 2;
    public static final int RISCV64_S0 = 8;
    public static final int RISCV64_S1 = 9;
    public static final int RISCV64_S2 = 18;
    public static final int RISCV64_F0 = 32;
    public static final int RISCV64_FS0 = 40;

    // Unwind.frame
    public static final int FRAME_STEPS = 0;
    public static final int FRAME_POINTER = 1;

    // addTier()'s color
    public static final int COLOR_TRANSPARENT = 0;
    public static final int COLOR_LIGHT_BLUE = 1;
    public static final int COLOR_RED = 2;
    public static final int COLOR_LIGHT_RED = 3;
    public static final int COLOR_ORANGE = 4;
    public static final int COLOR_BLUE = 5;
    public static final int COLOR_GREEN = 6;
    public static final int COLOR_PURPLE = 7;
    public static final int COLOR_YELLOW = 8;
    public static final int COLOR_BROWN = 9;
    public static final int COLOR_MAGENTA = 10;
    public static final int COLOR_LIGHT_GREEN = 11;
    public static final int COLOR_GRAY = 12;
    public static final int COLOR_DARK_GRAY = 13;

    // Limits, and what is none; it is unsigned.
    public static final int CODE_SIZE_MAX = 0x7fffffff;
    public static final int NONE = 0xffffffff;
    public static final int INLINE_DEPTH_MAX = 1023;
    public static final int TRACK_COUNT_MAX = 0x7fffffff;
    public static final int TIERS_MAX = 64;
}
