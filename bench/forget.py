#!/usr/bin/env python3
"""What a daemon keeps of jobs that it has run and forgotten: disk, start-up time and memory.

    bench/forget.py path/to/berth [count]

Jobs of `true` on simulated GPUs are run, then forgotten. Each figure is told before the first of them and
after the last was forgotten.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

GPUS = "sim:16x24GiB"
AT_ONCE = 10_000  # jobs of one submission
SETTLES = 60  # seconds in which a daemon that has nothing to do must have given back what it can


class Home:
    def __init__(self, berth, folder):
        self.berth_path = berth
        self.state = folder + "/home"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("BERTH_")}
        self.env.update(BERTH_HOME=self.state, BERTH_LOCKS=folder + "/locks")
        self.daemon = None

    def berth(self, *words):
        return subprocess.run([self.berth_path, *words], env=self.env, check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def start(self):
        """Seconds until it answers."""
        begin = time.monotonic()
        ready, told = os.pipe()
        self.daemon = subprocess.Popen(
            [self.berth_path, "daemon", "run", "--gpus", GPUS, "--ready-fd", str(told)],
            env=self.env, pass_fds=[told], stderr=subprocess.DEVNULL)
        os.close(told)
        with os.fdopen(ready) as reader:
            assert reader.read() == "ok"
        return time.monotonic() - begin

    def stop(self):
        self.berth("daemon", "stop")
        self.daemon.wait()

    def memory(self):
        with open(f"/proc/{self.daemon.pid}/status", encoding="utf-8") as file:
            return int(re.search(r"^VmRSS:\s+(\d+) kB", file.read(), re.M).group(1)) * 1024

    def disk(self):
        """Bytes below the state folder, by what they belong to."""
        sizes = {}
        for folder, _, names in os.walk(self.state):
            for name in names:
                inside = os.path.relpath(os.path.join(folder, name), self.state).split("/")[0]
                try:
                    size = os.lstat(os.path.join(folder, name)).st_size
                except FileNotFoundError:
                    continue
                sizes[inside] = sizes.get(inside, 0) + size
        return sizes

    def settled(self):
        """Waits until the folder no longer shrinks."""
        end = time.monotonic() + SETTLES
        before = None
        while time.monotonic() < end and before != (now := sum(self.disk().values())):
            before = now
            time.sleep(8)  # it looks for what it can give back every five seconds


def megabytes(size):
    return f"{size / 1e6:.1f} MB"


def told(when, home):
    sizes = home.disk()
    most = ", ".join(f"{name} {megabytes(size)}"
                     for name, size in sorted(sizes.items(), key=lambda each: -each[1])[:4])
    print(f"{when}: state folder {megabytes(sum(sizes.values()))} ({most})", flush=True)


def main():
    berth = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 50_000
    with tempfile.TemporaryDirectory(prefix="berth-bench-") as folder:
        home = Home(berth, folder)
        home.start()
        home.stop()
        first_start = home.start()
        memory = home.memory()
        told("at first", home)
        begin = time.monotonic()
        for done in range(0, count, AT_ONCE):
            home.berth("submit", "--array", str(min(AT_ONCE, count - done)), "--", "true")
            home.berth("wait")
        seconds = time.monotonic() - begin
        told(f"{count:,} jobs were run, {count / seconds:,.0f} a second", home)
        begin = time.monotonic()
        home.berth("forget", "--older", "0s")
        print(f"forgotten in {time.monotonic() - begin:.1f} s", flush=True)
        home.settled()
        told("forgotten", home)
        status = json.loads(home.berth("daemon", "status", "--json"))
        print(f"longest turn {status.get('load', status).get('longest_turn', '?')}", flush=True)
        print(f"memory {megabytes(memory)} at first, {megabytes(home.memory())} now", flush=True)
        home.stop()
        told("stopped", home)
        print(f"started in {first_start:.2f} s at first, {home.start():.2f} s now", flush=True)
        home.stop()


if __name__ == "__main__":
    main()
