"""No request keeps the others waiting: whoever asks after it is answered before it, and `daemon stop`
ends what is under way. A submission is taken in as a whole or not at all, whatever ends it."""

import json
import select
import unittest

from daemon_case import DEADLINE
from http_case import HttpCase

MANY = 40_000
BIG = 150_000  # one submission


def request(method, target, body=b""):
    return (f"{method} {target} HTTP/1.1\r\nHost: berth\r\nContent-Length: {len(body)}\r\n\r\n"
            .encode() + body)


class FreezeCase(HttpCase):
    def send(self, method, target, body=b""):
        """A request whose answer is read later, if at all."""
        sock = self.raw_unix()
        sock.sendall(request(method, target, body))
        return sock

    def answer(self, sock):
        """Status and JSON of the answer to it."""
        sock.settimeout(DEADLINE)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.some(sock)
        head, body = data.split(b"\r\n\r\n", 1)
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n")
                      if line.lower().startswith(b"content-length:"))
        while len(body) < length:
            body += self.some(sock)
        return int(head.split()[1]), json.loads(body)

    def some(self, sock):
        data = sock.recv(1 << 20)
        self.assertNotEqual(data, b"", "the connection was closed")
        return data

    @staticmethod
    def is_answered(sock):
        return bool(select.select([sock], [], [], 0)[0])

    def status_now(self):
        connection = self.unix()
        connection.request("GET", "/v1/status")
        return json.loads(connection.getresponse().read())

    def overtaken(self, sock):
        """Others are served while this one is not: requests in a row, each sent when the one before
        was answered, and all of them answered before it. Then its answer."""
        for i in range(3):
            self.assertFalse(self.is_answered(sock), f"it was faster than {i} others")
            self.status_now()
        return self.answer(sock)

    def submission(self, jobs, token="", **defaults):
        body = {"defaults": dict({"directory": "/", "command": "true"}, **defaults), "jobs": jobs}
        if token:
            body["token"] = token
        return json.dumps(body).encode()

    def queue(self, count=MANY, **defaults):
        """A queue of so many, that nothing starts from."""
        self.ask("POST", "/v1/daemon/pause")
        sock = self.send("POST", "/v1/jobs", self.submission([{"array": count}], **defaults))
        self.assertEqual(self.answer(sock)[0], 200)

    def count(self):
        return sum(self.status_now()["jobs"].values())


class Submissions(FreezeCase):
    def test_others_are_served_while_a_large_array_is_taken_in(self):
        self.start_daemon()
        self.ask("POST", "/v1/daemon/pause")
        sock = self.send("POST", "/v1/jobs", self.submission([{"array": BIG}]))
        status, reply = self.overtaken(sock)
        self.assertEqual((status, reply["first"], reply["count"]), (200, 1, BIG))
        self.assertEqual(self.status_now()["jobs"]["queued"], BIG)

    def test_nothing_of_it_is_seen_before_all_is_there(self):
        self.start_daemon()
        self.ask("POST", "/v1/daemon/pause")
        sock = self.send("POST", "/v1/jobs",
                         self.submission([{"array": BIG, "labels": {"a": "b"}}]))
        seen = []
        while not self.is_answered(sock):
            seen.append((len(self.ask("GET", "/v1/jobs?all=1").json()["jobs"]), self.count()))
        self.assertEqual(self.answer(sock)[0], 200)
        hidden = [pair for pair in seen if pair[1] == 0]
        self.assertGreater(len(hidden), 1, "it was there at once")
        self.assertEqual({listed for listed, _ in hidden}, {0})

    def test_other_submissions_are_taken_in_meanwhile(self):
        self.start_daemon()
        self.ask("POST", "/v1/daemon/pause")
        sock = self.send("POST", "/v1/jobs", self.submission([{"array": BIG}]))
        self.status_now()
        other = self.ask("POST", "/v1/jobs", self.submission([{"name": "small"}]).decode()).json()
        self.assertFalse(self.is_answered(sock))
        self.assertEqual(self.answer(sock)[1]["first"], 1)
        self.assertEqual(other["first"], BIG + 1)
        self.assertEqual(self.ask("GET", f"/v1/jobs/{BIG + 1}").json()["name"], "small")

    def test_a_client_that_goes_leaves_nothing(self):
        self.start_daemon()
        self.ask("POST", "/v1/daemon/pause")
        sock = self.send("POST", "/v1/jobs", self.submission([{"array": BIG}]))
        self.status_now()
        self.assertFalse(self.is_answered(sock))
        sock.close()
        self.assertEqual(self.ask("GET", "/v1/jobs?all=1").json()["jobs"], [])
        # The daemon goes on with the next.
        small = self.ask("POST", "/v1/jobs", self.submission([{}]).decode()).json()
        self.assertEqual(small["count"], 1)
        self.assertEqual(self.count(), 1)

    def test_the_same_token_meanwhile_is_the_same_submission(self):
        self.start_daemon()
        self.ask("POST", "/v1/daemon/pause")
        body = self.submission([{"array": MANY}], token="mine")
        first = self.send("POST", "/v1/jobs", body)
        again = self.send("POST", "/v1/jobs", body)
        self.assertEqual(self.answer(first), self.answer(again))
        self.assertEqual(self.answer(self.send("POST", "/v1/jobs", body))[1]["first"], 1)
        self.assertEqual(self.count(), MANY)

    def test_a_daemon_that_dies_while_it_writes_leaves_nothing(self):
        daemon = self.start_daemon("daemon.intake_half_written=kill")
        self.send("POST", "/v1/jobs", self.submission([{"array": MANY}], token="t"))
        self.dies(daemon)
        self.start_daemon()
        self.assertEqual(self.count(), 0)
        self.assertEqual(self.ask("GET", "/v1/jobs?all=1").json()["jobs"], [])
        body = self.submission([{"array": 3}], token="t", held=True)
        status, reply = self.answer(self.send("POST", "/v1/jobs", body))
        self.assertEqual((status, reply["count"]), (200, 3))
        self.assertEqual(self.count(), 3)

    def test_a_daemon_that_dies_when_all_is_there_leaves_all(self):
        daemon = self.start_daemon("daemon.intake_queues=kill")
        body = self.submission([{"array": MANY}], token="t", held=True)
        self.send("POST", "/v1/jobs", body)
        self.dies(daemon)
        self.start_daemon()
        self.assertEqual(self.status_now()["jobs"]["held"], MANY)
        # The client never heard of it, and asks again.
        status, reply = self.answer(self.send("POST", "/v1/jobs", body))
        self.assertEqual((status, reply["first"], reply["count"]), (200, 1, MANY))
        self.assertEqual(self.count(), MANY)

    def test_followers_of_one_that_ends_meanwhile(self):
        self.start_daemon()
        jobs = [{"command": "false"}, {"array": MANY, "follows": ["ok:0"]}]
        status, reply = self.answer(self.send("POST", "/v1/jobs", self.submission(jobs)))
        self.assertEqual((status, reply["count"]), (200, MANY + 1))
        self.eventually(lambda: self.status_now()["jobs"]["queued"] == 0)
        states = self.status_now()["jobs"]
        self.assertEqual((states["failed"], states["cancelled"]), (1, MANY))


class LongWork(FreezeCase):
    """On a queue of very many jobs."""

    def setUp(self):
        super().setUp()
        self.start_daemon()
        self.queue(name="x")

    def test_an_end_that_ends_very_many(self):
        jobs = [{"held": True}, {"array": MANY, "follows": ["ok:0"]}]
        first = self.answer(self.send("POST", "/v1/jobs", self.submission(jobs)))[1]["first"]
        self.ask("POST", f"/v1/jobs/kill?select={first}")
        # Its followers are told little by little: others see some that have ended and some that
        # have not.
        seen = [self.status_now()["jobs"] for _ in range(3)]
        self.assertTrue(any(0 < jobs["cancelled"] < MANY for jobs in seen), seen)
        self.eventually(lambda: self.status_now()["jobs"]["cancelled"] == MANY + 1)

    def test_killing_all(self):
        sock = self.send("POST", "/v1/jobs/kill?select=state=queued")
        self.assertEqual(self.overtaken(sock)[1]["done"], MANY)

    def test_a_client_that_goes_stops_its_command(self):
        sock = self.send("POST", "/v1/jobs/hold?select=state=queued")
        self.status_now()
        self.assertFalse(self.is_answered(sock))
        sock.close()

        def held():
            return self.status_now()["jobs"]["held"]
        before = self.eventually(held)
        while (now := held()) != before:  # until it has stopped
            before = now
        self.assertLess(before, MANY)

    def test_waiting_for_very_many(self):
        sock = self.send("GET", "/v1/wait?select=name=x")
        self.status_now()
        self.assertFalse(self.is_answered(sock))
        self.ask("POST", "/v1/jobs/kill?select=state=queued")
        self.assertEqual(self.answer(sock), (200, {"version": 1, "failed": MANY}))

    def test_names_that_nobody_has(self):
        for target, status in (("/v1/jobs?select=name=zzz*&all=1", 200),
                               ("/v1/jobs/ids?search=zzz&all=1", 200),
                               ("/v1/wait?select=name=zzz*", 404),
                               ("/v1/jobs/kill?select=name=zzz*", 404)):
            with self.subTest(target=target):
                method = "POST" if "kill" in target else "GET"
                self.assertEqual(self.ask(method, target).status, status)

    def test_stop_ends_what_is_under_way(self):
        pid = self.status_now()["pid"]
        socks = [self.send("POST", "/v1/jobs", self.submission([{"array": MANY}])),
                 self.send("GET", "/v1/wait?select=state=queued"),
                 self.send("GET", "/v1/jobs/ids?sort=name&all=1"),
                 self.send("GET", "/v1/facets"),
                 self.send("POST", "/v1/jobs/hold?select=state=queued")]
        process = self.watch(pid)
        self.ask("POST", "/v1/daemon/stop")
        self.gone(process)
        for sock in socks:
            sock.close()
        self.start_daemon()
        states = self.status_now()["jobs"]
        self.assertEqual(sum(states.values()), MANY, states)


class HugeLengths(FreezeCase):
    def test_conservative_behind_jobs_that_take_centuries(self):
        self.start_daemon(words=["--policy", "conservative"])
        jobs = [{"command": "sleep 1000", "gpus": 2, "expected_s": 9e9},
                {"array": 5000, "gpus": 1, "expected_s": 9e9},
                {"array": 5000, "gpus": 2}]
        self.assertEqual(self.answer(self.send("POST", "/v1/jobs", self.submission(jobs)))[0], 200)
        self.assertEqual(len(self.ask("GET", "/v1/jobs?limit=50").json()["jobs"]), 50)
        self.assertEqual(self.ask("GET", "/v1/timeline").status, 200)
        self.assertEqual(self.status_now()["policy"], "conservative")


if __name__ == "__main__":
    unittest.main()
