"""The calls. Each may be made from any thread; ctypes lets other threads run meanwhile."""

import ctypes
import os
import warnings
from typing import List, Optional, Sequence, Tuple, Union

from . import raw
from .describe import Code, Text, struct, to_c

_library = raw.open_library()
_MESSAGE_SIZE = 1024


class Error(Exception):
    """A call has failed, and has appended nothing. `code` is an ErrorCode, or a plain number
    where the library is newer than this module and has an error of which it does not know."""

    def __init__(self, code: int, message: Optional[str] = None) -> None:
        super().__init__(message or strerror(code))
        known = code in raw.ErrorCode.__members__.values()
        self.code: Union[raw.ErrorCode, int] = raw.ErrorCode(code) if known else code


def strerror(code: int) -> str:
    return _library.jitdump_strerror(code).decode()


def version() -> Tuple[int, int, int]:
    """Of the library that is loaded."""
    number = _library.jitdump_version()
    return number // 10000, number // 100 % 100, number % 100


def unwind_eh_frame(code: Code, elf_mach: int = 0) -> bytes:
    """The bytes of an .eh_frame section, for __register_frame() and debuggers."""
    described, size = code.to_c(), raw.c_uint64()
    elf_mach = to_c(raw.c_uint32, elf_mach, "elf_mach")

    def call(buffer: object, capacity: int) -> int:
        return _library.jitdump_unwind_eh_frame(elf_mach, ctypes.byref(described), buffer,
                                                capacity, ctypes.byref(size))
    result = call(None, 0)  # to learn the size
    if result != raw.ErrorCode.UNWIND_CAPACITY:
        _check(result)
    buffer = ctypes.create_string_buffer(size.value)
    _check(call(buffer, size.value))
    return buffer.raw


def after_fork() -> None:
    """In the child of a fork, where a dump was opened with NO_ATFORK."""
    _library.jitdump_after_fork()


def open(directory: Optional[os.PathLike] = None, *, from_environment: bool = False,
         flags: int = 0, clock: int = raw.Clock.MONOTONIC,
         flush_mode: int = raw.FlushMode.WRITE_THROUGH,
         elf_mach: int = 0, dialect: int = raw.Dialect.PERF, flush_bytes: int = 0,
         flush_interval_ns: int = 0, size_limit: int = 0, track: Optional[Text] = None,
         descriptor: int = 0) -> "Dump":
    """Creates the process's dump. The options are those of struct jitdump_options. Warns where what
    was asked for is of less use than it seems. With from_environment, only if $JITDUMP asks for a dump,
    whose words change the options; else the result is a dump that does nothing."""
    message = ctypes.create_string_buffer(_MESSAGE_SIZE)
    options = struct(raw.Options, flags=flags, clock=clock, flush_mode=flush_mode,
                     elf_mach=elf_mach, dialect=dialect, flush_bytes=flush_bytes,
                     flush_interval_ns=flush_interval_ns, size_limit=size_limit,
                     directory=None if directory is None else os.fsencode(directory),
                     error_message=ctypes.cast(message, ctypes.POINTER(ctypes.c_char)),
                     error_message_size=_MESSAGE_SIZE, track=track, descriptor=descriptor)
    handle = raw.Handle()
    call = _library.jitdump_open_from_environment if from_environment else _library.jitdump_open
    result = call(ctypes.byref(handle), ctypes.byref(options))
    if result != 0:
        raise Error(result, message.value.decode(errors="replace"))
    if message.value:
        warnings.warn(message.value.decode(errors="replace"), stacklevel=2)
    return Dump(handle.value)


class Dump:
    """An open dump; or without a handle, and after close(), none: then it is false, and every
    call does nothing, so that a runtime which is not being profiled needs no `if`.

    A dump that nobody closes stays open to the end of the process, and is flushed then.
    """

    def __init__(self, handle: Optional[int] = None) -> None:
        self._handle = handle

    def __bool__(self) -> bool:
        return self._handle is not None

    def __enter__(self) -> "Dump":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """No other thread may be inside of a call, or begin one."""
        handle, self._handle = self._handle, None
        _check(_library.jitdump_close(handle))

    @property
    def path(self) -> Optional[str]:
        """None without a handle, and in the child of a fork before its first append."""
        path = _library.jitdump_path(self._handle)
        return None if path is None else os.fsdecode(path)

    def load(self, code: Code) -> int:
        """Describes one function, written and not yet run. Returns its number for move()."""
        index = raw.c_uint64()
        _check(_library.jitdump_load(self._handle, ctypes.byref(code.to_c()),
                                     ctypes.byref(index)))
        return index.value

    def load_many(self, codes: Sequence[Code]) -> List[int]:
        """Describes many functions at once. Returns their numbers; that of one which has an error is 0,
        and if all have, or the dump is out of use, the first error is raised."""
        indices = (raw.c_uint64 * len(codes))()
        structs = (raw.Code * len(codes))(*(code.to_c() for code in codes))
        error = _library.jitdump_load_many(self._handle, structs, len(codes), indices)
        if not any(indices):
            _check(error)
        return list(indices)

    def unwind_size(self, code: Code) -> int:
        """How many bytes to leave free behind the function for its unwinding data."""
        size = raw.c_uint64()
        _check(_library.jitdump_unwind_size(self._handle, ctypes.byref(code.to_c()),
                                            ctypes.byref(size)))
        return size.value

    def move(self, code_index: int, old_code_addr: int, new_code_addr: int,
             code_size: int) -> None:
        """The code was copied, and has not yet run at its new place."""
        numbers = [to_c(raw.c_uint64, number, "move") for number in
                   (code_index, old_code_addr, new_code_addr, code_size)]
        _check(_library.jitdump_move(self._handle, *numbers))

    def add_tier(self, name: Text, color: raw.Color, name_prefix: Optional[Text] = None) -> int:
        """Returns the number for Code.tier."""
        tier = raw.c_uint32()
        _check(_library.jitdump_add_tier(
            self._handle, to_c(raw.c_char_p, name, "name"), to_c(raw.c_uint32, color, "color"),
            to_c(raw.c_char_p, name_prefix, "name_prefix"), ctypes.byref(tier)))
        return tier.value

    def embed_source(self, path: Text, source: Text) -> None:
        """The text of a source that is in no file."""
        data = source.encode() if isinstance(source, str) else source
        _check(_library.jitdump_embed_source(self._handle, to_c(raw.c_char_p, path, "path"),
                                             to_c(raw.c_void_p, data, "source"), len(data)))

    def append_raw(self, record_id: int, payload: bytes) -> None:
        """A record of an id that the library does not know."""
        _check(_library.jitdump_append_raw(
            self._handle, to_c(raw.c_uint32, record_id, "record_id"),
            to_c(raw.c_void_p, payload, "payload"), len(payload)))

    def flush(self) -> None:
        """Returns when all that was appended before is written."""
        _check(_library.jitdump_flush(self._handle))

    def flush_from_signal(self) -> None:
        """For a handler of a fatal signal that waits for nobody: Error BUSY if there was more."""
        _check(_library.jitdump_flush_from_signal(self._handle))


def _check(result: int) -> None:
    if result != 0:
        raise Error(result)
