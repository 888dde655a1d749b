"""POST /v1/texts: many jobs as one text, looked at and queued."""

import os
import pwd
import unittest

from http_case import HttpCase

HOME = pwd.getpwuid(os.getuid()).pw_dir


class TextCase(HttpCase):
    def setUp(self):
        super().setUp()
        self.start_daemon(words=["--everyone"] if os.getuid() == 0 else [])

    def check(self, form, text="", **fields):
        return self.post("/v1/texts/check", dict({"format": form, "text": text}, **fields))

    def queue(self, form, text="", status=200, **fields):
        defaults = dict({"held": True}, **fields.pop("defaults", {}))
        reply = self.ask("POST", "/v1/texts/submit", dict({"format": form, "text": text,
                                                           "defaults": defaults}, **fields))
        self.assertEqual(reply.status, status, reply)
        return reply.json()

    def problems(self, answer):
        return [(problem.get("line"), problem.get("column")) for problem in answer["problems"]]

    def queued(self):
        return self.jobs()


class Lines(TextCase):
    def test_what_it_would_queue(self):
        text = "# a comment\n@name=<b>🚀 @gpus=2 @mem=1GiB @priority=3 echo 1\n\n<<END\na\nb\nEND\n"
        answer = self.check("lines", text, defaults={"project": "p"})
        self.assertEqual((answer["count"], answer["problems"]), (2, []))
        first, second = answer["jobs"]
        self.assertEqual(first, {"name": "<b>🚀", "project": "p", "command": "echo 1", "directory": HOME,
                                 "gpus_needed": 2, "mem": 1 << 30, "claim": "given", "priority": 3, "output": "",
                                 "parameters": {}})
        self.assertEqual((second["command"], second["gpus_needed"], second["mem"]), ("a\nb\n", 1, None))
        self.assertEqual(second["claim"], "auto")
        self.assertEqual(self.queued(), [])

    def test_every_problem_is_told(self):
        text = "true\n  @gpus=x true\n@name=é @colour=red true\n@after=ok:later true\n@gpus=99 true\n<<END\n"
        answer = self.check("lines", text)
        self.assertEqual(self.problems(answer), [(2, 3), (3, 9), (4, 1), (6, 1), (5, 1)])
        self.assertEqual(answer["count"], 2)

    def test_needs_that_cannot_be_met_beyond_those_shown(self):
        answer = self.check("lines", "true\n" * 150 + "@gpus=50 true\n" * 10)
        self.assertEqual((answer["count"], len(answer["jobs"])), (160, 100))
        self.assertEqual(self.problems(answer), [(151, 1)])

    def test_queue(self):
        text = "@name=a true\n@after=ok:a true\n"
        first = self.queue("lines", text, token="t", environment_from="daemon")
        self.assertEqual(first, self.queue("lines", text, token="t", environment_from="daemon"))
        self.assertEqual(first["count"], 2)
        self.assertEqual([job["name"] for job in self.queued()], ["a", ""])
        self.assertEqual(self.get("/v1/jobs/2")["after"], ["ok:1"])

    def test_nothing_is_queued_when_anything_is_wrong(self):
        message = self.queue("lines", "true\n@gpus=x true\n@y=z true\n", 400)["error"]["message"]
        self.assertIn("line 2, column 1", message)
        self.assertIn("line 3, column 1", message)
        self.queue("lines", "true\n@gpus=99 true\n", 400)
        self.queue("lines", " \n#\n", 400)
        self.assertEqual(self.queued(), [])

    def test_a_long_text(self):
        answer = self.check("lines", "true\n" * 100_000)
        self.assertEqual((answer["count"], len(answer["jobs"]), answer["problems"]), (100_000, 100, []))
        answer = self.check("lines", "true\n" * 100_001)
        self.assertEqual(self.problems(answer), [(100_001, 1)])


class Peasy(TextCase):
    def test_check_and_queue(self):
        text = "a;;out %1.txt;;echo '<b>'\n;;;b;;;\nc;; ;;true;;;"
        answer = self.check("peasy", text)
        self.assertEqual([(job["name"], job["output"], job["command"]) for job in answer["jobs"]],
                         [("a", "out %%1.txt", "echo '<b>'"), ("c", "", "true")])
        self.assertEqual(self.problems(answer), [(2, 4)])
        self.queue("peasy", text, 400)
        first = self.queue("peasy", text.replace("b;;;\n", ""), environment_from="daemon",
                           defaults={"held": False, "directory": self.folder})["first"]
        self.get("/v1/wait")
        self.assertEqual(self.read("out %1.txt"), "<b>\n")
        self.assertEqual(self.get(f"/v1/jobs/{first}")["name"], "a")

    def test_an_output_that_exists_is_refused_unless_asked(self):
        with open(self.path("out"), "w", encoding="utf-8") as file:
            file.write("precious\n")
        text = "a;;new;;true;;;\nb;;out;;true;;;"
        defaults = {"held": False, "directory": self.folder}
        answer = self.check("peasy", text, defaults=defaults)
        self.assertEqual(self.problems(answer), [(2, 1)])
        self.assertIn(f"{self.path('out')} exists already", answer["problems"][0]["message"])
        self.queue("peasy", text, 400, defaults=defaults)
        self.assertEqual(self.check("peasy", text, defaults=defaults, overwrite=True)["problems"], [])
        self.queue("peasy", text, environment_from="daemon", defaults=defaults, overwrite=True)

    def test_on_the_command_line(self):
        with open(self.path("batch"), "w", encoding="utf-8") as file:
            file.write("a;;a.txt;;echo one\n;;;\nb;;b.txt;;echo two;;;\n")
        self.berth("submit", "--file", "batch", "--format", "peasy", "--project", "p")
        self.get("/v1/wait")
        self.assertEqual([self.read("a.txt"), self.read("b.txt")], ["one\n", "two\n"])
        self.assertEqual([(job["name"], job["project"]) for job in self.jobs()], [("a", "p"), ("b", "p")])
        with open(self.path("batch"), "w", encoding="utf-8") as file:
            file.write("a;;b;;;\nc;;d;;\n;;;e")
        done = self.try_berth("submit", "--file", "batch", "--format", "peasy")
        self.assertEqual(done.returncode, 2)
        for place in ("line 1, column 1", "line 3, column 1", "line 3, column 4"):
            self.assertIn(place, done.stderr)
        for words in (["--format", "peasy", "true"], ["--file", "batch", "--format", "xml"]):
            self.assertEqual(self.try_berth("submit", *words).returncode, 2)
        self.assertEqual(len(self.jobs()), 2)


class Sweep(TextCase):
    def sweep(self, *parameters, template="t {a} {b}", **fields):
        return dict({"template": template, "parameters": list(parameters), "defaults": {"name": "s"}}, **fields)

    def test_check_and_queue(self):
        sweep = self.sweep("a 1 '2 3'", ["b", "x"], where=["a == 1 or b == 'x'"])
        answer = self.check("sweep", **sweep)
        self.assertEqual([(job["command"], job["parameters"]) for job in answer["jobs"]],
                         [("t 1 x", {"a": "1", "b": "x"}), ("t 2 3 x", {"a": "2 3", "b": "x"})])
        self.assertNotIn("seed", answer)
        sweep["defaults"]["project"] = "p"
        self.assertEqual(self.queue("sweep", **sweep)["count"], 2)
        job = self.get("/v1/jobs/2")
        self.assertEqual((job["sweep"], job["parameters"]["a"], job["project"]), ("s", "2 3", "p"))

    def test_the_seed_makes_the_same_again(self):
        sweep = self.sweep("a=log:1e-5..1e-1", "b 1 2", n_samples=5)
        answer = self.check("sweep", **sweep)
        self.queue("sweep", **dict(sweep, seed=answer["seed"]))
        self.assertEqual([job["command"] for job in self.queued()], [job["command"] for job in answer["jobs"]])

    def test_millions_are_counted(self):
        """And not kept."""
        sweep = self.sweep("a 1..4000", "b 1..4000")
        self.assertIn("the sweep has 16000000 points, and 100000 can be queued at once",
                      self.check("sweep", **sweep)["problems"][0]["message"])
        answer = self.check("sweep", **self.sweep("a 1..300", "b 1..300", where=["a != b"]))
        self.assertEqual((answer["count"], len(answer["jobs"]), answer["problems"]), (300 * 299, 100, []))
        answer = self.check("sweep", **self.sweep("a 1..2000", "b 1..2000", where=["a != b"]))
        self.assertEqual((answer["count"], len(answer["jobs"]), len(answer["problems"])), (2000 * 1999, 100, 1))
        if os.environ.get("BERTH_SANITIZED") == "1":
            return  # so slow that the daemon's patience ends before the sweep's
        answer = self.check("sweep", **self.sweep("a 1..1000000", "b 1..1000000", where=["a + b < 0"]))
        self.assertIn("gave up", answer["problems"][0]["message"])

    def test_problems(self):
        answer = self.check("sweep", **self.sweep("a=log:0..x", "", "b 1"))
        self.assertEqual([problem["message"].split(":")[0] for problem in answer["problems"]],
                         ["parameter 1", "parameter 2"])
        for fields in (self.sweep("a 1"), self.sweep("a 1", "b 1", "c 1"), self.sweep("a 1", template=""),
                       dict(self.sweep("a 1", "b 1"), defaults={}), self.sweep("a 1", "b 1", mode="all"),
                       self.sweep("a 1", "b 1", where=["a <"]), self.sweep("a 1", "b 1", zip=["a c"])):
            self.assertEqual(len(self.check("sweep", **fields)["problems"]), 1, fields)
            self.queue("sweep", status=400, **dict(fields, defaults=dict(fields["defaults"])))

    def test_a_sweep_file(self):
        answer = self.check("sweep", 'command = "t {a}"\n[parameters]\na = [1, 2]\n',
                            parameters=["a 7"], defaults={"sweep": "s"})
        self.assertEqual([job["command"] for job in answer["jobs"]], ["t 7"])
        self.assertEqual(len(self.check("sweep", "command = [", defaults={"name": "s"})["problems"]), 1)


class Csv(TextCase):
    HEADER = "Directory,Executable,Filename,Epochs,Priority\n"

    def test_check_and_queue(self):
        with open(self.path("run.sh"), "w", encoding="utf-8"):
            pass
        text = self.HEADER + f'"{self.folder}",sh,run.sh,3,7\n{self.folder},sh,run.sh,5,1\n'
        answer = self.check("csv", text)
        self.assertEqual(answer["problems"], [])
        self.assertEqual([(job["name"], job["priority"], job["directory"]) for job in answer["jobs"]],
                         [("task-1", 7, self.folder), ("task-2", 1, self.folder)])
        self.assertTrue(answer["jobs"][1]["command"].endswith(" --epochs=5 --id=2"))
        self.assertEqual(self.queue("csv", text)["count"], 2)
        bare = text[len(self.HEADER):]
        self.assertEqual(self.check("csv", bare, header=None)["count"], 2)

    def test_problems(self):
        text = self.HEADER + f"/no/where,sh,x,1,1\n{self.folder},sh,none.sh,x,1\n1,2\n\"open"
        self.assertEqual([line for line, _ in self.problems(self.check("csv", text))], [2, 3, 3, 4, 5])
        self.queue("csv", text, 400)
        self.assertEqual(self.problems(self.check("csv", "a,b\n")), [(1, 1)])


class EnvironmentFrom(TextCase):
    def test_the_daemons(self):
        first = self.post("/v1/jobs", {
            "environment_from": "daemon", "jobs": [{"command": "true"}],
            "defaults": {"held": True, "environment": ["A=1", "BERTH_TEST_MARK=mine"]}})["first"]
        job = self.get(f"/v1/jobs/{first}")
        self.assertEqual(job["directory"], HOME)
        self.assertIn("A=1", job["environment"])
        self.assertIn("BERTH_TEST_MARK=mine", job["environment"])
        self.assertNotIn(f"BERTH_TEST_MARK={self.folder}", job["environment"])
        self.assertIn(f"BERTH_HOME={self.home}", job["environment"])

    def test_a_jobs(self):
        self.submit("true", held=True, environment=["A=1", "API_KEY=secret"])
        self.queue("lines", 'echo "$A $B $API_KEY"', environment_from=1,
                   defaults={"environment": ["B=2"], "held": False, "directory": self.folder})
        self.get("/v1/wait?select=2")
        self.assertEqual(self.ask("GET", "/v1/jobs/2/log").body, b"1 2 secret\n")

    def test_wrong(self):
        for wrong, status in (("me", 400), (0, 400), (-1, 400), (1.5, 400), (None, 400), (99, 404)):
            reply = self.ask("POST", "/v1/jobs", {"environment_from": wrong, "jobs": [{"command": "true"}],
                                                  "defaults": {"directory": "/", "held": True}})
            self.assertEqual(reply.status, status, wrong)

    @unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
    def test_another_users(self):
        self.submit("true", held=True, environment=["API_KEY=secret"])
        connection = self.as_nobody()
        text = {"format": "lines", "text": "true", "defaults": {"held": True, "directory": "/"}}
        ask = lambda **fields: self.ask("POST", "/v1/texts/submit", dict(text, **fields), connection=connection)
        self.assertEqual(ask(environment_from=1).status, 409)
        self.assertEqual(ask(environment_from="daemon").status, 200)
        environment = self.get("/v1/jobs/2")["environment"]
        self.assertEqual([name.split("=")[0] for name in environment],
                         ["HOME", "USER", "LOGNAME", "SHELL", "PATH"])
        # Whether a file is there that it may not see is not told.
        check = self.ask("POST", "/v1/texts/check", {"format": "csv", "header": None,
                                                     "text": "/root/x,sh,secret,1,1\n"}, connection=connection)
        self.assertEqual(check.json()["problems"], [])


class Wrong(TextCase):
    def test_requests(self):
        for body in (b"", b"[]", {}, {"format": 1}, {"format": "xml"}, {"format": "lines", "more": 1},
                     {"format": "lines", "text": 1}, {"format": "lines", "text": "a\0b"},
                     {"format": "lines", "defaults": {"gpus": -1}}, {"format": "sweep", "seed": -1},
                     {"format": "sweep", "parameters": "a 1"}, {"format": "sweep", "parameters": [1]},
                     {"format": "sweep", "parameters": ["a 'x"]}, {"format": "sweep", "where": "x"},
                     {"format": "csv", "header": "0"}, {"format": "sweep", "allow_unused": 1}):
            for path in ("/v1/texts/check", "/v1/texts/submit"):
                self.assertEqual(self.ask("POST", path, body).status, 400, body)


if __name__ == "__main__":
    unittest.main()
