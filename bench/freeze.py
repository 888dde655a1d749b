#!/usr/bin/env python3
"""The longest that another client waits for the status while one request keeps the daemon busy.

    bench/freeze.py path/to/berth [JOBS] [NAME...]

JOBS (a million unless told) is how large each request is; NAME chooses some of them. The aim is
100 ms at worst, below 300 MB of memory beside what the queue itself takes, and an end within 2 s of
`daemon stop`, asked while the last request is under way.
"""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

BERTH = os.path.abspath(sys.argv[1])
JOBS = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
CHOSEN = sys.argv[3:]


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("berth", timeout=900)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(900)
        self.sock.connect(self.path)


class Daemon:
    def __init__(self, words=()):
        self.home = tempfile.mkdtemp(prefix="berth-freeze-")
        env = dict(os.environ, BERTH_HOME=self.home, BERTH_GPUS="sim:2",
                   BERTH_LOCKS=self.home + "/locks")
        ready, told = os.pipe()
        self.process = subprocess.Popen(
            [BERTH, "daemon", "run", "--gpus", "sim:2", "--ready-fd", str(told), *words],
            env=env, pass_fds=[told])
        os.close(told)
        assert os.read(ready, 100) == b"ok"
        self.path = self.home + "/berth.sock"

    def ask(self, method, target, body=None):
        connection = Connection(self.path)
        connection.request(method, target, body=body)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response.status, data

    def submit(self, jobs, **defaults):
        body = json.dumps({"defaults": dict({"directory": "/", "command": "true"}, **defaults),
                           "jobs": jobs})
        return self.ask("POST", "/v1/jobs", body.encode())

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))

    def stop(self):
        begin = time.monotonic()
        self.ask("POST", "/v1/daemon/stop")
        self.process.wait()
        return time.monotonic() - begin

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def measure(daemon, name, work):
    """Runs `work` on a thread; asks for the status all the while."""
    result = []

    def run():
        begin = time.monotonic()
        try:
            result.append(work())
        except OSError as error:
            result.append(repr(error))
        result.append(time.monotonic() - begin)

    daemon.ask("GET", "/v1/status")
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    waits = []
    while thread.is_alive():
        begin = time.monotonic()
        daemon.ask("GET", "/v1/status")
        waits.append(time.monotonic() - begin)
        time.sleep(0.002)
    waits.sort()
    waits = waits or [0]
    answer = result[0]
    if isinstance(answer, tuple):
        answer = f"{answer[0]} {answer[1][:90]!r}"
    print(f"{name:28} took {result[1]:7.2f} s   others: p50 {waits[len(waits) // 2] * 1e3:7.1f} ms"
          f"  p99 {waits[len(waits) * 99 // 100] * 1e3:7.1f} ms  worst {waits[-1] * 1e3:8.1f} ms"
          f"  {daemon.memory():5.0f} MB   {answer}", flush=True)
    return result[0]


def on_full_queue(daemon):
    """What is asked of a daemon whose queue is full; its two devices are busy."""
    get = lambda target: lambda: daemon.ask("GET", target)
    post = lambda target, body=None: lambda: daemon.ask("POST", target, body)
    return [
        ("list, odd name", get("/v1/jobs?select=name=zzz*&all=1")),
        ("list, odd user", get("/v1/jobs?select=user=4242&all=1")),
        ("list, descending", get("/v1/jobs?descending=1&limit=1000")),
        ("ids by name", get("/v1/jobs/ids?sort=name&all=1")),
        ("ids, search", get("/v1/jobs/ids?search=zzz&all=1")),
        ("facets", get("/v1/facets")),
        ("totals", get("/v1/totals")),
        ("timeline", get("/v1/timeline")),
        ("show the last", get(f"/v1/jobs/{JOBS}")),
        ("metrics", get("/metrics")),
        ("wait, odd name", get("/v1/wait?select=name=zzz*")),
        ("wait, then left", lambda: leave(daemon, "/v1/wait?select=state=queued")),
        ("hold all", post("/v1/jobs/hold?select=state=queued")),
        ("release all", post("/v1/jobs/release?select=state=held")),
        ("edit all", post("/v1/jobs/edit?select=state=queued", b'{"priority":5}')),
        ("policy conservative", post("/v1/daemon/policy?policy=conservative")),
        ("list, conservative", get("/v1/jobs")),
        ("policy priority", post("/v1/daemon/policy?policy=priority")),
        ("kill all", post("/v1/jobs/kill?select=state=queued")),
        ("rerun all", post("/v1/jobs/rerun?select=state=cancelled")),
        ("kill again", post("/v1/jobs/kill?select=state=queued")),
        ("forget none", post("/v1/jobs/forget?select=state=lost")),
        ("forget all", lambda: forget(daemon)),
    ]


def leave(daemon, target):
    connection = Connection(daemon.path)
    connection.request("GET", target)
    time.sleep(2)
    connection.close()
    return "left"


def forget(daemon):
    while json.loads(daemon.ask("POST", "/v1/jobs/forget")[1]).get("more"):
        pass
    return "done"


def submissions():
    """A daemon for each."""
    n = JOBS
    labels = {f"k{i}": "v" * 1000 for i in range(70_000)}
    return [
        ("array x10", [], lambda d: d.submit([{"array": 10 * n}])),
        ("array", [], lambda d: d.submit([{"array": n}], gpus=2)),
        ("many jobs", [], lambda d: d.submit([{"name": f"n{i}"} for i in range(min(n, 100_000))], gpus=2)),
        ("many needs", [], lambda d: d.submit(
            [{"gpus": 1, "memory_bytes": 1000000 + i} for i in range(min(n, 100_000))])),
        ("labels", [], lambda d: d.submit([{"labels": labels}])),
        ("10 followers each", [], lambda d: d.submit(
            [{"held": True} for _ in range(10)] +
            [{"follows": [f"ok:{k}" for k in range(10)]} for i in range(n)])),
        ("1 follower each", [], lambda d: d.submit(
            [{"held": True}] + [{"follows": ["ok:0"], "array": n - 1}])),
        ("huge lengths", ["--policy", "conservative"], lambda d: d.submit(
            [{"array": n, "expected_s": 300 * 365 * 86400}], gpus=1)),
        ("begin at once", [], lambda d: d.submit([{"array": n}], begin=time.time() + 12)),
    ]


def follow_up(daemon, name):
    measure(daemon, name + ": list", lambda: daemon.ask("GET", "/v1/jobs"))
    measure(daemon, name + ": show", lambda: daemon.ask("GET", f"/v1/jobs/{min(JOBS, 100)}"))
    if "follower" in name:
        measure(daemon, name + ": kill 1", lambda: daemon.ask("POST", "/v1/jobs/kill?select=1"))

        def emptied():
            while json.loads(daemon.ask("GET", "/v1/status")[1])["jobs"]["queued"] > 0:
                time.sleep(0.1)
            return "emptied"
        measure(daemon, name + ": cascade", emptied)
    if "begin" in name:
        measure(daemon, name + ": begins", lambda: time.sleep(15))


def main():
    for name, words, work in submissions():
        if CHOSEN and name not in CHOSEN:
            continue
        daemon = Daemon(words)
        measure(daemon, name, lambda: work(daemon))
        follow_up(daemon, name)
        print(f"{'':28} stopped in {daemon.stop():.2f} s", flush=True)
    if CHOSEN and "queue" not in CHOSEN:
        return
    daemon = Daemon()
    daemon.submit([{"command": "sleep 100000", "gpus": 2}])
    measure(daemon, "array", lambda: daemon.submit([{"array": JOBS}], gpus=1, name="x"))
    for name, work in on_full_queue(daemon):
        measure(daemon, name, work)
    daemon.ask("POST", "/v1/jobs/kill?select=state=running&signal=9")
    print(f"stopped in {daemon.stop():.2f} s")


if __name__ == "__main__":
    main()
