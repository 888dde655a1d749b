"""A slow and obvious simulator of one pool of whole GPUs, to compare with `berth sim`.

It shares no code with berth. Time is in whole seconds. At each moment, first the jobs that are done
end, then new jobs arrive, and then the policy decides once.
"""


class Job:
    def __init__(self, number, submit, length, expected, gpus, owner, weight):
        self.number = number  # in order of submission, from 1
        self.submit = submit
        self.length = length  # the truth, which policies must not look at
        self.expected = expected
        self.gpus = gpus
        self.owner = owner
        self.weight = weight
        self.done = 0  # work in the turns before this one
        self.since = None  # the start of its turn on the GPUs
        self.start = None
        self.end = None
        self.preempted = 0

    def ran(self, now):
        """The work that is done."""
        return self.done + (now - self.since if self.since is not None else 0)

    def expected_end(self, now):
        """Of a running job. A job that is past its expected end may end any moment."""
        return max(self.since + self.expected - self.done, now)


class Policy:
    """Says which jobs are on the GPUs. The pool calls all of these; most policies need one."""

    def arrived(self, job, pool):
        pass

    def started(self, job, pool):
        pass

    def stopped(self, job, pool):
        """The job has ended or was put back; job.since is still the start of its turn."""

    def preempt(self, pool):
        """Running jobs to put back."""
        return []

    def choose(self, pool):
        """The next job to start, or None. Asked again after each start."""
        raise NotImplementedError

    def next_look(self, pool):
        """When to decide again even if nothing happens; None: never."""
        return None


class Pool:
    def __init__(self, gpus, policy):
        self.gpus = gpus
        self.policy = policy
        self.now = 0
        self.waiting = []
        self.running = []

    @property
    def free(self):
        return self.gpus - sum(job.gpus for job in self.running)

    def fits(self, job):
        return job.gpus <= self.free

    def run(self, jobs):
        coming = sorted(jobs, key=lambda job: job.number)
        while coming or self.waiting or self.running:
            self.now = min(self.events(coming))
            for job in [job for job in self.running if self.end_of(job) == self.now]:
                self.stop(job)
                job.end = self.now
            while coming and coming[0].submit == self.now:
                job = coming.pop(0)
                self.waiting.append(job)
                self.policy.arrived(job, self)
            self.decide()

    def events(self, coming):
        if coming:
            yield coming[0].submit
        for job in self.running:
            yield self.end_of(job)
        look = self.policy.next_look(self)
        if look is not None and self.waiting:
            yield look

    @staticmethod
    def end_of(job):
        return job.since + job.length - job.done

    def stop(self, job):
        self.policy.stopped(job, self)
        self.running.remove(job)
        job.done += self.now - job.since
        job.since = None

    def decide(self):
        for job in self.policy.preempt(self):
            self.stop(job)
            job.preempted += 1
            self.waiting.append(job)
        while (job := self.policy.choose(self)) is not None:
            assert self.fits(job)
            self.waiting.remove(job)
            self.running.append(job)
            job.since = self.now
            job.start = self.now if job.start is None else job.start
            self.policy.started(job, self)
