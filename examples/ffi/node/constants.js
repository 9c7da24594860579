// The header's constants, without their prefix JITDUMP_; what they mean is told there.

// JitdumpError.code
export const ERROR_ARGUMENT = -1;
export const ERROR_STRUCT_SIZE = -2;
export const ERROR_OPTION = -3;
export const ERROR_NO_MEMORY = -4;
export const ERROR_CLOCK_UNSUPPORTED = -5;
export const ERROR_CLOCK_NO_CONVERSION = -6;
export const ERROR_CLOCK_NOT_PERMITTED = -7;
export const ERROR_DIRECTORY_MISSING = -8;
export const ERROR_DIRECTORY_NOT_WRITABLE = -9;
export const ERROR_DIRECTORY_NOEXEC = -10;
export const ERROR_FILE_FOREIGN = -11;
export const ERROR_FILE_IN_USE = -12;
export const ERROR_TOO_MANY_FILES = -13;
export const ERROR_DISK_FULL = -14;
export const ERROR_FILE_TOO_LARGE = -15;
export const ERROR_IO = -16;
export const ERROR_SIZE_LIMIT = -17;
export const ERROR_BUSY = -18;
export const ERROR_NAME_MISSING = -19;
export const ERROR_CODE_MISSING = -20;
export const ERROR_CODE_SIZE = -21;
export const ERROR_CODE_ADDR = -22;
export const ERROR_CODE_INDEX = -23;
export const ERROR_RECORD_SIZE = -24;
export const ERROR_RECORD_EMPTY = -25;
export const ERROR_RECORD_ID = -26;
export const ERROR_LINES_MISSING = -27;
export const ERROR_LINES_ORDER = -28;
export const ERROR_LINES_RANGE = -29;
export const ERROR_LINE_NUMBER = -30;
export const ERROR_LINE_FILE = -31;
export const ERROR_UNWIND_EMPTY = -32;
export const ERROR_UNWIND_SIZE = -33;
export const ERROR_UNWIND_HEADER_SIZE = -34;
export const ERROR_THREAD = -35;
export const ERROR_UNWIND_TWICE = -36;
export const ERROR_UNWIND_MACHINE = -37;
export const ERROR_UNWIND_FRAME = -38;
export const ERROR_UNWIND_STEPS_MISSING = -39;
export const ERROR_UNWIND_STEP_ORDER = -40;
export const ERROR_UNWIND_STEP_RANGE = -41;
export const ERROR_UNWIND_STEP_OP = -42;
export const ERROR_UNWIND_STEP_REGISTER = -43;
export const ERROR_UNWIND_STEP_OFFSET = -44;
export const ERROR_UNWIND_STEP_STATE = -45;
export const ERROR_UNWIND_CAPACITY = -46;
export const ERROR_LINES_AND_TRACKS = -47;
export const ERROR_TRACK_MISSING = -48;
export const ERROR_TRACK_EMPTY = -49;
export const ERROR_TRACK_COUNT = -50;
export const ERROR_OFFSETS_ORDER = -51;
export const ERROR_OFFSETS_RANGE = -52;
export const ERROR_POSITION_INDEX = -53;
export const ERROR_POSITION_FUNCTION = -54;
export const ERROR_POSITION_CALLER = -55;
export const ERROR_POSITION_DEPTH = -56;
export const ERROR_POSITION_OUTERMOST = -57;
export const ERROR_FUNCTION_NAME = -58;
export const ERROR_TIER = -59;
export const ERROR_TIER_NAME = -60;
export const ERROR_TIER_COLOR = -61;
export const ERROR_TIER_LIMIT = -62;
export const ERROR_TIER_DIALECT = -63;
export const ERROR_SOURCE_PATH = -64;
export const ERROR_SOURCE_MISSING = -65;
export const ERROR_SOURCE_TWICE = -66;
export const ERROR_SOURCE_FILE = -67;
export const ERROR_PERF_MAP = -68;
export const ERROR_RESERVED = -69;
export const ERROR_ENVIRONMENT = -70;
export const ERROR_UNWIND_SECTION = -71;
export const ERROR_UNWIND_MISSING = -72;
export const ERROR_DESCRIPTOR = -73;
export const ERROR_UNSUPPORTED = -74;

// options.clock
export const CLOCK_MONOTONIC = 0;
export const CLOCK_TSC = 1;

// options.flushMode
export const FLUSH_WRITE_THROUGH = 0;
export const FLUSH_BUFFERED = 1;
export const FLUSH_BACKGROUND = 2;

// options.flags, or'ed
export const UNLINK_AT_CLOSE = 1;
export const FORCE_TSC = 2;
export const OUTERMOST_LINES = 4;
export const SOURCE_FILES = 8;
export const PERF_MAP = 16;
export const EMPTY_AT_CLOSE = 32;
export const TIER_RECORDS = 64;
export const DEBUG = 128;
export const SHARED = 256;
export const NO_ATFORK = 512;
export const NO_EXIT_FLUSH = 1024;
export const NO_SIGNAL_MASK = 2048;
export const STRICT = 4096;

// options.dialect
export const DIALECT_PERF = 0;
export const DIALECT_SAMPLY_2023 = 1;
export const DIALECT_SAMPLY_2026 = 2;

// step.op
export const UNWIND_DEF_CFA = 1;
export const UNWIND_OFFSET = 2;
export const UNWIND_RESTORE = 3;
export const UNWIND_REMEMBER_STATE = 4;
export const UNWIND_RESTORE_STATE = 5;
export const UNWIND_FRAME_NONE = 6;
export const UNWIND_FRAME_ALLOCATED = 7;
export const UNWIND_FRAME_SET = 8;

// step.reg of x86-64
export const X86_64_RAX = 0;
export const X86_64_RDX = 1;
export const X86_64_RCX = 2;
export const X86_64_RBX = 3;
export const X86_64_RSI = 4;
export const X86_64_RDI = 5;
export const X86_64_RBP = 6;
export const X86_64_RSP = 7;
export const X86_64_R8 = 8;
export const X86_64_R12 = 12;
export const X86_64_R13 = 13;
export const X86_64_R14 = 14;
export const X86_64_R15 = 15;
export const X86_64_RA = 16;

// step.reg of aarch64
export const AARCH64_X0 = 0;
export const AARCH64_X19 = 19;
export const AARCH64_X20 = 20;
export const AARCH64_X29 = 29;
export const AARCH64_X30 = 30;
export const AARCH64_SP = 31;
export const AARCH64_V0 = 64;
export const AARCH64_V8 = 72;

// step.reg of riscv64
export const RISCV64_RA = 1;
export const RISCV64_SP = 2;
export const RISCV64_S0 = 8;
export const RISCV64_S1 = 9;
export const RISCV64_S2 = 18;
export const RISCV64_F0 = 32;
export const RISCV64_FS0 = 40;

// unwind.frame
export const FRAME_STEPS = 0;
export const FRAME_POINTER = 1;

// addTier()'s color
export const COLOR_TRANSPARENT = 0;
export const COLOR_LIGHT_BLUE = 1;
export const COLOR_RED = 2;
export const COLOR_LIGHT_RED = 3;
export const COLOR_ORANGE = 4;
export const COLOR_BLUE = 5;
export const COLOR_GREEN = 6;
export const COLOR_PURPLE = 7;
export const COLOR_YELLOW = 8;
export const COLOR_BROWN = 9;
export const COLOR_MAGENTA = 10;
export const COLOR_LIGHT_GREEN = 11;
export const COLOR_GRAY = 12;
export const COLOR_DARK_GRAY = 13;

// Limits, and what is none.
export const CODE_SIZE_MAX = 0x7fffffff;
export const NONE = 0xffffffff;
export const INLINE_DEPTH_MAX = 1023;
export const TRACK_COUNT_MAX = 0x7fffffff;
export const TIERS_MAX = 64;
