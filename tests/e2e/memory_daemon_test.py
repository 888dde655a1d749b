"""GPU memory in the daemon: learned claims, running out, and what a restart knows of it."""

import unittest

from daemon_case import BERTH
from life_case import LifeCase

GIB = 1 << 30


class Memory(LifeCase):
    devices = "sim:1x24GiB"

    def setUp(self):
        super().setUp()
        self.env["B"] = BERTH
        self.env["BERTH_SIM_STATE"] = self.folder + "/devices"

    def simjob(self, mem, hold="1200ms"):
        return f"$B simjob --mem {mem}GiB --hold {hold}"

    def test_claims_are_learned_and_survive_a_restart(self):
        self.berth("submit", self.simjob(5))
        self.berth("wait")
        self.assertEqual(self.show(1)["peak_memory_bytes"], 5 * GIB)
        self.assertEqual(self.show(1)["attempts"][0]["peak_memory_bytes_by_gpu"], [5 * GIB])
        self.assertNotIn("mem", self.show(1))
        self.berth("daemon", "pause")
        self.berth("submit", self.simjob(5))
        self.assertEqual(self.show(2)["claim"], "auto")
        learned = self.show(2)["mem"]
        self.assertTrue(5 * GIB <= learned <= 6 * GIB, learned)
        self.kill_daemon()
        self.berth("submit", self.simjob(5))
        self.assertEqual(self.show(3)["mem"], learned)
        self.assertEqual(self.show(2)["mem"], learned)
        self.berth("submit", "--mem", "off", self.simjob(5))
        self.assertEqual(self.show(4)["claim"], "off")
        self.assertNotIn("mem", self.show(4))

    def test_why_tells_what_is_missing_and_show_what_a_claim_comes_from(self):
        self.make_gates("gate")
        self.berth("submit", "read x < gate")
        self.berth("submit", "train.py --batch 64 --seed 1")
        self.assertIn("its memory is not known yet (about 1 more run of this recipe tells): it gets a whole GPU",
                      self.why(2))
        self.assertNotIn("claim_runs", self.show(2))
        with open(self.path("runs.csv"), "w", encoding="utf-8") as file:
            file.write("command,peak_mib\n")
            for seed in range(5):
                file.write(f"train.py --batch {32 << seed % 2} --seed {seed},{4000 + 100 * (seed % 2)}\n")
        self.berth("recipes", "import", "runs.csv")
        # The daemon notices, and so it does when all is forgotten.
        self.eventually(lambda: self.show(2).get("claim_runs") == 5)
        self.assertGreater(self.show(2)["mem"], 4 * GIB - GIB // 8)
        self.assertIn("(learned from 5 runs)", self.berth("show", "2"))
        self.assertNotIn("not known yet", self.why(2))
        self.berth("recipes", "forget", "--all")
        self.eventually(lambda: "not known yet" in self.why(2))
        self.berth("kill", "2")
        self.release("gate")
        self.berth("wait", code=None)

    def test_waiting_jobs_learn_too(self):
        gates = [f"gate-{i}" for i in range(1, 6)]  # a number after a dash is masked in a recipe
        self.make_gates(*gates)
        for gate in gates:
            self.berth("submit", f"read x < {gate}; " + self.simjob(4))
        for i in (1, 2):
            self.release(gates[i - 1])
            self.berth("wait", str(i))
        # Two have shown that this number does not matter: the other three run side by side.
        self.eventually(lambda: [self.state(i) for i in (3, 4, 5)] == ["running"] * 3)
        for gate in gates[2:]:
            self.release(gate)
        self.berth("wait")

    def test_running_out_grows_the_claim_also_over_a_restart(self):
        self.make_gates("up", "gate")
        self.berth("submit", "--mem", "14GiB",
                   "$B simjob --mem 13GiB --hold 1h & echo > up; read x < gate; kill $!")
        self.hear("up")
        self.eventually(lambda: self.show(1).get("peak_memory_bytes") == 13 * GIB)
        self.berth("submit", "--mem", "6GiB", "--retries", "1", self.simjob(12, "10ms"))
        self.eventually(lambda: self.show(2)["attempt"] == 1 and self.state(2) == "queued")
        grown = self.show(2)
        self.assertGreaterEqual(grown["mem"], 12 * GIB)
        self.assertEqual(grown["attempts"][0]["outcome"], "oom")
        self.assertIn("ran out of GPU memory: it wanted 12.0 GiB", grown["attempts"][0]["reason"])
        self.kill_daemon()
        self.berth("daemon", "start")
        self.assertEqual(self.show(2)["mem"], grown["mem"])
        self.release("gate")
        self.berth("wait", "2")
        self.assertEqual((self.state(2), self.show(2)["attempt"]), ("succeeded", 2))

    def test_what_strangers_take_and_give_back_moves_what_is_packed(self):
        self.make_gates("gate")
        self.berth("submit", "--mem", "8GiB", "read x < gate")
        stranger = self.start("simjob", "--gpus", self.devices, "--gpu", "0", "--mem", "10GiB",
                              "--hold", "1h")
        self.devices_until(lambda devices: devices["0"]["foreign_bytes"] == 10 * GIB)
        # Beside 8 GiB of a job and 10 of a stranger there is room for 5, and not for 10.
        self.berth("submit", "--mem", "10GiB", "true")
        self.berth("submit", "--mem", "5GiB", "true")
        self.berth("wait", "3")
        self.assertEqual(self.state(2), "queued")
        self.assertIn("10.0 GiB", self.why(2))
        stranger.terminate()
        self.berth("wait", "2")
        self.release("gate")
        self.berth("wait")

    def test_a_profile_survives_a_restart(self):
        self.make_gates("up", "gate")
        self.berth("submit", "--profile", "1500ms", "--retries", "1",
                   "$B simjob --mem 5GiB --hold 1h & echo > up; read x < gate; kill $!")
        self.hear("up")
        self.kill_daemon()
        self.berth("daemon", "start")
        self.hear("up")  # the second attempt
        job = self.show(1)
        self.assertEqual(job["attempts"][0]["outcome"], "cancelled")
        self.assertEqual((job["state"], job["attempt"]), ("running", 2))
        self.assertTrue(5 * GIB <= job["mem"] <= 6 * GIB, job)
        self.release("gate")
        self.berth("wait", "1")

    def test_one_that_can_never_fit_ends_as_oom(self):
        self.berth("submit", self.simjob(30))
        self.berth("wait", "1", code=1)
        job = self.show(1)
        self.assertEqual((job["state"], job["exit_code"], job["attempt"]), ("oom", 1, 1))
        self.assertIn("ran out of GPU memory", job["reason"])


if __name__ == "__main__":
    unittest.main()
