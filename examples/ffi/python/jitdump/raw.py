"""What jitdump.h declares, for ctypes: constants, structs and functions, and nothing more.

tests/bindings/ffi compares all of it with the header.
"""

import ctypes
import enum
import pathlib
from ctypes import POINTER, c_char, c_char_p, c_int, c_int64, c_uint32, c_uint64, c_void_p

# The name carries the version of the binary interface that is declared here.
SONAME = "libjitdump.so.0.2"

CODE_SIZE_MAX = 0x7FFFFFFF
NONE = 0xFFFFFFFF
INLINE_DEPTH_MAX = 1023
TRACK_COUNT_MAX = 0x7FFFFFFF
TIERS_MAX = 64


class ErrorCode(enum.IntEnum):
    ARGUMENT = -1
    STRUCT_SIZE = -2
    OPTION = -3
    NO_MEMORY = -4
    CLOCK_UNSUPPORTED = -5
    CLOCK_NO_CONVERSION = -6
    CLOCK_NOT_PERMITTED = -7
    DIRECTORY_MISSING = -8
    DIRECTORY_NOT_WRITABLE = -9
    DIRECTORY_NOEXEC = -10
    FILE_FOREIGN = -11
    FILE_IN_USE = -12
    TOO_MANY_FILES = -13
    DISK_FULL = -14
    FILE_TOO_LARGE = -15
    IO = -16
    SIZE_LIMIT = -17
    BUSY = -18
    NAME_MISSING = -19
    CODE_MISSING = -20
    CODE_SIZE = -21
    CODE_ADDR = -22
    CODE_INDEX = -23
    RECORD_SIZE = -24
    RECORD_EMPTY = -25
    RECORD_ID = -26
    LINES_MISSING = -27
    LINES_ORDER = -28
    LINES_RANGE = -29
    LINE_NUMBER = -30
    LINE_FILE = -31
    UNWIND_EMPTY = -32
    UNWIND_SIZE = -33
    UNWIND_HEADER_SIZE = -34
    THREAD = -35
    UNWIND_TWICE = -36
    UNWIND_MACHINE = -37
    UNWIND_FRAME = -38
    UNWIND_STEPS_MISSING = -39
    UNWIND_STEP_ORDER = -40
    UNWIND_STEP_RANGE = -41
    UNWIND_STEP_OP = -42
    UNWIND_STEP_REGISTER = -43
    UNWIND_STEP_OFFSET = -44
    UNWIND_STEP_STATE = -45
    UNWIND_CAPACITY = -46
    LINES_AND_TRACKS = -47
    TRACK_MISSING = -48
    TRACK_EMPTY = -49
    TRACK_COUNT = -50
    OFFSETS_ORDER = -51
    OFFSETS_RANGE = -52
    POSITION_INDEX = -53
    POSITION_FUNCTION = -54
    POSITION_CALLER = -55
    POSITION_DEPTH = -56
    POSITION_OUTERMOST = -57
    FUNCTION_NAME = -58
    TIER = -59
    TIER_NAME = -60
    TIER_COLOR = -61
    TIER_LIMIT = -62
    TIER_DIALECT = -63
    SOURCE_PATH = -64
    SOURCE_MISSING = -65
    SOURCE_TWICE = -66
    SOURCE_FILE = -67
    PERF_MAP = -68
    RESERVED = -69
    ENVIRONMENT = -70
    UNWIND_SECTION = -71
    UNWIND_MISSING = -72
    DESCRIPTOR = -73
    UNSUPPORTED = -74


class Clock(enum.IntEnum):
    MONOTONIC = 0
    TSC = 1


class FlushMode(enum.IntEnum):
    WRITE_THROUGH = 0
    BUFFERED = 1
    BACKGROUND = 2


class OptionFlags(enum.IntFlag):
    UNLINK_AT_CLOSE = 1
    FORCE_TSC = 2
    OUTERMOST_LINES = 4
    SOURCE_FILES = 8
    PERF_MAP = 16
    EMPTY_AT_CLOSE = 32
    TIER_RECORDS = 64
    DEBUG = 128
    SHARED = 256
    NO_ATFORK = 512
    NO_EXIT_FLUSH = 1024
    NO_SIGNAL_MASK = 2048
    STRICT = 4096


class Dialect(enum.IntEnum):
    PERF = 0
    SAMPLY_2023 = 1
    SAMPLY_2026 = 2


class UnwindOp(enum.IntEnum):
    DEF_CFA = 1
    OFFSET = 2
    RESTORE = 3
    REMEMBER_STATE = 4
    RESTORE_STATE = 5
    FRAME_NONE = 6
    FRAME_ALLOCATED = 7
    FRAME_SET = 8


class X8664Register(enum.IntEnum):
    RAX = 0
    RDX = 1
    RCX = 2
    RBX = 3
    RSI = 4
    RDI = 5
    RBP = 6
    RSP = 7
    R8 = 8
    R12 = 12
    R13 = 13
    R14 = 14
    R15 = 15
    RA = 16


class Aarch64Register(enum.IntEnum):
    X0 = 0
    X19 = 19
    X20 = 20
    X29 = 29
    X30 = 30
    SP = 31
    V0 = 64
    V8 = 72


class Riscv64Register(enum.IntEnum):
    RA = 1
    SP = 2
    S0 = 8
    S1 = 9
    S2 = 18
    F0 = 32
    FS0 = 40


class UnwindFrame(enum.IntEnum):
    STEPS = 0
    POINTER = 1


class Color(enum.IntEnum):
    TRANSPARENT = 0
    LIGHT_BLUE = 1
    RED = 2
    LIGHT_RED = 3
    ORANGE = 4
    BLUE = 5
    GREEN = 6
    PURPLE = 7
    YELLOW = 8
    BROWN = 9
    MAGENTA = 10
    LIGHT_GREEN = 11
    GRAY = 12
    DARK_GRAY = 13


Handle = c_void_p  # struct jitdump *; None is NULL


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("clock", c_uint32),
        ("flush_mode", c_uint32),
        ("elf_mach", c_uint32),
        ("dialect", c_uint32),
        ("flush_bytes", c_uint64),
        ("flush_interval_ns", c_uint64),
        ("size_limit", c_uint64),
        ("directory", c_char_p),
        ("error_message", POINTER(c_char)),
        ("error_message_size", c_uint64),
        ("track", c_char_p),
        ("descriptor", c_uint64),
    ]


class LineRow(ctypes.Structure):
    _fields_ = [
        ("code_offset", c_uint32),
        ("file", c_uint32),
        ("line", c_uint32),
        ("column", c_uint32),
    ]


class String(ctypes.Structure):
    _fields_ = [
        ("bytes", c_char_p),
        ("size", c_uint64),
    ]


class Line(ctypes.Structure):
    _fields_ = [
        ("code_addr", c_uint64),
        ("line", c_uint32),
        ("column", c_uint32),
        ("file", c_char_p),
    ]


class UnwindStep(ctypes.Structure):
    _fields_ = [
        ("code_offset", c_uint64),
        ("op", c_uint32),
        ("reg", c_uint32),
        ("offset", c_int64),
    ]


class Unwind(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("frame", c_uint32),
        ("steps", POINTER(UnwindStep)),
        ("step_count", c_uint64),
    ]


class Function(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("file", c_char_p),
        ("start_line", c_uint32),
        ("start_column", c_uint32),
        ("flags", c_uint32),
        ("name_size", c_uint32),
        ("file_size", c_uint32),
        ("reserved", c_uint32),
    ]


class Position(ctypes.Structure):
    _fields_ = [
        ("function", c_uint32),
        ("line", c_uint32),
        ("column", c_uint32),
        ("caller", c_uint32),
    ]


class Offset(ctypes.Structure):
    _fields_ = [
        ("code_offset", c_uint32),
        ("position", c_uint32),
    ]


class Track(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved", c_uint32),
        ("name", c_char_p),
        ("functions", POINTER(Function)),
        ("function_count", c_uint64),
        ("positions", POINTER(Position)),
        ("position_count", c_uint64),
        ("offsets", POINTER(Offset)),
        ("offset_count", c_uint64),
    ]


class Code(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("tier", c_uint32),
        ("name", c_char_p),
        ("code_addr", c_uint64),
        ("code_size", c_uint64),
        ("code_bytes", c_void_p),
        ("lines", POINTER(Line)),
        ("line_count", c_uint64),
        ("eh_frame", c_void_p),
        ("eh_frame_size", c_uint64),
        ("eh_frame_hdr", c_void_p),
        ("eh_frame_hdr_size", c_uint64),
        ("unwind", POINTER(Unwind)),
        ("tracks", POINTER(Track)),
        ("track_count", c_uint64),
        ("eh_frame_addr", c_uint64),
        ("name_size", c_uint64),
        ("line_rows", POINTER(LineRow)),
        ("line_row_count", c_uint64),
        ("files", POINTER(String)),
        ("file_count", c_uint64),
    ]


# Name, type of the result, types of the parameters.
FUNCTIONS = [
    ("jitdump_options_init", None, [POINTER(Options), c_uint32]),
    ("jitdump_open", c_int, [POINTER(Handle), POINTER(Options)]),
    ("jitdump_open_from_environment", c_int, [POINTER(Handle), POINTER(Options)]),
    ("jitdump_close", c_int, [Handle]),
    ("jitdump_after_fork", None, []),
    ("jitdump_path", c_char_p, [Handle]),
    ("jitdump_load", c_int, [Handle, POINTER(Code), POINTER(c_uint64)]),
    ("jitdump_load_many", c_int, [Handle, POINTER(Code), c_uint64, POINTER(c_uint64)]),
    ("jitdump_unwind_size", c_int, [Handle, POINTER(Code), POINTER(c_uint64)]),
    ("jitdump_unwind_eh_frame", c_int,
     [c_uint32, POINTER(Code), c_void_p, c_uint64, POINTER(c_uint64)]),
    ("jitdump_move", c_int, [Handle, c_uint64, c_uint64, c_uint64, c_uint64]),
    ("jitdump_add_tier", c_int, [Handle, c_char_p, c_uint32, c_char_p, POINTER(c_uint32)]),
    ("jitdump_embed_source", c_int, [Handle, c_char_p, c_void_p, c_uint64]),
    ("jitdump_append_raw", c_int, [Handle, c_uint32, c_void_p, c_uint64]),
    ("jitdump_flush", c_int, [Handle]),
    ("jitdump_flush_from_signal", c_int, [Handle]),
    ("jitdump_strerror", c_char_p, [c_int]),
    ("jitdump_version", c_uint32, []),
]


def open_library() -> ctypes.CDLL:
    """That of the wheel, or the installed one, which is found as by every program: LD_LIBRARY_PATH, or
    ldconfig's list."""
    bundled = pathlib.Path(__file__).with_name("libjitdump.so")
    library = ctypes.CDLL(str(bundled) if bundled.exists() else SONAME)
    for name, result, parameters in FUNCTIONS:
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    return library
