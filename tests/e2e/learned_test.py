"""The learned policy: models from files, in the simulator, in the foreground and in the daemon."""

import json
import os
import sqlite3
import subprocess
import tempfile
import unittest

BERTH = os.path.abspath(os.environ["BERTH"])


def model_text(weights, grace=0):
    """A linear model's file; `weights` by the place of the term."""
    values = [str(weights.get(i, 0)) for i in range(28)]
    text = (f"berth-model 2\nname made\nseed 1\nhidden 0\nstarts pass\ndevices usual\ngrace {grace}\n"
            f"weights {' '.join(values)}\n")
    total = 0xcbf29ce484222325
    for byte in text.encode():
        total = (total ^ byte) * 0x100000001b3 % 2**64
    return f"{text}checksum {total:016x}\n"


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
                ("newer.berth", text.replace("berth-model 2", "berth-model 9"), "has format 9"),
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

    def daemon(self, *words):
        self.addCleanup(subprocess.run, [BERTH, "daemon", "stop"], env=self.env, capture_output=True)
        self.berth("daemon", "start", *words)

    def status(self):
        return json.loads(self.berth("daemon", "status", "--json"))

    def test_a_hostile_model_starves_nobody_beyond_its_bound(self):
        """The newest job goes first, except that nobody passes a job who comes after it is due."""
        with open(os.path.join(self.folder, "hostile.berth"), "w", encoding="utf-8") as file:
            file.write(model_text({2: 1}))  # the longer a job waits, the later it goes
        self.daemon("--gpus", "sim:1", "--policy", "rl:hostile.berth")
        self.berth("daemon", "pause")
        first = int(self.berth("submit", "--expected", "10ms", "--", "true"))
        bound = 0.2  # twenty times its length, and no grace
        since = json.loads(self.berth("show", str(first), "--json"))["submitted"]
        later = []
        while not later or later[-1][1] <= since + bound or len(later) < 3:
            job = int(self.berth("submit", "--expected", "1h", "--", "true"))
            later.append((job, json.loads(self.berth("show", str(job), "--json"))["submitted"]))
        self.berth("daemon", "resume")
        self.berth("wait")
        jobs = json.loads(self.berth("queue", "--all", "--json"))["jobs"]
        started = {job["id"]: job["started"] for job in jobs}
        for job, submitted in later:
            if submitted > since + bound:
                self.assertLess(started[first], started[job])
        order = sorted((job for job, _ in later), key=lambda job: started[job])
        self.assertEqual(order, sorted(order, reverse=True), "the model decides among the others")

    def test_a_shadow_tells_what_it_would_have_saved(self):
        self.daemon("--policy", "fifo")
        self.assertIn("no policy decides on paper", self.berth("daemon", "shadow", code=1))
        self.berth("daemon", "shadow", "rl")
        self.berth("submit", "--file", "-", stdin=None, input="true\n" * 5)
        self.berth("wait")
        told = self.berth("daemon", "shadow")
        self.assertIn("on paper: rl; the last day's 5 jobs under rl, simulated: a mean wait of", told)
        self.assertIn(told, self.berth("daemon", "status"))
        self.assertEqual((self.status()["policy"], self.status()["shadow"]), ("fifo", "rl"))
        self.berth("daemon", "stop")
        self.berth("daemon", "start")
        self.assertEqual(self.status()["shadow"], "rl")
        self.berth("daemon", "shadow", "none")
        self.assertEqual(self.status()["shadow"], "")
        self.berth("daemon", "stop")
        with open(os.path.join(self.folder, "mine.berth"), "w", encoding="utf-8") as file:
            file.write(model_text({0: 1}))
        self.berth("daemon", "start", "--shadow", "rl:mine.berth")
        self.assertIn("under rl:mine.berth, simulated", self.berth("daemon", "shadow"))
        self.assertIn("there is no model", self.berth("daemon", "shadow", "rl:none.berth", code=2))

    def test_a_model_that_cannot_be_read_any_more_leaves_the_daemon_to_priority(self):
        self.daemon("--policy", "rl")
        self.berth("daemon", "stop")
        database = sqlite3.connect(os.path.join(self.env["BERTH_HOME"], "berth.db"))
        database.execute("UPDATE settings SET value = 'rl:ours.berth#AAAA' WHERE name = 'policy'")
        database.commit()
        database.close()
        self.berth("daemon", "start")
        self.assertEqual(self.status()["policy"], "priority")
        self.assertIn("priority decides instead of rl:ours.berth: 'ours.berth' is not a model of berth",
                      self.berth("daemon", "status"))
        self.berth("daemon", "policy", "rl")
        self.assertEqual(self.status()["policy_trouble"], "")


if __name__ == "__main__":
    unittest.main()
