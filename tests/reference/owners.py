"""Policies between owners. The first job in order that does not fit has EASY's reservation."""
from fractions import Fraction
from math import floor, log

from backfill import first_or_backfilled
from pool import Policy


class ByOwner(Policy):
    """The owner with the lowest score goes first. Owners with equal scores go by the submission of
    their jobs."""

    def score(self, owner, pool):
        raise NotImplementedError

    def by_weight(self, score, weight):
        return score / weight

    def choose(self, pool):
        weights = {job.owner: job.weight for job in pool.waiting}
        scores = {owner: self.by_weight(self.score(owner, pool), weight)
                  for owner, weight in weights.items()}
        queue = sorted(pool.waiting, key=lambda job: (scores[job.owner], job.number))
        return first_or_backfilled(queue, pool)


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


class DominantShare(Fair):
    """Dominant resource fairness (Ghodsi et al., NSDI '11) over time, here with one resource: the
    score is the GPU time that the owner has used lately, as under fair share, with what runs at the
    moment as if it had run for a second more. berth counts in microseconds of the whole machine."""

    def score(self, owner, pool):
        used = super().score(owner, pool) * self.half_life / log(2)
        runs = sum(job.gpus for job in pool.running if job.owner == owner)
        return (used + runs) / pool.gpus

    def by_weight(self, score, weight):
        return floor(score / weight * 1e6 + 0.5)


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

    def choose(self, pool):
        queue = sorted(pool.waiting, key=lambda job: (self.finish[job], job.number))
        return first_or_backfilled(queue, pool)


class Stride(ByOwner):
    """Stride (Waldspurger and Weihl, 1995): a start moves the owner's pass on by the expected GPU
    time over the weight, and the lowest pass goes first. An owner who had no jobs at all, neither
    waiting nor running, joins at the pass of the last one that was chosen."""

    def __init__(self):
        self.passes = {}
        self.last = 0

    def arrived(self, job, pool):
        mine = self.passes.setdefault(job.owner, 0)
        others = [other for other in pool.waiting + pool.running if other is not job]
        if all(other.owner != job.owner for other in others):
            self.passes[job.owner] = max(mine, self.last)

    def score(self, owner, pool):
        # By weight already: choose() divides by the weight.
        weight = next(job.weight for job in pool.waiting if job.owner == owner)
        return self.passes[owner] * weight

    def started(self, job, pool):
        self.last = max(self.last, self.passes[job.owner])
        self.passes[job.owner] += Fraction(job.expected * job.gpus, job.weight)


class Default(Policy):
    """berth's default. A job's rank is its submission plus its window, the harmonic sum of 20 times
    its length and 8 days. An owner's jobs stand behind their ranks by how much later than the rank
    of the first the owner was last served, and by the time for which the owner has had the whole
    pool lately (use counts half after a day), over the weight."""

    def __init__(self):
        self.served = {}
        self.use = Fair(86400)

    def arrived(self, job, pool):
        if all(other is job or other.owner != job.owner for other in pool.waiting):
            self.served.pop(job.owner, None)

    def stopped(self, job, pool):
        self.use.stopped(job, pool)

    @staticmethod
    def rank(job):
        lengths, longest = 20 * job.expected, 8 * 86400
        return job.submit + lengths * longest / (lengths + longest)

    def key(self, job):
        return self.rank(job), job.number

    def set_back(self, first, pool):
        late = max(self.served.get(first.owner, 0) - self.rank(first), 0)
        # The integral of GPUs × 2^(-age / half-life), in GPU-seconds.
        used = self.use.score(first.owner, pool) * 86400 / log(2)
        return late + used / pool.gpus / first.weight

    def choose(self, pool):
        firsts = {owner: min((job for job in pool.waiting if job.owner == owner), key=self.key)
                  for owner in {job.owner for job in pool.waiting}}
        backs = {owner: self.set_back(first, pool) for owner, first in firsts.items()}
        queue = sorted(pool.waiting,
                       key=lambda job: (self.rank(job) + backs[job.owner], job.number))
        chosen = first_or_backfilled(queue, pool)
        if chosen is not None and chosen is firsts[chosen.owner]:
            self.served[chosen.owner] = pool.now
        return chosen
