#!/usr/bin/env python3
"""Fuzzes the daemon's interface from outside: sequences of requests that it should understand, with
some of their fields at extremes or broken, on several connections at once, pipelined and cut anywhere.

    tests/fuzz/interface_fuzz.py build/fuzz/berth [--seconds 600] [--seed 1]

The daemon should be one with sanitizers (the preset `fuzz`). After each sequence it must be there,
answer `GET /v1/status`, count its jobs as it lists them, and have its memory within the bound. No
well-formed request may get a 5xx other than 503, and each answer must be as docs/openapi.yaml says. Now
and then the daemon is stopped or killed and started again: it must come up with the jobs it had.

A failure prints the seed, the sequence and its requests, and writes a file for `--replay`.
"""

import argparse
import base64
import collections
import json
import os
import re
import resource
import select
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from interface_daemon import Finding, FuzzedDaemon, adopt_orphans  # noqa: E402
from interface_grammar import Grammar, Request, World, draw_for  # noqa: E402
from openapi import Mismatch  # noqa: E402

ANSWER_S = 60       # for any answer, by the clock
STOP_S = 30         # for an end
MOST_JOBS = 2000    # then a home has had its time, for lists of all jobs are walked
MOST_SEQUENCES = 150


class Answer:
    """One that came, as far as it came."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body
        self.type = headers.get("content-type", "").split(";")[0]

    def json(self):
        return json.loads(self.body)


class Exchange:
    """A connection with its requests, and what came back."""

    def __init__(self, sock, requests, data):
        self.sock = sock
        self.requests = requests
        self.pieces = data
        self.received = b""
        self.answers = []
        self.closed = False
        self.endless = False  # what comes now is a stream
        self.leaves = False   # it goes before all is sent

    def done(self):
        return self.closed or (self.leaves and not self.pieces) or self.endless or len(self.answers) == len(self.requests)

    def send(self):
        try:
            sent = self.sock.send(self.pieces[0][:1 << 18])
            self.pieces[0] = self.pieces[0][sent:]
            if not self.pieces[0]:
                self.pieces.pop(0)
        except BlockingIOError:
            pass
        except OSError:
            self.pieces = []  # it was refused; the answer may still be there to be read

    def receive(self):
        try:
            data = self.sock.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.closed = not data
        self.received += data
        while not self.done() or self.closed:
            if not self.take():
                break

    def take(self):
        if any(request.broken is not None for request in self.requests[:len(self.answers) + 1]):
            self.received = b""  # nobody can tell which bytes the daemon took for a request
            return False
        head, end, rest = self.received.partition(b"\r\n\r\n")
        if not end or len(self.answers) == len(self.requests):
            return False
        lines = head.decode("latin-1").split("\r\n")
        match = re.fullmatch(r"HTTP/1\.1 (\d{3}) .*", lines[0])
        if not match:
            raise Finding(f"no answer of HTTP/1.1: {head[:200]!r}")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines[1:])}
        if int(match[1]) == 100:
            self.received = rest
            return True
        if "content-length" not in headers:
            self.endless = True
            return False
        length = int(headers["content-length"])
        if self.requests[len(self.answers)].method == "HEAD":
            length = 0
        if len(rest) < length:
            return False
        self.answers.append(Answer(int(match[1]), headers, rest[:length]))
        self.received = rest[length:]
        return True


class Fuzzer:
    def __init__(self, options):
        self.options = options
        self.daemon = FuzzedDaemon(os.path.realpath(options.berth), options.memory_mb)
        self.world = World()
        self.grammar = Grammar(self.world)
        self.statuses = collections.Counter()
        self.requests = self.sequences = self.restarts = self.homes = self.peak = 0
        self.history = []  # of this home: numbers of sequences, and how many jobs there were
        self.last = []     # requests of the last sequence
        self.stopped = False  # one of them has ended the daemon
        self.address = None

    # --- talking

    def fresh(self):
        self.daemon.fresh()
        self.world.jobs = 0
        self.history = []
        self.homes += 1
        self.look()

    def look(self):
        host, port = self.ask("/v1/status")["listen"].rsplit(":", 1)
        self.address = (host, int(port))

    def ask(self, target):
        """Of the owner, on a connection of its own; it must be answered soon, with 200."""
        try:
            sock = self.daemon.connect("owner", None)
            with sock:
                request = Request("GET", target.split("?")[0], target, {"Host": "localhost"})
                exchange = Exchange(sock, [request], [request.bytes()])
                self.drive([exchange], patient=False)
        except OSError as error:
            select.select([self.daemon.ended], [], [], 5)
            self.check_alive()
            raise Finding(f"GET {target}: {error}") from None
        if not exchange.answers:
            select.select([self.daemon.ended], [], [], 5)  # a connection goes before its process does
            self.check_alive()
            raise Finding(f"GET {target} got no answer")
        answer = exchange.answers[0]
        if answer.status != 200:
            raise Finding(f"GET {target} got {answer.status} {answer.body[:300]!r}")
        return answer.json()

    def drive(self, exchanges, patient=True):
        """Until all are answered; those that may wait for ever get a moment."""
        begun, cpu = time.monotonic(), self.daemon.loop_seconds()
        quiet_until = None
        for exchange in exchanges:
            exchange.sock.setblocking(False)
        while open_ones := [exchange for exchange in exchanges if not exchange.done()]:
            writers = [exchange for exchange in open_ones if exchange.pieces]
            ready = select.select([e.sock for e in open_ones], [e.sock for e in writers], [], 0.1)
            for exchange in open_ones:
                if exchange.sock in ready[1]:
                    exchange.send()
                if exchange.sock in ready[0]:
                    exchange.receive()
            if any(ready):
                quiet_until = None
                continue
            self.check_alive(patient)
            now = time.monotonic()
            quiet_until = quiet_until or now + 0.2
            # An answer that is due does not stand behind a request that waits.
            due = [e for e in open_ones if not any(r.waits() or r.broken is not None
                                                   for r in e.requests[:len(e.answers) + 1])]
            if not due and now > quiet_until:
                return
            if now - begun > ANSWER_S:
                asked = due[0].requests[len(due[0].answers)] if due else None
                raise Finding(f"no answer in {ANSWER_S} s: {show(asked) if asked else ''}")
            if not patient and self.daemon.loop_seconds() - cpu > self.options.patience:
                raise Finding(f"the status is not answered within {self.options.patience} s of the loop's own time")

    def check_alive(self, may_end=False):
        if self.daemon.alive():
            return
        self.daemon.check_reports()
        code = self.daemon.process.returncode
        if code == 0 and (may_end or self.was_stopped()):
            return
        raise Finding(f"the daemon has ended with {code}: {self.daemon.last_words()}")

    def was_stopped(self):
        return any(request.route == "/v1/daemon/stop" for request in self.last)

    def has_stopped(self):
        """Whether it was told to end in this sequence, and does. One that a client did not wait for may
        have been refused."""
        if self.was_stopped() and (self.stopped or select.select([self.daemon.ended], [], [], 0.5)[0]):
            if code := self.daemon.wait(STOP_S):
                self.daemon.check_reports()
                raise Finding(f"the daemon ended with {code} when told to: {self.daemon.last_words()}")
        return not self.daemon.alive()

    # --- one sequence

    def run_sequence(self, number):
        self.history.append((number, self.world.jobs))
        draw = draw_for(self.options.seed, number)
        self.last = self.grammar.sequence(draw)
        self.stopped = False
        kinds = [draw.choice(["owner", "other", "other", "token", "stranger"]) for _ in range(draw.choice([1, 1, 2, 3]))]
        exchanges = []
        by_kind = collections.defaultdict(list)
        for request in self.last:
            place = draw.randrange(len(kinds))
            kind = kinds[place]
            if request.queues() and self.daemon.shared and kind in ("owner", "token"):
                place, kind = len(kinds), "other"  # nothing of the fuzzer's is run as root
            by_kind[place, kind].append(request)
        try:
            for (_, kind), requests in by_kind.items():
                # A piece at a time or all at once; cut anywhere.
                for batch in ([requests] if draw.random() < 0.6 else [[request] for request in requests]):
                    exchanges.append(self.prepare(draw, kind, batch))
            if draw.random() < 0.05:
                leaver = draw.choice(exchanges)
                leaver.leaves = True
                leaver.pieces[-1] = leaver.pieces[-1][:-1]
            self.drive(exchanges)
        except OSError as error:
            self.check_alive(may_end=True)
            if self.daemon.alive():
                raise Finding(f"cannot connect: {error}") from None
        finally:
            for exchange in exchanges:
                exchange.sock.close()
        self.requests += len(self.last)
        self.sequences += 1
        for exchange in exchanges:
            self.judge(exchange)

    def prepare(self, draw, kind, requests):
        sock = self.daemon.connect(kind, self.address)
        for request in requests:
            if kind in ("token", "stranger"):
                request.headers["Host"] = f"{self.address[0]}:{self.address[1]}"
            if kind == "token":
                request.headers["Authorization"] = "Bearer " + self.daemon.token()
        data = b"".join(request.bytes() for request in requests)
        cuts = sorted(draw.randrange(len(data) + 1) for _ in range(draw.choice([0, 0, 1, 3])))
        return Exchange(sock, requests, [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)]) if a < b])

    def judge(self, exchange):
        """What came must be HTTP, JSON and as documented, as long as what was sent was framed well."""
        for request, answer in zip(exchange.requests, exchange.answers):
            self.statuses[answer.status] += 1
            if request.broken is not None:
                return
            if answer.status >= 500 and answer.status not in (503, 504):
                raise Finding(f"{answer.status} {answer.body[:300]!r} to {show(request)}")
            self.stopped |= request.route == "/v1/daemon/stop" and request.method == "POST" and answer.status == 200
            if request.method == "HEAD" or answer.type != "application/json":
                continue
            try:
                told = answer.json()
                if answer.status >= 400:
                    self.grammar.document.check({"$ref": "#/components/schemas/Error"}, told, "an error")
                elif request.method in ("GET", "POST"):
                    self.grammar.document.check_reply(request.method, request.route, answer)
            except (ValueError, Mismatch) as problem:
                raise Finding(f"{problem} in the answer {answer.body[:500]!r} to {show(request)}") from None
            if request.queues() and answer.status == 200:
                self.world.jobs = max(self.world.jobs, told["first"] + told["count"] - 1)

    # --- what must hold after it

    def check_invariants(self):
        self.daemon.check_reports()
        status = self.ask("/v1/status")
        if status["pid"] != self.daemon.pid:
            raise Finding(f"the daemon's number is {self.daemon.pid}, and it says {status['pid']}")
        now, highest = self.daemon.memory()
        self.peak = max(self.peak, highest)
        if now > self.options.memory_mb:
            raise Finding(f"the daemon has {now} MB")
        if sum(status["jobs"].values()) <= MOST_JOBS and self.sequences % 5 == 0:
            self.check_counts()
        return sum(status["jobs"].values())

    def check_counts(self):
        """The counts are those of the list. A job may change and change back between two looks at the counts, so
        it takes several to be sure."""
        wrong = ""
        for _ in range(6):
            before = self.ask("/v1/status")["jobs"]
            listed = collections.Counter()
            after = 0
            while after is not None:
                page = self.ask(f"/v1/jobs?all=1&limit=1000&after={after}")
                listed.update(job["state"] for job in page["jobs"])
                after = page.get("next")
            if before == self.ask("/v1/status")["jobs"]:
                counted = {state: count for state, count in before.items() if count}
                if counted == dict(listed):
                    return
                wrong = f"status counts {counted}, and the list has {dict(listed)}"
        if wrong:
            raise Finding(wrong)

    def begin_again(self, jobs, draw):
        """The daemon ends, one way or the other, and the next one has what it had."""
        if self.daemon.alive() and draw.random() < 0.5:
            self.daemon.kill()
        elif self.daemon.alive():
            self.daemon.process.terminate()
            if code := self.daemon.wait(STOP_S):
                self.daemon.check_reports()
                raise Finding(f"the daemon ended with {code} when told to: {self.daemon.last_words()}")
        self.daemon.check_reports()
        self.daemon.start()
        self.restarts += 1
        self.look()
        if jobs is not None and (there := sum(self.ask("/v1/status")["jobs"].values())) != jobs:
            raise Finding(f"{jobs} jobs were on record before the restart, {there} after it")

    def step(self, number):
        draw = draw_for(self.options.seed, f"restart {number}")
        self.run_sequence(number)
        if self.has_stopped():
            self.begin_again(None, draw)
        jobs = self.check_invariants()
        if jobs > MOST_JOBS or len(self.history) >= MOST_SEQUENCES:
            self.begin_again(jobs, draw)
            self.fresh()
        elif draw.random() < 0.02:
            self.begin_again(jobs, draw)

    # --- the whole

    def run(self):
        end = time.monotonic() + self.options.seconds
        told = time.monotonic() + 10
        findings = {}
        number = 0
        self.fresh()
        while time.monotonic() < end and len(findings) < self.options.findings:
            number += 1
            try:
                self.step(number)
            except Finding as finding:
                kind = finding.kind()
                if kind not in findings:
                    self.report(number, finding)
                findings.setdefault(kind, number)
                self.fresh()
            if time.monotonic() > told:
                told = time.monotonic() + 10
                print(f"  {self.figures()}", flush=True)
        print(f"inputs tried: {self.requests} ({self.figures()})")
        print(f"findings: {len(findings)}")
        return 1 if findings else 0

    def figures(self):
        by_status = ", ".join(f"{status}: {count}" for status, count in sorted(self.statuses.items()))
        return (f"{self.sequences} sequences, {self.requests} requests, {self.homes} homes, {self.restarts} restarts, "
                f"at most {self.peak} MB; answers {by_status}")

    def report(self, number, finding):
        path = f"{self.options.artifacts}interface_fuzz-{self.options.seed}-{number}.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"seed": self.options.seed, "sequences": self.history, "finding": str(finding),
                       "requests": [base64.b64encode(r.bytes()[:1 << 20]).decode() for r in self.last]}, file)
        print(f"FOUND by sequence {number} of seed {self.options.seed}: {finding}\nthe last requests:")
        for request in self.last:
            print("  " + show(request))
        print(f"again: {sys.argv[0]} {self.options.berth} --replay {path}", flush=True)

    def replay(self):
        """The last sequence alone, then with ever more of what came before it."""
        with open(self.options.replay, encoding="utf-8") as file:
            saved = json.load(file)
        self.options.seed = saved["seed"]
        for count in (1, 3, 10, 50, len(saved["sequences"])):
            self.fresh()
            try:
                for number, jobs in saved["sequences"][-count:]:
                    self.world.jobs = jobs
                    self.run_sequence(number)
                    if self.has_stopped():
                        self.begin_again(None, draw_for(0, 0))
                    self.check_invariants()
            except Finding as finding:
                print(f"with the last {count}: {finding}")
                for request in self.last:
                    print("  " + show(request))
                return 1
        print("it does not happen again")
        return 0


def show(request):
    data = request.bytes()
    head, _, body = data.partition(b"\r\n\r\n")
    line = head.split(b"\r\n")[0]
    return f"{line[:300]!r} {body[:700]!r}{f' … {len(body)} bytes' if len(body) > 700 else ''}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("berth")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory-mb", type=int, default=1024, help="of the daemon, with what a sanitizer takes")
    parser.add_argument("--patience", type=float, default=2, help="seconds of the loop's own time until status answers")
    parser.add_argument("--findings", type=int, default=1, help="go on until there are so many different ones")
    parser.add_argument("--artifacts", default="", help="where files of findings go: a prefix")
    parser.add_argument("--replay", help="a file of a finding")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    adopt_orphans()
    fuzzer = Fuzzer(options)
    try:
        sys.exit(fuzzer.replay() if options.replay else fuzzer.run())
    finally:
        fuzzer.daemon.clear()


if __name__ == "__main__":
    main()
