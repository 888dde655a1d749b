#!/usr/bin/env python3
"""What the daemon can take: submissions, a million queued jobs, a restart.

    bench/daemon.py path/to/berth [--count 1000000] [--parts single,bulk,loop,million]

single   durable submissions a second, one request each, pipelined over one kept connection
bulk     different jobs a second in one request
loop     a shell loop of `berth submit` beside one that starts a bare process as often
million  `berth queue`, the gap from a job's end to the next start, the daemon's memory per job and
         its restart, with a million queued
Rates of the disk and of process starts differ from machine to machine; ratios are of one run.
"""
import argparse
import json
import os
import re
import select
import signal
import socket
import statistics
import subprocess
import tempfile
import time

ENV = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8"}


class Daemon:
    def __init__(self, berth, gpus="0"):
        self.berth = berth
        self.folder = tempfile.TemporaryDirectory(prefix="berth-bench-")
        self.env = dict(ENV, BERTH_HOME=self.folder.name + "/home", BERTH_GPUS=gpus,
                        BERTH_LOCKS=self.folder.name + "/locks")
        self.run("daemon", "start")

    def run(self, *words):
        return subprocess.run([self.berth, *words], env=self.env, check=True, text=True,
                              cwd=self.folder.name, capture_output=True).stdout

    def status(self):
        return json.loads(self.run("daemon", "status", "--json"))

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        client.connect(self.env["BERTH_HOME"] + "/berth.sock")
        return client

    def post(self, target, body=b""):
        with self.connect() as client:
            client.sendall(request(target, body))
            return json.loads(read_replies(client, 1)[0])

    def resident(self):
        with open(f"/proc/{self.status()['pid']}/status") as file:
            return int(re.search(r"^VmRSS:\s+(\d+) kB", file.read(), re.M).group(1)) * 1024

    def kill(self):
        process = os.pidfd_open(self.status()["pid"])
        signal.pidfd_send_signal(process, signal.SIGKILL)
        select.select([process], [], [])
        os.close(process)

    def close(self):
        self.run("daemon", "stop")
        self.folder.cleanup()


def request(target, body):
    return (f"POST {target} HTTP/1.1\r\nHost: berth\r\nContent-Length: {len(body)}\r\n\r\n"
            .encode() + body)


def read_replies(client, count):
    """The bodies of so many answers."""
    data, bodies, at = b"", [], 0
    while len(bodies) < count:
        head = data.find(b"\r\n\r\n", at)
        if head >= 0:
            found = re.search(rb"Content-Length: (\d+)", data[at:head], re.I)
            end = head + 4 + int(found.group(1))
            if len(data) >= end:
                assert data[at:at + 12] == b"HTTP/1.1 200", data[at:end]
                bodies.append(data[head + 4:end])
                at = end
                continue
        if at:
            data, at = data[at:], 0
        piece = client.recv(1 << 20)
        if not piece:
            raise SystemExit("the daemon closed the connection")
        data += piece
    return bodies


def environment():
    """About what a login shell has."""
    return [f"VARIABLE_{i}=/some/ordinary/path/with/a/number/{i}" for i in range(40)]


def document(commands):
    return json.dumps({"defaults": {"directory": "/tmp", "environment": environment()},
                       "jobs": [{"command": command} for command in commands]}).encode()


def single(berth, count=20_000):
    daemon = Daemon(berth)
    daemon.run("daemon", "pause")
    requests = [request("/v1/jobs", document([f"python train.py --seed {i}"]))
                for i in range(count)]
    with daemon.connect() as client:
        begin = time.monotonic()
        window, sent, got = 512, 0, 0
        while got < count:
            batch = requests[sent:sent + window]
            client.sendall(b"".join(batch))
            sent += len(batch)
            got += len(read_replies(client, len(batch)))
        seconds = time.monotonic() - begin
    assert daemon.status()["jobs"]["queued"] == count
    daemon.close()
    print(f"single: {count / seconds:,.0f} durable submissions/s over one connection "
          "(aim: 5,000)")


def bulk(berth, count=100_000):
    daemon = Daemon(berth)
    daemon.run("daemon", "pause")
    body = document([f"python train.py --lr 0.{i} --seed {i}" for i in range(count)])
    begin = time.monotonic()
    daemon.post("/v1/jobs", body)
    seconds = time.monotonic() - begin
    assert daemon.status()["jobs"]["queued"] == count
    daemon.close()
    print(f"bulk: {count / seconds:,.0f} different jobs/s in one request (aim: 100,000)")


def loop(berth, count=500, rounds=5):
    daemon = Daemon(berth)
    daemon.run("daemon", "pause")
    ratios = []
    for _ in range(rounds):
        def timed(command):
            begin = time.monotonic()
            subprocess.run(["sh", "-c", f"i=0; while [ $i -lt {count} ]; do {command}; "
                            "i=$((i+1)); done >/dev/null"], env=daemon.env, check=True,
                           cwd=daemon.folder.name)
            return count / (time.monotonic() - begin)
        bare = timed("/bin/true")
        submits = timed(f"{berth} submit true")
        ratios.append((submits / bare, submits, bare))
    daemon.close()
    ratio, submits, bare = sorted(ratios)[len(ratios) // 2]
    print(f"loop: {submits:,.0f} berth submit/s beside {bare:,.0f} bare processes/s: "
          f"{ratio:.2f} × (aim: 0.55)")


def next_starts(daemon, count):
    """Gaps between the last thing that a job does and the first that the next does, in ms, and the
    same in a shell's loop. Both hold the end of a shell and the start of another."""
    stamps = daemon.folder.name + "/stamps"
    clock = daemon.folder.name + "/clock"
    with open(clock + ".c", "w") as file:
        file.write('#include <fcntl.h>\n#include <stdio.h>\n#include <time.h>\n#include <unistd.h>\n'
                   'int main(int n, char** a) { struct timespec t; char b[64];'
                   ' int f = open(a[1], O_WRONLY | O_APPEND | O_CREAT, 0600);'
                   ' clock_gettime(CLOCK_MONOTONIC, &t);'
                   ' int k = snprintf(b, 64, "%lld\\n", t.tv_sec * 1000000000LL + t.tv_nsec);'
                   ' return write(f, b, k) != k || n < 2; }\n')
    subprocess.run(["cc", "-O2", "-o", clock, clock + ".c"], check=True)
    jobs = daemon.run("submit", "--priority", "-1000", "--array", str(count),
                      f"{clock} {stamps}; {clock} {stamps}").strip()
    daemon.run("daemon", "resume")
    daemon.run("wait", jobs)
    daemon.run("daemon", "pause")
    bare = daemon.folder.name + "/bare"
    subprocess.run(["sh", "-c", f"i=0; while [ $i -lt {count} ]; do "
                    f"sh -c '{clock} {bare}; {clock} {bare}'; i=$((i+1)); done"], check=True)

    def gaps(name):
        with open(name) as file:
            times = [int(line) for line in file]
        return sorted((b - a) / 1e6 for a, b in zip(times[1::2], times[2::2]))
    return gaps(stamps), gaps(bare)


def million(berth, count):
    daemon = Daemon(berth)
    daemon.run("daemon", "pause")
    empty = daemon.resident()
    step = 100_000
    for start in range(0, count, step):
        daemon.post("/v1/jobs", document([f"sleep 1000 # {i}" for i in range(start, start + step)]))
    full = daemon.resident()
    lists = []
    for _ in range(5):
        begin = time.monotonic()
        daemon.run("queue")
        lists.append((time.monotonic() - begin) * 1e3)
    os.sync()  # the disk has written down what was submitted
    gaps, bare = next_starts(daemon, 200)
    daemon.kill()
    begin = time.monotonic()
    daemon.run("daemon", "start")
    restart = time.monotonic() - begin
    queued = daemon.status()["jobs"]["queued"]
    assert queued >= count - 1, queued  # one may have started before the pause
    for job in json.loads(daemon.run("queue", "state=running", "--json"))["jobs"]:
        daemon.run("kill", str(job["id"]))
        subprocess.run([berth, "wait", str(job["id"])], env=daemon.env, check=False)
    daemon.close()
    print(f"{count:,} queued: berth queue {statistics.median(lists):.0f} ms (aim: 50), next start "
          f"{statistics.median(gaps):.2f} ms after the end before it "
          f"(p99 {gaps[int(len(gaps) * .99)]:.2f}; aim: 2; a shell's loop "
          f"{statistics.median(bare):.2f}), restart "
          f"{restart:.1f} s (aim: 5), {(full - empty) / count:.0f} bytes of memory each "
          f"(aim: 1,024)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("berth")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--parts", default="single,bulk,loop,million")
    options = parser.parse_args()
    berth = os.path.realpath(options.berth)
    for part in options.parts.split(","):
        if part == "million":
            million(berth, options.count)
        else:
            {"single": single, "bulk": bulk, "loop": loop}[part](berth)


if __name__ == "__main__":
    main()
