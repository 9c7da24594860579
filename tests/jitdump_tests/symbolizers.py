"""What binutils, LLVM, elfutils and gdb say of addresses in an ELF file, in one form."""
import json
import os
import pathlib
import re
import shutil
import subprocess
from typing import Callable, Dict, Iterable, List, Optional

from jitdump_tests.histories import Chain, Place

HERE = pathlib.Path(__file__).parent
Answers = Dict[int, Chain]


def run(*command: object, text: Optional[str] = None) -> str:
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def place(function: str, where: str) -> Place:
    """`where` is FILE:LINE or FILE:LINE:COLUMN, with ? or 0 for what is not known."""
    file, line = re.fullmatch(r"(.*?):(\d+|\?)(?::\d+)?(?: \(.*\))?", where).groups()
    return make(function, file, 0 if line == "?" else int(line))


def make(function: str, file: Optional[str], line: int, column: int = 0) -> Place:
    return Place(function, file if line else None, line, column if line else 0)


def addresses_text(addresses: Iterable[int]) -> str:
    return "".join(f"{address:#x}\n" for address in addresses)


def answers_by_line(output: str) -> Dict[int, List[str]]:
    """Blocks of lines that begin with an address."""
    result: Dict[int, List[str]] = {}
    for line in output.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            lines = result.setdefault(int(line, 16), [])
            lines.clear()
        else:
            lines.append(line)
    return result


def addr2line(elf: pathlib.Path, addresses: List[int]) -> Answers:
    output = run("addr2line", "-a", "-f", "-i", "-e", elf, text=addresses_text(addresses))
    return {address: [place(function, where) for function, where in zip(lines[::2], lines[1::2])]
            for address, lines in answers_by_line(output).items()}


def eu_addr2line(elf: pathlib.Path, addresses: List[int]) -> Answers:
    """Of the innermost function it also says in one line where it is inlined. Without --relative
    it puts "(null)" in front of relative file names."""
    output = run("eu-addr2line", "-a", "-f", "-i", "--relative", "-e", elf,
                 text=addresses_text(addresses))
    return {address: [place(re.sub(" inlined (at|from) .*", "", function), where)
                      for function, where in zip(lines[::2], lines[1::2])]
            for address, lines in answers_by_line(output).items()}


def llvm_symbolizer(elf: pathlib.Path, addresses: List[int],
                    program: str = "llvm-symbolizer") -> Answers:
    output = run(program, "--no-demangle", "--output-style=JSON", f"--obj={elf}",
                 text=addresses_text(addresses))
    result = {}
    for line in output.splitlines():
        answer = json.loads(line)
        answer = answer[0] if isinstance(answer, list) else answer
        result[int(answer["Address"], 16)] = [
            make(s["FunctionName"], s["FileName"], s["Line"], s["Column"])
            for s in answer["Symbol"]]
    return result


def gdb(elf: pathlib.Path, addresses: List[int]) -> Answers:
    environment = {**os.environ, "ADDRESSES": " ".join(map(hex, addresses))}
    if len(environment["ADDRESSES"]) > 100000:  # the kernel's limit for one string is 128 KiB
        half = len(addresses) // 2
        return {**gdb(elf, addresses[:half]), **gdb(elf, addresses[half:])}
    script = str(HERE / "gdb_chains.py")
    done = subprocess.run(["gdb", "-nx", "-q", "-batch", "-x", script, str(elf)],
                          env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return {answer["address"]: [make(*one) for one in answer["chain"]]
            for answer in map(json.loads, done.stdout.splitlines())}


def as_gdb_has_it(chain: Chain) -> Chain:
    """gdb 13 keeps 16 bits of a call's line."""
    return chain[:1] + [make(one.function, one.file, one.line & 0xFFFF) for one in chain[1:]]


SYMBOLIZERS: Dict[str, Callable[[pathlib.Path, List[int]], Answers]] = {
    "addr2line": addr2line, "llvm-symbolizer": llvm_symbolizer, "eu-addr2line": eu_addr2line,
    "gdb": gdb}


def installed() -> List[str]:
    found = [name for name in SYMBOLIZERS if shutil.which(name)]
    for name in SYMBOLIZERS:
        if name not in found:
            print(f"{name} is not installed: left out")
    return found


def has_columns(name: str) -> bool:
    """Others can't tell them, or not everywhere."""
    return name == "llvm-symbolizer"


def left_out_innermost(chain: Chain) -> Chain:
    """binutils 2.44 leaves out the innermost of some calls, of which the other programs, and binutils 2.40,
    say all."""
    return [chain[1]._replace(file=chain[0].file, line=chain[0].line), *chain[2:]] if len(chain) > 1 else chain


def addr2line_errs() -> bool:
    version = re.search(r"(\d+)\.(\d+)", run("addr2line", "--version").splitlines()[0].rpartition(" ")[2])
    return (int(version[1]), int(version[2])) > (2, 40)


def comparable(name: str, chain: Chain, columns: bool) -> Chain:
    if not (columns and has_columns(name)):
        chain = [one._replace(column=0) for one in chain]
    return as_gdb_has_it(chain) if name == "gdb" else chain


def compare(name: str, elf: pathlib.Path, truth: Dict[int, Chain], columns: bool = True) -> int:
    """Asks for every address. Returns how many answers are not the truth; prints the first few."""
    answers = SYMBOLIZERS[name](elf, sorted(truth))
    errs = name == "addr2line" and addr2line_errs()
    wrong = 0
    for address, chain in sorted(truth.items()):
        expected = comparable(name, chain, columns)
        found = comparable(name, answers.get(address, []), columns)
        if found != expected and not (errs and found == left_out_innermost(expected)):
            wrong += 1
            if wrong <= 3:
                print(f"{name} at {address:#x}:\n  {found}\n  not {expected}")
    return wrong
