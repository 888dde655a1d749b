"""berth run --joblog: GNU parallel's columns, and taking up a run where it was left."""

import collections
import os
import re
import shutil
import signal
import subprocess
import unittest

from run_case import DEADLINE, RunCase, events, of_kind

HEADER = "Seq Host Starttime JobRuntime Send Receive Exitval Signal Command".split()
FORMATS = [r"\d+", r":", r"\d{10}\.\d{3}", r" *\d+\.\d{3}", r"\d+", r"\d+", r"-?\d+", r"\d+", r".*"]


class JoblogCase(RunCase):
    def rows(self, name="log"):
        """The lines of a joblog without its header, as dictionaries."""
        lines = self.read(name).splitlines()
        self.assertEqual(lines[0].split("\t"), HEADER)
        for line in lines[1:]:
            for field, form in zip(line.split("\t", 8), FORMATS):
                self.assertRegex(field, f"^{form}$")
        return [dict(zip(HEADER, line.split("\t", 8))) for line in lines[1:]]

    def numbers(self):
        return sorted(int(row["Seq"]) for row in self.rows())


class Columns(JoblogCase):
    COMMANDS = ["true", "exit 3", "kill -9 $$", "echo hello", "echo 'a b' | wc -c >&2"]

    def test_fields(self):
        # Only what berth sees can be counted: with --prefix that is all that jobs print.
        self.run_jobs(self.COMMANDS + ["@name=x echo \t tab"], "--joblog", "log", "--prefix",
                      gpus="sim:1", code=1)
        rows = self.rows()
        self.assertEqual([row["Seq"] for row in rows], list("123456"))
        self.assertEqual([row["Exitval"] for row in rows], list("030000"))
        self.assertEqual([row["Signal"] for row in rows], list("009000"))
        self.assertEqual(rows[3]["Receive"], "6")
        self.assertEqual([row["Command"] for row in rows[:5]], self.COMMANDS)
        self.assertEqual(rows[5]["Command"], r"echo \t tab")

    def test_blocks_stay_on_one_line(self):
        self.run_jobs("<<END\necho a\necho b\nEND\n", "--joblog", "log")
        self.assertEqual(self.rows()[0]["Command"], r"echo a\necho b\n")

    def test_same_as_gnu_parallel(self):
        parallel = shutil.which("parallel")
        if parallel is None:
            self.skipTest("GNU parallel is not installed")
        commands = "".join(line + "\n" for line in self.COMMANDS)
        subprocess.run([parallel, "--will-cite", "-j1", "--joblog", "theirs"], cwd=self.home,
                       env=self.environment(HOME=self.home), input=commands, text=True,
                       timeout=DEADLINE, capture_output=True)
        self.run_jobs(commands, "--joblog", "ours", gpus="sim:1", code=1)
        ours, theirs = self.read("ours").splitlines(), self.read("theirs").splitlines()
        self.assertEqual(ours[0], theirs[0])
        self.assertEqual(len(ours), len(theirs))
        for mine, other in zip(self.rows("ours"), self.rows("theirs")):
            for field in ("Seq", "Host", "Send", "Exitval", "Signal", "Command"):
                self.assertEqual(mine[field], other[field])
            for field in ("Starttime", "JobRuntime"):
                self.assertEqual(len(mine[field]), len(other[field]))

    def test_a_job_over_its_limit(self):
        self.fifo("never")
        self.run_jobs(["@timeout=100ms trap 'exit 0' TERM; while :; do read x < never; done"],
                      "--joblog", "log", code=124)
        self.assertEqual(self.rows()[0]["Exitval"], "-1")

    def test_written_as_each_job_ends(self):
        gate = self.fifo("gate")
        process = self.launch("--joblog", "log", "--json", gpus="sim:2")
        self.feed(process, "read x < gate", "true")
        self.line_with(process, '"end","job":2')
        self.assertEqual(self.numbers(), [2])
        gate.let()
        self.finish(process)
        self.assertEqual(self.numbers(), [1, 2])

    def test_a_retry_is_one_line(self):
        self.run_jobs(["[ $BERTH_ATTEMPT = 2 ]"], "--joblog", "log", "--retries", "3")
        self.assertEqual([row["Exitval"] for row in self.rows()], ["0"])


class Resume(JoblogCase):
    LINES = [f"echo {n} >> done; exit {n % 4 == 0:d}" for n in range(1, 9)]  # 4 and 8 fail

    def done(self):
        return sorted(int(word) for word in self.read("done").split())

    def start_over(self, *words, lines=None, code=None):
        self.write("done", "")
        path = self.write("jobs", "\n".join(lines or self.LINES) + "\n")
        return self.run_jobs("", path, "--joblog", "log", *words, code=code)

    def test_unfinished_and_failed(self):
        self.start_over(code=1)
        self.assertEqual(self.done(), [1, 2, 3, 4, 5, 6, 7, 8])
        err = self.start_over("--resume", code=0).stderr
        self.assertEqual(self.done(), [])
        self.assertIn("8 done before", err)
        self.start_over("--resume-failed", code=1)
        self.assertEqual(self.done(), [4, 8])
        self.assertEqual(self.numbers(), [1, 2, 3, 4, 4, 5, 6, 7, 8, 8])

    def test_more_jobs_at_the_end(self):
        self.start_over(code=1)
        self.start_over("--resume", lines=self.LINES + ["echo 9 >> done"], code=0)
        self.assertEqual(self.done(), [9])

    def test_an_existing_log_is_kept(self):
        self.start_over(code=1)
        before = self.read("log")
        done = self.start_over()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--resume", done.stderr)
        self.assertEqual(self.done(), [])
        self.assertEqual(self.read("log"), before)

    def test_another_command_under_the_number_is_refused(self):
        self.start_over(code=1)
        changed = list(self.LINES)
        changed[4] = "echo other >> done"
        done = self.start_over("--resume", lines=changed, code=2)
        self.assertIn("job 5 is not the one in the joblog", done.stderr)
        self.assertIn("echo other", done.stderr)
        self.assertEqual(self.done(), [])

    def test_a_file_that_is_no_joblog(self):
        self.write("log", "my thesis\nchapter one\n")
        for words in ((), ("--resume",)):
            self.assertNotEqual(self.start_over(*words).returncode, 0)
            self.assertEqual(self.read("log"), "my thesis\nchapter one\n")
            self.assertEqual(self.done(), [])

    def test_a_follower_of_what_had_failed(self):
        lines = ["@name=a echo 1 >> done; exit 3", "@after=ok:a echo 2 >> done", "echo 3 >> done"]
        self.start_over(lines=lines, code=1)
        self.assertEqual(self.done(), [1, 3])
        done = self.start_over("--resume", lines=lines + ["echo 4 >> done"], code=1)
        self.assertEqual(self.done(), [4])
        self.assertIn("1 succeeded, 0 failed, 1 did not run, 2 done before", done.stderr)

    def test_with_shuffle(self):
        self.start_over("--shuffle", "--seed", "5", code=1)
        self.assertEqual(self.numbers(), list(range(1, 9)))
        self.assertIn("--seed", self.start_over("--resume", "--shuffle", code=2).stderr)
        self.start_over("--resume", "--shuffle", "--seed", "5", code=0)
        self.assertEqual(self.done(), [])

    def test_jobs_that_were_ended_run_again(self):
        told = self.fifo("told")
        self.fifo("never")
        path = self.write("jobs", "true\n[ -e again ] || { echo > told; read x < never; }\ntrue\n")
        process = self.launch(path, "--joblog", "log", gpus="sim:1")
        told.line()
        process.send_signal(signal.SIGTERM)
        self.line_with(process, "starting nothing more", process.stderr)
        process.send_signal(signal.SIGTERM)
        self.finish(process, code=130)
        self.assertEqual(self.numbers(), [1])
        self.write("again", "")
        stream = events(self.run_jobs("", path, "--joblog", "log", "--resume", "--json").stdout)
        self.assertEqual(sorted(e["job"] for e in of_kind(stream, "start")), [2, 3])


class Killed(JoblogCase):
    """kill -9 of berth: its jobs die with it, and --resume runs exactly the rest."""

    def kill_in_the_middle(self):
        """Jobs 1 to 20 end, then 21 and 22 hang: berth dies with them. Their process ids."""
        told = self.fifo("told")
        self.fifo("never")
        self.lines = []
        for n in range(1, 41):
            hang = "; [ -e again ] || { echo $$ > told; sleep 1h < never; echo late >> done; }"
            self.lines.append(f"echo {n} >> done" + (hang if n in (21, 22) else ""))
        self.jobs = self.write("jobs", "\n".join(self.lines) + "\n")
        process = self.launch(self.jobs, "--joblog", "log", gpus="sim:2")
        pids = [int(line) for line in told.lines(2)]
        # berth and what watches over it, two shells, and what they wait for
        self.eventually(lambda: len(self.mine()) >= 6)
        process.kill()
        process.wait(DEADLINE)
        return pids

    def test_jobs_die_with_it(self):
        self.kill_in_the_middle()
        self.eventually(lambda: not self.mine(), "jobs outlived berth")

    def test_resume_runs_exactly_the_rest(self):
        self.kill_in_the_middle()
        logged = self.numbers()
        self.assertEqual(logged, list(range(1, 21)))
        with open(self.path("log"), "a", encoding="utf-8") as file:
            file.write("21\t:\t17000")  # torn
        self.write("again", "")
        stream = events(self.run_jobs("", self.jobs, "--joblog", "log", "--resume",
                                      "--json").stdout)
        self.assertEqual(sorted(e["job"] for e in of_kind(stream, "start")), list(range(21, 41)))
        self.assertEqual(self.numbers(), list(range(1, 41)))
        self.assertEqual(stream[-1]["skipped"], 20)
        ran = collections.Counter(self.read("done").split())
        self.assertEqual({word for word, count in ran.items() if count > 1}, {"21", "22"})
        self.assertNotIn("late", ran)
        self.assertFalse(re.search(r"17000[^0-9.]", self.read("log")))


if __name__ == "__main__":
    unittest.main()
