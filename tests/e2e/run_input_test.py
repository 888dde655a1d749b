"""berth run and wrong input: a clear error, and from a file nothing starts unless all is well."""

import os
import subprocess
import unittest

from run_case import BERTH, BUILD, DEADLINE, RunCase, events

GOOD = b"touch ran\n"
# Lines that are not jobs, and what berth says of them.
WRONG = {
    "too long": (b"echo " + b"x" * (1 << 20), "longer than 131071 bytes"),
    "not UTF-8": (b"echo \xff\xfe", "is not UTF-8 at byte 6"),
    "cut UTF-8": (b"echo \xc3", "is not UTF-8 at byte 6"),
    "a NUL byte": (b"echo a\0b", "NUL byte"),
    "unknown option": (b"@retrys=2 true", "unknown option @retrys"),
    "no number": (b"@gpus=two true", "gpus"),
    "no value": (b"@name= true", "@name= needs a value"),
    "no command": (b"@gpus=1", "has options but no command"),
    "too many GPUs": (b"@gpus=3 true", "there are only 2 here"),
    "too much memory": (b"@mem=25GiB true", "none of the 2 GPUs here"),
    "follows nobody": (b"@after=nobody true", "there is no earlier job 'nobody' to follow"),
    "follows a later one": (b"@after=9 true", "there is no earlier job '9' to follow"),
    "an open block": (b"<<END\ntouch ran", "no line END closes"),
}


class WrongLines(RunCase):
    def ran(self):
        return os.path.exists(self.path("ran"))

    def test_a_file_starts_nothing(self):
        for name, (line, says) in WRONG.items():
            with self.subTest(name):
                path = self.write("jobs", GOOD + line + b"\n" + (b"" if b"<<" in line else GOOD))
                done = self.run_jobs("", path, code=2)
                self.assertIn(says, done.stderr)
                self.assertIn("line 2", done.stderr)
                self.assertLess(len(done.stderr), 1000)
                self.assertEqual(done.stdout, "")
                self.assertFalse(self.ran())

    def test_a_file_as_standard_input_starts_nothing(self):
        self.write("jobs", GOOD + b"echo \xff\n" + GOOD)
        with open(self.path("jobs"), "rb") as stdin:
            process = self.launch(stdin=stdin)
            _, err = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, 2)
        self.assertIn("nothing was run, because of 1 wrong line", err)
        self.assertFalse(self.ran())

    def test_every_wrong_line_is_named(self):
        self.write("jobs", b"@x=1 a\ntrue\n@y=2 b\n" + b"\xff\n" * 30)
        err = self.run_jobs("", self.path("jobs"), code=2).stderr
        self.assertIn("32 wrong lines", err)
        self.assertIn("line 1 unknown option @x", err)
        self.assertIn("line 3 unknown option @y", err)
        self.assertLess(err.count("\n"), 15)

    def test_a_pipe_runs_the_others(self):
        for name, (line, says) in WRONG.items():
            with self.subTest(name):
                done = self.run_jobs(b"true\n" + line + b"\ntouch ran\n", code=2)
                self.assertIn(says, done.stderr)
                self.assertEqual(self.ran(), b"<<" not in line)
                self.assertIn(", 1 invalid", done.stderr)
                if self.ran():
                    os.unlink(self.path("ran"))

    def test_a_block_with_a_wrong_line_does_not_run_without_it(self):
        for line in (b"echo \xff", b"x" * 200_000):
            done = self.run_jobs(b"<<END\ntouch ran\n" + line + b"\nEND\ntouch after\n", code=2)
            self.assertFalse(self.ran(), done.stderr)
            self.assertTrue(os.path.exists(self.path("after")))
            self.assertIn("line 3", done.stderr)
            self.assertIn("1 succeeded, 0 failed, 0 did not run, 1 invalid", done.stderr)

    def test_wrong_lines_from_a_pipe_are_told_as_events(self):
        process = self.run_jobs(b"\xff\n@gpus=9 true\ntrue\n", "--json", code=2)
        stream = events(process.stdout)
        self.assertEqual(sum(e["event"] == "warning" for e in stream), 2)
        self.assertEqual(stream[-1]["invalid"], 2)
        self.assertEqual(stream[-1]["succeeded"], 1)
        self.assertEqual(process.stderr, "")


class WrongFiles(RunCase):
    def test_missing_and_unreadable(self):
        self.assertIn("No such file", self.run_jobs("", "nowhere", code=None).stderr)
        self.assertNotEqual(self.run_jobs("", "nowhere", code=None).returncode, 0)
        self.assertIn("folder", self.run_jobs("", self.home, code=2).stderr)

    def test_two_files(self):
        self.write("jobs", GOOD)
        self.assertNotEqual(self.run_jobs("", "jobs", "jobs", code=None).returncode, 0)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_a_typo_does_not_spoil_the_joblog(self):
        path = self.write("jobs", b"@gpu=1 touch ran\n")
        self.run_jobs("", path, "--joblog", "log", code=2)
        self.write("jobs", GOOD)
        self.run_jobs("", path, "--joblog", "log")
        self.assertEqual(len(self.read("log").splitlines()), 2)

    def test_nothing_to_do(self):
        for text in ("", "\n", "# a comment\n"):
            self.assertIn("0 succeeded, 0 failed", self.run_jobs(text).stderr)
            self.run_jobs("", self.write("jobs", text))

    def test_no_input_at_all(self):
        with open("/dev/null", "rb") as null:
            process = self.launch(stdin=null)
            process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, 0)


class WrongOptions(RunCase):
    def refused(self, *words, says, gpus="sim:2", code=2, env=None):
        done = self.run_jobs(GOOD, *words, gpus=gpus, code=code, env=env)
        self.assertIn(says, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_unknown_options_get_a_suggestion(self):
        self.refused("--retrys", "2", says="did you mean --retries?")
        self.refused("--job-log", "x", says="did you mean --joblog?")
        self.refused("--frobnicate", says="--help")

    def test_values(self):
        self.refused("--retries", "-1", says="--retries")
        self.refused("--per-gpu", "0", says="--per-gpu")
        self.refused("--timeout", "soon", says="soon")
        self.refused("--halt", "later", says="later")
        self.refused("--halt", "now,fail=0", says="now,fail=0")
        self.refused("--halt", "now,fail=101%", says="101%")
        self.refused("--policy", "magic", says="magic")
        self.refused("--drain-signal", "FOO", says="no signal 'FOO'")
        self.refused("--seed", "x", "--shuffle", says="seed")
        self.refused("--resume", says="--joblog")
        self.refused("--timeout", says="--timeout")

    def run_shell(self, command):
        return subprocess.run(["bash", "-c", command], cwd=self.home, text=True, timeout=DEADLINE,
                              env=self.environment(B=BERTH), capture_output=True)

    def test_empty_device_list(self):
        for words in ("--gpus ''", "--gpus ,", "--gpus=", "--gpus ' '"):
            done = self.run_shell(f"echo 'touch ran' | $B run {words}")
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("--gpus", done.stderr)
            self.assertFalse(os.path.exists(self.path("ran")))

    def test_no_devices(self):
        done = self.run_shell("echo 'touch ran' | $B run")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--gpus sim:4", done.stderr)

    def test_unknown_id_beside_a_driver(self):
        self.env["BERTH_SIM_STATE"] = self.path("devices")
        self.berth("gpus", "--gpus", "sim:4")
        driver = self.environment(LD_LIBRARY_PATH=BUILD + "/fake_nvml")
        self.refused(gpus="0,9", says="'9'", env=driver)
        self.run_jobs(GOOD, gpus="0,3", env=driver)
        self.assertTrue(os.path.exists(self.path("ran")))

    def test_sweeps(self):
        done = self.run_shell("$B sweep 'touch {ran} {x}' -p ran ran --run --gpus sim:2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown parameter 'x'", done.stderr)
        self.assertFalse(os.path.exists(self.path("ran")))
        done = self.run_shell("$B sweep 'touch {x}' -p x ran other --run --gpus ,")
        self.assertEqual(done.returncode, 2)
        self.assertFalse(os.path.exists(self.path("ran")))


class Sweeps(RunCase):
    def test_run(self):
        done = self.berth("sweep", "echo {a}-{b} >> " + self.path("seen"), "-p", "a", "1", "2",
                          "-p", "b", "x", "y", "--run", "--gpus", "sim:1", "--json")
        self.assertEqual(self.read("seen").split(), ["1-x", "1-y", "2-x", "2-y"])
        self.assertEqual(events(done.stdout)[-1]["succeeded"], 4)

    def test_several_lines_and_failures(self):
        done = self.berth("sweep", "x={a}\nexit $x\n", "-p", "a", "0", "1", "--run", "--gpus",
                          "sim:1", "--json", code=1)
        summary = events(done.stdout)[-1]
        self.assertEqual((summary["succeeded"], summary["failed"]), (1, 1))


class Streams(RunCase):
    """Standard input, output and error that are closed, full or gone."""

    def bash(self, command):
        return subprocess.run(["bash", "-c", command], cwd=self.home, text=True, timeout=DEADLINE,
                              env=self.environment(B=BERTH), capture_output=True)

    def test_closed_input(self):
        done = self.bash("$B run --gpus sim:2 <&-")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot", done.stderr)
        self.write("jobs", GOOD)
        self.assertEqual(self.bash("$B run --gpus sim:2 jobs <&-").returncode, 0)
        self.assertTrue(os.path.exists(self.path("ran")))

    def test_closed_output(self):
        self.write("jobs", GOOD)
        done = self.bash("$B run --gpus sim:2 --json jobs >&-")
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)
        self.assertTrue(os.path.exists(self.path("ran")))  # jobs are worth more than messages

    def test_closed_error_does_not_end_in_a_file(self):
        self.write("jobs", b"echo x >&2; echo y > ran\n")
        self.bash("$B run --gpus sim:2 --joblog log jobs 2>&-")
        self.assertNotIn("succeeded", self.read("log"))
        self.assertEqual(self.read("ran"), "y\n")

    def test_full_output(self):
        self.write("jobs", GOOD)
        done = self.bash("$B run --gpus sim:2 --json jobs > /dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)
        done = self.bash("$B run --gpus sim:2 --dry-run jobs > /dev/full")
        self.assertEqual(done.returncode, 1)

    def test_a_reader_that_leaves_does_not_end_the_run(self):
        self.bash("for i in 1 2 3 4 5 6; do echo \"echo $i >> done\"; done | "
                  "$B run --gpus sim:1 --json | head -n 1")
        self.eventually(lambda: os.path.exists(self.path("done")) and
                        self.read("done").split() == list("123456"))


if __name__ == "__main__":
    unittest.main()
