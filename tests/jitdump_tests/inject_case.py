"""Recordings that jitdump inject injects, and the truth about them."""
from __future__ import annotations

from typing import Optional

from jitdump_tests import perf, tool
from jitdump_tests.perf_case import PerfTest, Profile
from jitdump_tests.truth import Truth

SHORT = ("--duration-ms", "300")


class Session(perf.Session):
    """perf's, but for who injects."""
    options: tuple[object, ...] = ()

    def inject(self, check: bool = True) -> tool.Done:
        done = tool.run("inject", "-i", self.data, "-o", self.injected, *self.options)
        if check:
            assert (done.status, done.out, done.err) == (0, b"", ""), done
        return done

    def inject_moves(self) -> None:
        self.inject()


class InjectTest(PerfTest):
    def session(self) -> Session:
        session = super().session()
        session.__class__ = Session
        return session

    def verdict(self, session: Session, truth: Truth, named: bool = True,
                samples: Optional[list[perf.Sample]] = None) -> None:
        """All samples in generated code are named right, or none is named."""
        profile = Profile(session, truth, samples or session.samples())
        self.assertGreater(profile.verdict.total, 100)
        self.assertEqual(profile.verdict.wrong[:5], [])
        if named:
            self.assertGreaterEqual(profile.verdict.named, 0.99 * profile.verdict.total)
        else:
            self.assertEqual(profile.verdict.named, 0)
