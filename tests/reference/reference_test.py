"""`berth sim` against the reference simulator of this folder: every job of random traces starts and
ends at the same moment under both, and is put back as often. Not here: lottery, whose draws are berth's own."""
import csv
import os
import random
import subprocess
import tempfile
import unittest

from backfill import Conservative, Easy
from in_order import FirstFit, InOrder, f1, fifo, lpt, sjf
from owners import Default, DominantShare, Fair, FairQueueing, Stride
from pool import Job, Pool
from preemptive import LeastAttained, RoundRobin, ShortestRemaining

BERTH = os.environ["BERTH"]
SLICE_S = 200
HALF_LIFE_S = 1800
PATIENCE_S = 600

POLICIES = {
    "fifo": lambda: InOrder(fifo),
    "sjf": lambda: InOrder(sjf),
    "lpt": lambda: InOrder(lpt),
    "f1": lambda: InOrder(f1),
    "easy": Easy,
    "sjf+easy": lambda: Easy(sjf),
    "lpt+easy": lambda: Easy(lpt),
    "f1+easy": lambda: Easy(f1),
    "energy": lambda: FirstFit(fifo),  # without a budget
    "srtf": lambda: ShortestRemaining(service=False),
    "srsf": lambda: ShortestRemaining(service=True),
    "las": lambda: LeastAttained(PATIENCE_S),
    "rr": lambda: RoundRobin(SLICE_S),
    "wfq": FairQueueing,
    "fair": lambda: Fair(HALF_LIFE_S),
    "drf": lambda: DominantShare(HALF_LIFE_S),
    "stride": Stride,
    "priority": Default,
}
# Conservative backfilling is defined for jobs that are stopped at their expected end.
NEVER_OVERSTAYING = dict(POLICIES, conservative=Conservative)


def exact(draw, length):
    return length


def too_long(draw, length):
    return length * draw.randint(1, 8)


def wrong(draw, length):
    return max(1, round(length * draw.choice((0.2, 0.7, 1, 1.5, 5))))


def random_jobs(seed, gpus, estimate):
    draw = random.Random(seed)
    weights = {owner: draw.randint(1, 5) for owner in "abcd"}
    count = draw.randint(40, 80)
    # The traces run from nearly idle to hopelessly full.
    span = draw.choice((500, 5000, 50000))
    jobs = []
    for number, submit in enumerate(sorted(draw.randrange(span) for _ in range(count)), 1):
        length = round(10 ** draw.uniform(0, 3.6))
        owner = draw.choice("aaabbcd")
        width = min(gpus, draw.choice((1, 1, 2, 3, 4, draw.randint(1, gpus))))
        jobs.append(Job(number, submit, length, estimate(draw, length), width, owner,
                        weights[owner]))
    return jobs


class ReferenceTest(unittest.TestCase):
    def berth(self, jobs, gpus, policies):
        """By policy: (start, end, how often it was put back) of each job."""
        with tempfile.TemporaryDirectory() as folder:
            trace, out = os.path.join(folder, "trace.csv"), os.path.join(folder, "out.csv")
            with open(trace, "w", encoding="utf-8") as file:
                print("job_id,submit_s,duration_s,expected_s,gpus,user,weight", file=file)
                for job in jobs:
                    print(job.number, job.submit, job.length, job.expected, job.gpus, job.owner,
                          job.weight, sep=",", file=file)
            subprocess.run(
                [BERTH, "sim", "--trace", trace, "--gpus", str(gpus), "--policy",
                 ",".join(policies), "--slice", f"{SLICE_S}s", "--half-life", f"{HALF_LIFE_S}s",
                 "--patience", f"{PATIENCE_S}s", "--jobs", out], check=True, timeout=60, stdout=subprocess.DEVNULL)
            times = {policy: {} for policy in policies}
            with open(out, encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    times[row["policy"]][int(row["job_id"])] = (
                        float(row["start_s"]), float(row["end_s"]), int(row["preempted"]))
            return times

    def compare(self, policies, estimate, seeds):
        for seed in seeds:
            gpus = random.Random(seed).choice((1, 2, 4, 7, 8, 16, 32))
            found = self.berth(random_jobs(seed, gpus, estimate), gpus, policies)
            for policy, make in policies.items():
                with self.subTest(policy=policy, seed=seed, gpus=gpus):
                    jobs = random_jobs(seed, gpus, estimate)
                    Pool(gpus, make()).run(jobs)
                    wanted = {job.number: (job.start, job.end, job.preempted) for job in jobs}
                    self.assertEqual(self.first_difference(found[policy], wanted), None)

    @staticmethod
    def first_difference(found, wanted):
        differing = [number for number in wanted if found.get(number) != wanted[number]]
        if not differing:
            return None
        first = min(differing, key=lambda number: wanted[number])
        return (f"job {first}: (start, end, preemptions) is {found.get(first)}, not {wanted[first]}; "
                f"{len(differing)} jobs differ")

    def test_exact_estimates(self):
        self.compare(NEVER_OVERSTAYING, exact, range(0, 30))

    def test_jobs_that_end_early(self):
        self.compare(NEVER_OVERSTAYING, too_long, range(100, 130))

    def test_wrong_estimates(self):
        self.compare(POLICIES, wrong, range(200, 230))


if __name__ == "__main__":
    unittest.main()
