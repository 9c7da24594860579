"""What the library takes out of .eh_frame sections that compilers and assemblers have made says of each
instruction what readelf reads in the section itself.

JITDUMP_FDES_MAX=0 takes all functions of large files and not some hundred of them.
"""

import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from typing import Dict, List, NamedTuple, Optional, Tuple

from jitdump_tests import jitdump_reader
from jitdump_tests.jitdump_records import UnwindingInfo

COPY_FRAMES = os.environ.get("JITDUMP_COPY_FRAMES", "")
SOURCE = pathlib.Path(__file__).resolve().parent / "sections.cpp"
FDES_MAX = int(os.environ.get("JITDUMP_FDES_MAX", "300"))
UNWIND_SECTION, UNWIND_MISSING = -71, -72

# What a row says: the CFA, and where each register is.
Row = Tuple[int, Tuple[Tuple[str, str], ...]]


class Fde(NamedTuple):
    start: int
    end: int
    augmentation: str
    rows: List[Row]

    def cut(self, start: int, end: int) -> "Fde":
        """What it says of a part of its code."""
        rows = [(max(at, start), rules) for at, rules in self.rows if at < end]
        last_before = max(i for i, (at, _) in enumerate(rows) if at <= start)
        return Fde(start, end, self.augmentation, without_repetition(rows[last_before:]))


def without_repetition(rows: List[Row]) -> List[Row]:
    """Advances by 0, and rows that change nothing."""
    result: List[Row] = []
    for at, rules in rows:
        if result and result[-1][0] == at:
            result.pop()
        if not result or result[-1][1] != rules:
            result.append((at, rules))
    return result


class Elf:
    """The little of an ELF file, of either class, that is needed here."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.wide = data[4] == 2
        self.machine, = struct.unpack_from("<H", data, 18)

    def section(self, wanted: str) -> Optional[Tuple[int, bytes]]:
        """Its address and its bytes."""
        at = struct.unpack_from("<Q" if self.wide else "<I", self.data, 0x28 if self.wide else 0x20)[0]
        entry_size, count, names = struct.unpack_from("<HHH", self.data, 0x3A if self.wide else 0x2E)
        headers = [self._header(at + i * entry_size) for i in range(count)]
        for name, address, offset, size in headers:
            start = headers[names][2] + name
            if self.data[start:self.data.index(b"\0", start)].decode() == wanted:
                return address, self.data[offset:offset + size]
        return None

    def _header(self, at: int) -> Tuple[int, int, int, int]:
        if self.wide:
            name, _, _, address, offset, size = struct.unpack_from("<IIQQQQ", self.data, at)
        else:
            name, _, _, address, offset, size = struct.unpack_from("<IIIIII", self.data, at)
        return name, address, offset, size


def make_elf(machine: int, wide: bool, sections: List[Tuple[int, bytes]]) -> bytes:
    """An ELF file with any number of sections called .eh_frame."""
    names = b"\0.eh_frame\0.shstrtab\0"
    header_size, entry_size = (64, 64) if wide else (52, 40)
    body = bytearray(names)
    headers = [(0, 0, 0, 0, 0, 0)]
    for address, data in sections:
        body += bytes(-len(body) % 8)
        headers.append((1, 1, 2, address, header_size + len(body), len(data)))
        body += data
    headers.append((11, 3, 0, 0, header_size, len(names)))
    body += bytes(-(header_size + len(body)) % 8)
    table = header_size + len(body)
    head = b"\x7fELF" + bytes([2 if wide else 1, 1, 1]) + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH", 1, machine, 1, 0, 0, table, 0,
                        header_size, 0, 0, entry_size, len(headers), len(headers) - 1)
    for header in headers:
        body += struct.pack("<IIQQQQIIQQ" if wide else "<IIIIIIIIII", *header, 0, 0, 1, 0)
    return head + bytes(body)


def read_fdes(path: pathlib.Path) -> List[Fde]:
    # It fails where it looks for a file with more debugging information and finds none.
    text = subprocess.run(["readelf", "--debug-dump=frames-interp", path], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    cies: Dict[str, Tuple[str, str]] = {}
    fdes = []
    for entry in re.split(r"\n\n+", text):
        section = re.search(r"Contents of the (\S+) section", entry)
        if section:
            current = section[1]
        cie = re.search(r'^(\w+) \w+ 0+ CIE "(\w*)".*\n?((?s:.*))', entry, re.M)
        if cie:
            cies[cie[1]] = cie[2], cie[3]
        fde = re.search(r"^\w+ \w+ \w+ FDE cie=(\w+) pc=(\w+)\.\.(\w+)\n?((?s:.*))", entry, re.M)
        if fde and current == ".eh_frame":
            start, end = int(fde[2], 16), int(fde[3], 16)
            augmentation, table = cies[fde[1]]
            # For one without instructions of its own readelf prints no table.
            rows = read_rows(fde[4]) or [(start, read_rows(table)[0][1])]
            fdes.append(Fde(start, end, augmentation, rows))
    return fdes


def room_bounds(path: pathlib.Path) -> Dict[int, int]:
    """For the code that begins at an address, how much its FDE may take, as jitdump.h says."""
    text = subprocess.run(["readelf", "--debug-dump=frames", path], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    cies = {cie: int(length, 16) for cie, length in
            re.findall(r"^(\w+) (\w+) 0+ CIE", text, re.M)}
    return {int(start, 16): 24 + (cies[cie] + 4) + 2 * (int(length, 16) + 4)
            for length, cie, start in
            re.findall(r"^\w+ (\w+) \w+ FDE cie=(\w+) pc=(\w+)\.\.", text, re.M) if cie in cies}


def read_rows(table: str) -> List[Row]:
    lines = table.strip().splitlines() or [""]
    columns = lines[0].split()[1:]
    rows = []
    for line in lines[1:]:
        location, *rules = line.split()
        rows.append((int(location, 16), tuple((column, rule) for column, rule in zip(columns, rules)
                                              if rule != "u")))
    return without_repetition(rows)


class SectionTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.largest = 0

    def copy(self, elf: Elf, ranges: List[Tuple[int, int]], section: Optional[bytes] = None,
             ) -> Tuple[List[int], List[List[Fde]]]:
        """For each range of code what jitdump_unwind_size() says, and what its copies say."""
        found = elf.section(".eh_frame")
        assert found is not None
        (self.folder / "section").write_bytes(section or found[1])
        for dump in self.folder.glob("jit-*.dump"):
            dump.unlink()
        done = subprocess.run(
            [COPY_FRAMES, self.folder, str(elf.machine), self.folder / "section", str(found[0])],
            input="".join(f"{start} {end - start}\n" for start, end in ranges),
            stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        sizes = [int(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(sizes), len(ranges))
        dump = next(self.folder.glob("jit-*.dump"))
        functions = jitdump_reader.read(str(dump)).functions  # which checks the headers too
        loaded = [at for at, size in zip(ranges, sizes) if size >= 0 or size == UNWIND_MISSING]
        self.assertEqual([(f.load.code_addr, f.load.code_size) for f in functions],
                         [(start, end - start) for start, end in loaded])
        copies: List[Tuple[int, bytes]] = []
        for function in functions:
            data = function.described_by(UnwindingInfo)
            size = function.load.code_size
            if data is not None:
                copies.append((function.load.code_addr + (size + 7) // 8 * 8, data.eh_frame))
        (self.folder / "copies.o").write_bytes(make_elf(elf.machine, elf.wide, copies))
        fdes = read_fdes(self.folder / "copies.o")
        return sizes, [sorted(fde for fde in fdes if start <= fde.start < end)
                       for start, end in ranges]

    def check_file(self, path: pathlib.Path, seed: int = 0) -> int:
        """Whole functions, parts of them, and several in one range."""
        elf = Elf(path.read_bytes())
        choose = random.Random(seed)
        # The first of those at one address, and of code that is not empty.
        fdes = sorted({fde.start: fde for fde in reversed(read_fdes(path))
                       if fde.end > fde.start}.values())
        fdes = [fde for i, fde in enumerate(fdes) if i == 0 or fde.start >= fdes[i - 1].end]
        if FDES_MAX and len(fdes) > FDES_MAX:
            at = choose.randrange(len(fdes) - FDES_MAX)
            fdes = fdes[at:at + FDES_MAX]
        expected: Dict[Tuple[int, int], List[Fde]] = {}
        for i, fde in enumerate(fdes):
            kind = choose.randrange(4)
            start, end = fde.start, fde.end
            if kind == 1 and end - start > 2:  # a part
                start = choose.randrange(start, end - 1)
                end = choose.randrange(start + 1, end)
            elif kind == 2:  # and its neighbours
                end = fdes[min(i + choose.randrange(4), len(fdes) - 1)].end
            if any(start <= other < end for other, _ in expected) or end - start > 1 << 24:
                continue
            # No two ranges overlap, so that each copy is known by its address.
            if expected and start < list(expected)[-1][1]:
                continue
            expected[start, end] = [other.cut(max(start, other.start), min(end, other.end))
                                    for other in fdes if other.start < end and other.end > start]
        sizes, found = self.copy(elf, list(expected))
        bounds = room_bounds(path)
        whole = {fde.start: fde for fde in fdes}
        for (at, wanted), size, copies in zip(expected.items(), sizes, found):
            self.assertGreater(size, 0, f"{path}: {at[0]:#x}..{at[1]:#x}")
            for one, other in zip(wanted, copies):
                kept = "zR" + "".join(letter for letter in one.augmentation if letter in "SB")
                self.assertEqual(other, one._replace(augmentation=kept), f"{path}: {at[0]:#x}")
            self.assertEqual(len(copies), len(wanted), f"{path}: {at[0]:#x}")
            starts = [start for start, fde in whole.items() if fde.end > at[0] and start < at[1]]
            self.assertLessEqual(size, 24 + sum(bounds[start] for start in starts), f"{path}: {at[0]:#x}")
            self.largest = max(self.largest, size if len(wanted) == 1 else 0)
        print(f"{path.name}: {len(expected)} ranges with {sum(map(len, found))} frames,"
              f" of one {self.largest} bytes at most")
        return len(expected)

    def compile(self, *command: str) -> pathlib.Path:
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        path = self.folder / "-".join(["out", *(word.strip("-") for word in command[:3])]).replace("/", "")
        done = subprocess.run([*command, "-o", path], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            self.skipTest(f"{' '.join(command)}: {done.stdout.splitlines()[-1:]}")
        return path

    def test_compilers(self) -> None:
        checked = 0
        for command in (["g++", "-O2"], ["g++", "-O0"], ["g++", "-O2", "-mcmodel=large"],
                        ["clang++", "-O2"], ["clang++", "-O2", "-mcmodel=large"],
                        ["clang++", "-O2", "-m32"], ["i686-linux-gnu-g++", "-O2"],
                        ["aarch64-linux-gnu-g++", "-O2"],
                        ["aarch64-linux-gnu-g++", "-O2", "-mbranch-protection=pac-ret+b-key"],
                        ["riscv64-linux-gnu-g++", "-O2"]):
            with self.subTest(command=command):
                checked += self.check_file(self.compile(*command, "-shared", "-fPIC", str(SOURCE),
                                                        "-nostdlib"))
        self.assertGreater(checked, 0)

    def test_libraries_of_this_machine(self) -> None:
        checked = 0
        for name in ("libc.so.6", "libstdc++.so.6", "ld-linux-x86-64.so.2", "libcrypto.so.3"):
            for path in pathlib.Path("/lib").glob(f"*/{name}"):
                checked += self.check_file(path, seed=checked)
        if checked == 0:
            self.skipTest("no library was found")


if __name__ == "__main__":
    unittest.main(verbosity=2)
