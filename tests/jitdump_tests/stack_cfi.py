"""The lines STACK CFI of Breakpad symbol files, read as Breakpad's documentation of the format says."""
from __future__ import annotations

import re
from typing import Dict, Iterator, List, NamedTuple, Tuple

Rules = Dict[str, str]  # register -> expression


class Row(NamedTuple):
    """What holds from an address to before another."""
    begin: int
    end: int
    rules: Rules


def parse_rules(words: List[str]) -> Rules:
    rules: Rules = {}
    name = ""
    for word in words:
        if word.endswith(":"):
            name = word[:-1]
            assert name and name not in rules, words
            rules[name] = ""
        else:
            assert name, words
            rules[name] = f"{rules[name]} {word}".strip()
    return rules


def entries(text: str) -> Iterator[Tuple[int, int, List[Tuple[int, Rules]]]]:
    """Of each INIT: where it begins and ends, and what is said from where on."""
    found: List[Tuple[int, int, List[Tuple[int, Rules]]]] = []
    for line in re.findall(r"(?m)^STACK CFI (.*)$", text):
        words = line.split(" ")
        if words[0] == "INIT":
            begin, size = int(words[1], 16), int(words[2], 16)
            assert size > 0
            found.append((begin, begin + size, [(begin, parse_rules(words[3:]))]))
        else:
            _, end, changes = found[-1]
            at = int(words[0], 16)
            assert changes[-1][0] < at < end, line
            changes.append((at, parse_rules(words[1:])))
    return iter(found)


def rows(text: str) -> List[Row]:
    """All of them, by ascending addresses. Those that are next to each other differ."""
    result: List[Row] = []
    for begin, end, changes in entries(text):
        assert not result or result[-1].end <= begin, "they ascend, and do not overlap"
        rules: Rules = {}
        for i, (at, change) in enumerate(changes):
            assert i == 0 or change, "nothing changes"
            rules = {**rules, **change}
            assert ".cfa" in rules and ".ra" in rules
            result.append(Row(at, changes[i + 1][0] if i + 1 < len(changes) else end, rules))
    return result
