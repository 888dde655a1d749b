"""GPU memory in berth run: learning, packing, running out, and who is to blame."""

import os
import subprocess
import unittest

from run_case import BERTH, DEADLINE, GIB, RunCase, events, of_kind

JOB = "$B simjob --mem {mem}GiB --hold {hold}ms"


class MemoryCase(RunCase):
    def setUp(self):
        super().setUp()
        self.env["BERTH_SIM_STATE"] = self.path("devices")
        self.env["B"] = BERTH

    def most_at_once(self, stream):
        running, most = 0, 0
        for event in stream:
            running += {"start": 1, "end": -1}.get(event["event"], 0)
            most = max(most, running)
        return most


class Learning(MemoryCase):
    def test_what_is_not_known_runs_alone_and_is_known_the_next_time(self):
        jobs = [JOB.format(mem=5, hold=1200 + i) for i in range(4)]
        first = self.run_events(jobs, gpus="sim:1x24GiB")
        self.assertEqual(of_kind(first, "end")[0]["peak_memory_bytes"], 5 * GIB)
        # The second job shows that how long it holds the memory does not matter: then two fit.
        self.assertLessEqual(self.most_at_once(first), 3)
        second = self.run_events(jobs, gpus="sim:1x24GiB")
        self.assertEqual(self.most_at_once(second), 4)
        off = self.run_events(jobs, "--mem", "off", gpus="sim:1x24GiB")
        self.assertEqual(self.most_at_once(off), 1)
        given = self.run_events(["@mem=10GiB " + job for job in jobs], gpus="sim:1x24GiB")
        self.assertEqual(self.most_at_once(given), 2)

    def test_a_number_that_matters_keeps_its_own_claim(self):
        small, large = JOB.format(mem=2, hold=1200), JOB.format(mem=15, hold=1200)
        self.run_events([small, large], gpus="sim:1x24GiB")
        stream = self.run_events([small] * 4 + [large], gpus="sim:1x24GiB")
        self.assertEqual([e["state"] for e in of_kind(stream, "end")], ["succeeded"] * 5)
        self.assertGreaterEqual(self.most_at_once(stream), 4)

    def test_a_profile_comes_first_where_nothing_is_known(self):
        job = "if [ $BERTH_ATTEMPT = 1 ]; then hold=1h; else hold=10ms; fi; exec $B simjob --mem 5GiB " \
              "--hold $hold"
        stream = self.run_events([job], "--profile", "1s", gpus="sim:1x24GiB")
        self.assertEqual([(e["state"], e["reason"]) for e in of_kind(stream, "retry")],
                         [("cancelled", "profiled")])
        self.assertEqual([e["state"] for e in of_kind(stream, "end")], ["succeeded"])
        # Now it is known: no second profile, and two at once.
        job = job.replace("[ $BERTH_ATTEMPT = 1 ]", "false").replace("10ms", "1200ms")
        self.run_events([job], gpus="sim:1x24GiB")
        stream = self.run_events([job] * 2, "--profile", "1s", gpus="sim:1x24GiB")
        self.assertEqual(of_kind(stream, "retry"), [])
        self.assertEqual(self.most_at_once(stream), 2)

    def test_jobs_shorter_than_the_usual_interval_are_measured_too(self):
        stream = self.run_events([JOB.format(mem=3, hold=700)], gpus="sim:1x24GiB")
        self.assertEqual(of_kind(stream, "end")[0]["peak_memory_bytes"], 3 * GIB)


class RunningOut(MemoryCase):
    def test_a_claim_that_is_too_small_grows(self):
        gate = self.fifo("gate")
        process = self.launch("--json", gpus="sim:1x24GiB")
        self.feed(process, "@mem=14GiB sh -c '$B simjob --mem 13GiB --hold 1h & read x < gate; "
                           "kill $!'")
        self.line_with(process, '"event":"start"')
        self.eventually(lambda: "13.0" in self.berth("gpus", "--gpus", "sim:1x24GiB").stdout)
        # It needs 12 GiB, claims 6, and finds 11.
        self.feed(process, "@mem=6GiB $B simjob --mem 12GiB --hold 10ms")
        end = self.line_with(process, '"event":"retry"')
        self.assertIn('"state":"oom"', end)
        self.assertIn("it ran out of GPU memory: it wanted 12.0 GiB", end)
        gate.let()
        out, _ = self.finish(process)
        self.assertEqual(events(out)[-1]["succeeded"], 2)
        self.assertEqual(events(out)[-1]["failed"], 0)

    def test_a_victim_is_told_who_did_it_and_keeps_its_retries(self):
        told, offender, victim = self.fifo("told"), self.fifo("offender"), self.fifo("victim")
        process = self.launch("--json", gpus="sim:1x24GiB")
        self.feed(process, "@mem=4GiB sh -c 'read x < offender; $B simjob --mem 16GiB --hold 1h & "
                           "read x < offender; kill $!'",
                  "@mem=10GiB sh -c 'echo > told; read x < victim; exec $B simjob --mem 10GiB "
                  "--hold 10ms'")
        for _ in range(2):
            self.line_with(process, '"event":"start"')
        told.line()
        offender.let()
        self.eventually(lambda: "16.0" in self.berth("gpus", "--gpus", "sim:1x24GiB").stdout)
        victim.let()
        end = self.line_with(process, '"event":"retry"')
        self.assertIn('"state":"oom"', end)
        self.assertIn("because job 1 used more than it claimed", end)
        offender.let()  # before it ends there is no room for the victim
        told.line()
        victim.let()
        out, _ = self.finish(process)
        self.assertEqual(events(out)[-1]["succeeded"], 2)

    def test_alone_and_still_too_large_is_an_end(self):
        stream = self.run_events(["$B simjob --mem 30GiB"], gpus="sim:1x24GiB", code=1)
        self.assertEqual([e["state"] for e in of_kind(stream, "end")], ["oom"])
        self.assertEqual(of_kind(stream, "retry"), [])

    def test_it_is_seen_whatever_the_outputs_are(self):
        with open(self.path("jobs"), "w", encoding="utf-8") as jobs:
            jobs.write("$B simjob --mem 30GiB\necho fine\n")
        for outputs in ("> log 2>&1", "> log 2> errors", "2>&1 | cat > log", "> /dev/null 2> errors",
                        "--prefix > log 2>&1"):
            with self.subTest(outputs):
                done = subprocess.run(["sh", "-c", f"$B run --gpus sim:1x24GiB jobs {outputs}; true"],
                                      cwd=self.home, env=self.env, check=True, timeout=DEADLINE)
                self.assertEqual(done.returncode, 0)
                with open(self.path("errors" if "2> errors" in outputs else "log"), encoding="utf-8") as file:
                    text = file.read()
                self.assertIn("[1] ran out of GPU memory", text)
                self.assertIn("OutOfMemoryError", text)

    def test_enforced_claims(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch("--json", "--enforce", gpus="sim:1x24GiB")
        self.feed(process, "@mem=4GiB sh -c 'echo > told; read x < gate'",
                  "@mem=4GiB $B simjob --mem 8GiB --hold 1500ms")
        told.line()
        end = self.line_with(process, '"event":"retry"')
        self.assertIn('"state":"oom"', end)
        gate.let()
        out, _ = self.finish(process)
        self.assertEqual(events(out)[-1]["succeeded"], 2)


class Drivers(MemoryCase):
    """The same work through NVIDIA's interface and on simulated devices directly."""

    def decisions(self, gpus, env):
        jobs = [f"@mem={mem}GiB @name=j{i} env -u LD_LIBRARY_PATH $B simjob --mem {mem}GiB --hold "
                f"{hold}ms" for i, (mem, hold) in enumerate([(9, 1500), (8, 1500), (12, 600),
                                                             (20, 1500), (5, 1500), (6, 600)])]
        stream = self.run_events(jobs, gpus=gpus, env=env)
        # What starts at once, before anything has ended, depends on the state alone.
        starts = []
        for event in stream:
            if event["event"] == "end":
                break
            if event["event"] == "start":
                starts.append((event["job"], len(event["gpus"]), event["gpus"]))
        return starts, {e["job"]: e["peak_memory_bytes"] for e in of_kind(stream, "end")}

    def test_decide_alike(self):
        self.berth("gpus", "--gpus", "sim:2x24GiB")
        nvidia = self.environment(LD_LIBRARY_PATH=os.environ["BERTH_BUILD_DIR"] + "/fake_nvml")
        simulated = self.decisions("sim:2x24GiB", self.env)
        self.assertEqual(self.decisions("auto", nvidia), simulated)
        self.assertGreaterEqual(len(simulated[0]), 3)


if __name__ == "__main__":
    unittest.main()
