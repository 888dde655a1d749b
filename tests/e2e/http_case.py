"""What the tests of the HTTP interface share: clients over the Unix socket and TCP, and listeners."""

import collections
import http.client
import json
import os
import socket
import time

from daemon_case import DEADLINE, DaemonCase

NOBODY = 65534  # a user that is not root
Event = collections.namedtuple("Event", "id name data")


class Reply:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.type = (response.headers.get("Content-Type") or "").split(";")[0]
        self.body = response.read()

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("berth", timeout=DEADLINE)
        self.path = path

    def connect(self):
        self.sock = connect_unix(self.path)


def connect_unix(path):
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(DEADLINE)
    sock.connect(path)
    return sock


class Listener:
    """One who listens to /v1/events. Iterating gives events and blocks until there is one."""

    def __init__(self, connection, last=None, headers=None):
        self.connection = connection
        if last is not None:
            headers = dict(headers or {}, **{"Last-Event-ID": str(last)})
        connection.request("GET", "/v1/events", headers=headers or {})
        self.response = connection.getresponse()
        assert self.response.status == 200, self.response.status
        self.last = last

    def __iter__(self):
        return self

    def __next__(self):
        fields = {"data": []}
        while True:
            line = self.response.readline().decode()
            if not line:
                raise StopIteration
            line = line.rstrip("\n")
            if line.startswith(":"):
                continue
            if line:
                key, value = line.split(": ", 1)
                if key == "data":
                    fields["data"].append(value)
                else:
                    fields[key] = value
            elif "event" in fields:
                self.last = int(fields["id"])
                return Event(self.last, fields["event"], json.loads("\n".join(fields["data"])))

    def until(self, wanted):
        """All events up to the first for which `wanted(event)` is true; `devices` left out."""
        seen = []
        end = time.monotonic() + DEADLINE  # the daemon talks every second, so reading never times out
        for event in self:
            assert time.monotonic() < end, f"it did not come; what came is {seen}"
            if event.name != "devices":
                seen.append(event)
            if wanted(event):
                return seen
        raise AssertionError(f"the stream ended after {seen}")

    def close(self):
        self.response.close()
        self.connection.close()


def is_job(number, *states):
    return lambda event: (event.name == "job" and event.data["id"] == number
                          and event.data["state"] in states)


class HttpCase(DaemonCase):
    listens = None  # HOST:PORT of the daemon, once asked

    def unix(self):
        connection = UnixConnection(self.home + "/berth.sock")
        self.addCleanup(connection.close)
        return connection

    def as_nobody(self):
        """A connection of another user, which only root can make; to a daemon for everyone."""
        os.chmod(self.folder, 0o711)  # the test's own; the daemon sees to the rest
        connection = self.unix()
        os.seteuid(NOBODY)
        try:
            connection.connect()
        finally:
            os.seteuid(0)
        return connection

    def tcp(self):
        connection = http.client.HTTPConnection(*self.address(), timeout=DEADLINE)
        self.addCleanup(connection.close)
        return connection

    def raw_unix(self):
        sock = connect_unix(self.home + "/berth.sock")
        self.addCleanup(sock.close)
        return sock

    def raw_tcp(self):
        sock = socket.create_connection(self.address(), timeout=DEADLINE)
        self.addCleanup(sock.close)
        return sock

    def stop_daemon(self):
        """Returns when it is gone."""
        process = self.watch(self.ask("GET", "/v1/status").json()["pid"])
        self.berth("daemon", "stop")
        self.gone(process)
        self.listens = None

    def address(self):
        if not self.listens:
            self.listens = self.ask("GET", "/v1/status").json()["listen"]
        host, port = self.listens.rsplit(":", 1)
        return host, int(port)

    def token(self):
        with open(os.path.join(self.home, "token"), encoding="ascii") as file:
            return file.read().strip()

    def authority(self):
        return {"Authorization": "Bearer " + self.token()}

    def ask(self, method, target, body=None, headers=None, connection=None):
        """On a connection of its own unless one is given."""
        asked = connection or self.unix()
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        asked.request(method, target, body=body, headers=headers or {})
        reply = Reply(asked.getresponse())
        if connection is None:
            asked.close()
        return reply

    def get(self, target):
        reply = self.ask("GET", target)
        self.assertEqual(reply.status, 200, reply)
        return reply.json()

    def post(self, target, body=None):
        reply = self.ask("POST", target, body)
        self.assertEqual(reply.status, 200, reply)
        return reply.json()

    def submit(self, *commands, **fields):
        """Queues these commands and gives the number of the first."""
        defaults = dict({"directory": self.folder, "environment": ["PATH=" + os.environ["PATH"]]},
                        **fields)
        return self.post("/v1/jobs", {"defaults": defaults,
                                      "jobs": [{"command": c} for c in commands]})["first"]

    def listen(self, last=None):
        return Listener(self.unix(), last)
