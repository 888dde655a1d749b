#!/usr/bin/env python3
"""What other clients notice of requests that are meant to do harm.

    bench/hostile.py path/to/berth [--quick] [--json] [--only NAME,NAME]

Each case has a daemon of its own. While the hostile client is at work, another asks for the status and for a
short list of jobs, on a new connection every 10 ms whether or not the one before was answered: so a daemon that
stands still for a second is seen by a hundred requests, not by one. The aims: 99 of 100 answers within 100 ms,
the daemon's memory below 300 MB, the same process at the end, and its end within 2 s of being told to.
As root, a case of `another user` is one of nobody's. Unix socket and loopback alone; nothing is run but `true`.
"""
import argparse
import contextlib
import json
import multiprocessing
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

AIM_S, AIM_MB, AIM_STOP_S = 0.1, 300, 2
EVERY_S = 0.01
NOBODY = 65534
LIMIT_S = 60   # for the hostile part of a case
STOP_S = 30    # then it is killed
MOST_MB = 2000  # likewise: the machine is not the daemon's alone
GAVE_UP = "no answer"


# --- the daemon

class Daemon:
    def __init__(self, berth):
        self.berth = berth
        self.folder = tempfile.mkdtemp(prefix="berth-hostile-")
        os.chmod(self.folder, 0o711)
        self.home = self.folder + "/home"
        self.path = self.home + "/berth.sock"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("BERTH_")}
        self.env.update(BERTH_HOME=self.home, BERTH_LOCKS=self.folder + "/locks")
        ready, told = os.pipe()
        words = ["--everyone"] if os.getuid() == 0 else []
        self.process = subprocess.Popen(
            [berth, "daemon", "run", "--gpus", "sim:2", "--listen", "127.0.0.1:0", "--ready-fd", str(told), *words],
            env=self.env, cwd="/", pass_fds=[told], stdout=subprocess.DEVNULL)
        os.close(told)
        with os.fdopen(ready) as reader:
            assert reader.read() == "ok", "no daemon came up"
        self.pid = self.process.pid
        self.highest = 0
        listens = json.loads(ask(self, "GET", "/v1/status")[1])["listen"]
        self.address = (listens.rsplit(":", 1)[0], int(listens.rsplit(":", 1)[1]))

    def guard(self):
        """Ends it before it takes the machine down."""
        if (memory := self.most_memory()) is not None:
            self.highest = memory
            if memory > MOST_MB and self.process.poll() is None:
                self.process.kill()
                self.process.wait()

    def most_memory(self):
        """In MB; None when it is gone."""
        with contextlib.suppress(OSError), open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
            for line in file:
                if line.startswith("VmHWM"):
                    return int(line.split()[1]) / 1024
        return None

    def stop(self):
        """How long its end took; None when it had to be killed or was gone."""
        if self.process.poll() is not None:
            return None
        begun = time.monotonic()
        command = subprocess.Popen([self.berth, "daemon", "stop"], env=self.env, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            self.process.wait(STOP_S)
            took = time.monotonic() - begun
        except subprocess.TimeoutExpired:
            took = None
            self.process.kill()
            self.process.wait()
        command.kill()
        command.wait()
        return took

    def clear(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def connect(daemon, kind="owner", wait=None):
    """Of the owner, of another user, or of a stranger by TCP."""
    wait = wait or LIMIT_S
    if kind == "tcp":
        return socket.create_connection(daemon.address, timeout=wait)
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(wait)
    other = kind == "other" and os.getuid() == 0
    if other:
        os.seteuid(NOBODY)
    try:
        sock.connect(daemon.path)
    finally:
        if other:
            os.seteuid(0)
    return sock


def request(method, target, body=b"", host="localhost"):
    return (f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body


def read_answer(sock):
    """(status, body); the status is 0 when the connection ends before there is one."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = sock.recv(1 << 16)
        if not piece:
            return 0, b""
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    length = next((int(line[16:]) for line in lines if line.startswith("content-length: ")), 0)
    while len(body) < length:
        piece = sock.recv(1 << 16)
        if not piece:
            return 0, b""
        body += piece
    return int(lines[0].split()[1]), body


def ask(daemon, method, target, body=b"", kind="owner", wait=None):
    """(status or why there is none, body). A daemon may answer, and close, before it has read all of it."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    try:
        with connect(daemon, kind, wait) as sock:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                sock.sendall(request(method, target, body))
            status, answer = read_answer(sock)
            return status or "closed", answer
    except TimeoutError:
        return GAVE_UP, b""
    except OSError as error:
        return os.strerror(error.errno) if error.errno else str(error), b""


def job_body(jobs, **defaults):
    return json.dumps({"defaults": dict({"directory": "/", "command": "true", "held": True}, **defaults),
                       "jobs": jobs}).encode()


def submit(daemon, jobs, **defaults):
    return ask(daemon, "POST", "/v1/jobs", job_body(jobs, **defaults))


# --- the other client, in a process of its own

def probe(path, done, results):
    """Asks every 10 ms until `done`; an answer's time counts from when it was due to be asked for."""
    targets = [request("GET", "/v1/status"), request("GET", "/v1/jobs?limit=5")]
    times, failures, problem = [], 0, ""
    due = time.monotonic()
    while not done.is_set():
        if (wait := due - time.monotonic()) > 0:
            done.wait(wait)
        try:
            status = 0
            with socket.socket(socket.AF_UNIX) as sock:
                sock.settimeout(1)
                give_up = time.monotonic() + LIMIT_S
                with retrying(done, give_up) as again:
                    again(lambda: sock.connect(path))
                    sock.sendall(targets[len(times) % 2])
                    again(lambda: select.select([sock], [], [], 1)[0] or fail_soft())
                    sock.settimeout(10)
                    status, _ = read_answer(sock)
            if status != 200:
                failures, problem = failures + 1, f"status {status}"
        except OSError as error:
            failures, problem = failures + 1, str(error) or type(error).__name__
        times.append(time.monotonic() - due)
        due += EVERY_S
        if problem and failures > 200:
            break  # it is gone
    results.send((times, failures, problem))


def fail_soft():
    raise TimeoutError


@contextlib.contextmanager
def retrying(done, give_up):
    """What times out is tried again, as long as anybody waits for it."""
    def again(call):
        while True:
            try:
                return call()
            except (TimeoutError, BlockingIOError):
                if done.is_set() or time.monotonic() > give_up:
                    raise TimeoutError(GAVE_UP) from None
    yield again


def measure(daemon, attack):
    """(what the attack says, times, failures, problem)."""
    receive, send = multiprocessing.Pipe(duplex=False)
    done = multiprocessing.Event()
    prober = multiprocessing.Process(target=probe, args=(daemon.path, done, send), daemon=True)
    prober.start()
    said = []
    attacker = threading.Thread(target=lambda: said.append(attack(daemon)), daemon=True)
    attacker.start()
    end = time.monotonic() + LIMIT_S + 5
    while attacker.is_alive() and time.monotonic() < end:
        attacker.join(0.05)
        daemon.guard()
    time.sleep(1)  # what is left of it is felt by others, too
    daemon.guard()
    done.set()
    times, failures, problem = receive.recv() if receive.poll(LIMIT_S + 30) else ([LIMIT_S], 1, GAVE_UP)
    prober.join(5)
    if prober.is_alive():
        prober.kill()
    return (said[0] if said else GAVE_UP), times, failures, problem


# --- the cases: what each sends. `scale` is 1, or less to be quick.

def post(target, body):
    """The body is made before anybody looks at the clock."""
    return lambda daemon: ask(daemon, "POST", target, body)[0]


def text(route, **fields):
    return post("/v1/texts/" + route, json.dumps(fields).encode())


def one_field(field, wrap=lambda value: value):
    return lambda scale: post("/v1/jobs", job_body([{field: wrap("a" * int(70e6 * scale))}]))


def environment(scale):
    return post("/v1/jobs", job_body([{}], environment=["A=" + "a" * int(70e6 * scale)]))


def many_variables(scale):
    return post("/v1/jobs", job_body([{}], environment=[f"A{i}=x" for i in range(int(5e6 * scale))]))


def labels(scale):
    made = {f"key{i:08}": "value of a label" for i in range(int(2e6 * scale))}
    return post("/v1/jobs", job_body([{"labels": made}]))


def empty_jobs(scale):
    return post("/v1/jobs", b'{"jobs":[' + b"{}," * int(20e6 * scale) + b"{}]}")


def deep_json(scale):
    depth = int(1e6 * scale)
    return post("/v1/texts/check", b'{"format":' + b'{"a":' * depth + b"0" + b"}" * (depth + 1))


def toml_dots(scale):
    return text("check", format="sweep", text="a." * int(1e6 * scale) + "a = 1\n")


def toml_brackets(scale):
    return text("check", format="sweep", text="a = " + "[" * int(1e6 * scale))


def endless_sweep(scale):
    return text("submit", format="sweep", template="echo {a} {b}", parameters=["a=1..1000000", "b=1..1000000"])


def endless_file(scale):
    return text("submit", format="sweep",
                text='command = "echo {a} {b}"\n[parameters]\na = "1..1000000"\nb = "1..1000000"\n')


def short_lines(scale):
    return text("submit", format="lines", text="a\n" * int(5e6 * scale))


def short_peasy(scale):
    return text("submit", format="peasy", text=";;;;a;;;" * int(1e6 * scale))


def short_csv(scale):
    return text("check", format="csv", text="a\n" * int(5e6 * scale))


def long_where(scale):
    return text("check", format="sweep", template="echo {a}", parameters=["a=1..1000000"],
                where=[" or ".join(["a == 1.5"] * int(33e3 * scale))])


def nested_where(scale):
    return text("check", format="sweep", template="echo {a}", parameters=["a=1..1000000"],
                where=["(" * int(200e3 * scale) + "a" + ")" * int(200e3 * scale)])


def nots(scale):
    return text("check", format="sweep", template="echo {a}", parameters=["a=1..1000000"],
                where=["not " * int(100e3 * scale) + "a == 1"])


def array(scale):
    return post("/v1/jobs", job_body([{"array": int(1e7 * scale)}]))


def followers(scale):
    def attack(daemon):
        first = [{"name": f"first{i}"} for i in range(10)]
        follow = {"array": int(1e6 * scale), "follows": [f"any:{i}" for i in range(10)]}
        said = submit(daemon, [*first, follow])[0]
        return f"{said}, kill {ask(daemon, 'POST', '/v1/jobs/kill?select=1-10')[0]}"
    return attack


def waits(scale):
    """The jobs are there before anybody looks at the clock."""
    def prepare(daemon):
        submit(daemon, [{"array": int(1e6 * scale)}])

    def attack(daemon):
        with contextlib.ExitStack() as open_ones:
            for _ in range(10):
                sock = open_ones.enter_context(connect(daemon))
                sock.sendall(request("GET", "/v1/wait?select=state%3Dlive"))
        for _ in range(200):
            with connect(daemon) as sock:
                sock.sendall(request("GET", "/v1/wait?select=name%3Dt%2A&select=state%3Dheld"))
        return "left"
    return prepare, attack


def lists(scale):
    def prepare(daemon):
        submit(daemon, [{"array": int(1e6 * scale)}])

    def attack(daemon):
        targets = ["/v1/jobs/ids?all=1&search=zzz&sort=name", "/v1/facets", "/v1/totals", "/v1/timeline?limit=20000",
                   "/v1/jobs?all=1&limit=1000&select=label%3Da%3Db", "/metrics"]
        return ", ".join(str(ask(daemon, "GET", target)[0]) for target in targets)
    return prepare, attack


def conservative(scale):
    def attack(daemon):
        said = [ask(daemon, "POST", "/v1/daemon/policy?policy=conservative")[0]]
        jobs = [{"gpus": 1 + i % 2, "expected_s": 9e9 - i * 1000, "timeout_s": 9e9 - i, "held": False, "command": "sleep 1000"}
                for i in range(int(20e3 * scale))]
        said.append(submit(daemon, jobs)[0])
        said.append(ask(daemon, "POST", "/v1/jobs/kill?select=state%3Drunning")[0])
        said.append(ask(daemon, "GET", "/v1/jobs/100")[0])
        ask(daemon, "POST", "/v1/daemon/pause")
        ask(daemon, "POST", "/v1/jobs/kill?select=state%3Dlive")
        return ", ".join(map(str, said))
    return attack


def idle(kind):
    def case(scale):
        def attack(daemon):
            socks = []
            end = time.monotonic() + 10
            try:
                while len(socks) < int(2100 * max(scale, 0.1)) and time.monotonic() < end:
                    try:
                        socks.append(connect(daemon, kind, 1))
                    except OSError:
                        break  # no more are taken
                count = len(socks)
                time.sleep(3)
            finally:
                for sock in socks:
                    sock.close()
            return f"{count} open"
        return attack
    return case


def streams(kind):
    def case(scale):
        def attack(daemon):
            socks = []
            try:
                for _ in range(int(400 * max(scale, 0.1))):
                    with contextlib.suppress(OSError):
                        sock = connect(daemon, kind, 2)
                        sock.sendall(request("GET", "/v1/events"))
                        socks.append(sock)
                # Long commands make long events: enough to fill what is kept for each who does not read.
                for _ in range(3):
                    submit(daemon, [{"command": "true " + "x" * 10_000} for _ in range(200)])
                for _ in range(4):
                    ask(daemon, "POST", "/v1/jobs/release?select=state%3Dheld")
                    ask(daemon, "POST", "/v1/jobs/hold?select=state%3Dqueued")
            finally:
                for sock in socks:
                    sock.close()
            return f"{len(socks)} open"
        return attack
    return case


def half_bodies(kind):
    def case(scale):
        def attack(daemon):
            socks = []
            host = f"{daemon.address[0]}:{daemon.address[1]}"
            try:
                for _ in range(100):
                    with contextlib.suppress(OSError):
                        sock = connect(daemon, kind, 2)
                        socks.append(sock)
                        head = f"POST /v1/jobs HTTP/1.1\r\nHost: {host}\r\nContent-Length: 200000000\r\n\r\n"
                        sock.sendall(head.encode() + b'{"jobs":"' + b"a" * int(10e6 * scale))
                return f"{len(socks)} open"
            finally:
                for sock in socks:
                    sock.close()
        return attack
    return case


CASES = {
    "nobody else": lambda scale: lambda daemon: time.sleep(2) or "",
    "command of 70 MB": one_field("command"),
    "name of 70 MB": one_field("name"),
    "project of 70 MB": one_field("project"),
    "environment of 70 MB": environment,
    "5,000,000 variables": many_variables,
    "label of 70 MB": one_field("labels", lambda value: {"a": value}),
    "2,000,000 labels": labels,
    "60 MB of {},": empty_jobs,
    "JSON 1,000,000 deep": deep_json,
    "TOML with 1,000,000 dots": toml_dots,
    "TOML with 1,000,000 brackets": toml_brackets,
    "sweep of 10^12 points": endless_sweep,
    "sweep file of 10^12 points": endless_file,
    "10 MB of two-byte lines": short_lines,
    "10 MB of two-byte CSV rows": short_csv,
    "8 MB of GPUPeasy": short_peasy,
    "where of 400 kB": long_where,
    "where with 200,000 brackets": nested_where,
    "where with 100,000 nots": nots,
    "array of 10^7": array,
    "10^6 jobs behind ten": followers,
    "wait for 10^6 jobs": waits,
    "lists of 10^6 jobs": lists,
    "conservative, huge lengths": conservative,
    "2,100 idle, the owner": idle("owner"),
    "2,100 idle, another user": idle("other"),
    "2,100 idle, TCP, no token": idle("tcp"),
    "400 unread event streams": streams("owner"),
    "400 of another user": streams("other"),
    "100 half bodies of 10 MB": half_bodies("owner"),
    "100 half bodies, TCP, no token": half_bodies("tcp"),
}


def run_case(berth, name, scale):
    daemon = Daemon(berth)
    try:
        case = CASES[name](scale)
        prepare, attack = case if isinstance(case, tuple) else (lambda _: None, case)
        prepare(daemon)
        before = daemon.most_memory()
        said, times, failures, problem = measure(daemon, attack)
        daemon.guard()
        memory = daemon.highest
        alive = daemon.process.poll() is None
        stopped = daemon.stop()
    finally:
        daemon.clear()
    times.sort()
    row = {"case": name, "answer": str(said), "probes": len(times), "p50_ms": times[len(times) // 2] * 1e3,
           "p99_ms": times[min(len(times) - 1, len(times) * 99 // 100)] * 1e3, "max_ms": times[-1] * 1e3,
           "failed": failures, "problem": problem, "before_mb": before, "memory_mb": memory, "same_process": alive,
           "stop_s": stopped}
    row["fine"] = bool(alive and failures == 0 and row["p99_ms"] <= AIM_S * 1e3 and memory <= AIM_MB
                       and stopped is not None and stopped <= AIM_STOP_S)
    return row


def show(row):
    memory = f"{row['memory_mb']:.0f}"
    stop = f"{row['stop_s']:.2f}" if row["stop_s"] is not None else "–"
    verdict = "fine" if row["fine"] else "NOT FINE"
    if row["memory_mb"] > MOST_MB:
        verdict += ": it was ended for its memory"
    elif not row["same_process"]:
        verdict += ": it ended"
    elif row["failed"]:
        verdict += f": {row['failed']} not served ({row['problem']})"
    print(f"{row['case']:<31}{row['p50_ms']:>8.1f}{row['p99_ms']:>9.1f}{row['max_ms']:>9.1f}{row['probes']:>8}{memory:>8}"
          f"{stop:>7}  {row['answer'][:28]:<29}{verdict}", flush=True)


def main():
    global LIMIT_S  # pylint: disable=global-statement
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("berth")
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the sizes")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", default="", help="names of cases, or parts of them, with commas")
    options = parser.parse_args()
    if options.quick:
        LIMIT_S = 15
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    chosen = [name for name in CASES
              if not options.only or any(part and part in name for part in options.only.split(","))]
    if not options.json:
        print(f"{'':<31}{'p50 ms':>8}{'p99 ms':>9}{'max ms':>9}{'probes':>8}{'MB':>8}{'stop s':>7}  answer")
    rows = []
    for name in chosen:
        rows.append(run_case(os.path.realpath(options.berth), name, 0.02 if options.quick else 1))
        if not options.json:
            show(rows[-1])
    if options.json:
        print(json.dumps(rows))
    else:
        print(f"{sum(row['fine'] for row in rows)} of {len(rows)} fine: p99 within {AIM_S * 1e3:.0f} ms, below {AIM_MB} MB, "
              f"the same process, stopped within {AIM_STOP_S} s")
    sys.exit(not all(row["fine"] for row in rows))


if __name__ == "__main__":
    main()
