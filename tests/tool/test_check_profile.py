"""jitdump check with a profile: what perf shows and what it says agree, and each cause of a sample
without name is found where it was planted."""
from __future__ import annotations

import json
import pathlib
import re
import shutil
import struct
import tempfile
import unittest
from typing import Callable, NamedTuple

from jitdump_tests import dump_writer, perf, perf_data, tool

SAMPLES_MIN = 100
WORKLOAD = ("--duration-ms", "300")
CAUSES = ("hidden", "before_load", "after_life", "between", "never_described")
REASON = perf.why_unusable()


class Record(NamedTuple):
    id: int
    time: int
    payload: bytes

    def load_fields(self) -> tuple[int, int, int]:
        """Address, size, index."""
        fields = struct.unpack_from("=IIQQQQ", self.payload)
        return fields[3], fields[4], fields[5]

    def name(self) -> str:
        return self.payload[40:self.payload.index(0, 40)].decode()


Edit = Callable[[list[Record]], list[Record]]


class Recording:
    """A profile and the dump that goes with it, in a directory of their own."""

    def __init__(self, *workload: object, options: tuple[str, ...] = ("-k", "mono")) -> None:
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="jitted-")).resolve()
        self.session = perf.Session(self.directory)
        self.data = self.session.data
        self.session.perf(*perf.RECORD, *options, "-o", self.data, "--", perf.WORKLOAD,
                          *(workload or (*WORKLOAD, "shares")))
        self.dump, = self.directory.glob("jit-*.dump")

    def named_by_perf(self) -> int:
        self.session.inject()
        shown = self.session.script("-F", "ip,sym,dso")
        return len(re.findall(r"/jitted-\d+-\d+\.so\)$", shown, re.M))

    def copy(self) -> "Recording":
        """For changes."""
        copy = Recording.__new__(Recording)
        copy.directory = pathlib.Path(tempfile.mkdtemp(prefix="jitted-"))
        for path in (self.data, self.dump):
            shutil.copy(path, copy.directory)
        copy.data = copy.directory / self.data.name
        copy.dump = copy.directory / self.dump.name
        return copy

    def edit(self, change: Edit) -> "Recording":
        copy = self.copy()
        data = self.dump.read_bytes()
        records, at = [], 40
        while at < len(data):
            kind, size, time = struct.unpack_from("=IIQ", data, at)
            records.append(Record(kind, time, data[at + 16:at + size]))
            at += size
        changed = change(records)
        assert changed != records
        copy.dump.write_bytes(data[:40] + b"".join(
            struct.pack("=IIQ", each.id, 16 + len(each.payload), each.time) + each.payload
            for each in changed))
        return copy


class Checked(NamedTuple):
    status: int
    findings: dict[str, tool.Object]
    shares: tool.Object


@unittest.skipIf(REASON, REASON or "")
class Profile(unittest.TestCase):
    recording: Recording

    @classmethod
    def setUpClass(cls) -> None:
        cls.recording = Recording()
        cls.addClassCleanup(shutil.rmtree, cls.recording.directory)

    def own(self, recording: Recording) -> Recording:
        self.addCleanup(shutil.rmtree, recording.directory)
        return recording

    def check(self, recording: Recording, *options: str) -> Checked:
        done = tool.run("check", "--json", *options, recording.dump, recording.data)
        *lines, shares = [json.loads(line) for line in done.out.splitlines()]
        findings = {each["finding"]: each for each in lines if "finding" in each}
        self.assertEqual(sum(shares[cause] for cause in CAUSES) + shares["named"],
                         shares["generated"])
        self.assertLessEqual(shares["generated"], shares["samples"])
        bad = any(each["severity"] != "note" for each in findings.values())
        self.assertEqual(done.status, int(bad), done.err)
        for cause in CAUSES:
            name = cause.replace("_", "-")
            self.assertEqual(shares[cause], findings[name]["count"] if name in findings else 0)
        findings.pop("unknown-id", None)  # which the workload writes on purpose
        print(recording.dump.name, sorted(findings), shares)
        return Checked(done.status, findings, shares)

    def test_clean(self) -> None:
        """All is named, and perf names as many."""
        checked = self.check(self.recording)
        self.assertEqual(checked.findings, {})
        self.assertGreater(checked.shares["named"], SAMPLES_MIN)
        self.assertEqual(checked.shares["named"], checked.shares["generated"])
        self.assertEqual(checked.shares["named"], self.recording.named_by_perf())

    def test_forks(self) -> None:
        """A child has what its parent had loaded, by the parent's dump."""
        directory = pathlib.Path(tempfile.mkdtemp(prefix="jitted-")).resolve()
        self.addCleanup(shutil.rmtree, directory)
        session = perf.Session(directory)
        session.perf(*perf.RECORD, "-k", "mono", "-o", session.data, "--", perf.WORKLOAD, *WORKLOAD,
                     "fork")
        parent, child = sorted(directory.glob("jit-*.dump"), key=lambda path: len(path.read_bytes()),
                               reverse=True)
        for _ in range(2):  # where the profile has the parent's dump; then, beside the child's
            done = tool.run("check", "--json", child, session.data)
            shares = json.loads(done.out.splitlines()[-1])
            self.assertGreater(shares["named"], SAMPLES_MIN / 2)
            self.assertEqual(shares["named"], shares["generated"], done.out)
            elsewhere = directory / "elsewhere"
            elsewhere.mkdir(exist_ok=True)
            parent, child = (path.replace(elsewhere / path.name) for path in (parent, child))
        done = tool.run("check", "--json", "--function", "before_fork", child, session.data)
        self.assertEqual(json.loads(done.out.splitlines()[0])["loads"], 0)
        parent.unlink()
        done = tool.run("check", "--json", child, session.data)
        shares = json.loads(done.out.splitlines()[-1])
        self.assertGreater(shares["between"] + shares["never_described"], 10)

    def test_lines(self) -> None:
        recording = self.own(Recording(*WORKLOAD, "lines"))
        checked = self.check(recording)
        self.assertEqual(checked.findings, {})
        self.assertGreater(checked.shares["named"], SAMPLES_MIN)
        self.assertEqual(checked.shares["with_line"], checked.shares["named"])

    def test_P3_clock(self) -> None:
        """The times are put right by the dump's mapping, and no sample seems to be too early."""
        # One function: of several, loaded with pauses, a later one's first sample is nearer to its load.
        recording = self.own(Recording(*WORKLOAD, "lines", options=()))
        whole = recording.dump.read_bytes()

        def opened_earlier(by: int) -> Checked:
            """As if so many ns had passed between the header's time and the mapping."""
            data = bytearray(whole)
            struct.pack_into("=Q", data, 24, struct.unpack_from("=Q", data, 24)[0] - by)
            recording.dump.write_bytes(data)
            return self.check(recording)
        checked = opened_earlier(0)
        self.assertEqual(set(checked.findings), {"clock"})
        self.assertGreater(checked.shares["named"], SAMPLES_MIN)
        self.assertEqual(checked.shares["named"], checked.shares["generated"])

        first = opened_earlier(10_000_000_000).findings["before-load"]["places"][0]["text"]
        early = re.search(r" ([0-9]+)\.([0-9]{3}) ms before", first)
        after = 10_000_000_000 - int(early[1] + early[2]) * 1000  # the first sample, after its load
        self.assertEqual(set(opened_earlier(after + 5_000_000).findings), {"clock"})
        self.assertEqual(set(opened_earlier(after + 15_000_000).findings), {"clock", "before-load"})

    def test_clock_and_wall_clock_in_the_header(self) -> None:
        """V8's header: its time says nothing then."""
        recording = self.own(Recording(options=()))
        data = bytearray(recording.dump.read_bytes())
        struct.pack_into("=Q", data, 24, 1_700_000_000_000_000_000)
        recording.dump.write_bytes(data)
        checked = self.check(recording)
        self.assertEqual(set(checked.findings), {"clock"})
        self.assertEqual(checked.shares["named"], checked.shares["generated"])

    def test_P32_compressed(self) -> None:
        try:
            recording = self.own(Recording(options=("-k", "mono", "-z")))
        except AssertionError as refusal:
            self.skipTest(f"this perf compresses nothing: {str(refusal)[:200]}")
        checked = self.check(recording)
        self.assertEqual(set(checked.findings), {"compressed"})
        self.assertTrue(checked.shares["compressed"])
        print("perf names", recording.named_by_perf(), "samples of a compressed profile")
        out = tool.run("check", recording.dump, recording.data).out
        self.assertNotIn(b"is not in it", out)

    def test_P17_hidden(self) -> None:
        """As many as perf names: no more, no fewer."""
        recording = self.own(Recording(*WORKLOAD, "--protect", "--memory", "shared", "shares"))
        checked = self.check(recording)
        self.assertEqual(set(checked.findings), {"hidden"})
        self.assertGreater(checked.shares["hidden"], 0)
        self.assertEqual(checked.shares["named"], recording.named_by_perf())

    def test_P17_dropped(self) -> None:
        for kind in ("anonymous", "memfd"):
            with self.subTest(kind):
                recording = self.own(Recording(*WORKLOAD, "--protect", "--memory", kind, "shares"))
                self.assertEqual(self.check(recording).findings, {})

    # Dumps that have been changed.

    def loads(self) -> dict[str, tuple[int, int, int]]:
        found: dict[str, tuple[int, int, int]] = {}

        def look(records: list[Record]) -> list[Record]:
            for each in records:
                if each.id == dump_writer.LOAD:
                    found[each.name()] = each.load_fields()
            return []
        self.own(self.recording.edit(look))
        return found

    def samples_of(self, name: str) -> int:
        done = tool.run("check", "--json", "--function", name, self.recording.dump,
                        self.recording.data)
        line = json.loads(done.out.splitlines()[0])
        self.assertEqual(line["function"], name)
        self.assertEqual(done.status, 0 if line["samples"] else 1)
        return line["samples"]

    def most(self) -> tuple[str, int]:
        """The function with the most samples."""
        return max(((name, self.samples_of(name)) for name in self.loads()), key=lambda x: x[1])

    def test_never_described(self) -> None:
        recording = self.own(self.recording.edit(lambda records: []))
        checked = self.check(recording)
        self.assertEqual(set(checked.findings), {"never-described"})
        self.assertEqual(checked.shares["never_described"],
                         self.check(self.recording).shares["named"])

    def test_between(self) -> None:
        name, samples = self.most()
        recording = self.own(self.recording.edit(lambda records: [
            each for each in records if each.id == dump_writer.CLOSE
            or (each.id == dump_writer.LOAD and each.name() != name)]))
        checked = self.check(recording)
        self.assertEqual(set(checked.findings), {"between"})
        self.assertEqual(checked.shares["between"], samples)
        done = tool.run("check", "--function", name, recording.dump, recording.data)
        self.assertEqual(done.status, 1)
        self.assertTrue(done.out.startswith(f"{name}: was never loaded".encode()), done.out)

    def test_before_load(self) -> None:
        """All is loaded a minute late."""
        recording = self.own(self.recording.edit(lambda records: [
            each._replace(time=each.time + 60_000_000_000) for each in records]))
        checked = self.check(recording)
        self.assertEqual(set(checked.findings), {"before-load"})
        self.assertRegex(checked.findings["before-load"]["places"][0]["text"],
                         r"^0x[0-9a-f]+, (59|60)[0-9]{3}\.[0-9]{3} ms before the load of \S+$")

    def test_after_life(self) -> None:
        name, samples = self.most()
        address, size, _ = self.loads()[name]

        def cover(records: list[Record]) -> list[Record]:
            closed = [each for each in records if each.id == dump_writer.CLOSE]
            others = [each for each in records if each.id == dump_writer.LOAD]
            time = max(each.time for each in others)
            fields = struct.pack("=IIQQQQ", 1, 1, address + size - 1, address + size - 1, 1, 1 << 60)
            return others + [Record(dump_writer.LOAD, time, fields + b"over\0\x90")] + closed
        checked = self.check(self.own(self.recording.edit(cover)))
        self.assertEqual(set(checked.findings), {"after-life"})
        self.assertEqual(checked.shares["after_life"], samples)

    def test_of_another_process(self) -> None:
        recording = self.own(self.recording.copy())
        data = bytearray(recording.dump.read_bytes())
        struct.pack_into("=I", data, 20, 1)
        recording.dump = recording.directory / "jit-1.dump"
        recording.dump.write_bytes(data)
        checked = self.check(recording)
        self.assertEqual(set(checked.findings), {"no-mapping"})
        self.assertEqual(checked.shares["pid"], 0)
        out = tool.run("check", recording.dump, recording.data).out
        self.assertIn(b"the dump's process is not in it", out)

    def test_P19_other_namespace(self) -> None:
        recording = self.own(self.recording.copy())
        inside = recording.dump.name.replace("jit-", "")[:-len(".dump")]
        inside = str(int(inside[::-1]) or 1).ljust(len(inside), "1")
        if inside in recording.dump.name:
            inside = inside[:-1] + ("2" if inside[-1] == "1" else "1")
        data = bytearray(recording.dump.read_bytes())
        struct.pack_into("=I", data, 20, int(inside))
        name = f"jit-{inside}.dump"
        recording.data.write_bytes(recording.data.read_bytes().replace(recording.dump.name.encode(),
                                                                       name.encode()))
        recording.dump = recording.directory / name
        recording.dump.write_bytes(data)
        checked = self.check(recording)
        self.assertEqual(set(checked.findings), {"other-namespace"})
        self.assertEqual(checked.shares["named"], checked.shares["generated"])

    def test_P4_time_conversion(self) -> None:
        recording = self.own(self.recording.copy())
        data = bytearray(recording.dump.read_bytes())
        struct.pack_into("=Q", data, 32, 1)
        recording.dump.write_bytes(data)
        perf_data.set_time_conv(recording.data, bytes(8))
        self.assertEqual(set(self.check(recording).findings), {"time-conversion"})
        # Ticks that are nanoseconds.
        perf_data.set_time_conv(recording.data, struct.pack("=QQQQQBB6x", 0, 1, 0, 0, 0, 1, 0))
        self.assertEqual(self.check(recording).findings, {})

    def test_lost(self) -> None:
        recording = self.own(self.recording.copy())
        perf_data.put_event(recording.data, perf_data.PERF_RECORD_LOST,
                            struct.pack("=QQ4Q", 1, 77, 0, 0, 0, 0))
        checked = self.check(recording)
        self.assertEqual(set(checked.findings), {"lost"})
        self.assertIn("77", checked.findings["lost"]["places"][0]["text"])

    # Profiles that are none.

    def test_cut_off(self) -> None:
        """As a whole, and as perf leaves it when it is killed: without the size of its events."""
        recording = self.own(self.recording.copy())
        whole = recording.data.read_bytes()
        killed = whole[:48] + bytes(8) + whole[56:]
        statuses = set()
        step = max(1, len(whole) // 250)
        for data in (whole, killed):
            for size in [*range(0, 240, 8), *range(240, len(data), step)]:
                recording.data.write_bytes(data[:size])
                done = tool.run("check", recording.dump, recording.data)
                self.assertIn(done.status, (0, 1, 2), size)
                statuses.add(done.status)
                if done.status == 2:
                    self.assertRegex(done.err, r"^jitdump: .*perf\.data: .* \(at 0x[0-9a-f]+\)\n\Z")
        self.assertIn(2, statuses)

    def test_no_profile(self) -> None:
        for path in (self.recording.dump, self.recording.directory, pathlib.Path("/nowhere")):
            done = tool.run("check", self.recording.dump, path)
            self.assertEqual((done.status, done.out), (2, b""))
            self.assertNotEqual(done.err, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
