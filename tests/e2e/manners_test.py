"""Words that people try, and what berth makes of them."""

import json
import os
import shutil
import subprocess
import unittest

from daemon_case import BERTH, DEADLINE
from life_case import LifeCase

COMPLETIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../share/completions")


class Words(LifeCase):
    def test_aliases(self):
        self.berth("submit", "--wait", "echo said")
        for alias in ("ps", "ls", "list", "status"):
            self.assertEqual(self.try_berth(alias).stderr,
                             "no jobs run or wait (--all: those that ended)\n")
        self.assertIn("succeeded", self.berth("results"))
        self.assertEqual(self.berth("log", "1"), "said\n")
        self.assertEqual(self.berth("attach", "1"), "said\n")
        self.assertIn("command        echo said", self.berth("info", "1"))
        self.assertIn("has already ended", self.try_berth("cancel", "1").stderr)

    def test_did_you_mean(self):
        for wrong, meant in (("sumbit", "submit"), ("quee", "queue"), ("kil", "kill")):
            self.assertEqual(self.try_berth(wrong).stderr,
                             f"berth: unknown command '{wrong}': did you mean {meant}?\n")
        done = self.try_berth("frobnicate")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "berth: unknown command 'frobnicate' (berth --help lists them)\n"))

    def test_version(self):
        told = {self.berth(word) for word in ("-V", "--version", "version")}
        self.assertEqual(len(told), 1)
        self.assertRegex(told.pop(), r"^berth \d")

    def test_help_of_commands_and_topics(self):
        self.assertEqual(self.berth("help", "queue"), self.berth("queue", "--help"))
        self.assertEqual(self.berth("help", "ps"), self.berth("queue", "--help"))
        for topic, says in (("exit-codes", "124"), ("variables", "BERTH_ARRAY_INDEX"),
                            ("states", "timed_out"), ("selection", "@~1")):
            self.assertIn(topic, self.berth("help"))
            self.assertIn(says, self.berth("help", topic))
        self.assertIn("did you mean queue?", self.try_berth("help", "queu").stderr)

    def test_everything_fits_80_columns(self):
        commands = [line.split("\t")[0] for line in self.berth("complete", "--", "").splitlines()]
        self.assertIn("schedule", commands)
        texts = [self.berth("help")]
        texts += [self.berth("help", word) for word in
                  commands + ["selection", "states", "exit-codes", "variables"]]
        for text in texts:
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_manual_pages(self):
        for page in (self.berth("--help-man"), self.berth("queue", "--help-man"),
                     self.berth("run", "--help-man")):
            self.assertTrue(page.startswith(".TH "), page[:50])
            if shutil.which("groff"):
                done = subprocess.run(["groff", "-ww", "-Kutf8", "-man", "-Tutf8", "-P-c", "-P-b", "-P-u"], input=page,
                                      text=True, capture_output=True, timeout=DEADLINE, check=True)
                self.assertEqual(done.stderr, "")
                self.assertIn("NAME", done.stdout)

    def test_completion(self):
        self.assertIn("submit\tput jobs into the daemon's queue", self.berth("complete", "--", "su"))
        self.assertIn("--columns\t", self.berth("complete", "--", "queue", "--"))
        self.assertIn("\nfair\n", self.berth("complete", "--", "daemon", "start", "--policy", ""))
        self.assertEqual(self.berth("complete", "--", "run", "x"), "")
        self.berth("complete", "--", "kill", "")  # starts no daemon
        self.assertEqual(self.try_berth("daemon", "status").returncode, 3)
        self.berth("submit", "--wait", "--name", "prep", "--project", "v", "true")
        told = self.berth("complete", "--", "kill", "")
        for line in ("1\tsucceeded v/prep\n", "prep\n", "project=v\n", "@\t"):
            self.assertIn(line, told)

    def test_completion_in_bash(self):
        self.assertEqual(self.in_shell(
            "bash", "-c", f'. "{COMPLETIONS}/berth.bash"; COMP_WORDS=(berth que); COMP_CWORD=1; '
            '_berth; echo "${COMPREPLY[@]}"; COMP_WORDS=(berth queue --col); COMP_CWORD=2; _berth; '
            'echo "${COMPREPLY[@]}"'), "queue\n--columns\n")

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_completion_in_zsh(self):
        # Stands for zsh's own function, which shows those of the candidates that fit.
        shown = '_describe() { print -l -- "${(@P)2}"; }; '
        self.assertIn("\nqueue:show the jobs that run and wait\n", self.in_shell(
            "zsh", "-f", "-c", f'{shown} words=(berth que); CURRENT=2; . "{COMPLETIONS}/_berth"'))

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_completion_in_fish(self):
        self.assertEqual(self.in_shell(
            "fish", "--no-config", "-c",
            f'source "{COMPLETIONS}/berth.fish"; complete -C "berth que"'),
            "queue\tshow the jobs that run and wait\n")

    def in_shell(self, *words):
        env = dict(self.env, PATH=f"{os.path.dirname(BERTH)}:{self.env['PATH']}")
        return subprocess.run(words, env=env, text=True, capture_output=True, timeout=DEADLINE,
                              check=True).stdout


class Newest(LifeCase):
    def test_commands_without_a_number_mean_the_newest_job(self):
        self.assertIn("you have not submitted a job yet", self.fails("logs"))
        self.berth("submit", "--wait", "echo one")
        self.berth("submit", "--wait", "echo two")
        self.assertEqual(self.berth("logs"), "two\n")
        self.assertIn("command        echo two", self.berth("show"))
        self.assertEqual(self.berth("why"), "it has ended: succeeded\n")
        self.assertEqual(json.loads(self.berth("why", "--json"))["id"], 2)

    def test_submissions_by_their_age(self):
        self.berth("submit", "--hold", "--array", "3", "true")
        self.berth("submit", "--hold", "false")
        self.assertEqual(self.chosen("@"), [4])
        self.assertEqual(self.chosen("@~1"), [1, 2, 3])
        self.assertIn("you have made fewer", self.fails("kill", "@~2"))
        self.kill_daemon()
        self.assertEqual(self.chosen("@~1"), [1, 2, 3])  # from the record
        self.assertEqual(self.try_berth("release", "@").stderr, "released 1 job\n")
        self.assertIn("did not succeed: job 4", self.try_berth("wait", "@").stderr)

    def chosen(self, word):
        return [job["id"] for job in json.loads(self.berth("queue", "--json", word))["jobs"]]

    def test_after_takes_names_and_submissions(self):
        self.berth("submit", "--hold", "--name", "prep", "true")
        self.berth("submit", "--hold", "--array", "2", "--name", "train", "true")
        self.berth("submit", "--after", "ok:prep,any:train", "true")
        self.berth("submit", "--after", "@", "true")
        self.assertEqual(self.show(4)["after"], ["ok:1", "any:3", "any:2"])
        self.assertEqual(self.show(5)["after"], ["ok:4"])
        self.assertIn("there is no job 'prpe'", self.fails("submit", "--after", "prpe", "true"))
        self.berth("release", "1-3")
        self.berth("wait")
        self.assertEqual([end[0] for end in self.ends()], ["succeeded"] * 5)
        # All jobs of the name have ended: the newest of them counts.
        self.berth("submit", "--after", "ok:train", "--wait", "true")


class Telling(LifeCase):
    def test_commands_say_what_they_did(self):
        self.berth("submit", "--hold", "--array", "2", "true")
        for words, said in ((("release", "1"), "released job 1\n"),
                            (("edit", "2", "-p", "3"), "changed job 2\n"),
                            (("kill", "2"), "killed job 2\n")):
            self.assertEqual(self.try_berth(*words).stderr, said)
        self.berth("wait")
        self.assertEqual(self.try_berth("rerun", "1-2").stderr, "queued 2 jobs again\n")

    def test_rerun_with_changes(self):
        self.berth("submit", "--wait", "--name", "n", "exit 3", code=3)
        self.berth("rerun", "1", "--mem", "3GiB", "--command", "exit 0", "--name", "again")
        self.berth("wait", "1")
        job = self.show(1)
        self.assertEqual((job["state"], job["command"], job["name"], job["mem"], job["attempt"]),
                         ("succeeded", "exit 0", "again", 3 << 30, 2))
        self.assertIn("gpus", self.fails("rerun", "1", "--gpus", "-1"))
        self.assertEqual(self.state(1), "succeeded")

    def test_wait_names_the_failures(self):
        self.berth("submit", "--array", "3", 'exit $((BERTH_ARRAY_INDEX % 2))')
        done = self.try_berth("wait", "@")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "berth wait: did not succeed: job 2\n"))
        self.assertEqual(json.loads(self.try_berth("wait", "1-3", "--json").stdout),
                         {"version": 1, "failed": 1, "jobs": [2]})

    def test_wait_shows_progress_on_a_terminal(self):
        self.berth("submit", "--array", "3", 'exit $((BERTH_ARRAY_INDEX % 2))')
        self.berth("submit", "--hold", "true")
        text, code = self.at_terminal(b"", "wait", "1-4",
                                      until="3 of 4 jobs have ended, not well: job 2",
                                      then=lambda: self.berth("release", "4"))
        self.assertEqual(code, 1)
        self.assertIn("berth wait: did not succeed: job 2", text)

    def test_paused_jobs_are_chosen_as_such(self):
        self.make_gates("one", "two")
        self.berth("submit", "read x < one")
        self.berth("submit", "read x < two")
        for job in (1, 2):
            self.until_running(job)
        self.assertEqual(self.try_berth("pause", "2").stderr, "paused job 2\n")
        self.eventually(lambda: self.show(2).get("paused"))
        chosen = json.loads(self.berth("queue", "--json", "state=paused"))["jobs"]
        self.assertEqual([job["id"] for job in chosen], [2])
        self.assertEqual(self.try_berth("resume", "state=paused").stderr, "resumed 1 job\n")
        self.release("one")
        self.release("two")
        self.berth("wait")


class Outputs(LifeCase):
    def test_a_folder_that_is_not_there_is_made(self):
        self.berth("submit", "--wait", "-o", "runs/%j/deep/out.txt", "echo here")
        with open(self.path("runs/1/deep/out.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "here\n")

    def test_a_folder_that_cannot_be_made_is_told(self):
        with open(self.path("file"), "w", encoding="utf-8"):
            pass
        self.berth("submit", "-o", "file/out.txt", "true")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.show(1)["reason"], "cannot open its output: Not a directory")

    def test_jobs_of_one_submission_write_to_different_files(self):
        self.assertIn("its 3 jobs would write to one file: put %a",
                      self.fails("submit", "--array", "3", "-o", "out.txt", "true"))
        with open(self.path("jobs.txt"), "w", encoding="utf-8") as file:
            file.write("true\nfalse\n")
        said = self.fails("submit", "--file", "jobs.txt", "-o", "out.txt")
        self.assertIn("job 2: another job of this submission writes to ", said)
        self.berth("submit", "--file", "jobs.txt", "-o", "out-%j.txt")
        self.berth("submit", "--array", "3", "-o", "out-%a.txt", "true")
        self.berth("submit", "--array", "3", "-o", "/dev/null", "true")

    def test_a_command_in_the_background_is_warned_of(self):
        self.assertIn("'sleep 0 &' ends in '&'", self.try_berth("submit", "sleep 0 &").stderr)
        self.assertEqual(self.try_berth("submit", "true && true").stderr, "")
        done = self.try_berth("run", input="true &\n")
        self.assertIn("line 1: the command ends in '&'", done.stderr)


class SweepOptions(LifeCase):
    def test_options_of_jobs_stand_anywhere(self):
        self.berth("sweep", "--name", "s", "--submit", "-p", "lr", "1", "2", "--hold", "echo {lr}",
                   "--priority", "4")
        jobs = self.jobs()
        self.assertEqual([(job["command"], job["priority"], job["state"]) for job in jobs],
                         [("echo 1", 4, "held"), ("echo 2", 4, "held")])
        self.assertIn("unknown option --hold",
                      self.fails("sweep", "--hold", "echo {lr}", "-p", "lr", "1"))


if __name__ == "__main__":
    unittest.main()
