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
    GPUs has a new turn.

    The first waiting job that finds too few GPUs, and has waited for longer than the patience, is
    owed them: a job that begins a turn behind it has a place right behind it, and gets that place when
    put back."""

    def __init__(self, patience_s=0):
        self.turn = {}  # of running jobs: (begin, whether it ran before, its place among such)
        self.level = {}
        self.queue = {}  # places of waiting jobs
        self.starts = 0
        self.returns = 0
        self.patience = patience_s
        self.owed = None
        self.lent = set()  # running jobs that have their turn behind the one that is owed

    def turn_ends(self, job):
        """The end of the turn of a running job; None: never."""
        raise NotImplementedError

    def level_of(self, job, now):
        raise NotImplementedError

    def arrived(self, job, pool):
        self.level[job] = self.level_of(job, pool.now)
        self.queue[job] = (1, pool.now, 0, 0, job.number)

    def started(self, job, pool):
        self.starts += 1
        self.turn[job] = (pool.now, 0, self.starts)
        if self.owed is not None and self.waiting_place(job) > self.waiting_place(self.owed):
            self.lent.add(job)

    def choose(self, pool):
        job = super().choose(pool)
        if not self.noted:  # all that are put back at this moment wait by now
            self.noted = True
            self.note_owed(pool)
        return job

    def preempt(self, pool):
        self.noted = False
        return super().preempt(pool)

    def note_owed(self, pool):
        places = self.places(pool)
        owed = next((job for job in sorted(places, key=places.get)
                     if job in pool.waiting and job not in self.chosen
                     and pool.now - job.submit - job.done >= self.patience), None)
        behind = {job for job in pool.running if owed is not None and places[job] > places[owed]}
        self.lent = behind | (self.lent & set(pool.running) if owed is self.owed else set())
        self.owed = owed

    def waiting_place(self, job):
        return (self.level[job], 1) + self.queue[job]

    def lent_place(self):
        level, waits, early, when, kind, depth, _ = self.waiting_place(self.owed)
        return (level, waits, early, when, kind, depth + 1)

    def stopped(self, job, pool):
        begin, ran_before, _ = self.turn.pop(job)
        is_over = ran_before and begin == pool.now
        self.level[job] = self.level_of(job, pool.now)
        if self.stood.get(job, ())[:-1] == (self.lent_place() if job in self.lent else None):
            self.queue[job] = self.stood[job][2:]
        elif is_over:
            self.queue[job] = (1, pool.now, 1, 0, job.number)
        else:
            self.returns += 1
            self.queue[job] = (0, -self.returns, 0, 0, job.number)

    def order(self, pool):
        places = self.stood = self.places(pool)
        return sorted(places, key=places.get)

    def places(self, pool):
        places = {job: self.waiting_place(job) for job in pool.waiting}
        for job in pool.running:
            while (end := self.turn_ends(job)) is not None and end <= pool.now:
                self.turn[job] = (end, 1, job.number)
                self.level[job] = self.level_of(job, end)
            begin, ran_before, _ = self.turn[job]
            is_over = ran_before and begin == pool.now
            places[job] = ((self.level[job], 1, 1, pool.now, 1, 0, job.number) if is_over
                           else (self.level[job], 0) + self.turn[job])
            if job in self.lent:
                places[job] = max(places[job], self.lent_place() + (job.number,))
        return places

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

    def __init__(self, patience_s, limits=(3250, 7200)):
        super().__init__(patience_s)
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
