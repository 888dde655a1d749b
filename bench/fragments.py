#!/usr/bin/env python3
"""What placements leave unused: jobs drawn from a trace, on machines of several sizes.

    bench/fragments.py path/to/berth path/to/openb_2023.csv [--draws 10]

Two figures, each the mean over the draws, with half the width of its 95 % confidence interval:

full   jobs come one by one and none ends, as in the paper on fragmentation gradient descent (Weng
       et al., ATC '23): the share of all GPUs that is in use when the first job does not fit, and
       when as much has been asked for as there is, with jobs passed over that do not fit
wait   jobs come and go at random, as much as 90 % of the GPUs can take: their mean wait under fifo,
       and under a policy that passes over what does not fit
"""
import argparse
import csv
import math
import os
import random
import statistics
import subprocess
import tempfile

PLACEMENTS = ["fgd", "bestfit", "pack", "spread"]
# The real cluster has 1213 machines: about two fifths have eight GPUs, the others mostly two.
MACHINES = {"16 × 8": ("16x8", 128), "64 × 8": ("64x8", 512), "48 × 8 + 16 × 4 + 32 × 2":
            ("48x8+16x4+32x2", 512)}
HOUR = 3600


def demand(job):
    return job[0] if job[1] >= 1000 else job[1] / 1000


def read_jobs(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [(int(row["gpus"]), int(row["gpu_milli"] or 1000), int(row["duration_s"]))
                for row in csv.DictReader(file) if int(row["gpus"]) <= 8]


def write_trace(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write("submit_s,duration_s,gpus,gpu_milli\n")
        file.writelines(f"{at},{length},{gpus},{milli}\n" for at, length, gpus, milli in rows)


def simulate(berth, trace, machine, policy, outcome):
    """The jobs' outcomes by placement, in the order of the trace."""
    subprocess.run([berth, "sim", "--trace", trace, "--gpus", machine, "--policy", policy,
                    "--placement", ",".join(PLACEMENTS), "--jobs", outcome],
                   check=True, stdout=subprocess.DEVNULL)
    found = {}
    with open(outcome, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["placement"], []).append(row)
    return found


def allocated(outcomes, jobs, until_refused):
    used = 0
    for row, job in zip(outcomes, jobs):
        if float(row["wait_s"]) == 0:
            used += demand(job)
        elif until_refused:
            break
    return used


def fill(berth, known, machine, gpus, draw, folder):
    jobs, asked = [], 0
    while asked < gpus:
        jobs.append(draw.choice(known))
        asked += demand(jobs[-1])
    trace = os.path.join(folder, "trace.csv")
    write_trace(trace, [(i, 10**8, job[0], job[1]) for i, job in enumerate(jobs)])
    figures = {}
    for policy, until_refused in (("fifo", True), ("energy", False)):
        found = simulate(berth, trace, machine, policy, os.path.join(folder, "jobs.csv"))
        for placement in PLACEMENTS:
            figures[placement, policy] = 100 * allocated(found[placement], jobs, until_refused) / gpus
    return figures


def stream(berth, known, machine, gpus, draw, folder):
    # Lengths are drawn anew: the trace's own reach from seconds to months, so that a few jobs would
    # decide about the mean.
    jobs = [draw.choice(known) for _ in range(20 * gpus)]
    pace = statistics.mean(demand(job) for job in jobs) * HOUR / (0.9 * gpus)
    rows, at = [], 0.0
    for job in jobs:
        at += draw.expovariate(1 / pace)
        rows.append((int(at), max(1, int(draw.expovariate(1 / HOUR))), job[0], job[1]))
    trace = os.path.join(folder, "trace.csv")
    write_trace(trace, rows)
    figures = {}
    for policy in ("fifo", "energy"):
        found = simulate(berth, trace, machine, policy, os.path.join(folder, "jobs.csv"))
        for placement in PLACEMENTS:
            figures[placement, policy] = statistics.mean(float(row["wait_s"]) for row in found[placement])
    return figures


def interval(values):
    return 1.96 * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0


def table(title, measure, known, options, form):
    print(f"\n{title}\n")
    print(f"| machines | {' | '.join(PLACEMENTS)} |")
    print("|---" * (len(PLACEMENTS) + 1) + "|")
    for name, (machine, gpus) in MACHINES.items():
        draws = []
        for seed in range(options.draws):
            with tempfile.TemporaryDirectory() as folder:
                draws.append(measure(options.berth, known, machine, gpus, random.Random(seed), folder))
        for policy, what in (("fifo", "in order"), ("energy", "passing over")):
            values = [[each[placement, policy] for each in draws] for placement in PLACEMENTS]
            cells = [form.format(statistics.mean(v), interval(v)) for v in values]
            print(f"| {name}, {what} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("berth")
    parser.add_argument("trace")
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    known = read_jobs(options.trace)
    table("GPUs in use:", fill, known, options, "{:.1f} % ± {:.1f}")
    table("Mean wait, in seconds:", stream, known, options, "{:,.0f} ± {:,.0f}")


main()
