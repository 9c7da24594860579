"""Random C functions without data and without calls that are not inlined or in the same section: a compiler
makes objects of them that can lie anywhere."""
from __future__ import annotations

import random
from typing import List


class _Program:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: List[str] = []

    def expression(self, names: List[str], depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice([*names, str(self.random.randint(1, 99))])
        operator = self.random.choice(["+", "-", "*", "^", "|", "&"])
        return f"({self.expression(names, depth - 1)} {operator} {self.expression(names, depth - 1)})"

    def statements(self, names: List[str], callees: List[str], indent: str, depth: int) -> None:
        for _ in range(self.random.randint(1, 4)):
            choice = self.random.random()
            target = self.random.choice(names)
            if choice < 0.4 and callees:
                first = self.expression(names, 1)
                self.lines.append(f"{indent}{target} +=")
                self.lines.append(f"{indent}    {self.random.choice(callees)}({first},"
                                  f" {self.expression(names, 1)});")
            elif choice < 0.55 and depth > 0:
                self.lines.append(f"{indent}if ({self.expression(names, 1)} > 7) {{")
                self.statements(names, callees, indent + "    ", depth - 1)
                self.lines.append(f"{indent}}}")
            elif choice < 0.7 and depth > 0:
                counter = f"i{depth}"
                self.lines.append(f"{indent}for (long {counter} = 0; {counter} < (b & 15); {counter}++) {{")
                self.statements(names, callees, indent + "    ", depth - 1)
                self.lines.append(f"{indent}}}")
            else:
                self.lines.append(f"{indent}{target} = {self.expression(names)};")

    def function(self, head: str, name: str, callees: List[str]) -> None:
        self.lines += [f"{head} long {name}(long a, long b)", "{", "    long c = a ^ b;"]
        self.statements(["a", "b", "c"], callees, "    ", 2)
        self.lines += ["    return a + b + c;", "}", ""]


def program(seed: int, inlined: int = 4, functions: int = 3) -> str:
    """The source: some functions that are always inlined, in each other too, and some that are not."""
    made = _Program(seed)
    callees: List[str] = []
    for number in range(inlined):
        made.function("static inline __attribute__((always_inline))", f"inlined{number}", callees[-3:])
        callees.append(f"inlined{number}")
    for number in range(functions):
        made.function(f"long function{number}(long, long); __attribute__((noinline))",
                      f"function{number}", callees)
    return "\n".join(made.lines) + "\n"
