#!/usr/bin/env python3
"""An agent for berth's environment that learns two weights by trying: whose length times share is smallest goes
next, and how much a short wait counts.

    examples/agents/shortest_area.py [--berth build/berth] [--rounds 20]
"""

import argparse
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python"))
from berth_env import WAIT, BerthEnv  # noqa: E402


def choose(env, seen, weights):
    length, share, wait = (env.sights.index(name) for name in ("length", "share", "wait"))
    best, best_rank = WAIT, float("inf")
    for job, fits in enumerate(seen["mask"][:-1]):
        row = seen["jobs"][job]
        rank = row[length] * (1 + weights[0] * row[share]) - weights[1] * row[wait]
        if fits and rank < best_rank:
            best, best_rank = job, rank
    return best


def play(env, seed, weights):
    """The cost of an episode, as a part of what it costs under sjf."""
    seen, _ = env.reset(seed=seed)
    while True:
        seen, _, terminated, _, info = env.step(choose(env, seen, weights))
        if terminated:
            return info["cost"] / info["usual"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berth", default=os.environ.get("BERTH", "berth"))
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    draw = random.Random(1)
    with BerthEnv("mix:n=50", gpus=2, reward="wait", berth=options.berth) as env:
        def cost(weights, seeds):
            return sum(play(env, seed, weights) for seed in seeds) / len(seeds)
        best = [0.0, 0.0]
        best_cost = cost(best, range(1, 5))
        for _ in range(options.rounds):
            tried = [weight + draw.gauss(0, 0.5) for weight in best]
            tried_cost = cost(tried, range(1, 5))
            if tried_cost < best_cost:
                best, best_cost = tried, tried_cost
                print(f"weights {best[0]:.2f} {best[1]:.2f}: {best_cost:.3f} of sjf's wait")
        print(f"on seeds that it was not tried on: {cost(best, range(1000, 1010)):.3f} of sjf's wait")


if __name__ == "__main__":
    main()
