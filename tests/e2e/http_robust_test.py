"""Clients that are broken, slow, greedy or many: the daemon stays up and answers the others."""

import json
import os
import random
import resource
import socket
import sys
import time
import unittest

from daemon_case import DEADLINE
from http_case import HttpCase
from openapi import Document

SEED = int(os.environ.get("BERTH_SEED", "20240607"))
ROUNDS = int(os.environ.get("BERTH_ROUNDS", "600"))


def request(method, target, body=b"", headers=()):
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def read_to_end(sock):
    parts = []
    try:
        while part := sock.recv(1 << 16):
            parts.append(part)
    except ConnectionError:
        pass  # refused while it was still talking
    return b"".join(parts)


class RobustCase(HttpCase):
    """The same over the Unix socket and over TCP."""

    over_tcp = False

    def setUp(self):
        super().setUp()
        self.daemon = self.start_daemon(words=["--listen", "127.0.0.1:0"] if self.over_tcp else [])
        self.latencies = []
        if self.over_tcp:
            self.allowed = [f"Host: {':'.join(map(str, self.address()))}",
                            f"Authorization: Bearer {self.token()}"]

    def tearDown(self):
        if self.latencies:
            print(f"{self.id()}: another client was answered {len(self.latencies)} times, at worst "
                  f"after {max(self.latencies) * 1000:.1f} ms", file=sys.stderr)
        super().tearDown()

    def connect(self):
        return self.raw_tcp() if self.over_tcp else self.raw_unix()

    def request(self, method, target, body=b""):
        text = request(method, target, body)
        if self.over_tcp:
            text = text.replace(b"Host: localhost", "\r\n".join(self.allowed).encode())
        return text

    def send(self, data):
        """On a connection of its own: the answer, to its end."""
        with self.connect() as sock:
            try:
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it has heard enough
            return read_to_end(sock)

    def another_is_answered(self):
        """While whoever misbehaves makes no progress. How fast it was is told, not judged: other work
        of the machine is no fault of the daemon's (bench/http_robust.py judges)."""
        begin = time.monotonic()
        with self.connect() as sock:
            sock.sendall(self.request("GET", "/v1/status"))
            self.assertTrue(sock.recv(1 << 16).startswith(b"HTTP/1.1 200 "))
        self.latencies.append(time.monotonic() - begin)
        self.assertIsNone(self.daemon.poll(), "the daemon has died")


def valid_requests(case):
    submit = json.dumps({"defaults": {"directory": "/", "held": True, "labels": {"a": "b"}},
                         "jobs": [{"command": "true", "array": 2, "after": [], "priority": 1},
                                  {"command": "true", "follows": ["ok:0"], "timeout_s": 1.5}]})
    return [case.request("POST", "/v1/jobs", submit.encode()),
            case.request("POST", "/v1/jobs/edit?select=1-3", b'{"priority": 5, "name": "x"}'),
            case.request("GET", "/v1/jobs?all=1&limit=3&select=state=live&select=label=a=b"),
            case.request("GET", "/v1/jobs/1/log?tail=3&attempt=0&offset=1&stream=err"),
            case.request("POST", "/v1/jobs/hold?select=1-9"),
            case.request("POST", "/v1/devices/drain?names=0"),
            case.request("GET", "/metrics"), case.request("GET", "/v1/jobs/1")]


def damage(data, rng):
    """A request that was one: bytes changed, cut out, doubled, or mixed with something else."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(7)
        if kind == 0 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at:at + rng.randint(1, 20)]
        elif kind == 2:
            data[at:at] = data[at:at + rng.randint(1, 60)]
        elif kind == 3:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 30)))
        elif kind == 4:
            data[at:at] = rng.choice([b"\r\n", b"\0", b"\r\n\r\n", b": ", b"%", b"%00", b"../", b"&select=",
                                      b"Content-Length: 9\r\n", b"Transfer-Encoding: chunked\r\n",
                                      b"Expect: 100-continue\r\n", b"HEAD / HTTP/1.1\r\n\r\n"])
        elif kind == 5:
            data[at:at] = rng.choice([b"99999999999999999999", b"-1", b"1e400", b"null", b'"', b"\\u0000",
                                      b"[[[[", b"{}", b"\xff\xfe", b"\xed\xa0\x80"])
        else:
            del data[at:]
    return bytes(data)


def junk(rng, depth=0):
    """Any JSON; no number that stands for much work."""
    kind = rng.randrange(12 if depth < 3 else 9)
    simple = [None, True, False, -1, rng.randint(0, 50), 2.5, 1e308, 2**63, 2**64 - 1, -2**63, "", "x",
              "\0", "ok:1", "any:99999999", "\ud800", "é" * 50, "/dev/null", "%j%a%%%", "0"]
    if kind < 9:
        return rng.choice(simple)
    if kind < 11:
        return [junk(rng, depth + 1) for _ in range(rng.randint(0, 4))]
    return {rng.choice(["a", "command", "gpus", "", "jobs"]): junk(rng, depth + 1) for _ in range(3)}


class Broken:
    def test_damaged_requests(self):
        rng = random.Random(SEED)
        valid = valid_requests(self)
        for i in range(ROUNDS):
            data = damage(rng.choice(valid), rng)
            answer = self.send(data)
            with self.subTest(seed=SEED, round=i, sent=data):
                self.assertTrue(answer == b"" or answer.startswith(b"HTTP/1.1 "), answer)
                self.assertNotIn(b"HTTP/1.1 5", answer)
            if i % 100 == 0:
                self.another_is_answered()
        self.another_is_answered()

    def test_junk_in_json(self):
        rng = random.Random(SEED)
        document = Document()
        known = document.root["components"]["schemas"]["Wish"]["properties"]
        fields = [*known, "gpus", "array", "follows", "environment", "none"]
        taken = 0
        for i in range(ROUNDS):
            job = {"command": "true", "directory": "/"}
            for key in rng.sample(fields, rng.randint(1, 6)):
                fine = key in known and rng.random() < 0.8
                job[key] = known[key]["examples"][0] if fine else junk(rng)
            job["held"] = True
            body = {"jobs": [job], **({"defaults": junk(rng)} if rng.random() < 0.1 else {})}
            target = rng.choice(["/v1/jobs", "/v1/jobs/edit?select=1"])
            if target != "/v1/jobs":
                body = job
            reply = self.ask("POST", target, json.dumps(body))
            with self.subTest(seed=SEED, round=i, body=body):
                self.assertIn(reply.status, (200, 400, 404, 409), reply)
                document.check_reply("POST", target.split("?")[0], reply)
            taken += reply.status == 200
        print(f"{taken} of {ROUNDS} were taken", file=sys.stderr)
        self.assertTrue(0 < taken < ROUNDS)
        for job in self.get("/v1/jobs?all=1&limit=1000")["jobs"]:
            document.check({"$ref": "#/components/schemas/Job"}, job, "job")
        self.another_is_answered()

    def test_deep_and_wide_json(self):
        for body in (b"[" * 1_000_000, b'{"jobs":' + b"[" * 1_000_000, b'{"a":' * 300_000,
                     b'{"jobs":[' + b"[]," * 300_000 + b"{}]}",
                     b'{"jobs":[{"command":"true","labels":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000
                     + b"}]}", b'{"token":"' + b"x" * 3_000_000 + b'"}', b"\x00" * 1000, b"\xff" * 1000):
            self.assertTrue(self.send(self.request("POST", "/v1/jobs", body))
                            .startswith(b"HTTP/1.1 400 "), body[:20])
            self.another_is_answered()

    def test_headers_and_bodies_that_are_too_large(self):
        large = b"x" * (1 << 20)
        start = self.request("GET", "/v1/status")[:-2]
        for data, status in ((start + b"X: " + large + b"\r\n\r\n", b"431"),
                             (start + b"X: y\r\n" * 200_000 + b"\r\n", b"431"),
                             (b"GET /" + large + b" HTTP/1.1\r\n\r\n", b"431"),
                             (large, b"4"), (start + large, b"4"),
                             (start + b"Content-Length: 268435457\r\n\r\n", b"413"),
                             (start + b"Content-Length: 99999999999999999999999\r\n\r\n", b"400"),
                             (start + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n", b"413")):
            answer = self.send(data)
            # Who talks on after being refused may lose the answer.
            self.assertTrue(answer == b"" or answer.startswith(b"HTTP/1.1 " + status), answer[:200])
            self.another_is_answered()


class Slow:
    def test_requests_byte_by_byte_and_without_an_end(self):
        data = self.request("GET", "/v1/jobs")
        slow = [self.connect() for _ in range(20)]
        never = [self.connect() for _ in range(20)]
        for sock in never:
            sock.sendall(self.request("POST", "/v1/jobs", b"{" * 1000)[:-500])
        for at in range(len(data)):
            for sock in slow:
                sock.sendall(data[at:at + 1])
            self.another_is_answered()
        for sock in slow:
            self.assertTrue(sock.recv(100).startswith(b"HTTP/1.1 200 "))

    def test_big_answers_that_nobody_reads(self):
        text = "x" * 10_000
        self.submit(*[f"true {text}"] * 1000, held=True)
        before = self.resident()
        stalled = [self.connect() for _ in range(10)]
        for sock in stalled:
            sock.sendall(self.request("GET", "/v1/jobs?limit=1000") * 400)  # 100 MB in all
        for _ in range(100):
            self.another_is_answered()
        # Some 4 MiB wait for each; the requests behind them wait until those have been read.
        # (What a sanitizer keeps of freed memory would count, too.)
        if os.environ.get("BERTH_SANITIZED") != "1":
            self.assertLess(self.resident() - before, 10 * 10 << 20)
        got = 0
        while got < 50 << 20:
            got += len(stalled[0].recv(1 << 20))
        self.another_is_answered()

    def test_pages_of_long_jobs_are_short_and_leave_nothing_out(self):
        self.submit(*[f"true {'x' * 10_000}"] * 100, held=True)
        for order, numbers in (("0", range(1, 101)), ("1", range(100, 0, -1))):
            seen, after, pages = [], 0, 0
            while after is not None:
                page = self.get(f"/v1/jobs?limit=1000&after={after}&descending={order}")
                seen += [job["id"] for job in page["jobs"]]
                after = page.get("next")
                pages += 1
            self.assertEqual(seen, list(numbers))
            self.assertGreater(pages, 3)

    def resident(self):
        return int(self.proc(self.daemon.pid, "statm").split()[1]) * resource.getpagesize()

    def test_a_log_that_nobody_reads_while_it_grows(self):
        size = 40 << 20
        self.make_gates("go")
        number = self.submit(f"read x < go; yes 0123456 | head -c {size}; true")
        stalled = [self.connect() for _ in range(10)]
        for sock in stalled:
            sock.sendall(b"".join(self.request("GET", f"/v1/jobs/{number}/log?wait=1&offset={i << 18}")
                                  for i in range(160)))
        self.release("go")
        offset, whole, connection = 0, 0, self.unix()
        while True:  # the one who reads gets it all
            reply = self.ask("GET", f"/v1/jobs/{number}/log?wait=1&offset={offset}",
                             connection=connection)
            self.assertEqual(reply.status, 200, reply)
            offset = int(reply.headers["Berth-Offset"])
            whole += len(reply.body)
            if reply.headers["Berth-More"] == "no" and not reply.body:
                break
            self.another_is_answered()
        self.assertEqual(whole, size)

    def test_a_thousand_connections(self):
        """Also where a process may have few descriptors at first."""
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if most < 4000:
            self.skipTest("too few descriptors")
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.daemon.terminate()
        self.daemon.wait(DEADLINE)
        self.listens = None
        self.daemon = self.start_daemon(
            words=["--listen", "127.0.0.1:0"] if self.over_tcp else [],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (300, most)))
        if self.over_tcp:
            self.allowed[0] = f"Host: {':'.join(map(str, self.address()))}"
        data = self.request("GET", "/v1/jobs")
        clients = []
        for i in range(1000):
            clients.append(self.connect())
            if self.over_tcp:  # who has not shown a token yet has few
                clients[-1].sendall(data)
                self.assertTrue(clients[-1].recv(1 << 16).startswith(b"HTTP/1.1 200 "))
            clients[-1].sendall(data[:-2])
            if i % 100 == 0:
                self.another_is_answered()
        self.another_is_answered()
        for sock in clients:
            sock.sendall(data[-2:])
        for sock in clients:
            self.assertTrue(sock.recv(1 << 16).startswith(b"HTTP/1.1 200 "))
        # What the daemon allows itself is not for its jobs.
        number = self.submit("ulimit -n")
        self.get(f"/v1/wait?select={number}")
        self.assertEqual(self.ask("GET", f"/v1/jobs/{number}/log").body, b"300\n")


class BrokenOverUnix(Broken, RobustCase):
    pass


class BrokenOverTcp(Broken, RobustCase):
    over_tcp = True


class SlowOverUnix(Slow, RobustCase):
    pass


class SlowOverTcp(Slow, RobustCase):
    over_tcp = True


if __name__ == "__main__":
    unittest.main()
