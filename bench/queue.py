#!/usr/bin/env python3
"""A million commands in the queue of `berth run`: how fast they are read and what each one costs.

    bench/queue.py path/to/berth [count]

The first job tells when it has started, by a named pipe: by then the whole file is read. It then holds
the only GPU while the memory is looked at.
"""
import os
import re
import subprocess
import sys
import tempfile
import time


def resident_kb(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"^VmRSS:\s+(\d+) kB", f.read(), re.M).group(1))


def measure(berth, count, folder):
    fifo = f"{folder}/fifo"
    if not os.path.exists(fifo):
        os.mkfifo(fifo)
    first = f"echo started > {fifo}; sleep 1000\n"
    line = "python train.py --lr 0.001 --batch-size 64 --seed {:07d}\n"
    jobs = f"{folder}/jobs"
    text = 0
    with open(jobs, "w") as f:
        f.write(first)
        for i in range(count):
            text += f.write(line.format(i)) - 1
    env = dict(os.environ, BERTH_HOME=f"{folder}/home", BERTH_LOCKS=f"{folder}/locks")
    begin = time.monotonic()
    run = subprocess.Popen([berth, "run", "--gpus", "sim:1", jobs], env=env,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with open(fifo) as f:
            f.readline()
        seconds = time.monotonic() - begin
        return seconds, resident_kb(run.pid) * 1024, text
    finally:
        while run.poll() is None:  # asked once it lets its job finish, asked again it does not
            run.terminate()
            time.sleep(0.02)


def main():
    berth = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with tempfile.TemporaryDirectory(prefix="berth-bench-") as folder:
        _, empty, _ = measure(berth, 1, folder)
        seconds, full, text = measure(berth, count, folder)
    each = (full - empty - text) / count
    print(f"{count:,} queued commands: read at {count / seconds:,.0f} lines/s (aim: 500,000), "
          f"{each:.0f} bytes each beside their text (aim: at most 300)")


if __name__ == "__main__":
    main()
