"""HTTP over TCP: nobody gets anything, or anything done, without the token from the right place."""

import json
import os
import stat
import unittest

from http_case import HttpCase, Listener
from openapi import Document

SECRET = "0" * 64
# What needs no token: web_test.py is about it.
PAGE = ("/", "/app.js", "/app.css", "/favicon.svg")
OPEN = {("POST", "/v1/session"), *((method, path) for method in ("GET", "HEAD") for path in PAGE)}


class Access(HttpCase):
    def setUp(self):
        super().setUp()
        self.berth("daemon", "start", "--listen", "127.0.0.1:0")
        self.first = self.submit("true", held=True)
        self.host, self.port = self.address()

    def state(self):
        """All that a request could change."""
        status = self.get("/v1/status")
        del status["load"]  # which moves by itself
        return (status, self.get("/v1/jobs?all=1"),
                [device["health"] for device in self.get("/v1/devices")["devices"]])

    def requests(self):
        """One for every route that does something, and for every other method that there is."""
        targets = {"/v1/jobs/forget": "?older=0s", "/v1/jobs/signal": "?select=1&signal=9"}
        bodies = {"/v1/jobs": json.dumps({"jobs": [{"command": "true", "directory": "/"}]}),
                  "/v1/jobs/edit": '{"priority": 9}'}
        for path in [*Document().root["paths"], *PAGE, "/nothing", "*"]:
            query = targets.get(path, "?select=1" if path.startswith("/v1/jobs/") else
                                "?names=0" if path.startswith("/v1/devices/") else "")
            for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
                body = bodies.get(path, "") if method == "POST" else ""
                yield method, path.format(id=1) + query, body

    def refused(self, status, headers, host=None):
        """Everything is, with this status, and nothing was done."""
        before = self.state()
        count = 0
        for method, target, body in self.requests():
            if status == 401 and (method, target) in OPEN:
                continue
            with self.subTest(f"{method} {target}"):
                connection = self.tcp()
                connection.putrequest(method, target, skip_host=host is not None)
                if host:
                    connection.putheader("Host", host)
                for name, value in headers.items():
                    connection.putheader(name, value)
                connection.putheader("Content-Length", str(len(body)))
                connection.endheaders(body.encode())
                response = connection.getresponse()
                self.assertEqual(response.status, status)
                self.assertFalse([name for name in response.headers
                                  if name.lower().startswith("access-control")])
                self.assertNotIn("Allow", response.headers)
                answer = response.read()
                if method != "HEAD":
                    self.assertEqual(set(json.loads(answer)), {"version", "error"})
                connection.close()
                count += 1
        self.assertGreater(count, 200)
        self.assertEqual(self.state(), before)

    def test_the_token_file_is_for_its_owner_alone(self):
        mode = os.stat(self.home + "/token").st_mode
        self.assertEqual(stat.S_IMODE(mode), 0o600)
        self.assertRegex(self.token(), "^[0-9a-f]{64}$")

    def test_the_token_outlives_the_daemon(self):
        token = self.token()
        self.stop_daemon()
        self.berth("daemon", "start", "--listen", "127.0.0.1:0")
        self.assertEqual(self.token(), token)
        self.assertEqual(self.ask("GET", "/v1/status", headers=self.authority(),
                                  connection=self.tcp()).status, 200)

    def test_without_a_token(self):
        self.refused(401, {})

    def test_with_a_wrong_token(self):
        self.refused(401, {"Authorization": "Bearer " + SECRET})
        for wrong in (self.token()[:-1], self.token() + "0", "", " " + self.token()):
            reply = self.ask("GET", "/v1/jobs", headers={"Authorization": "Bearer " + wrong},
                             connection=self.tcp())
            self.assertIn(reply.status, (401, 400), wrong)
        for scheme in ("Basic ", "", "Bearer"):
            reply = self.ask("GET", "/v1/jobs", headers={"Authorization": scheme + self.token()},
                             connection=self.tcp())
            self.assertEqual(reply.status, 401, scheme)

    def test_a_token_elsewhere_is_none(self):
        for target in (f"/v1/jobs?token={self.token()}", f"/v1/jobs?access_token={self.token()}"):
            self.assertEqual(self.ask("GET", target, connection=self.tcp()).status, 401)

    def test_from_another_origin_even_with_the_token(self):
        self.refused(403, dict(self.authority(), Origin="http://evil.example"))
        for origin in ("null", "", f"https://{self.host}:{self.port}", f"http://{self.host}",
                       f"http://{self.host}:{self.port}.evil.example", "http://localhost:1"):
            reply = self.ask("POST", "/v1/daemon/pause", connection=self.tcp(),
                             headers=dict(self.authority(), Origin=origin))
            self.assertEqual(reply.status, 403, origin)

    def test_under_a_name_that_was_rebound_even_with_the_token(self):
        self.refused(403, self.authority(), host=f"evil.example:{self.port}")
        for host in (self.host, f"{self.host}:1", f"127.0.0.1.evil.example:{self.port}", "localhost"):
            sock = self.raw_tcp()
            sock.sendall((f"GET /v1/jobs HTTP/1.1\r\nHost: {host}\r\n"
                          f"Authorization: Bearer {self.token()}\r\n\r\n").encode())
            self.assertTrue(sock.recv(100).startswith(b"HTTP/1.1 403 "), host)
        for hosts in ("", f"Host: localhost:{self.port}\r\nHost: evil.example\r\n"):
            sock = self.raw_tcp()
            sock.sendall((f"GET /v1/jobs HTTP/1.1\r\n{hosts}"
                          f"Authorization: Bearer {self.token()}\r\n\r\n").encode())
            self.assertRegex(sock.recv(100), rb"^HTTP/1.1 40[03] ", hosts)

    def test_a_preflight_gets_nothing(self):
        self.refused(403, {"Origin": "http://evil.example",
                           "Access-Control-Request-Method": "POST",
                           "Access-Control-Request-Headers": "authorization"})

    def test_with_the_token_everything_works(self):
        connection = self.tcp()
        def ask(method, target, body=None, **headers):
            return self.ask(method, target, body, dict(self.authority(), **headers), connection)
        self.assertEqual(ask("GET", "/v1/status").json()["listen"], f"{self.host}:{self.port}")
        reply = ask("POST", "/v1/jobs", {"defaults": {"directory": "/"},
                                         "jobs": [{"command": "exit 3"}]})
        number = reply.json()["first"]
        self.assertEqual(ask("GET", f"/v1/wait?select={number}").json()["failed"], 1)
        self.assertEqual(ask("GET", f"/v1/jobs/{number}").json()["exit_code"], 3)
        # A page that this server gave out itself, under any of its names.
        for name in (self.host, "localhost", "LOCALHOST"):
            origin = f"http://{name}:{self.port}"
            self.assertEqual(ask("POST", "/v1/daemon/pause", Origin=origin,
                                 Host=f"{name}:{self.port}").status, 200, name)
        listener = Listener(self.tcp(), headers=self.authority())
        self.assertEqual(next(listener).name, "hello")

    def test_a_bind_beyond_this_machine_must_be_forced(self):
        self.stop_daemon()
        for address in ("0.0.0.0:0", "[::]:0", ":0", "nonsense", "127.0.0.1", "127.0.0.1:99999"):
            done = self.try_berth("daemon", "start", "--listen", address)
            self.assertNotEqual(done.returncode, 0, address)
            self.assertNotEqual(done.stderr, "")
            self.berth("daemon", "status", code=3)
        self.berth("daemon", "start", "--listen", "0.0.0.0:0", "--force-listen")
        port = self.address()[1]
        self.listens = f"127.0.0.1:{port}"
        self.assertEqual(self.ask("GET", "/v1/status", connection=self.tcp()).status, 401)
        self.assertEqual(self.ask("GET", "/v1/status", headers=self.authority(),
                                  connection=self.tcp()).status, 200)

    def test_without_listen_there_is_no_tcp(self):
        self.stop_daemon()
        self.berth("daemon", "start")
        self.assertEqual(self.get("/v1/status")["listen"], "")
        self.listens = f"{self.host}:{self.port}"
        with self.assertRaises(ConnectionRefusedError):
            self.raw_tcp()


if __name__ == "__main__":
    unittest.main()
