"""simple_gpu_scheduler: the examples of its page to the letter, and what its users rely on."""

import collections
import itertools
import os
import re
import signal
import subprocess
import sys
import unittest

from run_case import BERTH, DEADLINE, RunCase

PROCESSING = re.compile(r"Processing command `(.*)` on gpu (\S*)")
TRAIN = """import os, sys
with open(sys.argv[sys.argv.index("--output") + 1], "w") as file:
    file.write(os.environ["CUDA_VISIBLE_DEVICES"])
"""
TRAIN_DNN = """import os, sys
with open("trained", "a") as file:
    print(*sys.argv[1:], os.environ["CUDA_VISIBLE_DEVICES"], file=file)
"""
COMMANDS = """python train_model.py --lr 0.001 --output run_1
python train_model.py --lr 0.0005 --output run_2
python train_model.py --lr 0.0001 --output run_3
"""


class SeedCase(RunCase):
    def setUp(self):
        super().setUp()
        tools = self.path("bin")
        os.mkdir(tools)
        for name in ("simple_gpu_scheduler", "simple_hypersearch"):
            os.symlink(os.path.abspath(BERTH), f"{tools}/{name}")
        os.symlink(sys.executable, tools + "/python")
        os.symlink(sys.executable, tools + "/python3")
        self.env["PATH"] = tools + ":" + self.env["PATH"]
        self.tool = (tools + "/simple_gpu_scheduler",)

    def shell(self, command, code=0):
        done = subprocess.run(["bash", "-c", command], cwd=self.home, env=self.env, text=True,
                              capture_output=True, timeout=DEADLINE)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def processed(self, text):
        """What it says that it starts: pairs of command and id."""
        pairs = []
        for line in text.splitlines():
            match = PROCESSING.fullmatch(line)
            self.assertTrue(match, line)
            pairs.append(match.groups())
        return pairs

    def schedule(self, text, gpus, **options):
        return self.run_jobs(text, gpus=gpus, program=self.tool, **options)


class Examples(SeedCase):
    def test_a_file_of_commands(self):
        self.write("gpu_commands.txt", COMMANDS)
        self.write("train_model.py", TRAIN)
        said = self.processed(self.shell("simple_gpu_scheduler --gpus 0 1 2 < gpu_commands.txt"))
        self.assertEqual([command for command, _ in said], COMMANDS.splitlines())
        self.assertEqual({gpu for _, gpu in said}, {"0", "1", "2"})
        for command, gpu in said:
            self.assertEqual(self.read(command.split()[-1]), gpu)

    def test_a_grid_in_random_order(self):
        self.write("train_dnn.py", TRAIN_DNN)
        said = self.processed(self.shell(
            'simple_hypersearch "python3 train_dnn.py --lr {lr} --batch_size {bs}" '
            "-p lr 0.001 0.0005 0.0001 -p bs 32 64 128 | simple_gpu_scheduler --gpus 0,1,2"))
        grid = [f"--lr {lr} --batch_size {bs}" for lr, bs in
                itertools.product(("0.001", "0.0005", "0.0001"), (32, 64, 128))]
        self.assertEqual(sorted(command for command, _ in said),
                         sorted("python3 train_dnn.py " + words for words in grid))
        self.assertEqual(sorted(self.read("trained").splitlines()),
                         sorted(f"{c.split(' ', 2)[2]} {gpu}" for c, gpu in said))

    def test_five_samples(self):
        self.write("train_dnn.py", TRAIN_DNN)
        said = self.processed(self.shell(
            'simple_hypersearch "python3 train_dnn.py --lr {lr} --batch_size {bs}" --n-samples 5 '
            "-p lr 0.001 0.0005 0.0001 -p bs 32 64 128 | simple_gpu_scheduler --gpus 0,1,2"))
        self.assertEqual(len(said), 5)
        self.assertEqual(len(self.read("trained").splitlines()), 5)

    def follow_queue(self):
        """The example's own pipeline, once `tail` has gone to the end of the file."""
        process = self.launch(program=(
            "bash", "-c", "tail -f -n 0 gpu.queue | simple_gpu_scheduler --gpus 0,1,2"))
        size = os.path.getsize(self.path("gpu.queue"))

        def follower():
            for pid in self.mine():
                try:
                    for fd in os.listdir(f"/proc/{pid}/fd"):
                        with open(f"/proc/{pid}/fdinfo/{fd}", encoding="utf-8") as info:
                            if (os.readlink(f"/proc/{pid}/fd/{fd}") == self.path("gpu.queue") and
                                    f"pos:\t{size}\n" in info.read()):
                                return pid
                except OSError:
                    pass
            return None

        tail = self.eventually(follower)
        self.addCleanup(lambda: tail in self.mine() and os.kill(tail, signal.SIGTERM))
        return process, tail

    def append(self, line):
        with open(self.path("gpu.queue"), "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def test_a_queue_file(self):
        self.append("echo before > before")
        process, tail = self.follow_queue()
        told, gate = self.fifo("told"), self.fifo("gate")
        for n in range(3):  # each starts as it arrives, while those before it still run
            self.append(f"echo {n} $CUDA_VISIBLE_DEVICES > told; read x < gate")
            self.assertEqual(self.processed(self.line(process))[0][0].split()[1], str(n))
            self.assertEqual(told.line().split()[0], str(n))
        self.append("echo with | tr a-z A-Z > logfile; echo last > told")
        gate.let(3)
        self.assertEqual(told.line(), "last")
        self.assertEqual(self.read("logfile"), "WITH\n")
        self.assertFalse(os.path.exists(self.path("before")))
        os.kill(tail, signal.SIGTERM)
        self.finish(process)


class Behaviour(SeedCase):
    def test_one_at_a_time_on_each(self):
        self.schedule(['echo "+ $CUDA_VISIBLE_DEVICES" >> ledger; echo "- $CUDA_VISIBLE_DEVICES" >> '
                       'ledger'] * 60, "a b")
        busy = collections.Counter()
        for line in self.read("ledger").splitlines():
            sign, gpu = line.split()
            busy[gpu] += 1 if sign == "+" else -1
            self.assertIn(busy[gpu], (0, 1))
        self.assertEqual(set(busy), {"a", "b"})

    def test_an_id_that_repeats_runs_several_at_once(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch(gpus="7 7 7 x", program=self.tool)
        self.feed(process, *["echo $CUDA_VISIBLE_DEVICES > told; read x < gate"] * 5)
        self.assertEqual(sorted(told.lines(4)), ["7", "7", "7", "x"])
        gate.let(5)
        told.line()
        out, _ = self.finish(process)
        self.assertEqual(len(self.processed(out)), 5)

    def test_any_text_is_an_id(self):
        for ids in ("GPU-8f2e", "cuda:1/slice", "ümläut", "sim:4", "auto"):
            out = self.schedule("echo $CUDA_VISIBLE_DEVICES > seen", ids).stdout
            self.assertEqual(self.processed(out), [("echo $CUDA_VISIBLE_DEVICES > seen", ids)])
            self.assertEqual(self.read("seen"), ids + "\n")

    def test_the_shell_runs_each_line(self):
        self.schedule(["echo one two | tr ' ' '\\n' | sort -r > sorted 2>&1",
                       "for i in 1 2 3; do echo $i; done >> loop && echo $((6 * 7)) >> loop",
                       "(cd / && pwd) > where; : # a comment"], "0")
        self.assertEqual(self.read("sorted"), "two\none\n")
        self.assertEqual(self.read("loop"), "1\n2\n3\n42\n")
        self.assertEqual(self.read("where"), "/\n")

    def test_output_of_commands_passes_through(self):
        done = self.schedule(["echo out; echo err >&2"], "0")
        self.assertIn("out", done.stdout.splitlines())
        self.assertEqual(done.stderr, "err\n")

    def test_ends_when_input_and_all_commands_have_ended(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch(gpus="0", program=self.tool)
        self.feed(process, "echo 1 > told; read x < gate; echo one >> done",
                  "echo 2 > told; read x < gate; echo two >> done")
        self.assertEqual(told.line(), "1")
        process.stdin.close()
        process.stdin = None
        self.assertIsNone(process.poll())
        gate.let()
        self.assertEqual(told.line(), "2")  # it had not started while the first one ran
        self.assertIsNone(process.poll())
        self.assertEqual(self.read("done"), "one\n")
        gate.let()
        self.finish(process)
        self.assertEqual(self.read("done"), "one\ntwo\n")

    def test_no_commands(self):
        self.assertEqual(self.schedule("", "0").stdout, "")
        self.assertEqual(self.schedule("\n  \n# only a comment\n", "0").stdout, "")
        self.assertEqual(self.shell("simple_gpu_scheduler --gpus 0 < /dev/null"), "")

    def test_last_line_without_newline(self):
        self.schedule("echo a >> done\necho b >> done", "0")
        self.assertEqual(self.read("done"), "a\nb\n")

    def test_a_failure_does_not_stop_the_others(self):
        out = self.schedule(["false", "echo after > done"], "0", code=1).stdout
        self.assertEqual(len(self.processed(out)), 2)
        self.assertEqual(self.read("done"), "after\n")

    def test_no_ids_is_an_error(self):
        for words in ("", "--gpus"):
            done = subprocess.run(["bash", "-c", f"echo 'touch ran' | simple_gpu_scheduler {words}"],
                                  cwd=self.home, env=self.env, capture_output=True, text=True,
                                  timeout=DEADLINE)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("--gpus", done.stderr)
            self.assertFalse(os.path.exists(self.path("ran")))

    def slots(self, *gpus, lines=4, env=None):
        """The CUDA_VISIBLE_DEVICES of commands that all run at once, or wait for each other."""
        done = subprocess.run([*self.tool, "--gpus", *gpus], cwd=self.home, env=env or self.env,
                              input='echo "[$CUDA_VISIBLE_DEVICES]"\n' * lines, text=True,
                              capture_output=True, timeout=DEADLINE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        told, ran = [], []
        for line in done.stdout.splitlines():
            match = PROCESSING.fullmatch(line)
            (told if match else ran).append(f"[{match[2]}]" if match else line)
        self.assertEqual(sorted(told), sorted(ran))
        return set(ran)

    def test_each_of_several_words_is_a_slot(self):
        self.assertEqual(self.slots("0,1", "2,3", lines=8), {"[0,1]", "[2,3]"})
        self.assertEqual(self.slots("0,1,2", lines=9), {"[0]", "[1]", "[2]"})
        self.assertEqual(self.slots("0,1", "2", lines=8), {"[0,1]", "[2]"})

    def test_an_empty_id_is_a_slot_without_a_gpu(self):
        self.assertEqual(self.slots(""), {"[]"})
        self.assertEqual(self.slots("0,", lines=8), {"[0]", "[]"})
        self.assertEqual(self.slots("", "3", lines=8), {"[3]", "[]"})
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch("", "", gpus="", program=self.tool)
        self.feed(process, *["echo $CUDA_VISIBLE_DEVICES > told; read x < gate"] * 2)
        self.assertEqual(told.lines(2), ["", ""])  # both at once
        gate.let(2)
        self.finish(process)

    def test_a_slot_of_several_waits_for_all_of_them(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        first = self.launch(gpus="1", program=self.tool)
        self.feed(first, "echo first > told; read x < gate")
        self.assertEqual(told.line(), "first")
        second = self.launch("2,3", gpus="0,1", program=self.tool)
        self.feed(second, *["echo $CUDA_VISIBLE_DEVICES > told; read x < gate"] * 2)
        self.assertEqual(told.line(), "2,3")
        self.line_with(second, "GPU 0,1 is in use by another berth", second.stderr)
        third = self.launch(gpus="2", program=self.tool)  # one of two that are taken together
        self.feed(third, "echo third > told")
        self.line_with(third, "GPU 2 is in use by another berth", third.stderr)
        gate.let(3)
        self.assertEqual(len(told.lines(2)), 2)  # the third, and the second of the second
        for process in (first, second, third):
            self.finish(process)

    def test_what_starts_is_told_before_its_output(self):
        for _ in range(5):
            out = self.schedule(["echo first; echo second >&2"] * 20, "0").stdout.splitlines()
            self.assertEqual(out, ["Processing command `echo first; echo second >&2` on gpu 0",
                                   "first"] * 20)

    def test_options_may_be_shortened(self):
        for option in ("--gpu 0", "--g=0", "--gp 0"):
            self.assertEqual(len(self.processed(self.shell(
                f"echo true | simple_gpu_scheduler {option}"))), 1)
        self.assertIn("usage: simple_gpu_scheduler", self.shell("simple_gpu_scheduler --he"))
        self.assertEqual(self.shell("simple_hypersearch '{x}' --sampling grid --param x 1 2 --n-s 1"),
                         "1\n")
        done = subprocess.run(["simple_hypersearch", "{x}", "--s", "grid", "-p", "x", "1"],
                              env=self.env, capture_output=True, text=True, timeout=DEADLINE,
                              executable=self.path("bin/simple_hypersearch"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("ambiguous option: --s could match --sampling-mode, --seed", done.stderr)
        # Under its own name berth has no short forms: a new option must not change an old command.
        done = subprocess.run([BERTH, "run", "--gpu", "0"], env=self.env, capture_output=True,
                              text=True, timeout=DEADLINE, input="")
        self.assertEqual(done.returncode, 2)

    def test_the_users_device_order_stays(self):
        env = self.environment(CUDA_DEVICE_ORDER="FASTEST_FIRST")
        self.schedule("echo $CUDA_DEVICE_ORDER > order", "0", env=env)
        self.assertEqual(self.read("order"), "FASTEST_FIRST\n")
        self.schedule("echo $CUDA_DEVICE_ORDER > order", "0")
        self.assertEqual(self.read("order"), "PCI_BUS_ID\n")

    def test_survives_nohup(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch(program=("nohup", *self.tool), gpus="0")
        self.feed(process, "echo 1 > told; read x < gate", "echo 2 > told")
        self.assertEqual(told.line(), "1")
        process.send_signal(signal.SIGHUP)
        gate.let()
        self.assertEqual(told.line(), "2")
        self.finish(process)

    def test_a_signal_lets_running_commands_finish(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch(gpus="0", program=self.tool)
        self.feed(process, "echo 1 > told; read x < gate; echo one >> done", "echo two >> done")
        told.line()
        process.send_signal(signal.SIGINT)
        self.line_with(process, "starting nothing more", process.stderr)
        gate.let()
        self.finish(process, code=130)
        self.assertEqual(self.read("done"), "one\n")


class Patterns(SeedCase):
    def grid(self, pattern, *words):
        done = subprocess.run([self.path("bin/simple_hypersearch"), pattern, "--sampling-mode",
                               "grid", *words], env=self.env, capture_output=True, text=True,
                              timeout=DEADLINE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_formats_are_those_of_python(self):
        values = ("", "a", "0.001", "ümläut", "a longer value than that")
        for spec in ("", "5", ">5", "<5", "^6", "*^9", "_>12", "é^8", ".2", "10.3", ">10.3s", "s",
                     "08", "x<3", "<<4", "^", "0>6"):
            pattern = "go --x={x:" + spec + "}|{x!s:" + spec + "}|{{{x}}}"
            with self.subTest(spec):
                self.assertEqual(self.grid(pattern, "-p", "x", *values),
                                 [pattern.format_map({"x": value}) for value in values])

    def test_formats_that_python_refuses(self):
        for spec in ("=5", "d", "5d", ".", "5.", "+", ",", "5x"):
            with self.subTest(spec):
                with self.assertRaises(ValueError):
                    ("{x:" + spec + "}").format_map({"x": "a"})
                done = subprocess.run([self.path("bin/simple_hypersearch"), "{x:" + spec + "}",
                                       "-p", "x", "a"], env=self.env, capture_output=True, text=True,
                                      timeout=DEADLINE)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn("template, column 1", done.stderr)

    def test_a_parameter_given_again_has_the_later_values_at_its_first_place(self):
        self.assertEqual(self.grid("{a}{b}", "-p", "a", "1", "2", "-p", "b", "x", "y",
                                   "-p", "a", "3"), ["3x", "3y"])


if __name__ == "__main__":
    unittest.main()
