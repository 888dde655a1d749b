"""What `berth run FILE` refuses because it is not a list of commands, and how one command is run."""

import os
import unittest

from life_case import LifeCase


class Refusals(LifeCase):
    def write(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text)

    def test_programs_are_not_lists_of_commands(self):
        for name, text, says in (
                ("train.py", b"import torch\n",
                 "train.py is a program, not a list of commands: run it with berth run -- python3 train.py"),
                ("try.ipynb", b"{}\n", "run it with berth run -- jupyter execute try.ipynb"),
                ("job", b"#!/bin/sh\ntrue\n",
                 "job is a script, not a list of commands: run it with berth run -- ./job"),
                ("model.bin", b"\x7fELF\0\0", "model.bin holds a NUL byte and is not a list of commands"),
                ("slurm.sh", b"#!/bin/bash\n#SBATCH --gres=gpu:a100:4\nsrun train\n",
                 "slurm.sh is a Slurm script that asks for 4 GPUs, not a list of commands: queue it "
                 "with berth submit --gpus 4 ./slurm.sh")):
            self.write(name, text)
            done = self.try_berth("run", name)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)

    def test_lists_of_commands_are_taken(self):
        for name, text in (("jobs.txt", b"true\n"), ("jobs.sh", b"# a list\ntrue\n"),
                           ("empty", b"")):
            self.write(name, text)
            self.berth("run", name)

    def test_a_slurm_script_in_the_queue_is_warned_of(self):
        self.write("slurm.sh", b"#!/bin/bash\n#SBATCH --gpus=4\ntrue\n")
        said = self.try_berth("submit", "bash", "slurm.sh").stderr
        self.assertIn("#SBATCH lines, which berth does not read: it asks for 4 GPUs and gets 1", said)
        self.assertEqual(self.try_berth("submit", "--gpus", "2", "bash", "slurm.sh").stderr, "")


class OneCommand(LifeCase):
    def test_it_has_a_gpu_its_input_and_its_exit_code(self):
        done = self.try_berth("run", "--", "sh", "-c", "read x; echo $x $BERTH_GPUS; exit 7",
                              input="hello\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "hello 0\n", ""))
        self.assertEqual(self.berth("run", "--gpus", "sim:2", "--", "echo  two   blanks"),
                         "two blanks\n")  # one word is a shell command
        self.assertEqual(self.berth("run", "--", "echo", "two  blanks"), "two  blanks\n")

    def test_signals_and_limits(self):
        self.assertEqual(self.try_berth("run", "--", "sh", "-c", "kill -9 $$").returncode, 137)
        done = self.try_berth("run", "--timeout", "1s", "--", "sleep", "60")
        self.assertEqual((done.returncode, done.stderr), (124, "berth run: timed out\n"))
        self.assertEqual(self.try_berth("run", "--", "/no/such/program").returncode, 127)

    def test_it_reads_from_the_terminal(self):
        text, code = self.at_terminal(b"typed\n", "run", "--", "sh", "-c",
                                      "test -t 0 && test -t 1 && read x && echo got $x && exit 3")
        self.assertIn("got typed", text)
        self.assertEqual(code, 3)

    def test_ctrl_c_ends_it(self):
        text, code = self.at_terminal(b"", "run", "--", "sh", "-c", "echo up; exec sleep 600",
                                      until="up", keys=b"\x03")
        self.assertIn("asked the command to end (TERM)", text)
        self.assertEqual(code, 143)

    def test_events_and_rehearsals(self):
        self.assertEqual(self.berth("run", "-n", "--", "touch", "ran"), "1 GPU\ttouch ran\n")
        self.assertFalse(os.path.exists(self.path("ran")))
        events = self.berth("run", "--json", "--", "true").splitlines()
        self.assertIn('"event":"start"', events[0])

    def test_a_file_and_a_command_are_too_much(self):
        self.assertIn("not both", self.fails("run", "jobs.txt", "--", "true"))
        self.assertIn("the command after -- is missing", self.fails("run", "--"))


if __name__ == "__main__":
    unittest.main()
