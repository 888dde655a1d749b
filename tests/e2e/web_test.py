"""The web page's files, and signing in: who gets what, from where, and for how long."""

import gzip
import json
import os
import socket
import stat
import subprocess
import unittest

from http_case import NOBODY, HttpCase

TYPES = {"/": "text/html; charset=utf-8", "/app.js": "text/javascript; charset=utf-8",
         "/app.css": "text/css; charset=utf-8", "/favicon.svg": "image/svg+xml"}
HEADERS = {
    "Content-Encoding": "gzip",
    "Cache-Control": "no-cache",
    "Content-Security-Policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "web")
MONTH = 31 * 24 * 3600


class WebCase(HttpCase):
    def link(self):
        return self.post("/v1/login")

    def code(self):
        return self.link()["url"].rsplit("/", 1)[1]

    def fetch(self, method, target, body=None, **headers):
        return self.ask(method, target, body, headers, self.tcp())

    def sign_in(self, code):
        return self.fetch("POST", "/v1/session", {"code": code})

    def token_of(self, code):
        reply = self.sign_in(code)
        self.assertEqual(reply.status, 200, reply)
        return reply.json()["token"]

    def with_token(self, token, method="GET", target="/v1/status"):
        return self.fetch(method, target, Authorization="Bearer " + token)


class Packages(unittest.TestCase):
    def test_the_lock_file_names_checksums_and_no_place(self):
        with open(os.path.join(SOURCES, "package-lock.json"), encoding="utf-8") as file:
            packages = json.load(file)["packages"]
        packages.pop("")
        self.assertGreater(len(packages), 5)
        for name, package in packages.items():
            self.assertNotIn("resolved", package, name)
            self.assertIn("integrity", package, name)


class Page(WebCase):
    def setUp(self):
        super().setUp()
        self.start_daemon()
        self.link()

    def test_every_file_comes_packed_with_every_header(self):
        for path, kind in TYPES.items():
            with self.subTest(path):
                reply = self.fetch("GET", path)
                self.assertEqual((reply.status, reply.headers["Content-Type"]), (200, kind))
                for name, value in HEADERS.items():
                    self.assertEqual(reply.headers.get_all(name), [value], name)
                self.assertEqual(int(reply.headers["Content-Length"]), len(reply.body))
                self.assertTrue(gzip.decompress(reply.body))
                head = self.fetch("HEAD", path)
                self.assertEqual((head.status, head.body), (200, b""))
                self.assertEqual(head.headers.items(), reply.headers.items())
        page = gzip.decompress(self.fetch("GET", "/").body).decode()
        self.assertIn("<!doctype html>", page)
        for path in set(TYPES) - {"/"}:
            self.assertRegex(page, f'="/?{path[1:]}"')

    def test_what_the_browser_has_is_not_sent_again(self):
        tags = set()
        for path in TYPES:
            tag = self.fetch("GET", path).headers["ETag"]
            self.assertRegex(tag, '^"[0-9a-f]{16}"$')
            tags.add(tag)
            for known in (tag, f'"other", W/{tag}', "*"):
                reply = self.fetch("GET", path, **{"If-None-Match": known})
                self.assertEqual((reply.status, reply.body), (304, b""), known)
                self.assertEqual(reply.headers["ETag"], tag)
                self.assertEqual(reply.headers["Cache-Control"], "no-cache")
            self.assertEqual(self.fetch("GET", path, **{"If-None-Match": '"old"'}).status, 200)
        self.assertEqual(len(tags), len(TYPES))

    def test_it_is_for_reading_only(self):
        reply = self.ask("POST", "/", headers=self.authority(), connection=self.tcp())
        self.assertEqual((reply.status, reply.headers["Allow"]), (405, "GET, HEAD"))
        for method in set(METHODS) - {"GET", "HEAD"}:
            self.assertEqual(self.fetch(method, "/").status, 401, method)

    def test_a_page_of_another_origin_gets_nothing_by_any_method(self):
        own = "http://%s:%d" % self.address()
        for path in [*TYPES, "/v1/session"]:
            for method in METHODS:
                for origin in ("http://evil.example", "null", "", own.replace("http", "https"),
                               own + "0", "http://127.0.0.1:1"):
                    reply = self.fetch(method, path, Origin=origin)
                    self.assertEqual(reply.status, 403, (method, path, origin))
                    self.assertNotIn(b"<", reply.body)
                    self.assertNotIn("Access-Control-Allow-Origin", reply.headers)
            self.assertNotEqual(self.fetch("GET", path, Origin=own).status, 403)

    def test_a_name_that_was_rebound_gets_nothing(self):
        port = self.address()[1]
        code = self.code()
        for path in [*TYPES, "/v1/session"]:
            for method in METHODS:
                for host in (f"evil.example:{port}", "evil.example", f"127.0.0.1.evil.example:{port}"):
                    body = json.dumps({"code": code})
                    reply = self.fetch(method, path, body, Host=host)
                    self.assertEqual(reply.status, 403, (method, path, host))
        self.assertEqual(self.sign_in(code).status, 200, "and the code is as good as before")

    def test_nothing_secret_is_in_it(self):
        secrets = [self.token(), self.token_of(self.code()), self.home]
        for path in TYPES:
            reply = self.fetch("GET", path)
            text = gzip.decompress(reply.body) + str(reply.headers).encode()
            for secret in secrets:
                self.assertNotIn(secret.encode(), text)

    def test_it_asks_for_nothing_from_elsewhere(self):
        """Names of other hosts may be in it, as names of XML and in messages, but not as sources."""
        for path in TYPES:
            text = gzip.decompress(self.fetch("GET", path).body).decode()
            for outside in ('src="http', 'src="//', "url(http", "url(//", "@import", "sourceMappingURL",
                            'import("http', 'from"http'):
                self.assertNotIn(outside, text, path)

    def test_it_is_served_by_the_unix_socket_too(self):
        self.assertEqual(gzip.decompress(self.ask("GET", "/").body),
                         gzip.decompress(self.fetch("GET", "/").body))

    def test_half_requests_of_others_do_not_matter(self):
        crowd = []
        for _ in range(1000):
            sock = self.raw_tcp()
            sock.sendall(b"GET / HTTP/1.1\r\nHost: ")
            crowd.append(sock)
        for path in TYPES:
            self.assertEqual(self.fetch("GET", path).status, 200)
        self.assertEqual(self.sign_in(self.code()).status, 200)


class SigningIn(WebCase):
    def setUp(self):
        super().setUp()
        self.start_daemon()

    def test_nothing_listens_before_somebody_asks(self):
        self.assertEqual(self.get("/v1/status")["listen"], "")
        link = self.link()
        self.assertRegex(link["url"], r"^http://127\.0\.0\.1:\d+/#/login/[0-9a-f]{32}$")
        self.assertEqual(link["expires_s"], 120)
        self.assertIn(self.get("/v1/status")["listen"], link["url"])
        self.assertEqual(self.link()["url"].rsplit("/", 1)[0], link["url"].rsplit("/", 1)[0])

    def test_a_code_works_once(self):
        code = self.code()
        token = self.token_of(code)
        self.assertEqual(self.sign_in(code).status, 401)
        status = self.with_token(token).json()
        self.assertEqual(status["uid"], os.getuid())
        self.assertEqual(status["hostname"], socket.gethostname())
        self.assertEqual(self.with_token(self.token()).json()["user"], status["user"])

    def test_a_guess_is_refused(self):
        code = self.code()
        for guess in ("", "0" * 32, code[:-1], code + "0", code.upper() + "X", "é", code[::-1] + "0"):
            self.assertEqual(self.sign_in(guess).status, 401, guess)
        for body in ("", "[]", "{}", '{"code":1}', '{"code":null}', "\0", "x" * 5000):
            self.assertIn(self.fetch("POST", "/v1/session", body).status, (400, 413), body)
        for token in (code, "", "0" * 64):
            self.assertEqual(self.with_token(token).status, 401, token)
        self.assertEqual(self.sign_in(code).status, 200)

    def test_links_are_not_given_out_over_tcp(self):
        token = self.token_of(self.code())
        for shown in (token, self.token()):
            reply = self.with_token(shown, "POST", "/v1/login")
            self.assertEqual(reply.status, 403)
            self.assertNotIn(b"http://", reply.body)
        self.assertEqual(self.fetch("POST", "/v1/login").status, 401)

    def test_a_session_ends_when_told(self):
        token, other = self.token_of(self.code()), self.token_of(self.code())
        self.assertEqual(self.with_token(self.token(), "POST", "/v1/session/end").status, 409)
        self.assertEqual(self.with_token(token, "POST", "/v1/session/end").json(), {"version": 1})
        for target in ("/v1/status", "/v1/events", "/v1/jobs"):
            self.assertEqual(self.with_token(token, "GET", target).status, 401)
        self.assertEqual(self.with_token(other).status, 200)
        self.kill_daemon()
        self.start_daemon()
        self.assertEqual(self.with_token(token).status, 401)
        self.assertEqual(self.with_token(other).status, 200)

    def test_a_session_outlives_the_daemon_at_the_same_place(self):
        code = self.code()
        token = self.token_of(code)
        before = self.address()
        waiting = self.code()
        for _ in range(2):
            self.kill_daemon()
            self.start_daemon()
            self.listens = None
            self.assertEqual(self.address(), before)
            self.assertEqual(self.with_token(token).status, 200)
            self.assertEqual(self.sign_in(code).status, 401)
            self.assertEqual(self.sign_in(waiting).status, 401, "a link is of one daemon")
        mode = os.stat(self.home + "/sessions").st_mode
        self.assertEqual(stat.S_IMODE(mode), 0o600)

    def test_a_session_that_nobody_used_for_a_month_is_over(self):
        token = self.token_of(self.code())
        self.kill_daemon()
        self.env["BERTH_CLOCK_OFFSET"] = str(MONTH)
        self.start_daemon()
        self.assertEqual(self.with_token(token).status, 401)

    def test_a_place_that_somebody_else_took_is_given_up(self):
        token = self.token_of(self.code())
        taken = self.address()
        self.kill_daemon()
        with socket.create_server(taken):
            self.start_daemon()
            self.listens = None
            self.assertNotEqual(self.address(), taken)
            # An open page may have shown its token to whoever is there now.
            self.assertEqual(self.with_token(token).status, 401)
            note = self.try_berth("ui", "--print").stderr
            self.assertIn(f"moved from port {taken[1]}", note)
            self.assertNotIn("moved", self.try_berth("ui", "--print").stderr)
        moved = self.address()
        self.kill_daemon()
        self.start_daemon()
        self.listens = None
        self.assertEqual(self.address(), moved)

    def test_a_damaged_file_of_sessions_only_signs_out(self):
        token = self.token_of(self.code())
        self.kill_daemon()
        with open(self.home + "/sessions", "wb") as file:
            file.write(b"\0\xff" * 1000 + b"\nx y z\n")
        self.start_daemon()
        self.assertEqual(self.with_token(token).status, 401)
        self.assertEqual(self.with_token(self.token_of(self.code())).status, 200)

    def test_where_the_daemon_was_told_to_listen(self):
        self.stop_daemon()
        self.start_daemon(words=["--listen", "localhost:0"])
        self.assertRegex(self.link()["url"], r"^http://localhost:\d+/#/login/")
        self.assertEqual(self.with_token(self.token_of(self.code())).status, 200)
        self.stop_daemon()
        self.start_daemon(words=["--listen", "0.0.0.0:0", "--force-listen"])
        self.assertRegex(self.link()["url"], r"^http://127\.0\.0\.1:\d+/#/login/")


class OtherUsers(WebCase):
    @unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
    def test_a_session_is_of_the_user_who_asked(self):
        self.start_daemon(words=["--everyone"])
        job = self.submit("true", held=True)
        link = self.ask("POST", "/v1/login", connection=self.as_nobody()).json()
        reply = self.sign_in(link["url"].rsplit("/", 1)[1]).json()
        self.assertEqual((reply["uid"], reply["user"]), (NOBODY, "nobody"))
        token = reply["token"]
        self.assertEqual(self.with_token(token).json()["uid"], NOBODY)
        self.assertEqual(self.with_token(token, "POST", f"/v1/jobs/kill?select={job}").status, 409)
        self.assertEqual(self.with_token(token, "POST", "/v1/daemon/pause").status, 409)
        self.assertEqual(self.with_token(token, "POST", "/v1/daemon/stop").status, 409)
        mine = self.token_of(self.code())
        self.assertEqual(self.with_token(mine, "POST", f"/v1/jobs/kill?select={job}").status, 200)
        self.kill_daemon()
        self.start_daemon(words=["--everyone"])
        self.assertEqual(self.with_token(token).json()["uid"], NOBODY)


    @unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
    def test_a_link_that_another_user_saw_is_worth_nothing_to_them(self):
        self.start_daemon()
        code = self.code()
        port = self.status()["listen"].rsplit(":", 1)[1]
        steal = ("import http.client, json, sys; c = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]));"
                 "c.request('POST', '/v1/session', json.dumps({'code': sys.argv[2]}));"
                 "print(c.getresponse().status)")
        tried = subprocess.run(["/usr/bin/python3", "-c", steal, port, code], user=NOBODY, group=NOBODY,
                               extra_groups=[], cwd="/", capture_output=True, text=True, check=True)
        self.assertEqual(tried.stdout.strip(), "401")
        self.token_of(code)  # and it was not used up


class Command(WebCase):
    """berth ui."""

    def setUp(self):
        super().setUp()
        for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
            self.env.pop(name, None)

    def test_it_prints_the_link_and_the_way_to_it(self):
        done = self.try_berth("ui")  # which starts the daemon
        self.assertEqual(done.returncode, 0, done.stderr)
        url = done.stdout.strip()
        port = self.address()[1]
        self.assertTrue(url.startswith(f"http://127.0.0.1:{port}/#/login/"), url)
        self.assertIn(f"ssh -N -L {port}:127.0.0.1:{port} {socket.gethostname()}", done.stderr)
        self.assertEqual(self.sign_in(url.rsplit("/", 1)[1]).status, 200)

    def test_json(self):
        link = json.loads(self.berth("ui", "--json"))
        self.assertEqual(set(link), {"version", "url", "expires_s", "note"})

    def test_it_opens_the_browser_without_a_shell(self):
        self.make_gates("opened")
        browser = self.path("browser")
        with open(browser, "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\nprintf "%s\\n" "$#" "$1" > "{self.path("told")}"\n'
                       f'echo done > "{self.path("opened")}"\n')
        os.chmod(browser, 0o700)
        self.env["BROWSER"] = browser + ":something-else"
        out = self.berth("ui")
        self.assertEqual(self.hear("opened"), "done")
        count, url = self.read("told").split()
        self.assertEqual(count, "1")
        self.assertNotIn(url.rsplit("/", 1)[1], out, "the code is for the browser alone")
        self.assertEqual(self.sign_in(url.rsplit("/", 1)[1]).status, 200)
        self.env["BROWSER"] = "/nonexistent; touch /tmp/x"
        done = self.try_berth("ui")
        self.assertEqual(done.returncode, 0)
        self.assertIn("cannot start", done.stderr)
        self.assertIn("#/login/", done.stdout)
        self.env["BROWSER"] = browser
        self.assertIn("#/login/", self.berth("ui", "--print"))


if __name__ == "__main__":
    unittest.main()
