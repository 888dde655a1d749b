"""berth sim, as a user and as a script calls it."""
import csv
import gzip
import json
import os
import re
import struct
import subprocess
import tempfile
import unittest
import zlib
from xml.etree import ElementTree

BERTH = os.environ["BERTH"]
HERE = os.path.dirname(os.path.abspath(__file__))
TRACES = os.environ.get("BERTH_TRACES", os.path.join(HERE, "../../../shared/traces"))
JOBS = """job_id,user,submit_s,duration_s,gpus
a,ann,0,8,1
b,bob,1,4,1
c,ann,2,9,1
d,bob,3,5,1
"""
FIELDS = {"policy", "placement", "jobs", "runs", "mean_completion_s", "p99_wait_s", "mean_wait_s",
          "p50_wait_s", "p95_wait_s", "mean_bounded_slowdown", "makespan_s", "utilization",
          "memory_utilization", "gpu_seconds", "wasted_gpu_seconds", "energy_j", "peak_power_w",
          "jain_index", "finish_time_fairness", "reward", "preemptions", "events"}


class SimTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.trace = self.write("jobs.csv", JOBS)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with (gzip.open if name.endswith(".gz") else open)(path, "wt") as file:
            file.write(text)
        return path

    def sim(self, *words):
        home = dict(os.environ, BERTH_HOME=os.path.join(self.folder, "home"))
        return subprocess.run([BERTH, "sim", *words], capture_output=True, text=True, timeout=120,
                              env=home)

    def results(self, *words):
        done = self.sim(*words, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answer = json.loads(done.stdout)
        self.assertEqual(answer["version"], 1)
        return {result["policy"]: result for result in answer["results"]}

    def test_waits_of_the_textbook(self):
        results = self.results("--trace", self.trace, "--gpus", "1", "--policy", "fifo,sjf,srtf")
        self.assertEqual([results[name]["mean_wait_s"] for name in ("fifo", "sjf", "srtf")],
                         [8.75, 7.75, 6.5])
        for result in results.values():
            self.assertLessEqual(FIELDS, set(result))
            self.assertEqual(result["jobs"], 4)
            self.assertEqual(result["makespan_s"], 26)

    def test_a_packed_trace_and_one_user(self):
        path = self.write("jobs.csv.gz", JOBS)
        results = self.results("--trace", path, "--user", "bob", "--gpus", "1", "--policy", "fifo")
        self.assertEqual(results["fifo"]["jobs"], 2)
        self.assertEqual(results["fifo"]["mean_wait_s"], 1)

    def test_a_table_of_many_policies_and_seeds(self):
        done = self.sim("--generate", "mix:n=50", "--gpus", "4x24GiB", "--seeds", "3", "--policy",
                        "fifo,lottery", "--placement", "pack,fgd")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "50 jobs on 4 GPUs")
        self.assertEqual([line.split()[:2] for line in lines[2:]],
                         [["fifo", "pack"], ["fifo", "fgd"], ["lottery", "pack"],
                          ["lottery", "fgd"]])
        self.assertTrue(all("±" in line for line in lines[2:]))

    def test_advice(self):
        words = ("--advise", "--generate", "poisson:n=2000,load=0.95,mean=1h", "--gpus", "4",
                 "--policy", "fifo,sjf,easy,srtf")
        done = self.sim(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\A(Use (sjf|easy): it|Keep fifo: (sjf|easy)) would have cut"
                         r" the\s+mean\s+wait\s+by\s+\d+ % \(95 %: \d+ to \d+ %\)")
        self.assertRegex(done.stdout, r"(?m)^srtf .* only in the simulator$")
        answer = json.loads(self.sim(*words, "--json").stdout)
        self.assertEqual((answer["version"], answer["in_use"], answer["jobs"], answer["blocks"]),
                         (1, "fifo", 2000, 20))
        rows = {row["policy"]: row for row in answer["results"]}
        self.assertNotIn("mean_wait_change", rows["fifo"])
        self.assertFalse(rows["srtf"]["live"])
        for name in ("sjf", "srtf"):
            change = rows[name]["mean_wait_change"]
            self.assertLess(change["low"], change["mean"])
            self.assertLess(change["mean"], change["high"])
            self.assertAlmostEqual(change["mean"], rows[name]["mean_wait_s"]
                                   / rows["fifo"]["mean_wait_s"] - 1, places=6)
        # The same figures as without advice.
        plain = self.results(*words[1:])
        for name, row in rows.items():
            self.assertAlmostEqual(row["mean_wait_s"], plain[name]["mean_wait_s"], places=3)
            self.assertAlmostEqual(row["p99_wait_s"], plain[name]["p99_wait_s"], places=3)
        few = json.loads(self.sim("--advise", "--trace", self.trace, "--gpus", "1",
                                  "--json").stdout)
        self.assertFalse(few["enough"])
        self.assertEqual(few["best"], "priority")
        self.assertIn("4 jobs are too few", few["sentence"])

    def test_what_became_of_each_job(self):
        out = os.path.join(self.folder, "out.csv")
        self.results("--trace", self.trace, "--gpus", "1", "--policy", "srtf", "--jobs", out)
        with open(out) as file:
            rows = {row["job_id"]: row for row in csv.DictReader(file)}
        self.assertEqual(rows["a"]["end_s"], "17")
        self.assertEqual(rows["a"]["wait_s"], "9")
        self.assertEqual(rows["a"]["preempted"], "1")
        self.assertEqual(rows["b"]["start_s"], "1")
        self.assertEqual(sum(float(row["wait_s"]) for row in rows.values()), 26)

    def test_one_page_with_all(self):
        page = os.path.join(self.folder, "page.html")
        policies = ("priority,fifo,sjf,lpt,f1,easy,conservative,srtf,srsf,las,lottery,stride,wfq,"
                    "fair,drf,energy,rr")
        results = self.results("--generate", "mix:n=50", "--gpus", "2x2x24GiB", "--policy", policies,
                               "--report", page)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn("http", text.replace("http://www.w3.org/2000/svg", ""))
        charts = [ElementTree.fromstring(chart)
                  for chart in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]
        self.assertEqual(len(charts), 4 + len(results))
        # Every task is a bar under every policy.
        for chart in charts[4:]:
            bars = chart.findall(".//{*}rect/{*}title")
            self.assertGreaterEqual(len(bars), 50)

    def test_convert(self):
        swf = self.write("t.swf", "; c\n1 5 0 100 4 -1 -1 8 200 -1 1 42 -1 -1 -1 -1 -1 -1\n")
        done = self.sim("convert", swf)
        self.assertEqual(done.stdout.splitlines()[1], "1,42,5,100,8,,,0,,200,")
        out = os.path.join(self.folder, "out.csv")
        self.assertEqual(self.sim("convert", swf, out).returncode, 0)
        self.assertEqual(self.results("--trace", out, "--gpus", "8", "--policy",
                                      "fifo")["fifo"]["makespan_s"], 100)

    def test_pictures(self):
        words = ("--trace", self.trace, "--gpus", "2", "--policy", "fifo,sjf", "--gantt")
        self.results(*words, os.path.join(self.folder, "g.png"))
        for name in ("g.fifo.png", "g.sjf.png"):
            with open(os.path.join(self.folder, name), "rb") as file:
                data = file.read()
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            width, height = struct.unpack(">II", data[16:24])
            size = struct.unpack(">I", data[33:37])[0]
            self.assertEqual(data[37:41], b"IDAT")
            pixels = zlib.decompress(data[41:41 + size])
            self.assertEqual(len(pixels), height * (1 + 3 * width))
        self.results(*words[:5], "fifo", "--gantt", os.path.join(self.folder, "g.svg"))
        ElementTree.parse(os.path.join(self.folder, "g.svg"))
        done = self.sim(*words, "g.jpg")
        self.assertEqual(done.returncode, 2)
        self.assertIn(".svg or .png", done.stderr)

    def test_estimates_are_apart_from_truth(self):
        words = ("--generate", "poisson:n=2000,load=0.95", "--gpus", "4", "--estimate-error", "3",
                 "--policy", "sjf,oracle:sjf")
        results = self.results(*words)
        self.assertLess(results["oracle:sjf"]["mean_wait_s"], results["sjf"]["mean_wait_s"])
        self.assertEqual(self.results(*words), results)

    def test_wrong_rows(self):
        path = self.write("wrong.csv", JOBS + "e,ann,-5,1,1\nf,ann,6,1,64\n")
        done = self.sim("--trace", path, "--gpus", "4", "--policy", "fifo")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("wrong.csv: line 6: column submit_s: '-5' is negative", done.stderr)
        done = self.sim("--trace", path, "--gpus", "4", "--policy", "fifo", "--skip-bad", "--json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("skipped 2 rows", done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["skipped_rows"], answer["results"][0]["jobs"]), (2, 4))

    def test_wrong_words(self):
        for words, says in (
                (("--gpus", "4"), "give one of --trace FILE, --generate KIND and --history"),
                (("--trace", self.trace), "--gpus is missing"),
                (("--trace", self.trace, "--gpus", "some"), "'some' names no devices"),
                (("--trace", self.trace, "--gpus", "4", "--policy", "best"), "no policy 'best'"),
                (("--trace", self.trace, "--gpus", "4", "--rows", "5"), "write FIRST:COUNT"),
                (("--trace", self.trace, "--gpus", "4", "--user", "eve"), "no job is left of user eve"),
                (("--trace", "/nowhere.csv", "--gpus", "4"), "/nowhere.csv: No such file")):
            with self.subTest(says):
                done = self.sim(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(says, done.stderr)

    def test_only_the_simulator_preempts(self):
        home = dict(os.environ, BERTH_HOME=os.path.join(self.folder, "home"))
        done = subprocess.run([BERTH, "run", "--gpus", "sim:1", "--policy", "srtf"], input="true\n",
                              capture_output=True, text=True, timeout=60, env=home)
        self.assertEqual(done.returncode, 2)
        self.assertIn("policy srtf needs preemption, which only the simulator has", done.stderr)

    def test_a_public_trace(self):
        path = os.path.join(TRACES, "philly_2017.csv.gz")
        if not os.path.exists(path):
            self.skipTest("the public traces are not here: set BERTH_TRACES to their folder")
        results = self.results("--trace", path, "--user", "103959", "--gpus", "24", "--policy",
                               "fifo,srtf,las")
        self.assertEqual({name: round(result["mean_completion_s"], 3)
                          for name, result in results.items()},
                         {"fifo": 353357.525, "srtf": 55825.763, "las": 94973.961})


if __name__ == "__main__":
    unittest.main()
