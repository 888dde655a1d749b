"""GET /v1/events: everything that changes, once, also to those who come back."""

import socket
import unittest

from http_case import HttpCase, is_job

ENDED = ("succeeded", "failed", "cancelled")


def states(events, job):
    return [event.data["state"] for event in events
            if event.name == "job" and event.data["id"] == job]


class Events(HttpCase):
    def setUp(self):
        super().setUp()
        self.start_daemon()

    def test_the_life_of_a_job(self):
        listener = self.listen()
        self.assertEqual(next(listener).name, "hello")
        self.make_gates("gate")
        self.assertEqual(self.submit("read x < gate; true", "exit 3"), 1)
        seen = listener.until(is_job(1, "running"))
        self.assertEqual((seen[0].name, seen[0].data), ("submitted", {"first": 1, "count": 2}))
        self.release("gate")
        seen += listener.until(is_job(1, "succeeded"))
        if not states(seen, 2) or states(seen, 2)[-1] != "failed":
            seen += listener.until(is_job(2, "failed"))
        # A turn may bring several changes: then only the last of them is told.
        for job, end in ((1, "succeeded"), (2, "failed")):
            life = ["starting", "running", end]
            self.assertEqual(states(seen, job), [s for s in life if s in states(seen, job)])
            self.assertEqual(states(seen, job)[-1], end)
        self.assertEqual([event.id for event in seen], sorted({event.id for event in seen}))

    def test_who_read_before_listening_misses_nothing(self):
        self.submit("true", held=True)
        answer = self.ask("GET", "/v1/jobs?select=all")
        self.post("/v1/jobs/edit?select=1", {"priority": 7})
        listener = self.listen(answer.headers["Berth-Event"])
        self.assertEqual(listener.until(is_job(1, "held"))[-1].data["priority"], 7)
        # With what the newest answer knows, nothing is told again.
        newest = self.listen(self.ask("GET", "/v1/status").headers["Berth-Event"])
        self.assertEqual(next(newest).name, "hello")

    def test_commands_are_told(self):
        self.submit("true", held=True)
        listener = self.listen()
        next(listener)
        self.post("/v1/jobs/edit?select=1", {"priority": 7})
        self.assertEqual(listener.until(is_job(1, "held"))[-1].data["priority"], 7)
        self.post("/v1/daemon/pause")
        self.assertEqual(listener.until(lambda event: event.name == "daemon")[-1].data,
                         {"paused": True, "policy": "priority", "placement": "idle"})
        self.post("/v1/jobs/release?select=1")
        listener.until(is_job(1, "queued"))
        self.post("/v1/jobs/kill?select=1")
        listener.until(is_job(1, "cancelled"))
        self.post("/v1/jobs/forget")
        self.assertEqual(listener.until(lambda event: event.name == "forgotten")[-1].data,
                         {"count": 1})

    def test_devices_are_told(self):
        listener = self.listen()
        next(listener)
        for _ in range(2):
            while (event := next(listener)).name != "devices":
                pass
            self.assertEqual([device["name"] for device in event.data["devices"]], ["0", "1"])
        self.post("/v1/devices/drain?names=1")
        self.assertEqual(listener.until(lambda event: event.name == "device")[-1].data,
                         {"device": "1", "health": "drained"})
        while (event := next(listener)).name != "devices":
            pass
        self.assertEqual([device["health"] for device in event.data["devices"]], ["ok", "drained"])

    def test_who_comes_back_misses_nothing_and_gets_nothing_twice(self):
        """One listens on, the other goes after every event and comes back with its number."""
        steady = self.listen()
        last = next(steady).id
        total = 30
        self.submit(*["true"] * total, gpus=0)
        told = steady.until(lambda event: is_job(total, *ENDED)(event))
        while any((states(told, job) or [""])[-1] not in ENDED for job in range(1, total + 1)):
            told.append(next(steady))
        newest = self.listen()
        end = next(newest).id
        broken = []
        while last < end:
            listener = self.listen(last)
            event = next(listener)
            listener.close()
            if event.name != "devices":
                broken.append(event)
            last = event.id
        ids = [event.id for event in broken]
        self.assertEqual(ids, sorted(set(ids)))
        self.assertLessEqual(set(ids), {event.id for event in told})
        for job in range(1, total + 1):
            self.assertEqual(states(broken, job)[-1:], ["succeeded"], job)
        self.assertEqual([event.name for event in broken if event.name != "job"], ["submitted"])

    def test_what_happened_meanwhile_is_told_once(self):
        listener = self.listen()
        last = next(listener).id
        listener.close()
        self.submit("true")
        self.get("/v1/wait")
        again = self.listen(last)
        missed = [next(again), next(again)]
        self.assertEqual([event.name for event in missed], ["submitted", "job"])
        self.assertEqual(missed[1].data["state"], "succeeded")
        third = self.listen(missed[1].id)
        self.assertEqual(next(third).name, "hello")

    def test_a_new_daemon_says_reset(self):
        listener = self.listen()
        self.submit("true")
        listener.until(is_job(1, "succeeded"))
        last = listener.last
        self.kill_daemon()
        with self.assertRaises((StopIteration, OSError)):
            while next(listener):
                pass
        self.start_daemon()
        again = self.listen(last)
        first = next(again)
        self.assertEqual(first.name, "reset")
        self.assertGreater(first.id, last)
        # From there it goes on as ever, also over a break.
        again.close()
        self.submit("true")
        self.get("/v1/wait")
        third = self.listen(first.id)
        seen = third.until(is_job(2, "succeeded"))
        self.assertEqual([event.name for event in seen if event.name != "job"], ["submitted"])

    def test_numbers_that_make_no_sense_are_a_reset(self):
        for last in ("0", "x", "-1", "9" * 40, "1 2"):
            self.assertEqual(next(self.listen(last)).name, "reset", last)

    def test_a_listener_that_does_not_read_is_cut_off_and_hurts_nobody(self):
        stalled = self.raw_unix()
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stalled.sendall(b"GET /v1/events HTTP/1.1\r\n\r\n")
        reader = self.listen()
        next(reader)
        self.submit("true " + "x" * 100_000, held=True)
        connection = self.unix()
        for i in range(1, 100):  # 10 MB of events
            reply = self.ask("POST", "/v1/jobs/edit?select=1", {"priority": i},
                             connection=connection)
            self.assertEqual(reply.status, 200)
            self.assertEqual(reader.until(is_job(1, "held"))[-1].data["priority"], i)
        self.assertIn(b"\nberth_event_listeners 1\n", self.ask("GET", "/metrics").body)
        # The kernel holds what was sent before; behind that is the end.
        while got := stalled.recv(1 << 20):
            self.assertNotIn(b'"priority":99,', got)

    def test_a_listener_that_goes_is_forgotten(self):
        listeners = [self.listen() for _ in range(20)]
        for listener in listeners:
            next(listener)
        self.assertIn(b"\nberth_event_listeners 20\n", self.ask("GET", "/metrics").body)
        for listener in listeners[1:]:
            listener.close()
        self.submit("true", held=True)
        listeners[0].until(lambda event: event.name == "submitted")
        self.post("/v1/daemon/pause")
        listeners[0].until(lambda event: event.name == "daemon")
        self.assertIn(b"\nberth_event_listeners 1\n", self.ask("GET", "/metrics").body)

    def test_head_does_not_listen(self):
        reply = self.ask("HEAD", "/v1/events")
        self.assertEqual((reply.status, reply.type), (200, "text/event-stream"))
        self.assertIn(b"\nberth_event_listeners 0\n", self.ask("GET", "/metrics").body)


if __name__ == "__main__":
    unittest.main()
