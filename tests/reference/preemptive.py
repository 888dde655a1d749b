"""Policies that put running jobs back. All jobs, running and waiting, stand in one order; each gets
its GPUs if they are still there, and is passed over if not."""
from pool import Policy


class Preemptive(Policy):
    def order(self, pool):
        """All jobs, the first first."""
        raise NotImplementedError

    def preempt(self, pool):
        self.chosen = []
        room = pool.gpus
        for job in self.order(pool):
            if job.gpus <= room:
                room -= job.gpus
                self.chosen.append(job)
        # The last goes first, so that those that are put back can keep their order.
        stopped = [job for job in self.order(pool)
                   if job in pool.running and job not in self.chosen]
        return reversed(stopped)

    def choose(self, pool):
        return next((job for job in self.chosen if job in pool.waiting), None)


class ShortestRemaining(Preemptive):
    """Shortest remaining time first, by what is expected. With `service`, time × GPUs counts."""

    def __init__(self, service):
        self.service = service

    def order(self, pool):
        def left(job):
            left = job.expected - job.ran(pool.now)
            # Of a waiting job that is past what was expected, nothing is left.
            left = left if job in pool.running else max(left, 0)
            return left * (job.gpus if self.service else 1)
        return sorted(pool.waiting + pool.running, key=lambda job: (left(job), job.number))


class TurnTaking(Preemptive):
    """Jobs stand on levels, the lowest first, and on each level there are, in this order: those
    that run, by the begin of their turn; those that were put back within a turn, the latest first;
    those that wait, by time; and those whose turn is over at this moment. A job that stays on its
    GPUs has a new turn."""

    def __init__(self):
        self.turn = {}  # of running jobs: (begin, whether it ran before, its place among such)
        self.level = {}
        self.queue = {}  # places of waiting jobs
        self.starts = 0
        self.returns = 0

    def turn_ends(self, job):
        """The end of the turn of a running job; None: never."""
        raise NotImplementedError

    def level_of(self, job, now):
        raise NotImplementedError

    def arrived(self, job, pool):
        self.level[job] = self.level_of(job, pool.now)
        self.queue[job] = (1, pool.now, 0, job.number)

    def started(self, job, pool):
        self.starts += 1
        self.turn[job] = (pool.now, 0, self.starts)

    def stopped(self, job, pool):
        begin, ran_before, _ = self.turn.pop(job)
        self.returns += 1
        is_over = ran_before and begin == pool.now
        self.level[job] = self.level_of(job, pool.now)
        self.queue[job] = (1, pool.now, 1, job.number) if is_over else (0, -self.returns)

    def order(self, pool):
        places = {job: (self.level[job], 1) + self.queue[job] for job in pool.waiting}
        for job in pool.running:
            while (end := self.turn_ends(job)) is not None and end <= pool.now:
                self.turn[job] = (end, 1, job.number)
                self.level[job] = self.level_of(job, end)
            begin, ran_before, _ = self.turn[job]
            is_over = ran_before and begin == pool.now
            places[job] = (self.level[job], 2 if is_over else 0) + self.turn[job]
        return sorted(places, key=places.get)

    def next_look(self, pool):
        ends = [self.turn_ends(job) for job in pool.running]
        return min((end for end in ends if end is not None), default=None)


class RoundRobin(TurnTaking):
    """Every job runs for a slice in turn."""

    def __init__(self, slice_s):
        super().__init__()
        self.slice = slice_s

    def turn_ends(self, job):
        return self.turn[job][0] + self.slice

    def level_of(self, job, now):
        return 0


class LeastAttained(TurnTaking):
    """Two-dimensional least attained service, Tiresias (NSDI '19): a job falls to the next level
    when it has used so many GPU-seconds; the moment is rounded up to a whole second."""

    def __init__(self, limits=(3250, 7200)):
        super().__init__()
        self.limits = limits

    def falls_after(self, job, level):
        return -(-self.limits[level] // job.gpus)

    def turn_ends(self, job):
        level = self.level[job]
        if level == len(self.limits):
            return None
        return job.since + self.falls_after(job, level) - job.done

    def level_of(self, job, now):
        return sum(job.ran(now) >= self.falls_after(job, level)
                   for level in range(len(self.limits)))
