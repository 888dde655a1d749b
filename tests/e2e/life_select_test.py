"""The words by which jobs are chosen, wherever a command takes jobs."""

import json
import os
import pwd
import unittest

from life_case import LifeCase


class Selecting(LifeCase):
    def setUp(self):
        super().setUp()
        self.berth("daemon", "start")
        self.berth("daemon", "pause")
        jobs = [{"project": "v", "name": "train-1", "labels": {"k": "a"}},
                {"project": "v", "name": "train-2", "labels": {"k": "b", "l": "x"}},
                {"project": "w", "name": "train-1"},
                {"name": "other", "labels": {"k": "a"}, "held": True},
                {"sweep": "s"}]
        document = {"jobs": [{"command": "true", **job} for job in jobs]}
        self.berth("submit", "--json", "-", input=json.dumps(document))

    def chosen(self, *words):
        return [job["id"] for job in json.loads(self.berth("queue", "--json", *words))["jobs"]]

    def test_every_kind(self):
        user = pwd.getpwuid(os.getuid()).pw_name
        for words, expected in ((("2",), [2]),
                                (("2-4", "1"), [1, 2, 3, 4]),
                                (("3-99",), [3, 4, 5]),
                                (("train*",), [1, 2, 3]),
                                (("train-[2-9]",), [2]),
                                (("?ther",), [4]),
                                (("name=other",), [4]),
                                (("v/",), [1, 2]),
                                (("v/train-1",), [1]),
                                (("v/*2",), [2]),
                                (("/other",), [4]),
                                (("project=v",), [1, 2]),
                                (("sweep=s",), [5]),
                                (("state=held",), [4]),
                                (("state=held", "state=queued"), [1, 2, 3, 4, 5]),
                                (("state=held,queued",), [1, 2, 3, 4, 5]),
                                (("1,3-4",), [1, 3, 4]),
                                (("state=live",), [1, 2, 3, 4, 5]),
                                (("state=ended",), []),
                                (("label=k=a",), [1, 4]),
                                (("label=k=b", "label=l=x"), [2]),
                                (("label=k=c",), []),
                                ((f"user={user}",), [1, 2, 3, 4, 5]),
                                ((f"user={os.getuid()}",), [1, 2, 3, 4, 5]),
                                ((f"user={os.getuid() + 1}",), [])):
            with self.subTest(words):
                self.assertEqual(self.chosen(*words), expected)

    def test_numbers_and_names_add_and_the_others_narrow(self):
        for words, expected in ((("1", "other"), [1, 4]),
                                (("train-1", "other"), [1, 3, 4]),
                                (("v/train-1", "w/train-1"), [1, 3]),
                                (("v/", "/other", "5"), [1, 2, 4, 5]),
                                (("nowhere/x", "2"), [2]),
                                (("1-4", "project=v"), [1, 2]),
                                (("1-4", "train*", "state=held"), [4]),
                                (("other", "train*", "label=k=a"), [1, 4]),
                                (("project=v", "train-1"), [1])):
            with self.subTest(words):
                self.assertEqual(self.chosen(*words), expected)

    def test_what_makes_no_sense_is_said(self):
        for words, said in ((("3-1",), "a range from back to front"),
                            (("0",), "job numbers start at 1"),
                            (("99999999999999999999",), "a job number must be"),
                            (("state=gone",), "there is no state 'gone': say live, ended, paused, held"),
                            (("label=k",), "label=KEY=VALUE, not 'label=k'"),
                            (("user=nobody-at-all",), "there is no user 'nobody-at-all'"),
                            (("colour=red",), "jobs cannot be chosen by 'colour': say name="),
                            (("project=v", "project=w"), "only one project")):
            for command in ("queue", "kill", "wait", "logs"):
                with self.subTest((command, *words)):
                    self.assertIn(said, self.fails(command, *words))
        self.assertEqual(len(self.chosen()), 5)

    def test_when_nothing_matches(self):
        for command, said in (("kill", "no job that runs or waits matches"),
                              ("hold", "no queued job matches"),
                              ("release", "no held job matches"),
                              ("pause", "no running job matches"),
                              ("rerun", "no job that has ended matches"),
                              ("show", "there is no such job"),
                              ("why", "there is no such job"),
                              ("logs", "there is no such job"),
                              ("wait", "there is no such job to wait for")):
            with self.subTest(command):
                self.assertEqual(self.fails(command, "nobody", "99"), said)
        self.assertEqual(self.fails("kill", "99"), "there is no job 99")
        self.assertEqual(self.try_berth("queue", "nobody").stderr, "no job matches\n")
        self.berth("kill", "state=live")
        self.assertEqual(self.try_berth("queue").stderr,
                         "no jobs run or wait (--all: those that ended)\n")

    def test_commands_touch_what_is_chosen_and_nothing_else(self):
        self.assertEqual(self.try_berth("hold", "v/", "3").stderr, "held 3 jobs\n")
        self.assertEqual(self.chosen("state=held"), [1, 2, 3, 4])
        self.assertEqual(self.try_berth("release", "label=k=a").stderr, "released 2 jobs\n")
        self.assertEqual(self.chosen("state=held"), [2, 3])
        self.assertEqual(self.try_berth("kill", "train*", "project=w").stderr, "killed 1 job\n")
        self.assertEqual(json.loads(self.try_berth("kill", "2", "--json").stdout),
                         {"version": 1, "done": 1, "refused": 0, "reasons": []})
        self.assertEqual(self.chosen(), [1, 4, 5])


class Many(LifeCase):
    def test_ten_thousand_at_once(self):
        self.berth("daemon", "start")
        self.berth("daemon", "pause")
        self.berth("submit", "--array", "10000", "--name", "many", "true")
        self.berth("submit", "true")
        self.assertEqual(self.try_berth("hold", "many").stderr, "held 10000 jobs\n")
        self.assertEqual(self.try_berth("kill", "many").stderr, "killed 10000 jobs\n")
        self.berth("daemon", "resume")
        self.berth("wait", "10001")
        self.assertEqual(self.status()["jobs"]["cancelled"], 10000)
        done = self.try_berth("kill", *map(str, range(10000, 0, -1)))
        self.assertEqual(done.returncode, 1)
        lines = done.stderr.splitlines()
        self.assertEqual((lines[0], lines[-1], len(lines)),
                         ("killed 0 jobs", "berth kill: and 9990 more", 12))
        page = self.berth("queue", "--all", "-n", "3")
        self.assertEqual(len(page.splitlines()), 4)


if __name__ == "__main__":
    unittest.main()
