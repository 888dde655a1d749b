#!/usr/bin/env python3
"""What packing by memory gains, and what wrong claims cost: 200 mixed jobs on 4 simulated GPUs.

    bench/memory.py path/to/berth [--scale 1] [--parts off,claims,auto,half,placement]

off      every job with a GPU of its own
claims   true claims
auto     no claims, twice: the second run knows what the first has measured
half     a fifth of the claims too small by half
placement  jobs that come one by one and slow each other down on a shared GPU: the mean time from
         submission to end by placement
The jobs take 2 to 20 GiB for 1 to 10 s (times the scale). The lower bound is the larger of their
memory-seconds over all memory and of the longest job.
"""
import argparse
import json
import os
import random
import subprocess
import tempfile
import time

GPUS, SIZE = 4, 24 * 1024  # MiB each
MARGIN = 64                # what a true claim has to spare, in MiB


def jobs(seed=7, count=200):
    draw = random.Random(seed)
    return [(draw.randint(2 * 1024, 20 * 1024), draw.uniform(1, 10)) for _ in range(count)]


def line(berth, mem, seconds, claim):
    option = f"@mem={claim}MiB " if claim else ""
    return (f"{option}{berth} simjob --mem {mem}MiB --ramp {seconds * 0.1:.3f}s "
            f"--hold {seconds * 0.9:.3f}s")


def run(berth, lines, home, *options):
    env = dict(os.environ, BERTH_HOME=home, BERTH_LOCKS=home + "/locks")
    done = subprocess.run([berth, "run", "--json", "--gpus", f"sim:{GPUS}x{SIZE}MiB", *options],
                          input="\n".join(lines), text=True, env=env, stdout=subprocess.PIPE,
                          check=False)
    events = [json.loads(text) for text in done.stdout.splitlines()]
    summary = events[-1]
    retries = [e for e in events if e["event"] == "retry"]
    causes = {}
    for event in retries:
        cause = ("neighbour" if "because job" in event["note"] else
                 "foreign" if "not berth's" in event["note"] else "own")
        causes[cause] = causes.get(cause, 0) + 1
    return summary["elapsed_s"], summary, causes


def contending(seed=11, count=60):
    """Small jobs that each want 40 to 90 % of a GPU, a second apart on average."""
    draw = random.Random(seed)
    return [(draw.randint(2 * 1024, 6 * 1024), draw.uniform(1, 4), draw.randint(40, 90), draw.expovariate(1))
            for _ in range(count)]


def mean_completion(berth, work, scale, placement):
    """Of jobs that are sent to `berth run` as time goes by."""
    with tempfile.TemporaryDirectory(prefix="berth-bench-") as home:
        env = dict(os.environ, BERTH_HOME=home, BERTH_LOCKS=home + "/locks")
        process = subprocess.Popen([berth, "run", "--json", "--gpus", f"sim:{GPUS}x{SIZE}MiB", "--placement", placement],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        sent = []
        for mem, seconds, percent, gap in work:
            time.sleep(gap * scale)
            sent.append(time.time())
            process.stdin.write(f"@mem={mem + MARGIN}MiB {berth} simjob --contend --mem {mem}MiB --util {percent} "
                                f"--hold {seconds * scale:.3f}s\n")
            process.stdin.flush()
        events = [json.loads(text) for text in process.communicate()[0].splitlines()]
    ends = [event for event in events if event["event"] == "end"]
    assert len(ends) == len(work) and all(event["state"] == "succeeded" for event in ends)
    return sum(event["time"] - sent[event["job"] - 1] for event in ends) / len(ends)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("berth")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--parts", default="off,claims,auto,half,placement")
    options = parser.parse_args()
    berth = os.path.realpath(options.berth)
    work = [(mem, seconds * options.scale) for mem, seconds in jobs()]
    bound = max(sum(mem * seconds for mem, seconds in work) / (GPUS * SIZE),
                max(seconds for _, seconds in work))
    made = {}

    def report(name, lines, home, *words):
        seconds, summary, causes = run(berth, lines, home, *words)
        made[name] = seconds
        against = "".join(f", {seconds / made[other]:.2f} × {other}"
                          for other in ("off", "claims") if other in made and other != name)
        print(f"{name}: {seconds:.1f} s, {seconds / bound:.2f} × the bound of {bound:.1f} s"
              f"{against}; {summary['succeeded']} succeeded, {summary['failed']} failed, out of "
              f"memory: {causes or 'none'}", flush=True)

    claims = [line(berth, mem, seconds, mem + MARGIN) for mem, seconds in work]
    bare = [line(berth, mem, seconds, None) for mem, seconds in work]
    half = [line(berth, mem, seconds, (mem + MARGIN) // 2 if i % 5 == 0 else mem + MARGIN)
            for i, (mem, seconds) in enumerate(work)]
    for part in options.parts.split(","):
        with tempfile.TemporaryDirectory(prefix="berth-bench-") as home:
            if part == "off":
                report("off", bare, home, "--mem", "off")
            elif part == "claims":
                report("claims", claims, home)
            elif part == "auto":
                report("auto, first", bare, home)
                report("auto, second", bare, home)
            elif part == "half":
                report("half", half, home)
            elif part == "placement":
                means = {placement: mean_completion(berth, contending(), options.scale, placement)
                         for placement in ("pack", "idle")}
                print("placement: mean completion " +
                      ", ".join(f"{name} {mean:.2f} s" for name, mean in means.items()) +
                      f"; idle {means['idle'] / means['pack']:.2f} × pack", flush=True)


if __name__ == "__main__":
    main()
