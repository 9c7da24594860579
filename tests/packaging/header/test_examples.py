#!/usr/bin/env python3
"""Whether the examples in the header's comments compile as they stand there, without a warning.

    test_examples.py HEADER COMPILER c11|c++17|c++20

An example is the indented block that follows a line `Example:` of a comment. Statements are
compiled as the body of a function; an example that has functions of its own, as it is.
"""
import os
import re
import subprocess
import sys
import textwrap
from typing import List, NamedTuple, Optional, Tuple

INCLUDES = ["stdio.h", "string.h"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# The head of a function's definition, its brace in the same line or the next.
FUNCTION = re.compile(r"(?!(if|for|while|switch)\b)\w[^;=]*\)\s*(\{.*)?")


class Example(NamedTuple):
    line: int
    code: List[str]

    def source(self, header: str) -> str:
        """With the header's line numbers, for the compiler's messages."""
        includes = "".join(f"#include <{name}>\n" for name in [header, *INCLUDES])
        place = f'#line {self.line} "{header}"\n'
        code = "\n".join(self.code) + "\n"
        if any(FUNCTION.fullmatch(line) for line in self.code):
            return includes + place + code
        return f"{includes}void example(void);\nvoid example(void)\n{{\n{place}{code}}}\n"


def comment_lines(header: str) -> List[Optional[str]]:
    """The text of each line that belongs to a comment of several lines; None: another line."""
    lines: List[Optional[str]] = []
    inside = False
    for line in header.splitlines():
        text, end, _ = line.partition("*/")
        begin = None if inside else re.match(r"\s*/\*", text)
        if inside or begin and not end:
            lines.append(re.sub(r"^\s*/?\* ?", "", text).rstrip())
        else:
            lines.append(None)
        inside = (inside or begin is not None) and not end
    return lines


def block_after(lines: List[Optional[str]], index: int) -> Tuple[int, List[str]]:
    """The indented lines after line `index`, and where they begin."""
    while index < len(lines) and lines[index] == "":
        index += 1
    end = index
    while end < len(lines) and lines[end] is not None and re.match(r" {4}|$", lines[end]):
        end += 1
    block = textwrap.dedent("\n".join(lines[index:end])).rstrip()
    return index, block.split("\n") if block else []


def examples(header: str) -> List[Example]:
    lines = comment_lines(header)
    found = []
    for index, line in enumerate(lines):
        if line is not None and line.strip() == "Example:":
            begin, code = block_after(lines, index + 1)
            if not code:
                sys.exit(f"line {index + 1}: an example without code")
            found.append(Example(begin + 1, code))
    return found


def main() -> int:
    header, compiler, standard = sys.argv[1:]
    folder = os.path.dirname(header)
    with open(header, encoding="utf-8") as file:
        found = examples(file.read())
    if not found:
        sys.exit("the header has no example")
    failed = 0
    for example in found:
        done = subprocess.run(
            [compiler, f"-std={standard}", "-x", "c++" if "++" in standard else "c", "-", *WARNINGS,
             "-O1", f"-I{folder}", "-c", "-o", os.devnull],
            input=example.source(os.path.basename(header)), text=True, check=False)
        print(f"line {example.line}: {'does not compile' if done.returncode else 'compiles'}")
        failed += done.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
