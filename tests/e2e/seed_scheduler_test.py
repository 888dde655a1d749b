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

PROCESSING = re.compile(r"Processing command `(.*)` on gpu (\S+)")
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
        process = self.launch(gpus="7 7,7 x", program=self.tool)
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
        for words in ("", "--gpus", "--gpus ''", "--gpus ,"):
            done = subprocess.run(["bash", "-c", f"echo 'touch ran' | simple_gpu_scheduler {words}"],
                                  cwd=self.home, env=self.env, capture_output=True, text=True,
                                  timeout=DEADLINE)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("--gpus", done.stderr)
            self.assertFalse(os.path.exists(self.path("ran")))

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


if __name__ == "__main__":
    unittest.main()
