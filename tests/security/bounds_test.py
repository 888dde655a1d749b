"""Requests that are too large, too deep or too much work: each is refused, the daemon stays up and
small, and others are answered meanwhile."""

import json
import os
import re
import resource
import select
import signal
import threading
import unittest

from daemon_case import DEADLINE
from http_case import HttpCase

MOST_MEMORY = 300 << 20
MANY = 10**6

SANITIZED = os.environ.get("BERTH_SANITIZED") == "1"


def limit_memory():
    """What goes wrong here must not take the machine along."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


class BoundsCase(HttpCase):
    def setUp(self):
        super().setUp()
        self.daemon = self.start_daemon(preexec_fn=None if SANITIZED else limit_memory)

    def send(self, target, body):
        """The status and the message; others are answered while this one is."""
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        body = body.encode() if isinstance(body, str) else body
        answer = []

        def ask():
            data = b""
            with self.raw_unix() as sock:
                try:
                    sock.sendall(f"POST {target} HTTP/1.1\r\nConnection: close\r\n"
                                 f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
                except OSError:
                    pass  # it has heard enough
                try:
                    while part := sock.recv(1 << 16):
                        data += part
                except OSError:
                    pass
            head, _, text = data.partition(b"\r\n\r\n")
            if text:
                answer.append((int(head.split()[1]), json.loads(text).get("error", {}).get("message", "")))

        asker = threading.Thread(target=ask)
        asker.start()
        others = self.unix()
        try:
            while asker.is_alive():
                self.assertEqual(self.ask("GET", "/v1/status", connection=others).status, 200)
                asker.join(0.01)
        finally:
            asker.join()
        self.assertTrue(answer, "there was no answer")
        return answer[0]

    def refused(self, target, body, *words, status=400):
        got, message = self.send(target, body)
        self.assertEqual(got, status, message[:500])
        for word in words:
            self.assertIn(word, message)
        self.assert_well()

    def assert_well(self):
        self.assertIsNone(self.daemon.poll(), "the daemon has died")
        text = self.proc(self.daemon.pid, "status")
        peak = int(re.search(r"VmHWM:\s+(\d+)", text).group(1)) << 10
        if not SANITIZED:
            self.assertLess(peak, MOST_MEMORY)

    def queued(self):
        return sum(self.get("/v1/status")["jobs"].values())


class Submissions(BoundsCase):
    def job(self, **fields):
        return {"defaults": {"directory": "/", "held": True}, "jobs": [dict({"command": "true"}, **fields)]}

    def test_bodies_beyond_the_bound(self):
        for body in (b'{"jobs":[' + b"{}," * (20 * MANY) + b"{}]}",
                     b'{"jobs":[{"command":"' + b"x" * (70 * MANY) + b'"}]}'):
            self.refused("/v1/jobs", body, "32 MiB", status=413)

    def test_long_fields(self):
        long = "x" * (20 * MANY)
        for fields in ({"command": long}, {"name": long}, {"labels": {"a": long}},
                       {"directory": "/" + long}, {"parameters": {long: "a"}}, {"only": [long]}):
            self.refused("/v1/jobs", self.job(**fields), "job 1: ", " bytes long")
        self.refused("/v1/jobs", {"defaults": {"environment": ["A=" + "x" * (8 * MANY)]},
                                  "jobs": [{"command": "true"}]}, "A in environment", "131071")
        self.refused("/v1/jobs", {"token": long, "jobs": [{"command": "true"}]}, "token")
        self.refused("/v1/whatif", {"policies": [long]}, " bytes long")
        self.submit("true", held=True)
        self.refused("/v1/jobs/edit?select=1", {"name": long}, " bytes long")
        self.refused("/v1/jobs/edit?select=1", {"name": "x" * 2000}, "1024")
        self.assertEqual(self.queued(), 1)

    def test_many_values(self):
        for jobs in (b"{}," * (10 * MANY) + b"{}", b'{"command":"x"},' * MANY + b"{}",
                     b'{"command":"x","labels":{' + b'"a":"",' * MANY + b'"b":""}}',
                     b'{"command":"x","after":[' + b'"1",' * MANY + b'"1"]}',
                     b'{"command":"x","labels":' + b'{"a":' * MANY + b"1" + b"}" * MANY + b"}"):
            self.refused("/v1/jobs", b'{"jobs":[' + jobs + b"]}")
        self.refused("/v1/jobs", b'{"defaults":{"environment":[' + b'"",' * (3 * MANY)
                     + b'""]},"jobs":[{"command":"x"}]}', "values")
        self.refused("/v1/jobs", b'{"a":1,' * (3 * MANY))
        self.assertEqual(self.queued(), 0)

    def test_what_grows(self):
        labels = {f"{i:02}": "x" * 200 for i in range(60)}
        jobs = [{"command": "true"}] * 90_000
        self.refused("/v1/jobs", {"defaults": {"directory": "/", "labels": labels}, "jobs": jobs},
                     "128 MiB")
        self.refused("/v1/texts/submit", {"format": "lines", "text": "a\n" * 90_000,
                                          "defaults": {"labels": labels}}, "128 MiB")
        self.refused("/v1/jobs", self.job(array=10**7), "array must be", "1000000")
        self.refused("/v1/jobs", {"jobs": [{"command": "true", "array": 600_000}] * 2}, "1000000")
        self.refused("/v1/jobs", {"jobs": [{"command": "true", "array": 2000},
                                           {"command": "true", "array": 2000, "follows": ["ok:0"]}]},
                     "dependencies")
        self.refused("/v1/texts/submit", {"format": "lines", "text": "a\n"
                                          + ("@after=" + ",".join(["1"] * 5000) + " a\n") * 1000},
                     "dependencies")
        self.assertEqual(self.queued(), 0)

    def test_at_the_bound_and_above(self):
        """Field by field: what is documented is taken, one more is not."""
        for key, most in (("command", 131071), ("name", 1024), ("project", 1024), ("sweep", 1024),
                          ("model", 1024)):
            self.check_bound(lambda n, key=key: self.job(**{key: "s" * n}), key, most,
                             taken=key != "model")  # there is no such device
        for key in ("output", "error"):
            self.check_bound(lambda n, key=key: self.job(**{key: "/" * (n - 1) + key[0]}), key, 4095)
        self.check_bound(lambda n: self.job(directory="/" * n), "directory", 4095)
        self.check_bound(lambda n: self.job(labels={"k": "v" * n}), "labels", 1024)
        self.check_bound(lambda n: self.job(labels={"k" * n: "v"}), "labels", 1024)
        self.check_bound(lambda n: self.job(labels={str(i): "" for i in range(n)}), "labels", 64)
        self.check_bound(lambda n: self.job(parameters={str(i): "" for i in range(n)}), "parameters", 256)
        self.check_bound(lambda n: self.job(parameters={"k": "v" * n}), "parameters", 4096)
        self.check_bound(lambda n: self.job(exclude=["x"] * n), "exclude", 256)
        self.check_bound(lambda n: self.job(prefer=["x" * n]), "prefer", 256)
        self.check_bound(lambda n: dict(self.job(), token="t" * n), "token", 256)

        def having(*environment):
            return {"defaults": {"directory": "/", "held": True, "environment": list(environment)},
                    "jobs": [{"command": "true"}]}

        self.check_bound(lambda n: having("A=" + "x" * (n - 2)), "environment", 131071)
        self.check_bound(lambda n: having(*["A="] * n), "environment", 4096)
        self.check_bound(lambda n: having(*["A=" + "x" * 65525] * n), "environment", 28)

    def check_bound(self, body, name, most, taken=True):
        if taken:
            status, message = self.send("/v1/jobs", body(most))
            self.assertEqual(status, 200, message[:200])
        self.refused("/v1/jobs", body(most + 1), name)

    def test_the_longest_that_is_taken_starts(self):
        """The bounds leave room for what berth itself adds."""
        command = "true " + "x" * (131071 - 5)
        env = ["PATH=" + os.environ["PATH"]] + [f"V{i}=" + "x" * 65000 for i in range(28)]
        number = self.post("/v1/jobs", {"defaults": {"directory": self.folder, "environment": env},
                                        "jobs": [{"command": command}]})["first"]
        self.get(f"/v1/wait?select={number}")
        self.assertEqual(self.get(f"/v1/jobs/{number}")["state"], "succeeded")

    def test_extremes_of_every_number(self):
        extremes = ["-1", "0.5", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808",
                    "18446744073709551615", "18446744073709551616", "-9223372036854775808", "1e308",
                    "-1e308", "1e400", "1e-320", "NaN", "Infinity", '"1"', "true", "[]"]
        fields = ["gpus", "mem", "share", "thread_percentage", "priority", "weight", "timeout_s",
                  "expected_s", "begin", "retries", "backoff_s", "array_index", "warning_signal",
                  "warning_before_s", "profile_s", "array"]
        connection = self.unix()
        for field in fields:
            for number in extremes:
                body = ('{"defaults":{"directory":"/","held":true},'
                        f'"jobs":[{{"command":"true","{field}":{number}}}]}}')
                reply = self.ask("POST", "/v1/jobs", body, connection=connection)
                self.assertIn(reply.status, (200, 400, 409), (field, number, reply))
        for number in extremes:
            for field in ("n_samples", "seed", "header"):
                body = ('{"format":"sweep","template":"{a}","parameters":["a 1"],'
                        f'"defaults":{{"name":"s","held":true}},"{field}":{number}}}')
                reply = self.ask("POST", "/v1/texts/check", body, connection=connection)
                self.assertIn(reply.status, (200, 400), (field, number, reply))
        self.assert_well()

    def test_a_hundred_thousand_at_once(self):
        reply = self.post("/v1/jobs", {"defaults": {"directory": "/", "held": True},
                                       "jobs": [{"command": f"true {i}"} for i in range(100_000)]})
        self.assertEqual(reply["count"], 100_000)
        self.assert_well()


class Texts(BoundsCase):
    def sweep(self, *parameters, **fields):
        return dict({"format": "sweep", "template": "t {a} {b}", "parameters": list(parameters),
                     "defaults": {"name": "s", "held": True}}, **fields)

    def test_toml_that_nests(self):
        for text in ("a." * MANY + "a = 1", "a." * 400_000 + "a = 1", "[" + "a." * 400_000 + "a]",
                     'command = "t"\n[parameters]\na = {' + "a." * 400_000 + "a = 1}",
                     '"a".' * 200_000 + "a = 1", "a = " + "[" * 500_000,
                     'a = [""""x"""", {' + "a." * 400_000 + "a = 1}]", "a = " + "{a=" * 300_000):
            self.refused("/v1/texts/submit", {"format": "sweep", "text": text,
                                              "defaults": {"name": "s"}}, "the text")

    def test_a_sweep_of_a_million_millions(self):
        body = self.sweep("a 1..1000000", "b 1..1000000")
        self.refused("/v1/texts/submit", body, "1000000000000 points", "n_samples")
        self.assertEqual(self.send("/v1/texts/check", body)[0], 200)
        self.refused("/v1/texts/submit", dict(body, where=["a != b"]), "100000")
        self.refused("/v1/texts/submit", self.sweep("a=uniform:0..1", "b 1", n_samples=10**12), "points")
        self.assertEqual(self.queued(), 0)
        self.assertEqual(self.send("/v1/texts/submit", dict(body, n_samples=10))[0], 200)
        self.assertEqual(self.queued(), 10)
        self.assert_well()

    def test_conditions_that_take_long(self):
        body = self.sweep("a 1..1000000", "b 1..1000000")
        self.refused("/v1/texts/submit", dict(body, where=["a < 0" + " or a + b < 0" * 30_000]), "where")
        status, message = self.send("/v1/texts/submit",
                                    dict(body, where=["a < 0" + " or a + b < 0" * 4_500]))
        self.assertEqual(status, 400, message)
        self.assertRegex(message, "gave up|takes too long")  # on a busy machine its time is over first
        self.refused("/v1/texts/submit", dict(body, where=["(" * 20_000 + "a < 0"]), "nested too deeply")

    def test_many_small_jobs(self):
        for form, text in (("lines", "a\n" * (5 * MANY)), ("peasy", "n;; ;;a;;;" * MANY),
                           ("peasy", ";;;;a;;;" * MANY),
                           ("csv", "a\n" * (5 * MANY)), ("csv", "," * (10 * MANY)),
                           ("csv", "Directory,Executable,Filename,Epochs,Priority\n"
                            + "/,sh,a,1,1\n" * (MANY + 1)),
                           ("lines", "@x=y a\n" * (MANY + 1)), ("peasy", "a;;;\n" * (2 * MANY)),
                           ("csv", '"a"b\n' * (2 * MANY))):
            for target in ("submit", "check"):
                status, message = self.send(f"/v1/texts/{target}", {"format": form, "text": text})
                self.assertEqual(status, 400 if target == "submit" else 200, message)
                self.assert_well()
        self.assertEqual(self.queued(), 0)

    def test_long_texts_and_parameters(self):
        for form in ("lines", "peasy", "csv", "sweep"):
            self.refused("/v1/texts/submit", {"format": form, "text": "x" * (20 * MANY)}, "text",
                         "bytes long")
            self.refused("/v1/texts/submit", {"format": form, "text": "x" * (15 * MANY)})
        self.refused("/v1/texts/submit", self.sweep("a " + "1 " * (5 * MANY), "b 1"), "parameters")
        self.refused("/v1/texts/submit", self.sweep("a " + "1 " * 400_000, "b 1"), "points")
        self.refused("/v1/texts/submit", self.sweep(*[f"p{i} 1" for i in range(300)]), "256")
        self.refused("/v1/texts/submit", self.sweep("a 1..90000", "b " + "x" * 4000), "128 MiB")
        self.refused("/v1/texts/submit", dict(self.sweep("a 1", "b 1"), template="x" * 900_000,
                                              allow_unused=True), "131071")
        self.assertEqual(self.queued(), 0)


class Leaving(BoundsCase):
    """What is read apart goes with its client, and with the daemon."""

    def ask_and_leave(self, count):
        body = json.dumps({"format": "csv", "text": "Directory,Executable,Filename,Epochs,Priority\n"
                           + "/,no-such-program,a,1,1\n" * 90_000}).encode()
        for _ in range(count):
            self.raw_unix().sendall(f"POST /v1/texts/check HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
                                    .encode() + body)

    def test_stop_while_texts_are_read(self):
        self.ask_and_leave(10)
        process = self.watch(self.daemon.pid)
        self.daemon.send_signal(signal.SIGTERM)
        self.gone(process)
        self.assertEqual(self.daemon.wait(), 0)

    def test_who_asks_for_too_much_at_once_is_told_so(self):
        body = json.dumps({"format": "lines", "text": "true\n" * 300_000}).encode()
        request = (f"POST /v1/texts/check HTTP/1.1\r\nContent-Length: {len(body)}\r\n"
                   "Connection: close\r\n\r\n").encode() + body
        socks = [self.raw_unix() for _ in range(40)]
        for sock in socks:
            sock.sendall(request)
        statuses = []
        for sock in socks:
            self.assertTrue(select.select([sock], [], [], DEADLINE)[0])
            statuses.append(int(sock.recv(100).split()[1]))
        self.assertEqual(set(statuses), {200, 429}, statuses)
        self.assertEqual(self.send("/v1/texts/check", {"format": "lines", "text": "true"})[0], 200)


class OnTheCommandLine(BoundsCase):
    def test_endless_sweeps(self):
        words = ["sweep", "t {a} {b}", "-p", "a=1..1000000", "b=1..1000000"]
        for more in (["--submit", "--name", "s"], ["--run"], ["--where", "a != b", "--run"]):
            done = self.try_berth(*words, *more)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--n-samples", done.stderr)
        self.berth(*words, "--n-samples", "7", "--submit", "--name", "s", "--hold")
        self.assertEqual(self.queued(), 7)

    def test_files_without_end(self):
        for words in (["--json", "/dev/zero"], ["--file", "/dev/zero", "--format", "peasy"]):
            done = self.try_berth("submit", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("MiB", done.stderr)
        self.assertEqual(self.queued(), 0)


if __name__ == "__main__":
    unittest.main()
