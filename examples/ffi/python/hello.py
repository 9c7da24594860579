"""The smallest honest JIT: one function, loaded, run for a second of processor time, and
described to profilers. Its source is this file: each instruction comes from the line below in
which its bytes stand.

    perf record -k mono python3 hello.py
"""

import ctypes
import json
import mmap
import os
import platform
import sys
import time

import jitdump


def code(hexadecimal: str) -> tuple:
    """Bytes, and the line that they stand in."""
    return sys._getframe(1).f_lineno, bytes.fromhex(hexadecimal)


# Adds up the numbers from its argument down to 1.
INSTRUCTIONS = {
    "x86_64": [
        code("31 c0"),     # xor eax, eax
        code("48 01 f8"),  # add rax, rdi    (the loop)
        code("48 ff cf"),  # dec rdi
        code("75 f8"),     # jnz the loop
        code("c3"),        # ret
    ],
    "aarch64": [
        code("e1 03 1f aa"),  # mov  x1, xzr
        code("21 00 00 8b"),  # add  x1, x1, x0    (the loop)
        code("00 04 00 f1"),  # subs x0, x0, #1
        code("c1 ff ff 54"),  # b.ne the loop
        code("e0 03 01 aa"),  # mov  x0, x1
        code("c0 03 5f d6"),  # ret
    ],
}[platform.machine()]

# Private memory: what mmap takes if not told counts as a file's, and hides what lies in it.
memory = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                   prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
offsets = []  # of each instruction, with its line
for line, instruction in INSTRUCTIONS:
    offsets.append((memory.tell(), line))
    memory.write(instruction)
size = memory.tell()
if platform.machine() == "aarch64":
    ctypes.CDLL("libgcc_s.so.1").__clear_cache(ctypes.c_void_p(address),
                                               ctypes.c_void_p(address + size))

with jitdump.open() as dump:
    dump.load(jitdump.Code(
        name="hello_from_python", code_addr=address, code_size=size,
        lines=[jitdump.Line(address + offset, line, __file__) for offset, line in offsets]))

    # What the code is in truth, for tests/bindings/ffi.
    print(json.dumps({"function": "hello_from_python", "pid": os.getpid(), "addr": address,
                      "size": size, "since": 0, "file": __file__, "code": memory[:size].hex(),
                      "lines": [(offset, line, 1) for offset, line in offsets]}))
    print(json.dumps({"dump": dump.path, "pid": os.getpid()}))

    function = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64)(address)
    while time.process_time() < 1:
        assert function(1000000) == 500000500000
