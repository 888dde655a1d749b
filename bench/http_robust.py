#!/usr/bin/env python3
"""How long a well-behaved client of the daemon waits while others misbehave.

    bench/http_robust.py path/to/berth

Each line is one kind of misbehaviour over the Unix socket; the client asks for the status on a new
connection, again and again, as long as it lasts. The aim is 100 ms at worst. On a machine that does
other work meanwhile the worst is that work's; the median is not.
"""
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

PROBES = 200
AIM = 0.1


def connect(path):
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(60)
    sock.connect(path)
    return sock


def request(method, target, body=b""):
    return (f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            .encode() + body)


def ask(path, method, target, body=b""):
    with connect(path) as sock:
        sock.sendall(request(method, target, body))
        answer = sock.recv(1 << 16)
        assert answer.startswith(b"HTTP/1.1 200 "), answer[:200]
        return answer


def probe(path):
    begin = time.monotonic()
    ask(path, "GET", "/v1/status")
    return time.monotonic() - begin


def half_requests(path, count):
    socks = [connect(path) for _ in range(count)]
    for sock in socks:
        sock.sendall(b"GET /v1/status HTTP/1.1\r\nX: ")
    return socks


def unread(path, target, times, count=10):
    socks = [connect(path) for _ in range(count)]
    for sock in socks:
        sock.sendall(request("GET", target) * times)
    return socks


def submit(path, commands, held=True):
    jobs = ",".join(f'{{"command":"{command}"}}' for command in commands)
    body = f'{{"defaults":{{"directory":"/","held":{str(held).lower()}}},"jobs":[{jobs}]}}'
    return ask(path, "POST", "/v1/jobs", body.encode())


def endless(path, stop, data):
    """Sends the same over and over, on a connection each."""
    while not stop.is_set():
        with connect(path) as sock:
            sock.sendall(data)
            sock.recv(1 << 16)


def measure(name, path, begin):
    """`begin` starts the misbehaviour and gives what must stay open and what ends it."""
    kept, end = begin()
    times = [probe(path) for _ in range(PROBES)]
    end()
    for sock in kept:
        sock.close()
    worst = max(times)
    print(f"{name:<44} median {statistics.median(times) * 1e3:6.2f} ms, worst {worst * 1e3:7.2f} ms"
          f"{'' if worst < AIM else '  above the aim'}", flush=True)


def main():
    berth = os.path.abspath(sys.argv[1])
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="berth-bench-") as folder:
        env = dict(os.environ, BERTH_HOME=folder + "/home", BERTH_LOCKS=folder + "/locks",
                   BERTH_GPUS="sim:2")
        subprocess.run([berth, "daemon", "start"], env=env, check=True)
        path = folder + "/home/berth.sock"
        try:
            run_all(path)
        finally:
            subprocess.run([berth, "daemon", "stop"], env=env, check=True, stdout=subprocess.DEVNULL)


def run_all(path):
    nothing = lambda: None
    measure("nobody else", path, lambda: ([], nothing))
    measure("1,000 connections with half a request", path,
            lambda: (half_requests(path, 1000), nothing))
    submit(path, ["true " + "x" * 10_000] * 1000)
    measure("10 clients do not read 100 MB of lists each", path,
            lambda: (unread(path, "/v1/jobs?limit=1000", 400), nothing))
    measure("100 clients do not read events", path,
            lambda: (unread(path, "/v1/events", 1, 100), nothing))
    submit(path, ["yes 0123456 | head -c 200000000"], held=False)
    measure("10 clients do not read a log that grows", path,
            lambda: (unread(path, "/v1/jobs/1001/log?wait=1", 300), nothing))

    def flood(data):
        stop = threading.Event()
        threads = [threading.Thread(target=endless, args=(path, stop, data)) for _ in range(2)]

        def end():
            stop.set()
            for thread in threads:
                thread.join()
        for thread in threads:
            thread.start()
        return [], end
    measure("2 clients send headers of 1 MB", path, lambda: flood(
        b"GET / HTTP/1.1\r\nX: " + b"x" * 16_000 + b"\r\nY: " + b"y" * (1 << 20)))
    measure("2 clients send JSON that nests 100,000 deep", path, lambda: flood(
        request("POST", "/v1/jobs", b'{"jobs":' + b"[" * 100_000)))


if __name__ == "__main__":
    main()
