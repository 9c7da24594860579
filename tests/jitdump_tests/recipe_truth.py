"""What a recipe's program ran, by its output.txt; of an object file beside it, what binutils say.

LLVM's programs print no lines, since what would print them is what is to be tested: they keep the
object file, program.o, and say where each function was loaded."""

import json
import pathlib
from typing import Dict, List, Tuple

from jitdump_tests import symbolizers
from jitdump_tests.truth import Truth


def truth_of(folder: pathlib.Path) -> Truth:
    output = (folder / "output.txt").read_text(encoding="utf-8")
    if (folder / "program.o").exists():
        functions = described_by_binutils(folder)
        lines = [json.loads(line) for line in output.splitlines()]
        output = "\n".join(json.dumps({**line, **functions.get(line.get("function"), {})})
                           for line in lines)
    return Truth(output)


def described_by_binutils(folder: pathlib.Path) -> Dict[str, dict]:
    """Of each function: size, file, and the line of each byte, the innermost where it is inlined."""
    linked = folder / "program.elf"
    # For addr2line, to which addresses in several sections would be the same.
    symbolizers.run("ld", "-o", linked, "--entry=0", "--unresolved-symbols=ignore-all",
                    folder / "program.o")
    functions = {}
    for row in symbolizers.run("nm", "-S", linked).splitlines():
        words = row.split()
        if len(words) == 4 and words[2] in "tT":
            addr, size = int(words[0], 16), int(words[1], 16)
            functions[words[3]] = describe(linked, addr, size)
    return functions


def describe(linked: pathlib.Path, addr: int, size: int) -> dict:
    chains = symbolizers.addr2line(linked, list(range(addr, addr + size)))
    lines: List[Tuple[int, int, int]] = []
    for address, chain in sorted(chains.items()):
        if not lines or lines[-1][1] != chain[0].line:
            lines.append((address - addr, chain[0].line, 1))
    return {"size": size, "since": 0, "code": "", "lines": lines,
            "file": pathlib.Path(chains[addr][-1].file).name}
