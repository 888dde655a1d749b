"""How a run goes: halting, rehearsing, shuffling, packing, and how much it prints."""

import collections
import os
import unittest

from run_case import RunCase, of_kind


class Halting(RunCase):
    def run_file(self, lines, *words, **options):
        return self.run_events("", self.write("jobs", "\n".join(lines) + "\n"), *words, **options)

    def ended(self, stream):
        return [event["job"] for event in of_kind(stream, "end")]

    def test_soon_lets_the_others_finish(self):
        gate = self.fifo("gate")
        process = self.launch(self.write("jobs", "read x < gate\nfalse\ntrue\n"), "--json",
                              "--halt", "soon,fail=1", gpus="sim:2")
        self.line_with(process, '"event":"warning"')
        gate.let()
        out, _ = self.finish(process, code=1)
        self.assertIn('"succeeded":1,"failed":1,"timed_out":0,"cancelled":0,"not_run":1', out)
        self.assertIn('"halted":true', out)
        self.assertIn('"interrupted":false', out)

    def test_now_ends_the_others(self):
        self.fifo("never")
        self.fifo("told")
        stream = self.run_file(["trap 'echo asked > asked; exit 1' TERM; echo > told; "
                                "while :; do read x < never; done",
                                "read x < told; false", "true"], "--halt", "now,fail=1",
                               "--grace", "1h", code=1)
        self.assertEqual(self.read("asked"), "asked\n")
        summary = stream[-1]
        self.assertEqual([summary[k] for k in ("failed", "cancelled", "not_run")], [1, 1, 1])

    def test_counts(self):
        lines = ["true", "false", "true", "false", "true", "false", "true"]
        self.assertEqual(self.ended(self.run_file(lines, "--halt", "soon,fail=2", gpus="sim:1",
                                                  code=1)), [1, 2, 3, 4])
        self.assertEqual(self.ended(self.run_file(lines, "--halt", "soon,success=3", gpus="sim:1",
                                                  code=1)), [1, 2, 3, 4, 5])
        self.assertEqual(len(self.ended(self.run_file(lines, "--halt", "never", gpus="sim:1",
                                                      code=1))), 7)

    def test_percent_counts_from_the_third_on(self):
        lines = ["false", "true", "true", "true", "false", "false", "true"]
        # 1/1, 1/2, 1/3: the third is the first to count.
        self.assertEqual(self.ended(self.run_file(lines, "--halt", "soon,fail=30%", gpus="sim:1",
                                                  code=1)), [1, 2, 3])
        # 1/3, 1/4, 2/5, 3/6
        self.assertEqual(self.ended(self.run_file(lines, "--halt", "soon,fail=50%", gpus="sim:1",
                                                  code=1)), [1, 2, 3, 4, 5, 6])

    def test_retries_count_once(self):
        stream = self.run_file(["false", "true"], "--retries", "3", "--halt", "soon,fail=2",
                               gpus="sim:1", code=1)
        self.assertEqual(self.ended(stream), [1, 2])
        self.assertFalse(stream[-1]["halted"])


class Rehearsal(RunCase):
    def test_starts_nothing(self):
        lines = ["touch ran", "@gpus=2 @mem=8GiB touch ran", "<<END", "touch ran", "touch ran",
                 "END", "@gpus=0 @name=cpu touch ran"]
        out = self.run_jobs(lines, "--dry-run", "--joblog", "log", "--log-dir", "logs").stdout
        self.assertFalse(os.path.exists(self.path("ran")))
        self.assertFalse(os.path.exists(self.path("log")))
        self.assertFalse(os.path.exists(self.path("logs")))
        self.assertEqual(len(out.splitlines()), 4)
        self.assertIn("2 GPUs", out.splitlines()[1])
        self.assertIn("8.0 GiB", out.splitlines()[1])
        self.assertIn("touch ran; touch ran", out.splitlines()[2])

    def test_tells_what_is_wrong(self):
        for line in ("@gpus=3 true", "@x=1 true", "@after=nobody true"):
            done = self.run_jobs(["true", line], "-n", code=2)
            self.assertIn("line 2", done.stderr)


class Shuffling(RunCase):
    def order(self, *words):
        self.write("order", "")
        self.run_jobs([f"echo {n} >> order" for n in range(20)], "--shuffle", *words, gpus="sim:1")
        return self.read("order").split()

    def test_repeatable_with_a_seed(self):
        plain = [str(n) for n in range(20)]
        seven = self.order("--seed", "7")
        self.assertEqual(sorted(seven, key=int), plain)
        self.assertNotEqual(seven, plain)
        self.assertEqual(self.order("--seed", "7"), seven)
        self.assertNotEqual(self.order("--seed", "8"), seven)
        self.assertNotEqual(self.order(), self.order())  # one in 20! is the same


class Packing(RunCase):
    def test_per_gpu_runs_exactly_so_many(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch("--per-gpu", "3", gpus="sim:2")
        self.feed(process, *["echo $BERTH_GPUS > told; read x < gate"] * 14)
        self.assertEqual(sorted(told.lines(6)), ["0"] * 3 + ["1"] * 3)  # none has ended yet
        self.assertEqual(told.text, b"")  # and there is no seventh
        gate.let(14)
        told.lines(8)
        self.finish(process)

    def test_at_most_three_meet_on_a_device(self):
        self.run_jobs(['echo "+ $BERTH_GPUS" >> ledger; sleep 0.0$((BERTH_JOB_ID % 5)); '
                       'echo "- $BERTH_GPUS" >> ledger'] * 100, "--per-gpu", "3", gpus="sim:2")
        busy, most = collections.Counter(), collections.Counter()
        for line in self.read("ledger").splitlines():
            sign, gpu = line.split()
            busy[gpu] += 1 if sign == "+" else -1
            most[gpu] = max(most[gpu], busy[gpu])
        self.assertEqual(most, {"0": 3, "1": 3})

    def test_repeated_ids_are_slots(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch(gpus="0,0,1")
        self.feed(process, *["echo $CUDA_VISIBLE_DEVICES > told; read x < gate"] * 3)
        self.assertEqual(sorted(told.lines(3)), ["0", "0", "1"])
        gate.let(3)
        self.finish(process)


class Printing(RunCase):
    def test_plain(self):
        done = self.run_jobs(["echo hello", "exit 4"], gpus="sim:1", code=1)
        self.assertEqual(done.stdout, "hello\n")
        self.assertRegex(done.stderr, r"(?m)^\[1\] ok \S+ gpu 0: echo hello$")
        self.assertRegex(done.stderr, r"(?m)^\[2\] failed \(exit 4\) \S+ gpu 0: exit 4$")
        self.assertRegex(done.stderr, r"(?m)^GPU +JOBS +BUSY")
        self.assertNotIn("\x1b", done.stderr)

    def test_quiet(self):
        done = self.run_jobs(["true", "exit 4"], "--quiet", gpus="sim:1", code=1)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertIn("failed (exit 4)", lines[0])
        self.assertIn("1 succeeded, 1 failed", lines[1])

    def test_verbose(self):
        err = self.run_jobs(["true"], "--verbose").stderr
        self.assertRegex(err, r"(?m)^\[1\] started on gpu \d as pid \d+: true$")

    def test_prefix(self):
        done = self.run_jobs(["printf 'a\\nb'; echo e >&2", "@name=n echo c"], "--prefix",
                             gpus="sim:1")
        self.assertEqual(done.stdout, "[1] a\n[1] b\n[2 n] c\n")
        self.assertIn("[1] e\n", done.stderr)

    def test_prefixed_lines_stay_whole(self):
        line = "x" * 3000
        done = self.run_jobs([f"for i in 1 2 3 4 5 6 7 8; do echo {line}; done"] * 8, "--prefix",
                             gpus="sim:8")
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 64)
        for text in lines:
            self.assertRegex(text, r"^\[\d\] x{3000}$")

    def test_control_characters_of_commands_are_not_printed(self):
        err = self.run_jobs(["true \x1b[31m\x07"], "--verbose").stderr
        self.assertNotIn("\x1b", err)
        self.assertNotIn("\x07", err)


if __name__ == "__main__":
    unittest.main()
