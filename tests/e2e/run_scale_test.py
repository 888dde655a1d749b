"""berth run with many jobs: all of them run, none twice, and no GPU is leased twice or idles."""

import collections
import random
import unittest

from run_case import RunCase, of_kind

MEMORY = 24.0  # GiB of a simulated device
BUFFER = 0.5  # GiB beside the claims that share one


class ManyJobs(RunCase):
    def test_five_thousand(self):
        done = self.run_jobs(["true"] * 5000, "--quiet", gpus="sim:4")
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"^5000 succeeded, 0 failed, 0 did not run in ")

    def test_one_percent_fails(self):
        wrong = {number: number % 5 + 1 for number in range(37, 5001, 100)}
        lines = [f"exit {wrong[n]}" if n in wrong else "true" for n in range(1, 5001)]
        stream = self.run_events(lines, "--joblog", "log", gpus="sim:4", code=1)
        ends = of_kind(stream, "end")
        self.assertEqual(len(ends), 5000)
        self.assertEqual({e["job"] for e in ends}, set(range(1, 5001)))
        self.assertEqual({e["job"]: e["exit_code"] for e in ends if e["state"] != "succeeded"},
                         wrong)
        self.assertEqual(len(of_kind(stream, "start")), 5000)
        summary = of_kind(stream, "summary")[0]
        self.assertEqual((summary["succeeded"], summary["failed"]), (4950, 50))
        rows = [line.split("\t") for line in self.read("log").splitlines()[1:]]
        self.assertEqual(sorted(int(row[0]) for row in rows), list(range(1, 5001)))
        self.assertEqual({int(r[0]): int(r[6]) for r in rows if r[6] != "0"}, wrong)


class Fleet:
    """What is leased, as an outsider would count it."""

    def __init__(self, names):
        self.on = {name: {} for name in names}  # job -> claim in GiB, 0: alone

    def fits(self, device, claim):
        there = self.on[device].values()
        if claim == 0:
            return not there
        return 0 not in there and (not there or sum(there) + claim + BUFFER <= MEMORY)

    def room(self, count, claim):
        return sum(self.fits(device, claim) for device in self.on) >= count

    def lease(self, job, devices, claim):
        for device in devices:
            self.on[device][job] = claim

    def release(self, job):
        return [there.pop(job) for there in self.on.values() if job in there]


class MixedSizes(RunCase):
    NAMES = [str(n) for n in range(16)]

    def setUp(self):
        super().setUp()
        draw = random.Random(20)
        self.needs = {}  # job -> GPUs, claim
        lines = []
        for job in range(1, 201):
            claim = draw.choice([0, 0, 6, 9, 14])
            count = draw.randint(1, 2) if claim else draw.randint(1, 8)
            self.needs[job] = (count, claim)
            say = 'read t x < /proc/uptime; echo "%s $BERTH_JOB_ID $CUDA_VISIBLE_DEVICES ' \
                  '$BERTH_GPUS $t" >> ledger; '
            lines.append(f"@gpus={count} {f'@mem={claim}GiB ' if claim else ''}" + say % "start" +
                         f"sleep 0.0{draw.randint(0, 6)}; " + say % "end")
        self.stream = self.run_events("", self.write("jobs", "\n".join(lines)), gpus="sim:16")

    def test_leases(self):
        self.assertEqual(of_kind(self.stream, "summary")[0]["succeeded"], 200)
        self.check_ledger()
        self.check_decisions()

    def check_ledger(self):
        """By what the jobs themselves wrote, each line in one piece, nobody met a stranger."""
        fleet, uuids, most, met = Fleet(self.NAMES), {}, 0, False
        begun = {}
        rows = [line.split() for line in self.read("ledger").splitlines()]
        self.assertEqual(collections.Counter(row[0] for row in rows), {"start": 200, "end": 200})
        for what, job, visible, names, time in rows:
            job, names = int(job), names.split(",")
            count, claim = self.needs[job]
            self.assertEqual((len(names), len(visible.split(","))), (count, count))
            for name, uuid in zip(names, visible.split(",")):
                self.assertEqual(uuids.setdefault(name, uuid), uuid)
            if what == "end":
                self.assertEqual(len(fleet.release(job)), count)
                self.assertGreaterEqual(float(time), begun[job])
                continue
            begun[job] = float(time)
            for name in names:
                self.assertTrue(fleet.fits(name, claim), f"job {job} on {fleet.on[name]}")
            fleet.lease(job, names, claim)
            most = max(most, sum(bool(there) for there in fleet.on.values()))
            met = met or any(len(there) > 1 for there in fleet.on.values())
        self.assertEqual(len(set(uuids.values())), 16)
        self.assertGreater(most, 12)  # else nothing was put to the test
        self.assertTrue(met)

    def check_decisions(self):
        """Each time that berth had started all it would, the first that waited had no room, nor
        had any other before lengths were known. Later ones may wait for what is kept for it."""
        fleet, waiting, last = Fleet(self.NAMES), dict(self.needs), None
        moments, ended, passed = 0, 0, 0
        for event in self.stream + [{"event": "end", "job": 0}]:
            if last == "start" and event["event"] == "end":
                moments += 1
                for job, (count, claim) in list(waiting.items())[:1 if ended else None]:
                    self.assertFalse(fleet.room(count, claim),
                                     f"job {job} ({count} GPUs, {claim} GiB) waits: {fleet.on}")
            if event["event"] == "start":
                count, claim = self.needs[event["job"]]
                for name in event["gpus"]:
                    self.assertTrue(fleet.fits(name, claim))
                fleet.lease(event["job"], event["gpus"], claim)
                passed += event["job"] != next(iter(waiting))
                del waiting[event["job"]]
            elif event["event"] == "end":
                ended += 1
                fleet.release(event["job"])
            last = event["event"]
        self.assertGreater(moments, 50)
        self.assertGreater(passed, 10)  # those that fit beside or before what is kept


if __name__ == "__main__":
    unittest.main()
