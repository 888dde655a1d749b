"""schedule, under its own name: calls that share the GPUs of a machine, and what each option does."""

import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from run_case import BERTH, DEADLINE, RunCase, readable

NOBODY = 65534
BANNER = re.compile(r"GPU: (cuda\d+(?:,cuda\d+)*)\nSCH PID: (\d+)\nTASK PID: (\d+)\n"
                    r"SCH PGID: (\d+)\nTASK PGID: (\d+)\n")
FREE = "\nFree GPU:\n---------\n"


class ScheduleCase(RunCase):
    def setUp(self):
        super().setUp()
        self.name = self.path("schedule")
        os.symlink(BERTH, self.name)
        self.told, self.gate = self.fifo("told"), self.fifo("gate")

    def begin(self, *words, program=None, env=None, **options):
        process = subprocess.Popen([program or self.name, *words], env=env or self.env,
                                   cwd=self.home, stdin=options.pop("stdin", subprocess.DEVNULL),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   **options)
        self.addCleanup(self.end, process)
        process.pending = {process.stdout: b"", process.stderr: b""}
        return process

    def schedule(self, *words, code=0, **options):
        """What it and its task print, without the banner, and on standard error."""
        out, err = self.finish(self.begin(*words, **options), code)
        return BANNER.sub("", out), err

    def output(self, process):
        """Waits for it; what its task has printed."""
        return BANNER.sub("", self.finish(process)[0])

    def hold(self, *words, gate="gate"):
        """A call whose task runs until the gate lets it go; with its GPU."""
        process = self.begin(f"echo $GPU > told; read x < {gate}", *words)
        return process, self.told.line()

    def waits(self, process):
        return self.line_with(process, "waiting: ", process.stderr)


class Page(ScheduleCase):
    """The examples of its page, and what the page says of them."""

    def test_train_on_gpu_2(self):
        """`train.py foo --bar 5` will be started as soon as GPU 2 is free."""
        os.mkdir(self.path("bin"))
        self.write("bin/train.py", "#!/bin/sh\necho trained $GPU \"$@\"\n")
        os.chmod(self.path("bin/train.py"), 0o755)
        env = self.environment(PATH=self.path("bin") + ":" + self.env["PATH"])
        holder, _ = self.hold("-fg", "2")
        process = self.begin("train.py foo --bar 5", "--forced_gpu", "2", "--verbose", env=env)
        self.waits(process)
        self.gate.let()
        out = self.output(process)
        self.assertTrue(out.startswith("trained cuda2 foo --bar 5\n"), out)
        for words in ("task: ", "stdout: ", "stderr: ", "start: ", "end: ", "total time: "):
            self.assertIn("\n" + words, out)
        self.finish(holder)

    def test_five_gpus_of_which_two_are_unavailable(self):
        """-i 5 3 4 means that total count of GPUs is 5 and GPU 3 and 4 are currently unavailable."""
        self.schedule("-i", "5", "3", "4")
        self.assertEqual(self.schedule("-s")[0].split(FREE)[1], "GPU 0\nGPU 1\nGPU 2\n")
        self.schedule("-rg", "3", "4")
        self.assertEqual(self.schedule("-s")[0].split(FREE)[1],
                         "".join(f"GPU {n}\n" for n in range(5)))

    def test_four_gpus_by_default(self):
        self.assertEqual(self.schedule("-s")[0].split(FREE)[1],
                         "".join(f"GPU {n}\n" for n in range(4)))


class Basics(ScheduleCase):
    def test_environment_number_and_exit_code(self):
        task = "echo $GPU $CUDA_VISIBLE_DEVICES __num__ a__num__b; exit 3"
        for program in ((self.name,), (BERTH, "schedule")):
            out, err = self.schedule(*program[1:], task, "-fg", "2", program=program[0], code=3)
            self.assertEqual(out, "cuda2 2 3800 a3800b\n")
            self.assertEqual(err, "")
        self.schedule("kill -KILL $$", code=128 + 9)
        self.schedule("no-such-command-at-all", code=127)
        out, _ = self.schedule("echo $GPU; exec echo ${CUDA_VISIBLE_DEVICES-unset}",
                               "--all-visible")
        self.assertEqual(out, "cuda0\nunset\n")

    def test_what_looks_like_an_option_of_a_job_line_is_the_shells(self):
        self.schedule("@gpus=2 true", code=127)
        self.schedule("# nothing")

    def test_a_task_over_several_lines_is_one_command(self):
        task = "echo one\n  two \\\n--bar 5\n\n'and  blanks'\n"
        self.assertEqual(self.schedule(task)[0], "one two --bar 5 and  blanks\n")

    def test_what_is_no_shell_command_is_words(self):
        self.write("train.py", "import sys\nprint(sys.argv[1:])\n")
        self.assertEqual(self.schedule("python3 train.py --m resnet(18) 'a b' __num__")[0],
                         "['--m', 'resnet(18)', 'a b', '3600']\n")
        self.assertIn("yntax error", self.schedule("python3 train.py ')", code=2)[1])

    def test_the_banner(self):
        process = self.begin("echo $$ > told", "-fg", "2")
        task = self.told.line()
        out, _ = self.finish(process)
        group = str(os.getpgid(0))
        self.assertEqual(BANNER.fullmatch(out).groups(),
                         ("cuda2", str(process.pid), task, group, task))

    def test_a_preferred_gpu_that_is_not_there(self):
        self.assertEqual(self.schedule("echo $GPU", "-pg", "9")[0], "cuda0\n")
        self.assertIn("there is no GPU x", self.schedule("true", "-pg", "x", code=2)[1])

    def test_options_may_be_shortened(self):
        out, _ = self.schedule("echo $GPU", "--forced", "2", "--verb", "-oout")
        self.assertEqual(self.read("out"), "cuda2\n")
        self.assertIn("total time", out)
        self.assertIn("GPU 3", self.schedule("-i4", "--stat")[0])

    def test_the_users_device_order_stays(self):
        env = self.environment(CUDA_DEVICE_ORDER="FASTEST_FIRST")
        self.assertEqual(self.schedule("echo $CUDA_DEVICE_ORDER", env=env)[0], "FASTEST_FIRST\n")

    def test_standard_input_is_passed_on(self):
        path = self.write("input", "hello\n")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(self.schedule("cat", stdin=file)[0], "hello\n")

    def test_outputs_and_account(self):
        self.write("out", "what was there before, and longer\n")
        out, err = self.schedule("echo words; echo errors >&2", "-o", "out", "-e", "err", "-v")
        self.assertEqual((self.read("out"), self.read("err"), err), ("words\n", "errors\n", ""))
        time = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
        self.assertRegex(out, r"\Atask: +echo words; echo errors >&2\ngpu: +cuda0\nstdout: +out\n"
                         rf"stderr: +err\nstart: +{time}\nend: +{time}\ntotal time: +\d+\.\ds\n\Z")
        self.schedule("echo words; echo errors >&2", "-o", "out", "-e", "out")
        self.assertEqual(self.read("out"), "words\nerrors\n")
        out, err = self.schedule("echo words", "--verbose", "-o", "--err")
        self.assertTrue(out.startswith("words\ntask:"), out)
        self.assertIn("standard output", out)
        _, err = self.schedule("true", "-o", "no/such/folder", code=1)
        self.assertIn("cannot write no/such/folder", err)

    def test_mistakes_say_what_to_do(self):
        for words, says in ((("true", "-gc", "5"), "there are only 4"), ((), "no task given"),
                            (("true", "-fg", "9"), "there is no GPU 9"),
                            (("true", "-gc", "2", "-fg", "1"), "there is only 1"),
                            (("true", "-gc", "0"), "-gc must be"), (("-i", "x"), "not a number"),
                            (("-i", "0"), "the total"), (("-i", "2", "2"), "no GPU 2"),
                            (("-rg", "7"), "there is no GPU 7"), (("a", "b"), "unexpected word")):
            with self.subTest(words):
                self.assertIn(says, self.schedule(*words, code=2)[1])

    def test_which_gpu(self):
        self.assertEqual(self.schedule("echo $GPU", "-pg", "3")[0], "cuda3\n")
        _, gpu = self.hold("--prefered_gpu", "3")
        self.assertEqual(gpu, "cuda3")
        self.assertEqual(self.schedule("echo $GPU", "-pg", "3")[0], "cuda0\n")
        forced = self.begin("echo $GPU", "--forced_gpu", "3")
        self.assertIn("1 in use by another berth", self.waits(forced))
        self.gate.let()
        self.assertEqual(self.output(forced), "cuda3\n")
        self.assertEqual(self.schedule("echo $GPU", "-fg", "1,2")[0], "cuda1\n")

    def test_simulated_and_driver_gpus(self):
        env = self.environment(BERTH_GPUS="sim:2")
        out, _ = self.schedule("echo $GPU $CUDA_VISIBLE_DEVICES", "-gc", "2", env=env)
        self.assertRegex(out, r"^cuda0,cuda1 GPU-[-\w]+,GPU-[-\w]+$")


class Sharing(ScheduleCase):
    def test_the_third_of_two_waits(self):
        self.schedule("-i", "2")
        first, gpu = self.hold(gate="gate")
        other = self.fifo("other")
        second, second_gpu = self.hold(gate="other")
        self.assertEqual({gpu, second_gpu}, {"cuda0", "cuda1"})
        third = self.begin("echo $GPU")
        self.assertIn("none has room now (2 in use by another berth)", self.waits(third))
        other.let()
        self.assertEqual(self.output(third), second_gpu + "\n")
        self.finish(second)
        self.gate.let()
        self.finish(first)

    def test_kill_9_frees_at_once(self):
        self.schedule("-i", "1")
        first, _ = self.hold()
        second = self.begin("echo $GPU")
        self.waits(second)
        first.kill()
        self.assertEqual(self.output(second), "cuda0\n")

    def test_kill_9_frees_nothing_that_still_runs(self):
        self.schedule("-i", "1")
        first = self.begin("trap 'echo asked > told' TERM; echo started > told; "
                           "while ! read x < gate; do :; done; echo > ended")
        self.assertEqual(self.told.line(), "started")
        second = self.begin("test -e ended && echo after")
        self.waits(second)
        first.kill()
        self.assertEqual(self.told.line(), "asked")
        self.assertIsNone(second.poll())
        self.gate.let()
        self.assertEqual(self.output(second), "after\n")

    def test_first_come_first_served(self):
        self.schedule("-i", "1")
        self.hold()
        waiting = []
        for number in range(4):
            process = self.begin(f"echo {number} > told")
            self.waits(process)
            if number > 0:
                self.eventually(lambda: self.blocked(process.pid))
            waiting.append(process)
        self.gate.let()
        self.assertEqual(self.told.lines(4), ["0", "1", "2", "3"])
        for process in waiting:
            self.finish(process)

    @staticmethod
    def blocked(pid):
        with open("/proc/locks", encoding="utf-8") as file:
            return re.search(rf"-> FLOCK +ADVISORY +WRITE {pid} ", file.read())

    def test_one_that_wants_another_gpu_does_not_stand_in_the_way(self):
        self.schedule("-i", "2")
        self.hold("-fg", "0")
        head = self.begin("echo $GPU", "-fg", "0")
        self.waits(head)
        self.assertEqual(self.schedule("echo $GPU")[0], "cuda1\n")
        self.gate.let()
        self.finish(head)

    def test_several_gpus_all_or_nothing(self):
        self.schedule("-i", "3")
        self.hold("-fg", "1")
        pairs = [self.begin("echo $GPU > told; read x < gate", "-gc", "2") for _ in range(2)]
        self.assertEqual(self.told.line(), "cuda0,cuda2")
        self.gate.let()  # one of the two goes, and then the other
        self.gate.let()
        self.assertIn(self.told.line(), ("cuda0,cuda1", "cuda0,cuda2", "cuda1,cuda2"))
        self.gate.let()
        for process in pairs:
            self.finish(process)

    def test_many_at_once_never_share(self):
        self.schedule("-i", "2")
        for gpu in (0, 1):
            os.mkdir(self.path(f"cuda{gpu}"))
        # mkdir fails for the second of two that are on one GPU.
        task = "for g in $(echo $GPU | tr , ' '); do mkdir $g/mine || exit 9; done; " \
               "for g in $(echo $GPU | tr , ' '); do rmdir $g/mine; done"
        calls = [self.begin(task, "-gc", str(1 + i % 2)) for i in range(16)]
        for process in calls:
            self.finish(process)

    def test_with_berth_run(self):
        self.schedule("-i", "1")
        run = self.launch(gpus="0")
        self.feed(run, "echo run > told; read x < gate")
        self.assertEqual(self.told.line(), "run")
        out, _ = self.schedule("-s")
        self.assertRegex(out, rf"0 +berth run +{run.pid} ")
        task = self.begin("echo $GPU > told; read x < gate")
        self.waits(task)
        self.gate.let()
        self.assertEqual(self.told.line(), "cuda0")
        self.feed(run, "echo again")
        self.line_with(run, "GPU 0 is in use by another berth (", run.stderr)
        self.gate.let()
        self.finish(task)
        self.assertEqual(self.finish(run)[0], "again\n")


class State(ScheduleCase):
    def test_closed_gpus_are_not_used_until_released(self):
        self.schedule("-i", "3", "0", "2")
        self.assertEqual(self.schedule("echo $GPU")[0], "cuda1\n")
        forced = self.begin("echo $GPU", "-fg", "2")
        self.waits(forced)
        self.assertEqual(self.schedule("-rg", "2")[0], "GPU 2 is open again\n")
        self.assertEqual(self.output(forced), "cuda2\n")
        out, _ = self.schedule("-s")
        table, free = out.split(FREE)
        self.assertEqual(len(table.splitlines()), 2)
        self.assertIn("closed by schedule -i", table)
        self.assertEqual(free, "GPU 1\nGPU 2\n")
        self.assertEqual(self.schedule("--release_gpu", "0", "1")[0],
                         "GPU 0 is open again\nGPU 1 is free already\n")
        self.assertEqual(self.schedule("echo $GPU")[0], "cuda0\n")

    def test_nonsense_in_the_shared_file_is_as_nothing(self):
        self.schedule("-i", "2")
        path = os.path.join(self.env["BERTH_LOCKS"], ".berth-schedule")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o666)
        for text in (b"\xff\0\n", b"", b"999999999999\n", b"-3\n1\n"):
            with open(path, "wb") as file:
                file.write(text)
            self.assertEqual(self.schedule("echo $GPU", "-fg", "3")[0], "cuda3\n")

    def test_status(self):
        table, free = self.schedule("-s")[0].split(FREE)
        self.assertEqual(table.split(), ["USER", "GPU", "TASK", "PID", "START"])
        self.assertEqual(free, "GPU 0\nGPU 1\nGPU 2\nGPU 3\n")
        first, _ = self.hold("-fg", "1")
        second = self.begin("echo > told; printf '\\033[31m'; read x < gate", "-gc", "2")
        self.told.line()
        table, free = self.schedule("--status")[0].split(FREE)
        self.assertEqual(free, "GPU 3\n")
        lines = table.splitlines()
        self.assertEqual(len(lines), 4)
        self.assertRegex(lines[2], rf"^\S+ +1 +echo \$GPU > told; read x < gate +{first.pid} "
                         r"+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")
        self.assertEqual([line.split()[1] for line in lines[1:]], ["0", "1", "2"])
        self.assertIn(str(second.pid), lines[3])
        self.assertNotIn("\033", "".join(lines))

    def test_status_comes_before_the_task(self):
        self.schedule("-i", "1")
        out, _ = self.schedule("-s", "echo words")
        self.assertEqual(out.split(FREE)[1], "GPU 0\nwords\n")
        self.hold()
        self.assertTrue(self.schedule("-s")[0].endswith("\nNo GPU available.\n"))

    def test_releasing_ends_the_own_call_that_has_it(self):
        first, _ = self.hold("-fg", "1")
        out, _ = self.schedule("-rg", "1")
        self.assertIn(f"process {first.pid}", out)
        _, err = self.finish(first, 128 + 15)
        self.assertIn("sent TERM to the task", err)
        self.assertEqual(self.schedule("echo $GPU", "-fg", "1")[0], "cuda1\n")
        hung = self.begin(self.name, "echo > told; read x < gate", "-fg", "1", program="nohup")
        self.told.line()
        self.schedule("-rg", "1")
        self.finish(hung, 128 + 15)

    def test_what_is_not_a_schedule_call_is_not_ended(self):
        run = self.launch(gpus="0")
        self.feed(run, "echo > told; read x < gate")
        self.told.line()
        _, err = self.schedule("-rg", "0", code=1)
        self.assertIn("end its job there", err)
        self.gate.let()
        self.finish(run)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be two users")
    def test_other_users(self):
        shared = tempfile.mkdtemp(prefix="berth-shared-")
        self.addCleanup(shutil.rmtree, shared)
        os.chmod(shared, 0o1777)
        shutil.copy(BERTH, shared + "/schedule")
        self.env = self.environment(BERTH_LOCKS=shared + "/locks")

        def nobody(*words, code=0):
            done = subprocess.run([shared + "/schedule", *words], env=self.env, cwd="/", text=True,
                                  capture_output=True, timeout=DEADLINE, user=NOBODY, group=NOBODY,
                                  extra_groups=[], stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, code, done.stderr)
            return done
        nobody("-i", "2", "1")
        first, gpu = self.hold()
        self.assertEqual(gpu, "cuda0")
        self.assertIn("or root can release it", nobody("-rg", "0", code=1).stderr)
        self.assertEqual(first.poll(), None)
        self.schedule("-rg", "1")  # of nobody's file
        self.assertEqual(BANNER.sub("", nobody("echo $GPU").stdout), "cuda1\n")
        self.assertRegex(nobody("-s").stdout, rf"root +0 .* {first.pid} ")
        self.gate.let()
        self.finish(first)
        self.assertEqual(BANNER.sub("", nobody("echo $GPU").stdout), "cuda0\n")


class Interrupts(ScheduleCase):
    def in_terminal(self, *words, program=None):
        """Starts it as a shell would, with a terminal of its own; the other end of that."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.home)
            os.execve(program or self.name, [program or self.name, *words], self.env)
        self.addCleanup(os.close, terminal)
        self.addCleanup(self.reap, pid)
        return pid, terminal

    @staticmethod
    def reap(pid):
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def code_of(self, pid):
        self.eventually(lambda: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_warns_asks_kills(self):
        pid, terminal = self.in_terminal(
            "trap 'echo INT > told' INT; trap 'echo TERM > told' TERM; echo ready > told; "
            "while :; do read x < gate; done", "-v")
        self.assertEqual(self.told.line(), "ready")
        os.write(terminal, b"\x03")
        self.read_until(terminal, b"the task goes on; again ends it (TERM)")
        os.write(terminal, b"\x03")
        self.read_until(terminal, b"sent TERM to the task")
        self.assertEqual(self.told.line(), "TERM")  # and no INT before it
        os.write(terminal, b"\x03")
        text = self.read_until(terminal, b"total time")
        self.assertIn(b"killed the task", text)
        self.assertEqual(self.code_of(pid), 128 + 9)
        self.assertEqual(self.schedule("echo $GPU")[0], "cuda0\n")

    def test_the_task_may_go_on_after_the_warning(self):
        pid, terminal = self.in_terminal("echo ready > told; read x < gate; exit 5")
        self.told.line()
        os.write(terminal, b"\x03")
        self.read_until(terminal, b"the task goes on")
        self.gate.let()
        self.assertEqual(self.code_of(pid), 5)

    def test_the_task_has_the_terminals_input(self):
        self.write("ask.py", "word = input('word? ')\nbreakpoint()\nprint('got', word)\n")
        pid, terminal = self.in_terminal("python3 ask.py")
        self.read_until(terminal, b"word? ")
        os.write(terminal, b"hello\n")
        self.read_until(terminal, b"(Pdb) ")
        os.write(terminal, b"p word * 2\n")
        self.read_until(terminal, b"'hellohello'")
        os.write(terminal, b"continue\n")
        self.read_until(terminal, b"got hello")
        self.assertEqual(self.code_of(pid), 0)

    def test_a_task_in_the_background_leaves_the_terminal_to_others(self):
        pid, terminal = self.in_terminal(
            "-mc", "./schedule 'cat; echo over > told; read x < gate' & read y; echo \"[$y]\"; wait",
            program="/bin/bash")
        self.assertEqual(self.told.line(), "over")
        os.write(terminal, b"for the shell\n")
        self.read_until(terminal, b"[for the shell]")
        self.gate.let()
        self.assertEqual(self.code_of(pid), 0)

    def test_what_was_ignored_stays_ignored(self):
        process = self.begin(self.name, "echo > told; read x < gate; exit 4", program="nohup",
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        self.told.line()
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGINT)
        self.gate.let()
        _, err = self.finish(process, 4)
        self.assertNotIn("the task", err)

    def test_while_it_waits(self):
        self.schedule("-i", "1")
        first, _ = self.hold()
        second, third = (self.begin("echo > ran") for _ in range(2))
        self.waits(second)
        self.waits(third)
        for process in (second, third):
            process.send_signal(signal.SIGINT)
        codes = sorted(process.wait(DEADLINE) for process in (second, third))
        self.assertEqual(codes, [-signal.SIGINT, 130])
        self.gate.let()
        self.finish(first)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_a_deaf_reader_does_not_matter(self):
        process = self.begin("echo ready > told; read x < gate; echo words", "-v")
        self.told.line()
        process.stdout.close()
        self.gate.let()
        self.assertTrue(readable(os.pidfd_open(process.pid), DEADLINE))


if __name__ == "__main__":
    unittest.main()
