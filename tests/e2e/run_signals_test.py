"""berth run and signals: one lets running jobs finish, two ask them to end, three end them."""

import contextlib
import os
import signal
import unittest

from run_case import DEADLINE, RunCase, events

DEAF = "trap 'echo TERM >> asked' TERM; echo $$ > told; while :; do read x < never; done"


class Signals(RunCase):
    def setUp(self):
        super().setUp()
        self.told, self.gate = self.fifo("told"), self.fifo("gate")
        self.fifo("never")

    def begin(self, lines, *words, **options):
        process = self.launch("--json", *words, **options)
        self.feed(process, *lines)
        return process

    def send(self, process, number, says):
        """Sends a signal and waits until berth says what it did about it."""
        process.send_signal(number)
        self.assertIn(says, self.line_with(process, '"event":"warning"'))

    def summary(self, process, code):
        out, _ = self.finish(process, code)
        self.stream = events(out)
        return {key: self.stream[-1][key] for key in
                ("succeeded", "failed", "cancelled", "not_run", "interrupted")}

    def test_the_first_lets_running_jobs_finish(self):
        for number, words in ((signal.SIGINT, ()), (signal.SIGTERM, ()),
                              (signal.SIGUSR1, ("--drain-signal", "USR1")),
                              (signal.SIGUSR2, ("--drain-signal", "SIGUSR2"))):
            with self.subTest(number):
                self.write("late", "")
                process = self.begin(["echo > told; read x < gate; echo end > end",
                                      "echo late >> late", "echo late >> late"], *words,
                                     gpus="sim:1")
                self.told.line()
                self.send(process, number, "1 running jobs may finish")
                try:
                    self.feed(process, "echo late >> late")  # no longer read
                except BrokenPipeError:
                    pass
                self.assertIsNone(process.poll())
                self.gate.let()
                self.assertEqual(self.summary(process, 130),
                                 {"succeeded": 1, "failed": 0, "cancelled": 0, "not_run": 2,
                                  "interrupted": True})
                self.assertEqual(self.read("late"), "")
                self.assertEqual(self.read("end"), "end\n")

    def test_nothing_left_is_no_failure(self):
        process = self.begin(["echo > told; read x < gate"])
        self.told.line()
        self.send(process, signal.SIGINT, "may finish")
        self.gate.let()
        self.assertEqual(self.summary(process, 0)["succeeded"], 1)

    def test_while_nothing_runs(self):
        process = self.begin(["true"])
        self.line_with(process, '"event":"end"')
        process.send_signal(signal.SIGINT)
        out, _ = self.finish(process, 0)  # its input is still open
        self.assertIn('"interrupted":true', out)

    def test_the_second_asks_and_the_third_forces(self):
        process = self.begin([DEAF, DEAF, "true"], "--grace", "1h")
        pids = [int(line) for line in self.told.lines(2)]
        self.send(process, signal.SIGINT, "2 running jobs may finish")
        self.assertFalse(os.path.exists(self.path("asked")))
        self.send(process, signal.SIGTERM, "sent TERM to 2 running jobs")
        self.eventually(lambda: os.path.exists(self.path("asked")) and
                        self.read("asked") == "TERM\nTERM\n", "TERM did not come once to each")
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.summary(process, 130),
                         {"succeeded": 0, "failed": 0, "cancelled": 2, "not_run": 1,
                          "interrupted": True})
        self.gone(*pids)
        self.assertEqual([e["signal"] for e in self.stream if e["event"] == "end"], [9, 9])

    def test_two_at_once_ask(self):
        process = self.begin(["trap 'exit 7' TERM; echo > told; while :; do read x < never; done",
                              "echo > told; exec sleep 1h"], "--grace", "1h")
        self.told.lines(2)
        self.send(process, signal.SIGINT, "may finish")
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.summary(process, 130)["cancelled"], 2)

    def test_grace_ends_what_does_not_listen(self):
        process = self.begin([DEAF], "--grace", "100ms")
        pid = int(self.told.line())
        self.send(process, signal.SIGINT, "may finish")
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.summary(process, 130)["cancelled"], 1)
        self.gone(pid)

    def test_a_lost_terminal_asks_at_once(self):
        process = self.begin(["echo > told; exec sleep 1h"])
        self.told.line()
        process.send_signal(signal.SIGHUP)
        self.assertEqual(self.summary(process, 130)["cancelled"], 1)

    def test_what_was_ignored_at_the_start_stays_ignored(self):
        """As nohup does with HUP, and a shell in a script with INT of what it puts in the background."""
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGINT, signal.SIG_IGN)

        process = self.begin(["echo > told; read x < gate"], preexec_fn=ignore)
        self.told.line()
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGINT)
        self.gate.let()
        self.assertEqual(self.summary(process, 0)["succeeded"], 1)

    def test_a_failing_job_is_not_tried_again(self):
        process = self.begin(["echo $BERTH_ATTEMPT >> tried; echo > told; read x < gate; false"],
                             "--retries", "5")
        self.told.line()
        self.send(process, signal.SIGINT, "may finish")
        self.gate.let()
        self.assertEqual(self.summary(process, 130)["not_run"], 1)
        self.assertEqual(self.read("tried"), "1\n")

    def test_jobs_do_not_get_the_terminals_interrupt(self):
        """Ctrl-C goes to the whole foreground group; jobs have groups of their own."""
        process = self.launch("--json", start_new_session=True)
        self.feed(process, "trap 'echo INT > hit' INT; echo > told; read x < gate; echo end > end")
        self.told.line()
        os.killpg(process.pid, signal.SIGINT)
        self.line_with(process, '"event":"warning"')
        self.gate.let()
        self.finish(process)
        self.assertFalse(os.path.exists(self.path("hit")))
        self.assertEqual(self.read("end"), "end\n")

    def test_before_any_job(self):
        process = self.launch(gpus="0")
        interrupt = 1 << (signal.SIGINT - 1)

        def waits_for_signals():
            """Signals are blocked for moments of the start, too; only the loop reads them."""
            masks = []
            for entry in os.scandir(f"/proc/{process.pid}/fdinfo"):
                with contextlib.suppress(FileNotFoundError), open(entry.path, encoding="utf-8") as file:
                    masks += [line.split()[1] for line in file if line.startswith("sigmask")]
            return any(int(mask, 16) & interrupt for mask in masks)

        self.eventually(waits_for_signals)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(DEADLINE), 0)  # its input is still open


if __name__ == "__main__":
    unittest.main()
