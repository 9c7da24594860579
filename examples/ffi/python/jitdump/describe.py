"""What a function is described with, in Python's types, and how it becomes C's structs.

The fields are those of jitdump.h, and explained there. Structs, arrays and bytes stay alive as
long as the struct that points to them: ctypes keeps a reference in it to all that is assigned.
"""

import ctypes
import itertools
import operator
import struct as packing
from typing import NamedTuple, Optional, Sequence, Union

from . import raw

Text = Union[str, bytes]
Bytes = Union[bytes, bytearray, memoryview]


class Line(NamedTuple):
    code_addr: int
    line: int
    file: Text
    column: int = 0


class UnwindStep(NamedTuple):
    code_offset: int
    op: raw.UnwindOp
    reg: int = 0
    offset: int = 0


class Unwind(NamedTuple):
    frame: raw.UnwindFrame = raw.UnwindFrame.POINTER
    steps: Sequence[UnwindStep] = ()


class Function(NamedTuple):
    name: Text
    file: Optional[Text] = None
    start_line: int = 0
    start_column: int = 0
    flags: int = 0


class Position(NamedTuple):
    function: int
    line: int
    column: int = 0
    caller: int = raw.NONE


class Offset(NamedTuple):
    code_offset: int
    position: int


class LineRow(NamedTuple):
    """A line by its offset in the code and the index of its file in Code.files, or NONE."""

    code_offset: int
    file: int
    line: int
    column: int = 0


class Track(NamedTuple):
    name: Optional[Text]
    functions: Sequence[Function]
    positions: Sequence[Position]
    offsets: Sequence[Offset]


class Code(NamedTuple):
    """Without code_bytes, the library reads code_size bytes at code_addr: that these can be read
    is for the caller to see, since a wrong address ends the process. An eh_frame without header needs
    an eh_frame_addr, since the library sees a copy of the bytes."""

    name: Text
    code_addr: int
    code_size: int
    code_bytes: Optional[Bytes] = None
    lines: Sequence[Line] = ()
    tier: int = 0
    unwind: Optional[Unwind] = None
    tracks: Sequence[Track] = ()
    eh_frame: Optional[Bytes] = None
    eh_frame_hdr: Optional[Bytes] = None
    eh_frame_addr: int = 0
    line_rows: Sequence[LineRow] = ()
    files: Sequence[Text] = ()

    def to_c(self) -> raw.Code:
        if self.code_bytes is not None and len(self.code_bytes) != self.code_size:
            raise ValueError(f"code_bytes: {len(self.code_bytes)} bytes, "
                             f"but code_size is {self.code_size}")
        return struct(
            raw.Code, tier=self.tier, name=self.name, code_addr=self.code_addr,
            code_size=self.code_size, code_bytes=self.code_bytes,
            lines=array(raw.Line, self.lines), line_count=len(self.lines),
            unwind=unwind_to_c(self.unwind), tracks=tracks_to_c(self.tracks),
            track_count=len(self.tracks),
            eh_frame=self.eh_frame, eh_frame_size=len(self.eh_frame or b""),
            eh_frame_hdr=self.eh_frame_hdr, eh_frame_hdr_size=len(self.eh_frame_hdr or b""),
            eh_frame_addr=self.eh_frame_addr,
            line_rows=numbers(raw.LineRow, self.line_rows), line_row_count=len(self.line_rows),
            files=files_to_c(self.files), file_count=len(self.files))


def files_to_c(files: Sequence[Text]) -> object:
    if not files:
        return None
    names = [to_c(raw.c_char_p, name, "files") for name in files]
    return (raw.String * len(names))(*[(name, len(name)) for name in names])


def unwind_to_c(unwind: Optional[Unwind]) -> object:
    if unwind is None:
        return None
    steps = numbers(raw.UnwindStep, unwind.steps)
    return ctypes.pointer(struct(raw.Unwind, frame=unwind.frame, steps=steps,
                                 step_count=len(unwind.steps)))


def tracks_to_c(tracks: Sequence[Track]) -> object:
    structs = [struct(raw.Track, name=track.name,
                      functions=array(raw.Function, track.functions),
                      function_count=len(track.functions),
                      positions=numbers(raw.Position, track.positions),
                      position_count=len(track.positions),
                      offsets=numbers(raw.Offset, track.offsets),
                      offset_count=len(track.offsets)) for track in tracks]
    return (raw.Track * len(structs))(*structs) if structs else None


def array(struct_type: type, items: Sequence[tuple]) -> object:
    """None, which is NULL, if there are no items."""
    if not items:
        return None
    return (struct_type * len(items))(*[struct(struct_type, **item._asdict()) for item in items])


def numbers(struct_type: type, items: Sequence[tuple]) -> object:
    """An array of structs that are integers alone, without an object for each: the fields of the tuples
    are theirs, in their order."""
    letters = {raw.c_uint32: "I", raw.c_uint64: "Q", raw.c_int64: "q"}
    layout = "".join(letters[ctype] for _, ctype in struct_type._fields_)
    try:
        packed = packing.pack("=" + len(items) * layout, *itertools.chain.from_iterable(items))
    except packing.error:
        return array(struct_type, items)  # says what does not fit
    return (struct_type * len(items)).from_buffer_copy(packed) if items else None


def struct(struct_type: type, **values: object) -> ctypes.Structure:
    """With all values checked, where ctypes would cut off what does not fit."""
    filled = struct_type()
    for name, field_type in struct_type._fields_:
        if name == "struct_size":
            filled.struct_size = ctypes.sizeof(struct_type)
        elif name in values:
            setattr(filled, name, to_c(field_type, values[name], name))
    return filled


def to_c(ctype: type, value: object, name: str) -> object:
    if ctype in (raw.c_uint32, raw.c_uint64, raw.c_int64):
        number = operator.index(value)
        if ctype(number).value != number:
            raise OverflowError(f"{name}: {number} is out of range")
        return number
    if value is None:
        return None
    if ctype is raw.c_char_p:
        text = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        if b"\0" in text:
            raise ValueError(f"{name}: there is a NUL in {value!r}")
        return text
    if ctype is raw.c_void_p:
        return ctypes.cast(raw.c_char_p(bytes(value)), raw.c_void_p)
    return value
