"""The learned policy: models from files, in the simulator, in the foreground and in the daemon."""

import json
import os
import subprocess
import tempfile
import unittest

BERTH = os.path.abspath(os.environ["BERTH"])


class Learned(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="berth-rl-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.env = dict(os.environ, BERTH_HOME=os.path.join(folder.name, "home"), BERTH_GPUS="sim:2")

    def berth(self, *words, code=0, **options):
        done = subprocess.run([BERTH, *words], cwd=self.folder, env=self.env, text=True, timeout=120,
                              capture_output=True,
                              **{"stdin": subprocess.DEVNULL, **options})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def train(self, *more):
        return self.berth("train", "--workload", "lublin:n=60", "--lessons", "4", "--gpus", "32",
                          "--population", "6", "--batch", "2", "--out", "m.berth", *more)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def test_trains_resumes_and_compares(self):
        result = json.loads(self.train("--steps", "20000", "--json", "--curve", "curve.csv"))
        self.assertEqual(set(result["unseen"]), {"rl", "sjf", "priority"})
        whole = self.read("m.berth")
        self.assertGreater(len(self.read("curve.csv").splitlines()), 3)
        self.train("--steps", "7200")
        self.assertNotEqual(self.read("m.berth"), whole)
        self.train("--steps", "20000", "--resume")
        self.assertEqual(self.read("m.berth"), whole)
        rows = json.loads(self.berth("sim", "--generate", "lublin:n=50", "--gpus", "32", "--policy",
                                     "sjf,rl,rl:m.berth", "--json"))["results"]
        self.assertEqual([row["policy"] for row in rows], ["sjf", "rl", "rl:m.berth"])

    def test_files_that_are_no_models_are_refused_everywhere(self):
        self.train("--steps", "1000")
        text = self.read("m.berth")
        for name, content, words in [
                ("cut.berth", text[:-30], "is cut off"),
                ("damaged.berth", text.replace("weights ", "weights 1", 1), "is damaged"),
                ("newer.berth", text.replace("berth-model 1", "berth-model 9"), "has format 9"),
                ("foreign.berth", "GIF89a", "is not a model of berth")]:
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(content)
            for command in (["sim", "--generate", "lublin:n=5", "--gpus", "2"], ["run"],
                            ["daemon", "start"]):
                self.assertIn(words, self.berth(*command, "--policy", f"rl:{name}", code=2))
        self.assertIn("there is no model", self.berth("run", "--policy", "rl:none.berth", code=2))

    def test_trains_from_the_daemons_own_jobs(self):
        self.addCleanup(subprocess.run, [BERTH, "daemon", "stop"], env=self.env, capture_output=True)
        self.berth("daemon", "start", "--policy", "sjf")
        self.berth("submit", "--", "true")
        self.berth("wait")
        self.assertIn("too few", self.berth("train", "--from-history", "--out", "h.berth", code=1))
        self.berth("submit", "--file", "-", stdin=None, input="true\n" * 120)
        self.berth("wait")
        result = json.loads(self.berth("train", "--from-history", "--out", "h.berth", "--steps", "2000",
                                       "--population", "4", "--batch", "2", "--json"))
        self.assertEqual(set(result["unseen"]), {"rl", "sjf", "priority"})
        self.assertIn("history on this machine", result["workload"])
        self.berth("daemon", "policy", "rl:h.berth")
        self.berth("submit", "--gpus", "2", "--", "sleep", "60")
        self.berth("submit", "--expected", "1h", "--", "true")
        self.assertIn("is passed only by jobs", self.berth("why", "123"))
        self.berth("kill", "122-123", "--yes")

    def test_a_daemon_keeps_its_model_when_the_file_is_gone(self):
        self.train("--steps", "1000")
        self.addCleanup(subprocess.run, [BERTH, "daemon", "stop"], env=self.env, capture_output=True)
        self.berth("daemon", "start", "--policy", "rl:m.berth")
        os.remove(os.path.join(self.folder, "m.berth"))
        self.berth("submit", "--", "true")
        self.berth("wait")
        self.berth("daemon", "stop")
        self.berth("daemon", "start")
        self.assertEqual(json.loads(self.berth("daemon", "status", "--json"))["policy"], "rl:m.berth")
        self.berth("submit", "--", "true")
        self.berth("wait")
        self.berth("daemon", "policy", "rl")
        self.assertEqual(json.loads(self.berth("daemon", "status", "--json"))["policy"], "rl")


if __name__ == "__main__":
    unittest.main()
