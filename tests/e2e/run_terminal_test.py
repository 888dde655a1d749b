"""berth run in a terminal: the live view, what jobs print above it, and the account at the end."""

import fcntl
import os
import pty
import select
import struct
import termios
import time
import unittest

from run_case import BERTH, DEADLINE, RunCase, readable
from terminal import Screen


class TerminalCase(RunCase):
    def open(self, columns, rows, lines, *words, gpus="sim:2", **env):
        """Starts a run in a terminal of that size: of lines or, after `--` in words, one command."""
        file = [] if "--" in words else [self.write("jobs", "\n".join(lines) + "\n")]
        self.primary, secondary = pty.openpty()
        self.addCleanup(os.close, self.primary)
        fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.settings = termios.tcgetattr(secondary)
        self.pid = os.fork()
        if self.pid == 0:
            self.take_terminal(secondary)
            os.chdir(self.home)
            os.execve(BERTH, [BERTH, "run", "--gpus", gpus, *words, *file],
                      self.environment(**{"TERM": "xterm", **env}))
        self.addCleanup(self.kill)
        self.secondary = secondary
        self.addCleanup(os.close, secondary)
        self.screen = Screen(columns)
        self.raw = b""
        self.text = ""

    @staticmethod
    def take_terminal(secondary):
        os.setsid()
        fcntl.ioctl(secondary, termios.TIOCSCTTY, 0)
        for fd in range(3):
            os.dup2(secondary, fd)

    def kill(self):
        if self.pid:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)

    def more(self, seconds):
        """Takes what has been drawn; false when nothing comes."""
        if not readable(self.primary, seconds):
            return False
        self.raw += os.read(self.primary, 65536)
        try:
            text = self.raw.decode()
            self.raw = b""
        except UnicodeDecodeError as cut:  # in the middle of a letter
            text, self.raw = self.raw[:cut.start].decode(), self.raw[cut.start:]
        self.text += text
        self.screen.feed(text)
        return True

    def until(self, is_so):
        """Follows the screen until it shows what is asked for."""
        end = time.monotonic() + DEADLINE
        while not is_so(self.screen.lines):
            self.assertLess(time.monotonic(), end, "\n".join(self.screen.lines))
            self.assertTrue(self.more(DEADLINE), "\n".join(self.screen.lines))

    def close(self, code=0):
        """The exit code, and all that is left on the screen."""
        ended = os.pidfd_open(self.pid)
        self.addCleanup(os.close, ended)
        end = time.monotonic() + DEADLINE
        while ended not in (ready := select.select([self.primary, ended], [], [], DEADLINE)[0]):
            self.assertLess(time.monotonic(), end)
            self.assertTrue(ready, self.text)
            self.more(0)
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        while self.more(0):
            pass
        self.assertEqual(os.waitstatus_to_exitcode(status), code, self.text)
        self.assertLessEqual(self.screen.widest, self.screen.columns)
        self.assertEqual(self.screen.column, 0)
        self.assertFalse(self.screen.hidden)
        self.assertFalse(self.screen.coloured)
        self.assertEqual(termios.tcgetattr(self.secondary), self.settings)
        return self.screen.lines


class LiveView(TerminalCase):
    def run_in(self, columns, rows, **env):
        told, gate = self.fifo("told"), self.fifo("gate")
        self.open(columns, rows, ["echo first; echo oops >&2; echo > told; read x < gate",
                                  "echo > told; read x < gate; printf 'no newline'",
                                  "for i in $(seq 50); do echo line $i; done; exit 3"], **env)
        told.lines(2)
        self.until(lambda lines: any("0/3 done, 2 running" in line for line in lines) and
                   "first" in lines and "oops" in lines and
                   sum("gpu " in line and "[" in line for line in lines) == 2)
        live = list(self.screen.lines)
        bar = next(n for n, line in enumerate(live) if "0/3 done" in line)
        self.assertEqual([line[:7] for line in live[bar + 1:bar + 3]], ["  gpu 0", "  gpu 1"])
        self.assertLess(live.index("first"), bar)
        self.assertLess(live.index("oops"), bar)
        gate.let(2)
        lines = self.close(code=1)
        # The view is gone; what jobs printed is all there, in order and unharmed.
        self.assertFalse([line for line in lines if "running" in line or "░" in line])
        self.assertEqual([line for line in lines if line.startswith("line ")],
                         [f"line {n}" for n in range(1, 51)])
        for text in ("first", "oops", "no newline"):
            self.assertEqual(lines.count(text), 1, lines)
        self.assertTrue([line for line in lines if "failed (exit 3)" in line])
        self.assertTrue([line for line in lines if line.startswith("GPU ")])
        self.assertIn("2 succeeded, 1 failed", " ".join(lines))
        return live

    def test_usual_size(self):
        live = self.run_in(80, 24)
        self.assertTrue(any("░" in line for line in live))
        self.assertGreater(self.screen.colours, 0)

    def test_small(self):
        self.run_in(40, 10)

    def test_no_colour(self):
        self.run_in(80, 24, NO_COLOR="1")
        self.assertEqual(self.screen.colours, 0)

    def test_more_devices_than_rows(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        self.open(60, 10, ["echo > told; read x < gate"], gpus="sim:30")
        told.line()
        self.until(lambda lines: any("1 running" in line for line in lines))
        self.until(lambda lines: any("more GPUs" in line for line in lines))
        self.assertLess(len(self.screen.lines), 10)
        gate.let()
        lines = self.close()
        rows = [line.split()[0] for line in lines if line.endswith("Wh")]
        self.assertEqual(rows, [str(n) for n in range(30)])

    def test_wide_commands_are_cut(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        self.open(40, 10, [": " + "長い" * 100 + "; echo > told; read x < gate"])
        told.line()
        self.until(lambda lines: any("長" in line for line in lines))
        gate.let()
        self.close()

    def test_interrupt_key(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        self.open(80, 24, ["echo > told; read x < gate; echo finished", "true", "true"],
                  gpus="sim:1")
        told.line()
        os.write(self.primary, b"\x03")
        self.until(lambda lines: any("starting nothing more" in line for line in lines))
        gate.let()
        lines = self.close(code=130)
        self.assertIn("finished", lines)

    def test_quiet_and_prefix(self):
        self.open(80, 24, ["echo a", "echo b"], "--quiet", "--prefix", gpus="sim:1")
        lines = self.close()
        self.assertIn("[1] a", lines)
        self.assertIn("[2] b", lines)
        self.assertFalse([line for line in lines if line.startswith("GPU ")])

    def test_a_terminal_that_cannot_move(self):
        self.open(80, 24, ["echo a"], TERM="dumb")
        self.assertIn("a", self.close())
        self.assertNotIn("\x1b", self.text)


class OneCommand(TerminalCase):
    def run_one(self, command, code, columns=80, gpus="sim:1x24GiB"):
        self.open(columns, 24, [], "--", "sh", "-c", command, gpus=gpus)
        return self.close(code=code)

    def test_the_command_has_a_terminal_of_the_same_size(self):
        lines = self.run_one("test -t 0 && test -t 1 && test -t 2 && stty size <&1",
                             code=0, columns=93)
        self.assertEqual(lines[0], "24 93")

    def test_an_end_by_gpu_memory_is_told_apart(self):
        lines = self.run_one(f"{BERTH} simjob --mem 30GiB", code=1, columns=400)
        self.assertIn("berth run: out of GPU memory", " ".join(lines))

    def test_nothing_that_a_command_draws_is_lost_or_out_of_order(self):
        lines = self.run_one("for i in $(seq 300); do echo out $i; echo err $i >&2; done", code=0)
        wanted = [f"{stream} {i}" for i in range(1, 301) for stream in ("out", "err")]
        self.assertEqual([line for line in lines if line][-600:], wanted)


if __name__ == "__main__":
    unittest.main()
