"""Backfilling."""
from in_order import fifo, in_order
from pool import Policy


def shadow(pool, first):
    """When the first can start, and how many GPUs it will leave free then."""
    # As the algorithm is written down: the loop ends at the first job that frees enough, so that of
    # jobs with one expected end the later ones leave no extra GPUs.
    free = pool.free
    for job in sorted(pool.running, key=lambda job: job.since + job.expected):
        free += job.gpus
        if free >= first.gpus:
            return job.expected_end(pool.now), free - first.gpus
    raise AssertionError("the job is wider than the pool")


def first_or_backfilled(queue, pool):
    """The first in the queue if it fits. If not, the first behind it that may start past it: a job
    that fits now and is expected to end by the shadow time, or needs no more than the extra GPUs."""
    if not queue or pool.fits(queue[0]):
        return queue[0] if queue else None
    when, extra = shadow(pool, queue[0])
    for job in queue[1:]:
        if pool.fits(job) and (pool.now + job.expected <= when or job.gpus <= extra):
            return job
    return None


class Easy(Policy):
    """EASY (Lifka, 1995; Mu'alem and Feitelson, 2001): the first in order that does not fit keeps
    the start that it can expect."""

    def __init__(self, key=fifo):
        self.key = key

    def choose(self, pool):
        return first_or_backfilled(in_order(pool.waiting, self.key), pool)


class Conservative(Policy):
    """Conservative backfilling (Mu'alem and Feitelson, 2001). Each job gets, when it arrives, the
    earliest start that delays no reservation. When jobs end before their expected end, the
    reservations are gone through in their order (compression), and each moves to the earliest start
    that is possible with all the others where they are: never to a later one."""

    def __init__(self):
        self.starts = {}  # of waiting jobs, by job
        self.early = False

    def stopped(self, job, pool):
        self.early = self.early or pool.now < job.since + job.expected

    def started(self, job, pool):
        del self.starts[job]

    def choose(self, pool):
        if self.early:
            self.early = False
            for job in sorted(self.starts, key=lambda job: (self.starts[job], job.number)):
                moved = self.earliest(pool, job)
                assert moved <= self.starts[job]
                self.starts[job] = moved
        for job in pool.waiting:
            if job not in self.starts:
                self.starts[job] = self.earliest(pool, job)
        due = [job for job in self.starts if self.starts[job] <= pool.now]
        return min(due, key=lambda job: (self.starts[job], job.number), default=None)

    def next_look(self, pool):
        return min(self.starts.values(), default=None)

    def earliest(self, pool, wanted):
        """All jobs but the wanted one stay where they are."""
        stays = [(pool.now, job.expected_end(pool.now), job.gpus) for job in pool.running]
        stays += [(start, start + job.expected, job.gpus)
                  for job, start in self.starts.items() if job is not wanted]

        def free(when):
            return pool.gpus - sum(gpus for begin, end, gpus in stays if begin <= when < end)

        def has_room(start):
            end = start + wanted.expected
            steps = [start] + [begin for begin, _, _ in stays if start < begin < end]
            return all(free(step) >= wanted.gpus for step in steps)

        return next(start for start in sorted({pool.now} | {end for _, end, _ in stays})
                    if has_room(start))
