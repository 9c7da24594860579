"""Dumps whose timestamps are the processor's own counter."""

from jitdump_tests import jitdump_reader, perf, perf_data
from jitdump_tests.perf_case import PerfTest
from jitdump_tests.truth import Truth

CLOCK_NO_CONVERSION = -6  # JITDUMP_ERROR_CLOCK_NO_CONVERSION


class P4_arch_timestamps(PerfTest):
    def test_open_asks_the_kernel(self) -> None:
        session = self.session()
        opened = perf.run([perf.WORKLOAD, "--duration-ms", "1", "--tsc", "shares"], check=False,
                          cwd=session.directory, env=session.environment)
        # perf asks the same, and has an event in its data if the answer is yes.
        session.record("--duration-ms", "1", "shares")
        events = session.perf("script", "-D", "-i", session.data).stdout
        if "PERF_RECORD_TIME_CONV" in events:
            print("the kernel tells how to convert the counter")
            self.assertEqual(opened.returncode, 0, opened.stderr)
            self.assertEqual(jitdump_reader.read(Truth(opened.stdout).dump).header.flags, 1)
        else:
            self.assertEqual(opened.returncode, 1, opened.stderr)
            error = Truth(opened.stdout).error
            print(f"the kernel tells no conversion; message: {error['message']}")
            self.assertEqual(error["error"], CLOCK_NO_CONVERSION)
            self.assertIn("cap_user_time_zero", error["message"])

    def test_flag_in_the_header(self) -> None:
        for options, flags in ((["--tsc", "--force-tsc"], 1), ([], 0)):
            session = self.session()
            truth = session.record("--duration-ms", "1", *options, "shares")
            self.assertEqual(jitdump_reader.read(truth.dump).header.flags, flags)

    def test_converted(self) -> None:
        """Two functions in turn at one address: perf must know the times to tell them apart."""
        session = self.session()
        truth = session.record("--duration-ms", "900", "--tsc", "--force-tsc", "reuse")
        perf_data.set_time_conv(session.data, perf_data.time_conv(*truth.clocks))
        profile = self.profile_of(session, truth)
        self.check_shares(profile.by_symbol(), truth.cpu)
