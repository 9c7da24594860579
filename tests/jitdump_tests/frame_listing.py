"""What compilers write as call frame information, and what readelf says of it."""
from __future__ import annotations

import pathlib
import re
import subprocess
import sys

# What compilers seldom write.
ASSEMBLY = """
.globl f
f:  .cfi_startproc
    nop
    .cfi_def_cfa rbp, 0x12345
    .cfi_offset rbx, -24
    .cfi_offset rip, -64
    nop
    .cfi_restore rip
    .cfi_restore rbx
    .cfi_undefined r12
    .cfi_same_value r13
    .cfi_register r14, r15
    nop
    .cfi_remember_state
    .cfi_val_offset rsp, 160
    .cfi_offset rbp, 8
    .cfi_def_cfa_offset 24
    nop
    .cfi_remember_state
    .cfi_def_cfa_register rsp
    .cfi_undefined rbx
    nop
    .cfi_restore_state
    .fill 300, 1, 0x90
    .cfi_restore_state
    .fill 70000, 1, 0x90
    .cfi_escape 0x0f, 3, 0x77, 8, 6
    .cfi_escape 0x10, 6, 2, 0x77, 16
    .cfi_escape 0x16, 3, 2, 0x77, 24
    nop
    .cfi_endproc
g:  .cfi_startproc simple
    .cfi_signal_frame
    .cfi_def_cfa rsp, 8
    nop
    .cfi_adjust_cfa_offset 16
    .cfi_rel_offset rbx, 0
    nop
    .cfi_endproc
h:  .cfi_startproc
    .cfi_offset rbx, -24
    .cfi_offset rbp, -32
    nop
    .cfi_undefined rbx
    nop
    .cfi_escape 0x10, 6, 2, 0x77, 16
    nop
    .cfi_same_value rbp
    .cfi_offset r12, -40
    nop
    .cfi_endproc
.section .note.GNU-stack
"""

Row = tuple[str, dict[str, str]]


def sections(path: pathlib.Path) -> dict[str, tuple[int, int, int]]:
    """Address, file offset and size."""
    text = subprocess.run(["readelf", "--sections", "--wide", path], check=True,
                          capture_output=True, text=True).stdout
    return {name: (int(address, 16), int(offset, 16), int(size, 16)) for name, address, offset, size
            in re.findall(r"(?m)^ *\[ *\d+\] (\S+) +\S+ +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)", text)}


def readelf_rows(path: pathlib.Path) -> dict[int, Row]:
    """By address: the CFA, and the registers for which something is said."""
    # It fails for want of a separate file with debug information, too, and prints all the same.
    text = subprocess.run(["readelf", "--debug-dump=frames-interp", "--wide", path], check=False,
                          capture_output=True, text=True).stdout
    rows: dict[int, Row] = {}
    of_cie: dict[str, Row] = {}
    for entry in text.split("\n\n"):
        first, *lines = entry.strip().splitlines() or [""]
        if not re.search(r" (CIE|FDE)\b", first):
            continue  # a heading; newer ones show the search table too
        columns = lines[0].split()[2:] if lines else []
        found = []
        for line in lines[1:]:
            # A rule that names a register is "r1 (rdx)".
            address, cfa, *rules = re.sub(r"r\d+ \((\w+)\)", r"\1", line).split()
            found.append((int(address, 16), (cfa, dict(zip(columns, rules)))))
        if " CIE " in first:
            of_cie[first.split()[0]] = found[0][1] if found else ("none", {})
        elif match := re.search(r" FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)", first):
            begin, end = int(match[2], 16), int(match[3], 16)
            # Without instructions of its own, the CIE's row holds.
            for address, row in found or [(begin, of_cie[match[1]])]:
                if address < end:
                    rows[address] = row
    return rows


def libraries() -> list[pathlib.Path]:
    """Of this process, with thousands of functions, and its program."""
    maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    found = re.findall(r"(?m)\S*/(?:libc|libm|libstdc\+\+|libpython[0-9.]*|ld-linux-x86-64)\.so\S*$",
                       maps)
    return [pathlib.Path(each) for each in {*found, sys.executable}]
