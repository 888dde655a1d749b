"""Policies between owners. What does not fit is passed over."""
from fractions import Fraction
from math import floor

from pool import Policy


class ByOwner(Policy):
    """The owner with the lowest score goes first, and of its jobs the first that may start. Owners
    with equal scores go by the submission of their jobs."""

    def score(self, owner, pool):
        raise NotImplementedError

    def may_start(self, job, pool):
        return pool.fits(job)

    def choose(self, pool):
        weights = {job.owner: job.weight for job in pool.waiting}
        scores = {owner: self.score(owner, pool) / weight for owner, weight in weights.items()}
        queue = sorted(pool.waiting, key=lambda job: (scores[job.owner], job.number))
        return next((job for job in queue if self.may_start(job, pool)), None)


class Fair(ByOwner):
    """Fair share: the score is the GPU time that the owner has used, where use counts half after
    each half-life: the integral of GPUs × 2^(-age / half-life)."""

    def __init__(self, half_life_s):
        self.half_life = half_life_s
        self.stays = []  # (owner, GPUs, from, until) of jobs that have left

    def stopped(self, job, pool):
        self.stays.append((job.owner, job.gpus, job.since, pool.now))

    def score(self, owner, pool):
        stays = [stay for stay in self.stays if stay[0] == owner]
        stays += [(owner, job.gpus, job.since, pool.now)
                  for job in pool.running if job.owner == owner]
        return sum(gpus * (self.weight_at(pool.now - end) - self.weight_at(pool.now - begin))
                   for _, gpus, begin, end in stays)

    def weight_at(self, age):
        return 2 ** (-age / self.half_life)


class DominantShare(ByOwner):
    """Dominant resource fairness (Ghodsi et al., NSDI '11), here with one resource: the score is
    the part of all GPUs that the owner has now."""

    def score(self, owner, pool):
        return Fraction(sum(job.gpus for job in pool.running if job.owner == owner), pool.gpus)


class FairQueueing(Policy):
    """Self-clocked weighted fair queueing (Golestani, INFOCOM '94). An arriving job's finish time
    is the later of the virtual time and the finish time of its owner's job before it, plus its
    GPU time over the weight; the smallest starts first. The virtual time is the finish time of the
    job that was started last, and never goes back. berth counts in milliseconds."""

    def __init__(self):
        self.finish = {}
        self.of_owner = {}
        self.clock = 0

    def arrived(self, job, pool):
        use = floor(Fraction(1000 * job.expected * job.gpus, job.weight) + Fraction(1, 2))
        begin = max(self.clock, self.of_owner.get(job.owner, 0))
        self.finish[job] = self.of_owner[job.owner] = begin + max(use, 1)

    def started(self, job, pool):
        self.clock = max(self.clock, self.finish[job])

    def may_start(self, job, pool):
        return pool.fits(job)

    def choose(self, pool):
        queue = sorted(pool.waiting, key=lambda job: (self.finish[job], job.number))
        return next((job for job in queue if self.may_start(job, pool)), None)
