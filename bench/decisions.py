#!/usr/bin/env python3
"""What policies decide: one table of waits on public traces and on generated workloads.

    bench/decisions.py build/berth [--rows philly-448,flood,…] [--policies a,b]

The traces are looked for in $BERTH_TRACES, or in ../shared/traces beside the repository (docs/traces.md says
where they come from); rows whose trace is not there are left out. Waits are in hours. `wide` is the mean wait of
jobs with at least as many GPUs as the row says; `small` that of the owners who want little, in the flood.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRACES = os.environ.get("BERTH_TRACES", os.path.join(HERE, "../../shared/traces"))
POLICIES = ["priority", "fair", "easy", "sjf+easy", "srtf"]
HOUR = 3600


def flood(draw):
    """One owner wants 500 hours of an 8-GPU machine at once; nine others ten minutes each, through the day."""
    jobs = [("flood", 0, HOUR, 1) for _ in range(4000)]
    for day in range(10):
        for owner in range(9):
            for _ in range(6):
                jobs.append((f"small{owner}", day * 24 * HOUR + draw.uniform(0, 24 * HOUR), 600, 1))
    return jobs


def gangs(draw):
    """A stream of short jobs of one GPU keeps 8 GPUs nearly busy; another owner's jobs want all 8 of them."""
    jobs = []
    at = 0.0
    while at < 10 * 24 * HOUR:
        at += draw.expovariate(1 / 450)  # 80 % of 8 GPUs
        jobs.append(("stream", at, draw.expovariate(1 / 2880), 1))
    for day in range(10):
        jobs.append(("gangs", day * 24 * HOUR + draw.uniform(0, 24 * HOUR), HOUR, 8))
    return jobs


def claims(draw):
    """Jobs of known GPU memory, several of which share a device of 24 GiB."""
    jobs = []
    at = 0.0
    for _ in range(5000):
        at += draw.expovariate(1 / 170)
        jobs.append((f"owner{draw.randrange(5)}", at, draw.expovariate(1 / 1800), 1, draw.choice([2048, 4096, 8192, 16384])))
    return jobs


# Name: the trace or generator, --gpus, from how many GPUs on a job is wide, further options.
ROWS = {
    "philly-448": ("philly_2017.csv.gz", "448", 8, []),
    "philly-512": ("philly_2017.csv.gz", "512", 8, []),
    "philly-user": ("philly_2017.csv.gz", "24", 4, ["--user", "103959"]),
    "lublin1": ("lublin1_256.csv", "256", 64, []),
    "openb": ("openb_2023.csv", "6212", 8, []),
    "flood": (flood, "8", 8, []),
    "gangs": (gangs, "8", 8, []),
    "claims": (claims, "4x24GiB", 2, []),
    "philly-448-wrong": ("philly_2017.csv.gz", "448", 8, ["--estimate-error", "2"]),
    "lublin1-wrong": ("lublin1_256.csv", "256", 64, ["--estimate-error", "2"]),
}


def write_trace(path, jobs):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["job_id", "user", "submit_s", "duration_s", "gpus", "gpu_mem_mib"])
        for number, (user, submit, length, gpus, *memory) in enumerate(sorted(jobs, key=lambda job: job[1])):
            out.writerow([number + 1, user, f"{submit:.0f}", f"{max(length, 1):.0f}", gpus, *memory])


def figures(path, wide):
    waits, wide_waits, small = [], [], []
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            wait = float(row["wait_s"])
            waits.append(wait)
            if int(row["gpus"]) >= wide:
                wide_waits.append(wait)
            if row["user"].startswith("small"):
                small.append(wait)
    mean = lambda values: sum(values) / len(values) / HOUR if values else None
    return {"longest_h": max(waits) / HOUR, "wide_h": mean(wide_waits), "small_h": mean(small)}


def run_row(berth, name, policies, folder):
    source, gpus, wide, more = ROWS[name]
    if callable(source):
        trace = os.path.join(folder, name + ".csv")
        write_trace(trace, source(random.Random(1)))
    else:
        trace = os.path.join(TRACES, source)
        if not os.path.exists(trace):
            print(f"{name}: {trace} is not here: left out", file=sys.stderr)
            return []
    rows = []
    for policy in policies:
        jobs = os.path.join(folder, "jobs.csv")
        done = subprocess.run([berth, "sim", "--trace", trace, "--gpus", gpus, "--policy", policy, "--skip-bad",
                               "--jobs", jobs, "--json", *more], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{name} {policy}: {done.stderr}")
        result = json.loads(done.stdout)["results"][0]
        rows.append({"row": name, "policy": policy, "mean_h": result["mean_wait_s"] / HOUR,
                     "p99_h": result["p99_wait_s"] / HOUR, "slowdown": result["mean_bounded_slowdown"],
                     **figures(jobs, wide)})
    return rows


def cell(value):
    return "" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("berth")
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args()
    titles = {"row": "trace", "policy": "policy", "mean_h": "mean wait", "p99_h": "p99", "slowdown": "slowdown",
              "longest_h": "longest", "wide_h": "wide", "small_h": "small"}
    every = []
    if not wanted.json:
        print("| " + " | ".join(titles.values()) + " |")
        print("|---|---" + "|--:" * (len(titles) - 2) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted.rows.split(","):
            for row in run_row(wanted.berth, name, wanted.policies.split(","), folder):
                every.append(row)
                if not wanted.json:
                    words = [row["row"], row["policy"], *(cell(row[key]) for key in list(titles)[2:])]
                    print("| " + " | ".join(words) + " |", flush=True)
    if wanted.json:
        print(json.dumps({"version": 1, "rows": every}))


if __name__ == "__main__":
    main()
