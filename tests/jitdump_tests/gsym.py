"""What llvm-gsymutil and llvm-symbolizer say of addresses in a GSYM file, and the GSYM file that the
former makes of an ELF file."""
import pathlib
import re
import shutil
import subprocess
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from jitdump_tests.histories import Chain
from jitdump_tests.symbolizers import llvm_symbolizer, make, run

# Debian and Ubuntu name them by version; there may be several, and each is asked.
VERSIONS = ["", *(f"-{version}" for version in range(26, 13, -1))]
SYMBOLIZER_READS_IT, SYMBOLIZER_READS_VERSION_2 = 21, 23
FRAME = re.compile(r"(?:0x([0-9a-f]{16}): | {20})(.*?)(?: \+ (\d+))?(?: @ (.*):(\d+))?"
                   r"(?: \[inlined\])?")
INLINED = " [inlined]"
AT_ONCE = 4000  # by the length of a command line


class Answer(NamedTuple):
    chain: Chain
    start: int  # of the outermost function


def of_each_version(name: str) -> List[str]:
    """One of each program that there is, whatever it is called; the newest first."""
    found: Dict[pathlib.Path, str] = {}
    for version in VERSIONS:
        path = shutil.which(name + version)
        if path is not None:
            found.setdefault(pathlib.Path(path).resolve(), path)
    return sorted(found.values(), key=major_version, reverse=True)


def installed() -> List[str]:
    return of_each_version("llvm-gsymutil")


def symbolizers(version: int) -> List[str]:
    """Those that read this version of the format."""
    first = SYMBOLIZER_READS_IT if version == 1 else SYMBOLIZER_READS_VERSION_2
    return [program for program in of_each_version("llvm-symbolizer")
            if major_version(program) >= first]


def major_version(program: str) -> int:
    return int(re.search(r"LLVM version (\d+)", run(program, "--version"))[1])


def chain_of(lines: List[str]) -> Answer:
    chain, address, offset = [], 0, 0
    for number, line in enumerate(lines):
        found = FRAME.fullmatch(line)
        assert found and (found[1] is None) == (number > 0), line
        assert line.endswith(INLINED) == (number + 1 < len(lines)), lines
        address = int(found[1], 16) if found[1] else address
        offset = int(found[3] or 0)
        chain.append(make(found[2], found[4], int(found[5] or 0)))
    return Answer(chain, address - offset)


def lookup(program: str, path: pathlib.Path, addresses: List[int]) -> Dict[int, Answer]:
    """Leaves out addresses that are in no function."""
    result = {}
    for first in range(0, len(addresses), AT_ONCE):
        asked = [f"--address={address:#x}" for address in addresses[first:first + AT_ONCE]]
        blocks: List[List[str]] = []
        for line in run(program, path, *asked).splitlines()[1:]:
            if line.startswith("0x"):
                blocks.append([])
            blocks[-1].append(line)
        for lines in blocks:
            if ": error: " not in lines[0]:
                result[int(lines[0].split(":")[0], 16)] = chain_of(lines)
    return result


def wrong_by_symbolizer(program: str, elf: pathlib.Path, path: pathlib.Path,
                        truth: Dict[int, Chain]) -> int:
    """How many answers are not the truth, where the GSYM file lies beside the ELF file and so is
    read in the place of its DWARF."""
    beside = elf.with_name(f"{elf.name}.gsym")
    shutil.copy(path, beside)
    answers = llvm_symbolizer(elf, sorted(truth), program)
    beside.unlink()
    return sum(answers.get(address) != [place._replace(column=0) for place in chain]
               for address, chain in truth.items())


def converted(program: str, elf: pathlib.Path) -> Tuple[pathlib.Path, List[str]]:
    """The GSYM file that it makes of an ELF file's DWARF, and where it finds them different."""
    path = elf.with_suffix(".reference")
    output = run(program, "--convert", elf, "--verify", "--num-threads=1", "-o", path)
    return path, re.findall("error: address .*", output)


def chains(answers: Dict[int, Answer]) -> Dict[int, Chain]:
    return {address: answer.chain for address, answer in answers.items()}


def compare(program: str, path: pathlib.Path, truth: Dict[int, Chain],
            starts: Optional[Iterable[int]] = None) -> int:
    """Asks for every address. Returns how many answers are not the truth; prints the first few.
    `starts` are those of the functions, if they are known."""
    answers = lookup(program, path, sorted(truth))
    wrong = 0
    for address, chain in sorted(truth.items()):
        expected = [place._replace(column=0) for place in chain]
        found = answers.get(address, Answer([], 0))
        if found.chain != expected or (starts is not None and found.start not in starts):
            wrong += 1
            if wrong <= 3:
                print(f"{program}, {path.name} at {address:#x}:\n  {found}\n  not {expected}")
    return wrong


def found_outside(program: str, path: pathlib.Path, truth: Dict[int, Chain]) -> int:
    """In how many places, of those right before or behind the code, a function is said to be."""
    edges = {address + by for address in truth for by in (-1, 1)} - truth.keys()
    return len(lookup(program, path, sorted(edges)))


def header_of(path: pathlib.Path) -> Dict[str, int]:
    """As llvm-gsymutil prints it: Version, NumAddresses and so on."""
    text = run(installed()[0], path).split("\n\n", 1)[0]
    return {name: int(value, 16) for name, value in re.findall(r"^  (\w+) += (\w+)", text, re.M)}
