"""berth sweep and simple_hypersearch, as a user calls them."""
import itertools
import json
import os
import subprocess
import tempfile
import time
import unittest

BERTH = os.environ["BERTH"]
LR = ["0.001", "0.0005", "0.0001"]
BS = ["32", "64", "128"]
PATTERN = "python3 train_dnn.py --lr {lr} --batch_size {bs}"
PARAMETERS = ["-p", "lr", *LR, "-p", "bs", *BS]
GRID = [PATTERN.format(lr=lr, bs=bs) for lr, bs in itertools.product(LR, BS)]


def run(*words, program=BERTH, **options):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=60, **options)


def sweep(*words):
    return run("sweep", *words)


class Case(unittest.TestCase):
    def lines(self, result):
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.splitlines()

    def refused(self, result, *says):
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        for text in says:
            self.assertIn(text, result.stderr)


class HypersearchTest(Case):
    """The commands of its page, to the letter."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.tool = os.path.join(cls.folder.name, "simple_hypersearch")
        os.symlink(os.path.abspath(BERTH), cls.tool)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def search(self, *words):
        return run(*words, program=self.tool)

    def test_grid_of_all_in_random_order(self):
        lines = self.lines(self.search(PATTERN, *PARAMETERS))
        self.assertEqual(sorted(lines), sorted(GRID))
        orders = {tuple(self.lines(self.search(PATTERN, *PARAMETERS))) for _ in range(5)}
        self.assertGreater(len(orders), 1)

    def test_five_samples(self):
        lines = self.lines(self.search(PATTERN, "--n-samples", "5", *PARAMETERS))
        self.assertEqual(len(set(lines)), 5)
        self.assertLessEqual(set(lines), set(GRID))

    def test_more_samples_than_points(self):
        lines = self.lines(self.search(PATTERN, "--n-samples", "50", *PARAMETERS))
        self.assertEqual(sorted(lines), sorted(GRID))

    def test_grid_order(self):
        grid = ["--sampling-mode", "grid"]
        self.assertEqual(self.lines(self.search(PATTERN, *grid, *PARAMETERS)), GRID)
        some = self.search(PATTERN, *grid, "--n-samples", "4", *PARAMETERS)
        self.assertEqual(self.lines(some), GRID[:4])

    def test_seed(self):
        words = [PATTERN, "--seed", "3", *PARAMETERS]
        first = self.lines(self.search(*words))
        self.assertEqual(first, self.lines(self.search(*words)))
        self.assertEqual(first, self.lines(run("simple_hypersearch", *words)))
        self.assertEqual(len(self.lines(self.search(PATTERN, "--seed", "-3", *PARAMETERS))), 9)

    def test_values_are_literal(self):
        words = ["{a}", "--sampling-mode", "grid", "-p", "a"]
        self.assertEqual(self.lines(self.search(*words, "-1", "-.5", "1,2")), ["-1", "-.5", "1,2"])
        self.assertEqual(self.lines(self.search(*words, "1..3")), ["1..3"])

    def test_unused_parameters_are_fine(self):
        self.assertEqual(self.lines(self.search("x", "-p", "a", "1", "2")), ["x", "x"])

    def test_braces(self):
        self.assertEqual(self.lines(self.search("awk '{{print {a}}}'", "-p", "a", "1")),
                         ["awk '{print 1}'"])

    def test_ranges_with_equals(self):
        lines = self.lines(self.search("{n}", "-p", "n=1..4", "--sampling-mode", "grid"))
        self.assertEqual(lines, ["1", "2", "3", "4"])

    def test_errors_print_nothing(self):
        self.refused(self.search("{lr} {nope}", *PARAMETERS), "simple_hypersearch: ", "'nope'",
                     "known: lr, bs")
        self.refused(self.search("{lr", *PARAMETERS), "column 1")
        self.refused(self.search(*PARAMETERS), "PATTERN is missing")
        self.refused(self.search(PATTERN, "--sampling-mode", "x", *PARAMETERS), "shuffled_grid")
        self.refused(self.search("{a}", "-p", "a"), "has no values")

    def test_help(self):
        for flag in ["-h", "--help"]:
            self.assertIn("usage: simple_hypersearch", "\n".join(self.lines(self.search(flag))))


class SweepTest(Case):
    def test_grid_is_the_default(self):
        self.assertEqual(self.lines(sweep(PATTERN, *PARAMETERS)), GRID)
        self.assertEqual(self.lines(sweep(PATTERN, "-p", "lr=" + ",".join(LR), "bs=32,64,128")), GRID)
        self.assertEqual(self.lines(sweep(PATTERN, *PARAMETERS, "--print")), GRID)

    def test_shuffle(self):
        a = self.lines(sweep(PATTERN, *PARAMETERS, "--shuffle", "--seed", "1"))
        b = self.lines(sweep(PATTERN, *PARAMETERS, "--mode", "shuffled_grid", "--seed", "1"))
        self.assertEqual(a, b)
        self.assertNotEqual(a, GRID)
        self.assertEqual(sorted(a), sorted(GRID))

    def test_ranges_zip_and_where(self):
        lines = self.lines(sweep("{a} {b} {c}", "-p", "a", "1..3", "-p", "b=x,y,z", "-p", "c=0,1",
                                 "--zip", "a", "b", "--where", "a >= 2", "--where", "c != 0"))
        self.assertEqual(lines, ["2 y 1", "3 z 1"])

    def test_json(self):
        lines = self.lines(sweep(PATTERN, *PARAMETERS, "--json"))
        self.assertEqual(json.loads(lines[1]),
                         {"version": 1, "command": GRID[1], "params": {"lr": "0.001", "bs": "64"}})
        self.assertEqual([json.loads(line)["command"] for line in lines], GRID)

    def test_json_of_bytes_that_are_no_text(self):
        result = subprocess.run([BERTH, "sweep", b"echo \xff {a}", "-p", "a", "1", "--json"],
                                capture_output=True, timeout=60)
        self.assertEqual(json.loads(result.stdout)["command"], "echo \ufffd 1")

    def test_count(self):
        self.assertEqual(self.lines(sweep(PATTERN, *PARAMETERS, "--count")), ["9"])
        self.assertEqual(self.lines(sweep(PATTERN, *PARAMETERS, "--where", "bs > 32", "--count")),
                         ["6"])
        huge = ["{a}{b}", "-p", "a=1..1000000", "b=1..1000000", "--count"]
        self.assertEqual(self.lines(sweep(*huge)), ["1000000000000"])

    def test_a_trillion_points_are_sampled_at_once(self):
        begin = time.monotonic()
        lines = self.lines(sweep("{a} {b}", "-p", "a=1..1000000", "b=1..1000000",
                                 "--n-samples", "5", "--seed", "1"))
        self.assertLess(time.monotonic() - begin, 2)
        self.assertEqual(len(set(lines)), 5)

    def test_log_samples(self):
        lines = self.lines(sweep("{lr}", "-p", "lr=log:1e-5..1e-1", "--n-samples", "50"))
        self.assertEqual(len(lines), 50)
        self.assertTrue(all(1e-5 <= float(line) <= 1e-1 for line in lines))

    def test_several_lines_stay_one_job(self):
        self.assertEqual(self.lines(sweep("cd x\n./run {a}\n", "-p", "a", "1", "2")),
                         ["<<END", "cd x", "./run 1", "END", "<<END", "cd x", "./run 2", "END"])
        self.assertEqual(self.lines(sweep("{a}\nEND\nEND_x", "-p", "a", "END_")),
                         ["<<END__", "END_", "END", "END_x", "END__"])

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sweep.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write('command = "train {lr} {bs}"\nwhere = ["bs <= 64"]\n'
                           '[parameters]\nlr = [0.1, 0.01]\nbs = "pow2:32..128"\n')
            self.assertEqual(self.lines(sweep("--file", path)),
                             ["train 0.1 32", "train 0.1 64", "train 0.01 32", "train 0.01 64"])
            self.assertEqual(self.lines(sweep("go {bs} {lr}", "--file", path, "-p", "lr", "5",
                                              "--where", "bs == 128")), ["go 128 5"])
            with open(path, "a", encoding="utf-8") as file:
                file.write("lr = 3\n")
            self.refused(sweep("--file", path), "sweep.toml:6:")
            self.refused(sweep("--file", path + "x"), "No such file")
            self.assertEqual(sweep("--file", folder).returncode, 1)

    def test_errors_print_nothing(self):
        self.refused(sweep(), "TEMPLATE is missing")
        self.refused(sweep("{a} {b}", "-p", "a", "1"), "berth sweep: ", "unknown parameter 'b'")
        self.refused(sweep("x", "-p", "a", "1"), "'a'", "--allow-unused")
        self.refused(sweep("{a}", "-p", "a", "1", "-p", "a", "2"), "given twice")
        self.refused(sweep("{a}{b}", "-p", "a=1,2", "b=1,2,3", "--zip", "a", "b"), "a has 2, b has 3")
        self.refused(sweep("{a}", "-p", "a=1..3", "--where", "a = 1"), "column 3")
        self.refused(sweep("{a}", "-p", "a=uniform:0..1"), "--n-samples")
        self.refused(sweep("{a}", "-p", "a=1,,2"), "empty value")
        self.refused(sweep("{a}", "-p", "a=1", "--json", "--count"), "only one of")
        self.refused(sweep("{a}", "-p", "a=1", "--n-samples", "-1"), "negative")
        self.assertEqual(self.lines(sweep("x", "-p", "a", "1", "--allow-unused")), ["x"])

    def test_nothing_satisfies(self):
        self.assertEqual(self.lines(sweep("{a}", "-p", "a=1..3", "--where", "a > 5")), [])

    def test_a_sample_that_is_not_there_is_a_failure(self):
        result = sweep("{a}", "-p", "a=uniform:0..1", "--n-samples", "5", "--where", "a > 5")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("gave up", result.stderr)

    def test_closed_and_full_output(self):
        words = [BERTH, "sweep", "{a}", "-p", "a=1..100000000"]
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertIn("could not write", result.stderr)
        closed = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=60,
                                preexec_fn=lambda: os.close(1))
        self.assertEqual(closed.returncode, 1)
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
            self.assertEqual(reader.stdout.readline(), b"1\n")
            reader.stdout.close()
            self.assertNotEqual(reader.wait(timeout=60), 0)

    def test_memory_stays_constant(self):
        def peak(count):
            words = [BERTH, "sweep", "{a}", "-p", f"a=1..{count}", "--shuffle"]
            # Under the address sanitizer freed memory would pile up in its quarantine.
            env = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1"}
            with subprocess.Popen(words, stdout=subprocess.DEVNULL, env=env) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = status
            self.assertEqual(status, 0)
            return usage.ru_maxrss

        self.assertLess(peak(1_000_000), peak(1_000) + 4096)  # KiB

    def test_help_has_examples(self):
        text = "\n".join(self.lines(sweep("--help")))
        self.assertIn("Examples:", text)
        self.assertIn("sweep", run("--help").stdout)


if __name__ == "__main__":
    unittest.main()
