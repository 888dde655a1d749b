"""Policies that go strictly in an order. Equals go by the time of submission."""
import math

from pool import Policy


def fifo(job):
    """First come, first served."""
    return 0


def sjf(job):
    """Shortest expected length first."""
    return job.expected


def lpt(job):
    """Longest expected length first."""
    return -job.expected


def f1(job):
    """Carastan-Santos and de Camargo (SC '17). The trace begins at time 0; zero counts as 0.1."""
    def log(seconds):
        return math.log10(seconds if seconds > 0 else 0.1)
    return log(job.expected) * job.gpus + 870 * log(job.submit)


def in_order(jobs, key):
    return sorted(jobs, key=lambda job: (key(job), job.number))


class InOrder(Policy):
    """The first in order starts as soon as it fits; nobody goes past it."""

    def __init__(self, key):
        self.key = key

    def choose(self, pool):
        first = next(iter(in_order(pool.waiting, self.key)), None)
        return first if first is not None and pool.fits(first) else None


class FirstFit(Policy):
    """The first in order that fits starts: what does not fit is passed over."""

    def __init__(self, key):
        self.key = key

    def choose(self, pool):
        return next((job for job in in_order(pool.waiting, self.key) if pool.fits(job)), None)
