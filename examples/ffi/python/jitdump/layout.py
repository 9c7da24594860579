"""python3 -m jitdump.layout: the declarations, in the form of tests/jitdump_tests/layout.py."""

import ctypes
import json

from . import raw

PREFIXES = {
    raw.ErrorCode: "ERROR_", raw.Clock: "CLOCK_", raw.FlushMode: "FLUSH_", raw.OptionFlags: "",
    raw.Dialect: "DIALECT_", raw.UnwindOp: "UNWIND_", raw.X8664Register: "X86_64_",
    raw.Aarch64Register: "AARCH64_", raw.Riscv64Register: "RISCV64_",
    raw.UnwindFrame: "FRAME_", raw.Color: "COLOR_",
}
MACROS = ["CODE_SIZE_MAX", "NONE", "INLINE_DEPTH_MAX", "TRACK_COUNT_MAX", "TIERS_MAX"]
STRUCTS = {
    raw.Options: "options", raw.Line: "line",
    raw.LineRow: "line_row", raw.String: "string", raw.UnwindStep: "unwind_step",
    raw.Unwind: "unwind", raw.Function: "function", raw.Position: "position",
    raw.Offset: "offset", raw.Track: "track", raw.Code: "code",
}


def size(ctype: object) -> int:
    return 0 if ctype is None else ctypes.sizeof(ctype)


def layout() -> dict:
    constants = {f"JITDUMP_{name}": getattr(raw, name) for name in MACROS}
    for enum, prefix in PREFIXES.items():
        for name, member in enum.__members__.items():
            constants[f"JITDUMP_{prefix}{name}"] = member.value
    structs = {}
    for struct, name in STRUCTS.items():
        fields = [(field, getattr(struct, field)) for field, _ in struct._fields_]
        structs[f"jitdump_{name}"] = {
            "size": size(struct),
            "fields": {field: [place.offset, place.size] for field, place in fields}}
    functions = {name: [size(result), *map(size, parameters)]
                 for name, result, parameters in raw.FUNCTIONS}
    return {"structs": structs, "constants": constants, "functions": functions}


if __name__ == "__main__":
    print(json.dumps(layout(), indent=1))
