"""Connections, event streams and bodies have a budget for each user: nobody takes them all."""

import os
import resource
import socket
import unittest

from http_case import NOBODY, HttpCase

MOST_MEMORY = 300_000_000  # bytes, at the daemon's highest
PATIENCE = 5  # seconds; an idle connection lives for a minute
# What a refused client may be told instead of the usual: the connection is closed, sooner or later.
GONE = (ConnectionResetError, BrokenPipeError)


class BudgetCase(HttpCase):
    words = ("--listen", "127.0.0.1:0")

    def setUp(self):
        super().setUp()
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if most < 5000:
            self.skipTest("too few descriptors")
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.daemon = self.start_daemon(words=self.words)
        self.held = []
        self.addCleanup(self.let_go)

    def let_go(self):
        for sock in self.held:
            sock.close()

    def hold(self, sock, data=b""):
        """Sends, reads nothing and stays; a daemon that does not want it may say so."""
        self.held.append(sock)
        if data:
            try:
                sock.sendall(data)
            except GONE:
                pass
        return sock

    def highest_memory(self):
        for line in self.proc(self.daemon.pid, "status").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        return self.fail("the daemon is gone")

    def answered(self, connection):
        """Whether somebody else is served, soon."""
        if connection.sock is None:
            connection.connect()
        connection.sock.settimeout(PATIENCE)
        reply = self.ask("GET", "/v1/status", connection=connection)
        connection.close()
        self.assertEqual(reply.status, 200)
        return reply.json()

    def connect(self):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(PATIENCE)
        sock.connect(self.home + "/berth.sock")
        return sock

    def stranger(self):
        return socket.create_connection(self.address(), timeout=PATIENCE)

    def request(self, method, target, headers=""):
        return f"{method} {target} HTTP/1.1\r\nHost: {':'.join(map(str, self.address()))}\r\n{headers}\r\n".encode()


class Strangers(BudgetCase):
    """Over TCP and without a token."""

    def test_idle_ones_keep_nobody_out(self):
        for _ in range(2100):
            self.hold(self.stranger())
        self.answered(self.unix())
        reply = self.ask("GET", "/v1/status", headers=self.authority(), connection=self.tcp())
        self.assertEqual(reply.status, 200)
        told = reply.json()["load"]
        self.assertLessEqual(told["strangers"]["connections"], 64)
        self.assertLess(self.highest_memory(), MOST_MEMORY)

    def test_half_sent_requests_keep_nobody_out(self):
        data = self.request("GET", "/v1/status", "X: " + "y" * 10_000 + "\r\n")[:-2]
        for _ in range(2100):
            self.hold(self.stranger(), data)
        self.answered(self.unix())
        self.assertLess(self.highest_memory(), MOST_MEMORY)

    def test_who_has_shown_a_token_is_no_stranger(self):
        known = self.tcp()
        self.assertEqual(self.ask("GET", "/v1/status", headers=self.authority(),
                                  connection=known).status, 200)
        for _ in range(200):
            self.hold(self.stranger())
        self.answered(self.unix())
        # The same connection, which is idle and older than all of theirs.
        sock = known.sock
        self.assertEqual(self.ask("GET", "/v1/status", headers=self.authority(),
                                  connection=known).status, 200)
        self.assertIs(known.sock, sock)


class Owner(BudgetCase):
    def test_its_own_idle_connections_do_not_keep_the_owner_out(self):
        for _ in range(2100):
            self.hold(self.connect())
        self.answered(self.unix())

    def test_unread_event_streams_have_a_bound(self):
        self.unread_streams(self.connect)

    def unread_streams(self, connect):
        first = self.submit("true " + "x" * 100_000, held=True)
        for _ in range(400):
            self.hold(connect(), b"GET /v1/events HTTP/1.1\r\n\r\n")
        self.answered(self.unix())
        connection = self.unix()
        for i in range(1, 60):  # 6 MB of events for each
            self.assertEqual(self.ask("POST", f"/v1/jobs/edit?select={first}", {"priority": i},
                                      connection=connection).status, 200)
        self.assertLess(self.highest_memory(), MOST_MEMORY)

    def test_unsent_bodies_have_a_bound(self):
        self.half_bodies(self.connect)

    def half_bodies(self, connect):
        head = b"POST /v1/jobs HTTP/1.1\r\nContent-Length: 60000000\r\n\r\n"
        part = head + b" " * 5_000_000
        for _ in range(100):  # 500 MB
            self.hold(connect(), part)
        self.answered(self.unix())
        self.assertLess(self.highest_memory(), MOST_MEMORY)


@unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
class Others(Owner):
    """The same by another user of a daemon for everyone, who has less."""

    words = ("--listen", "127.0.0.1:0", "--everyone")

    def connect_as_nobody(self):
        os.chmod(self.folder, 0o711)
        os.seteuid(NOBODY)
        try:
            return self.connect()
        finally:
            os.seteuid(0)

    def test_its_own_idle_connections_do_not_keep_the_owner_out(self):
        for _ in range(2100):
            self.hold(self.connect_as_nobody())
        self.answered(self.unix())
        # Nor the user who has them: the oldest makes room.
        told = self.answered(self.as_nobody())["load"]
        self.assertEqual([user["uid"] for user in told["users"]], [NOBODY])
        self.assertLessEqual(told["users"][0]["connections"], 256)

    def test_one_who_uses_all_connections_is_told_so(self):
        half = b"GET /v1/status HTTP/1.1\r\nX: "
        for _ in range(300):
            self.hold(self.connect_as_nobody(), half)
        self.answered(self.unix())
        connection = self.as_nobody()
        reply = self.ask("GET", "/v1/status", connection=connection)
        self.assertEqual(reply.status, 503)
        self.assertIn("Retry-After", reply.headers)
        self.assertIn("connections", reply.json()["error"]["message"])
        self.assertIn("user 65534", self.berth("daemon", "log"))

    def test_unread_event_streams_have_a_bound(self):
        self.unread_streams(self.connect_as_nobody)
        mine = self.answered(self.unix())["load"]["users"]
        self.assertLessEqual({user["uid"]: user for user in mine}[NOBODY]["streams"], 64)

    def test_unsent_bodies_have_a_bound(self):
        self.half_bodies(self.connect_as_nobody)
        # There is room for the owner's.
        body = b'{"jobs":[]}' + b" " * 20_000_000
        self.assertEqual(self.ask("POST", "/v1/jobs", body).status, 400)


if __name__ == "__main__":
    unittest.main()
