"""Makes code that is generated at run time visible in perf and samply.

    import jitdump

    dump = jitdump.open() if profiling_wanted else jitdump.Dump()
    dump.load(jitdump.Code(name="f", code_addr=addr, code_size=size,
                           lines=[jitdump.Line(addr, 12, "f.src")]))
    dump.close()

A thin layer on libjitdump, whose header jitdump.h is the manual.
"""

from .describe import (Code, Function, Line, LineRow, Offset, Position, Track, Unwind,
                       UnwindStep)
from .dump import Dump, Error, after_fork, open, strerror, unwind_eh_frame, version
from .raw import (CODE_SIZE_MAX, INLINE_DEPTH_MAX, NONE, TIERS_MAX, TRACK_COUNT_MAX,
                  Aarch64Register, Clock, Color, Dialect, ErrorCode, FlushMode, OptionFlags,
                  Riscv64Register, UnwindFrame, UnwindOp, X8664Register)

__all__ = [
    "CODE_SIZE_MAX", "INLINE_DEPTH_MAX", "NONE", "TIERS_MAX", "TRACK_COUNT_MAX",
    "Aarch64Register", "Clock", "Code", "Color", "Dialect", "Dump", "Error", "ErrorCode",
    "FlushMode", "Function", "Line", "LineRow", "Offset", "OptionFlags", "Position", "Riscv64Register",
    "Track", "Unwind", "UnwindFrame", "UnwindOp", "UnwindStep", "X8664Register", "after_fork",
    "open", "strerror", "unwind_eh_frame", "version",
]
