"""What a job may say of itself and what it finds: blocks, options, order, limits, environment."""

import os
import re
import signal
import unittest

from run_case import RunCase, events, of_kind


def ends(stream):
    return {event["job"]: event for event in of_kind(stream, "end")}


class Commands(RunCase):
    def test_blocks(self):
        self.run_jobs("""# a comment, and a blank line

<<END
x='two  words'
  # a comment of the shell's
if true; then
  echo "$x" >> seen
fi
END
@name=b <<EOF_2
cat > copied <<END
inner
END
EOF_2
   echo indented >> seen
""", gpus="sim:1")
        self.assertEqual(self.read("seen"), "two  words\nindented\n")
        self.assertEqual(self.read("copied"), "inner\n")

    def test_nul_separated(self):
        stream = self.run_events(b"echo one\necho two\0@name=n # not a comment\necho $BERTH_NAME\0"
                                 b"printf three", "-0", gpus="sim:1")
        said = {}
        for event in of_kind(stream, "output"):
            said[event["job"]] = said.get(event["job"], "") + event["text"]
        self.assertEqual(said, {1: "one\ntwo\n", 2: "n\n", 3: "three\n"})

    def test_windows_line_ends(self):
        self.run_jobs("echo a > seen\r\n", gpus="sim:1")
        self.assertEqual(self.read("seen"), "a\n")

    def test_at_sign_that_is_no_option(self):
        stream = self.run_events(["@reboot", "echo @gpus=9 x"], gpus="sim:1", code=1)
        self.assertEqual(ends(stream)[1]["exit_code"], 127)
        self.assertEqual(of_kind(stream, "output")[-1]["text"], "@gpus=9 x\n")

    def test_priority(self):
        path = self.write("jobs", "".join(f"@priority={p} echo {p} >> order\n"
                                          for p in (3, 0, -2, 3, 1)))
        self.run_jobs("", path, gpus="sim:1")
        self.assertEqual(self.read("order").split(), ["-2", "0", "1", "3", "3"])

    def test_share_lets_jobs_meet(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch(gpus="sim:1")
        self.feed(process, *["@share=50 echo x > told; read x < gate"] * 2)
        told.lines(2)  # both run at once on the one device
        gate.let(2)
        self.finish(process)

    def test_jobs_without_gpus(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch("--json", gpus="sim:1")
        self.feed(process, "echo 1 > told; read x < gate",
                  '@gpus=0 echo "[$CUDA_VISIBLE_DEVICES$BERTH_GPUS]" > told')
        self.assertEqual(sorted(told.lines(2)), ["1", "[]"])  # beside the one on the only device
        gate.let()
        self.finish(process)


class Order(RunCase):
    LINES = ["@name=good echo good >> order", "@name=bad echo bad >> order; exit 3",
             "@after=good echo after-good >> order", "@after=ok:bad echo wrong >> order",
             "@after=notok:bad echo after-bad >> order", "@after=notok:good echo wrong >> order",
             "@after=any:bad,1 echo after-both >> order", "@after=ok:4 echo wrong >> order",
             "@after=any:4 echo after-skipped >> order"]
    RUN = {"good", "bad", "after-good", "after-bad", "after-both", "after-skipped"}

    def check(self, stream):
        order = self.read("order").split()
        self.assertEqual(set(order), self.RUN)
        self.assertEqual(len(order), 6)
        self.assertLess(order.index("good"), order.index("after-good"))
        self.assertLess(max(order.index("good"), order.index("bad")), order.index("after-both"))
        state = {job: event["state"] for job, event in ends(stream).items()}
        self.assertEqual({job for job, s in state.items() if s == "cancelled"}, {4, 6, 8})
        for job in (4, 6, 8):
            self.assertIn("follows", ends(stream)[job]["reason"])
        summary = stream[-1]
        self.assertEqual([summary[k] for k in ("succeeded", "failed", "not_run", "invalid")],
                         [5, 1, 3, 0])

    def test_by_name_and_number(self):
        self.check(self.run_events("", self.write("jobs", "\n".join(self.LINES)), gpus="sim:4",
                                   code=1))

    def test_lines_that_arrive_after_what_they_follow(self):
        """The same outcome, counts and numbers when the others have long ended."""
        process = self.launch("--json", gpus="sim:4")
        stream = ""
        for number, line in enumerate(self.LINES, 1):
            self.feed(process, line)
            while f'"end","job":{number},' not in stream:
                stream += self.line(process)
        out, _ = self.finish(process, code=1)
        self.check(events(stream + out))

    def test_a_later_run_knows_how_long_jobs_ran(self):
        jobs = self.write("jobs", "echo slow >> order\necho quick >> order\n")
        self.run_jobs("", jobs, gpus="sim:1")
        self.assertEqual(self.read("order").split(), ["slow", "quick"])  # nothing is known yet
        # As if the one had run for hours.
        peaks, lengthened = re.subn(rf"(?m)^(\d+)/(\d+)/{os.getuid()}\t(.*slow.*)$",
                                    rf"\1/9\g<2>00000/{os.getuid()}\t\3", self.read("peaks"))
        self.assertEqual(lengthened, 1, peaks)
        self.write("peaks", peaks)
        self.run_jobs("", jobs, gpus="sim:1")
        self.assertEqual(self.read("order").split()[2:], ["quick", "slow"])

    def test_a_chain_runs_in_order(self):
        lines = ["@name=0 echo 0 >> order"]
        lines += [f"@name={n} @after=ok:{n - 1} echo {n} >> order" for n in range(1, 20)]
        self.run_jobs("", self.write("jobs", "\n".join(lines)), gpus="sim:4")
        self.assertEqual(self.read("order").split(), [str(n) for n in range(20)])


class Limits(RunCase):
    def setUp(self):
        super().setUp()
        self.told = self.fifo("told")
        self.fifo("never")  # nobody writes to it
        self.write("deaf.sh", "trap '' TERM; echo $$ > told; while :; do read x < never; done")

    def test_term_then_kill_of_the_whole_tree(self):
        """A job, its child, one in another session and an orphan there, all deaf to TERM."""
        process = self.launch("--grace", "100ms", "--json", gpus="sim:1")
        self.feed(process, "@timeout=500ms <<END", "sh deaf.sh &",
                  "setsid sh -c 'sh deaf.sh & sh deaf.sh' &", "setsid sh -c 'sh deaf.sh &'",
                  "exec sh deaf.sh", "END")
        pids = [int(line) for line in self.told.lines(5)]
        out, _ = self.finish(process, code=124)
        self.gone(*pids)
        self.assertIn('"state":"timed_out"', out)
        self.assertIn('"signal":9', out)

    def test_term_is_enough_for_most(self):
        stream = self.run_events(["@timeout=200ms trap 'echo asked > asked; exit 0' TERM; "
                                  "while :; do read x < never; done"], "--grace", "1h", code=124)
        self.assertEqual(self.read("asked"), "asked\n")
        self.assertEqual(ends(stream)[1]["state"], "timed_out")
        self.assertEqual(stream[-1]["timed_out"], 1)

    def test_a_limit_for_all(self):
        stream = self.run_events(["read x < never", "true", "@timeout=1h true"], "--timeout",
                                 "300ms", code=124)
        self.assertEqual([ends(stream)[n]["state"] for n in (1, 2, 3)],
                         ["timed_out", "succeeded", "succeeded"])

    def test_what_a_job_leaves_behind_is_ended(self):
        ready = self.fifo("ready")
        process = self.launch()
        self.feed(process, "sh deaf.sh & setsid sh deaf.sh & read x < ready")
        pids = [int(line) for line in self.told.lines(2)]
        ready.let()
        self.finish(process)
        self.gone(*pids)


class Retries(RunCase):
    def test_attempts(self):
        stream = self.run_events(["echo $BERTH_ATTEMPT >> one; [ $BERTH_ATTEMPT -ge 3 ]",
                                  "@retries=0 echo $BERTH_ATTEMPT >> two; exit 4",
                                  "@retries=1 echo $BERTH_ATTEMPT >> three; exit 5"],
                                 "--retries", "7", gpus="sim:1", code=1)
        self.assertEqual(self.read("one").split(), ["1", "2", "3"])
        self.assertEqual(self.read("two").split(), ["1"])
        self.assertEqual(self.read("three").split(), ["1", "2"])
        tried = {}
        for event in stream:
            if event["event"] in ("start", "retry", "end"):
                tried.setdefault(event["job"], []).append((event["event"], event["attempt"]))
        self.assertEqual(tried[1], [("start", 1), ("retry", 1), ("start", 2), ("retry", 2),
                                    ("start", 3), ("end", 3)])
        self.assertEqual(tried[3], [("start", 1), ("retry", 1), ("start", 2), ("end", 2)])
        self.assertEqual(ends(stream)[3]["exit_code"], 5)
        self.assertEqual([stream[-1][k] for k in ("succeeded", "failed", "retries")], [1, 2, 3])

    def test_a_job_over_its_limit_is_tried_again(self):
        never = self.fifo("never")
        stream = self.run_events([f"@timeout=200ms @retries=1 [ $BERTH_ATTEMPT = 2 ] || "
                                  f"read x < {never.path}"])
        self.assertEqual(of_kind(stream, "retry")[0]["state"], "timed_out")
        self.assertEqual(ends(stream)[1]["state"], "succeeded")


class ExitCodes(RunCase):
    def test_table(self):
        for lines, code in ((["true"], 0), (["false", "true"], 1), (["kill -9 $$"], 1),
                            (["/nowhere/program"], 1), (["@x=1 true", "true"], 2)):
            self.run_jobs(lines, code=code)

    def test_how_a_job_died(self):
        stream = self.run_events(["kill -SEGV $$", "exit 42", "/nowhere/program"], code=1)
        end = ends(stream)
        self.assertEqual((end[1]["signal"], end[1]["exit_code"]), (signal.SIGSEGV, None))
        self.assertEqual(end[1]["reason"], "killed by SIGSEGV")
        self.assertEqual((end[2]["signal"], end[2]["exit_code"]), (None, 42))
        self.assertEqual(end[3]["exit_code"], 127)
        self.assertEqual(end[3]["pid"], of_kind(stream, "start")[2]["pid"])


class Environment(RunCase):
    def environments(self, *lines, **options):
        """The environment of each job, by its number."""
        self.run_jobs([line + " env -0 > env.$BERTH_JOB_ID" for line in lines], **options)
        found = []
        for number in range(1, len(lines) + 1):
            entries = self.read(f"env.{number}").split("\0")
            found.append(dict(entry.split("=", 1) for entry in entries if entry))
        return found

    def test_variables(self):
        outer = self.environment(CUDA_VISIBLE_DEVICES="5", CUDA_DEVICE_ORDER="FASTEST_FIRST",
                                 BERTH_END_TIME="1", BERTH_NAME="outer", MINE="kept")
        plain, full, cpu = self.environments("", "@name=n @project=p @gpus=2 @timeout=1h",
                                             "@gpus=0", gpus="7,9", env=outer)
        self.assertEqual(plain["CUDA_VISIBLE_DEVICES"], plain["BERTH_GPUS"])
        self.assertIn(plain["BERTH_GPUS"], ("7", "9"))
        self.assertEqual(plain["CUDA_DEVICE_ORDER"], "FASTEST_FIRST")  # as the user has set it
        self.assertEqual((plain["BERTH_JOB_ID"], plain["BERTH_ATTEMPT"]), ("1", "1"))
        self.assertEqual((plain.get("BERTH_NAME", ""), plain.get("BERTH_PROJECT", "")), ("", ""))
        self.assertNotIn("BERTH_END_TIME", plain)
        self.assertEqual(plain["MINE"], "kept")
        self.assertEqual(full["CUDA_VISIBLE_DEVICES"], "7,9")
        self.assertEqual(full["BERTH_GPUS"], "7,9")
        self.assertEqual((full["BERTH_NAME"], full["BERTH_PROJECT"]), ("n", "p"))
        started = os.path.getmtime(self.path("env.2"))
        self.assertAlmostEqual(float(full["BERTH_END_TIME"]) - started, 3600, delta=60)
        self.assertEqual(cpu["CUDA_VISIBLE_DEVICES"], "")
        self.assertEqual(cpu["BERTH_GPUS"], "")

    def test_devices_are_named_by_uuid_where_known(self):
        plain, = self.environments("@gpus=2", gpus="sim:2")
        self.assertEqual(plain["BERTH_GPUS"], "0,1")
        self.assertEqual(len({u for u in plain["CUDA_VISIBLE_DEVICES"].split(",")
                              if u.startswith("GPU-")}), 2)

    def test_input_group_and_descriptors(self):
        inherited = os.open("/dev/null", os.O_RDONLY)
        os.set_inheritable(inherited, True)
        self.addCleanup(os.close, inherited)
        for words in ((), ("--json",), ("--log-dir", "logs"), ("--joblog", "log", "--prefix")):
            process = self.launch(*words, gpus="sim:2", close_fds=False)
            self.feed(process, "readlink /proc/$$/fd/0 > in; ls /proc/self/fd > fds; "
                      "cut -d' ' -f1,5 /proc/$$/stat > group")
            self.finish(process)
            self.assertEqual(self.read("in"), "/dev/null\n")
            # 3 is the folder that ls reads, 50 the lock of the device.
            self.assertEqual(self.read("fds").split(), ["0", "1", "2", "3", "50"], words)
            pid, group = self.read("group").split()
            self.assertEqual(pid, group)

    def test_signals_are_as_usual(self):
        self.run_jobs(["grep -E 'Sig(Blk|Ign)' /proc/self/status > signals"])
        for line in self.read("signals").splitlines():
            # 32 and up are the C library's own; whoever started this test may have left them so.
            self.assertEqual(int(line.split()[1], 16) & 0x7FFFFFFF, 0, line)


if __name__ == "__main__":
    unittest.main()
