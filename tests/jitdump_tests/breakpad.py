"""What readers of Breakpad symbol files say of addresses, in the form of symbolizers.py."""
from __future__ import annotations

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
from typing import Dict, List, Optional

from jitdump_tests import minidump, pypi
from jitdump_tests.histories import Chain
from jitdump_tests.symbolizers import Answers, addresses_text, make

HERE = pathlib.Path(__file__).parent
PID = 4711


@functools.lru_cache(None)
def symbolic_python() -> Optional[str]:
    return pypi.python_with("symbolic")


@functools.lru_cache(None)
def program(name: str) -> Optional[str]:
    """One that takes minutes to build, `cargo install NAME`, and that not every machine has."""
    found = shutil.which(name, path=os.environ.get("JITDUMP_MINIDUMP_TOOLS", "") + os.pathsep
                         + os.environ["PATH"])
    if found is None:
        print(f"{name} is not installed: left out")
    return found


def stackwalk() -> Optional[str]:
    return program("minidump-stackwalk")


def breakpad_stackwalk() -> Optional[str]:
    """Breakpad's own, of which no distribution has a package."""
    return program("minidump_stackwalk")


def dump_syms() -> Optional[str]:
    return program("dump_syms")


def add_symbols(binary: pathlib.Path, store: pathlib.Path) -> None:
    """Those of a program, as its vendor has them."""
    if dump_syms() is not None:
        subprocess.run([dump_syms(), "--inlines", "--store", str(store), str(binary)], check=True,
                       capture_output=True)


def installed() -> List[str]:
    return [name for name, found in (("symbolic", symbolic_python()),
                                     ("minidump-stackwalk", stackwalk()),
                                     ("minidump_stackwalk", breakpad_stackwalk())) if found]


class Store:
    """What `jitdump breakpad` made, with what it printed."""

    def __init__(self, tool: str, dump: pathlib.Path, folder: pathlib.Path, *options: object) -> None:
        self.folder = folder
        done = subprocess.run([tool, "breakpad", str(dump), "-o", str(folder), *map(str, options)],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0 and not done.stderr, done.stderr
        self.printed = done.stdout
        self.files: Dict[int, pathlib.Path] = {}
        for line in done.stdout.splitlines():
            base, path = line.split()
            self.files[int(base, 16)] = folder / path
            check_limits((folder / path).read_text(encoding="utf-8"))


def check_limits(text: str) -> None:
    """Those of Breakpad's own reader, which is not asked, and breaks them in silence."""
    for line in re.findall(r"(?m)^INLINE .*$", text):
        assert len(line.split(" ")) <= 5 + 2 * 254, line
    for name in re.findall(r"(?m)^INLINE_ORIGIN \d+ (.*)$", text):
        assert not re.match(r"\d+( |$)", name), name


def symbolic(base: int, path: pathlib.Path, addresses: List[int]) -> Answers:
    """Of one file."""
    done = subprocess.run([symbolic_python(), str(HERE / "symbolic_chains.py"), str(path)],
                          input=addresses_text(address - base for address in addresses),
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    head, *answers = map(json.loads, done.stdout.splitlines())
    assert head["id"] == path.parent.name, "the id is not that of the folder"
    return {answer["address"] + base: [make(*one) for one in answer["chain"]] for answer in answers}


def crash(addresses: List[int], maps: str, pid: int = PID) -> bytes:
    """A minidump of a process with a thread at each of the addresses."""
    writer = minidump.Writer()
    writer.misc_info(pid)
    writer.status(pid, pid)
    writer.maps(maps)
    writer.modules([minidump.Module(0x400000, 0x1000, "/usr/bin/jit", bytes(range(20)))])
    writer.threads([minidump.Thread({"rip": address, "rsp": 0x7FFF0000}, 0x7FFF0000, bytes(64))
                    for address in addresses])
    return writer.finish()


def walk(path: pathlib.Path, store: pathlib.Path) -> dict:
    """All that minidump-stackwalk says."""
    done = subprocess.run([stackwalk(), "--json", "--symbols-path", str(store), str(path)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def frame_chain(frame: dict) -> Chain:
    """Of a frame of that: the inlined functions, and the one that they are in."""
    return [make(one["function"], one["file"], one["line"] or 0)
            for one in [*(frame["inlines"] or []), frame]]


def stackwalk_chains(path: pathlib.Path, store: pathlib.Path, addresses: List[int]) -> Answers:
    """Of a minidump that crash() made of these addresses."""
    threads = walk(path, store)["threads"]
    return {address: frame_chain(thread["frames"][0])
            for address, thread in zip(addresses, threads)}


def breakpad_walk(path: pathlib.Path, store: pathlib.Path) -> str:
    """Lines of THREAD|FRAME|MODULE|FUNCTION|FILE|LINE|OFFSET."""
    done = subprocess.run([breakpad_stackwalk(), "-m", str(path), str(store)], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def breakpad_chains(path: pathlib.Path, store: pathlib.Path, addresses: List[int]) -> Answers:
    """The same by Breakpad's own, to which an inlined function is a frame as others are."""
    answers: Answers = {}
    for thread, function, file, line in re.findall(
            r"(?m)^(\d+)\|\d+\|[^|\n]*\|([^|\n]*)\|([^|\n]*)\|(\d*)\|", breakpad_walk(path, store)):
        place = make(function, file, int(line or 0))
        answers.setdefault(addresses[int(thread)], []).append(place)
    return answers


def compare(name: str, answers: Answers, truth: Dict[int, Chain]) -> int:
    """How many answers are not the truth; prints the first few."""
    wrong = 0
    for address, chain in sorted(truth.items()):
        expected = [one._replace(column=0) for one in chain]
        found = answers.get(address, [])
        if found != expected:
            wrong += 1
            if wrong <= 3:
                print(f"{name} at {address:#x}:\n  {found}\n  not {expected}")
    return wrong


def check(tool: str, dump: pathlib.Path, truth: Dict[int, Chain], maps: str, *options: str,
          pid: int = PID) -> int:
    """`jitdump breakpad` and `jitdump minidump`, and what each reader says at every address. Returns
    how many wrong answers there are."""
    folder = dump.parent / "store"
    shutil.rmtree(folder, ignore_errors=True)
    addresses = sorted(truth)
    crashed, patched = dump.with_suffix(".dmp"), dump.with_suffix(".patched.dmp")
    crashed.write_bytes(crash(addresses, maps, pid))
    store = Store(tool, dump, folder, "--minidump", crashed, *options)
    done = subprocess.run([tool, "minidump", str(crashed), str(dump), "-o", str(patched), *options],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert done.stdout == store.printed
    wrong = 0
    if "symbolic" in installed():
        answers: Answers = {}
        for base, path in sorted(store.files.items()):
            answers.update(symbolic(base, path, [a for a in addresses if a >= base]))
        wrong += compare("symbolic", answers, truth)
    if "minidump-stackwalk" in installed():
        wrong += compare("minidump-stackwalk", stackwalk_chains(patched, folder, addresses), truth)
    if "minidump_stackwalk" in installed():
        wrong += compare("minidump_stackwalk", breakpad_chains(patched, folder, addresses), truth)
    return wrong
