"""docs/openapi.yaml against the running daemon: neither may know what the other does not."""

import os
import unittest

from http_case import HttpCase, Listener, is_job
from mps_case import FAKES
from openapi import Document, Mismatch

SLURM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fake_slurm")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
WRONG = {"string": 5, "integer": "many", "number": "long", "boolean": "yes", "array": "a", "object": []}


class TheDocument(unittest.TestCase):
    def setUp(self):
        self.document = Document()

    def test_every_object_says_what_is_in_it(self):
        """So that an answer with an undocumented field cannot match."""
        def walk(node, where, inside_all_of=False):
            if isinstance(node, list):
                for item in node:
                    walk(item, where)
            if not isinstance(node, dict):
                return
            if node.get("type") == "object" and "$ref" not in node and not inside_all_of:
                self.assertTrue({"additionalProperties", "unevaluatedProperties"} & set(node), where)
            for key, value in node.items():
                walk(value, f"{where}/{key}", key == "allOf")
        parts = {part["$ref"].rsplit("/", 1)[1] for schema in self.schemas().values()
                 for part in schema.get("allOf", [])}
        for name, schema in self.schemas().items():
            if name in parts:  # closed by whoever includes them
                walk(schema["properties"], name)
            else:
                walk(schema, name)

    def schemas(self):
        return self.document.root["components"]["schemas"]

    def test_every_operation_tells_of_the_door(self):
        for method, path, operation in self.document.operations():
            with self.subTest(f"{method} {path}"):
                self.assertLessEqual({"200", "401", "403", "default"}, set(operation["responses"]))
                self.assertTrue(operation["summary"] and operation["operationId"])

    def test_it_can_disagree(self):
        schema = {"$ref": "#/components/schemas/Decides"}
        fine = {"paused": True, "policy": "fifo", "placement": "pack"}
        self.document.check(schema, fine, "")
        for wrong in ({}, dict(fine, paused=1), dict(fine, more=1), []):
            with self.assertRaises(Mismatch):
                self.document.check(schema, wrong, "")


class OpenApiCase(HttpCase):
    def setUp(self):
        super().setUp()
        self.document = Document()
        self.met = set()

    def check(self, method, path, status, query="", body=None, connection=None, **place):
        """Asks, and holds the answer against what is documented for this status."""
        target = path.format(**place) + query
        reply = self.ask(method, target, body, connection=connection)
        self.assertEqual(reply.status, status, f"{method} {target}: {reply}")
        self.document.check_reply(method, path, reply)
        self.met.add((method, path, status))
        return reply

    def documented(self):
        return {(method, path, int(status))
                for method, path, operation in self.document.operations()
                for status in operation["responses"] if status not in ("401", "403", "429", "default")}


class Answers(OpenApiCase):
    def test_the_routes_are_the_documented_ones(self):
        self.start_daemon()
        served = [(route["method"], route["path"]) for route in self.get("/v1")["routes"]]
        documented = [(method, path) for method, path, _ in self.document.operations()]
        self.assertEqual(sorted(served), sorted(documented))

    def test_other_methods_are_refused_and_told_which(self):
        self.start_daemon()
        connection = self.unix()
        for path, item in self.document.root["paths"].items():
            allowed = {method.upper() for method in item} | ({"HEAD"} if "get" in item else set())
            for method in set(METHODS) - allowed:
                with self.subTest(f"{method} {path}"):
                    reply = self.ask(method, path.format(id=1), connection=connection)
                    self.assertEqual(reply.status, 405)
                    self.assertEqual(set(reply.headers["Allow"].split(", ")), allowed)
                    if method != "HEAD":
                        self.document.check({"$ref": "#/components/schemas/Error"}, reply.json(), path)
        for path in ("//", "/v1/", "/v1/job", "/v1/jobs/1/", "/v1/jobs/1/2", "/v1/jobs/", "/v2", "/x?a=b"):
            reply = self.ask("GET", path, connection=connection)
            self.assertIn(reply.status, (400, 404), path)
            self.document.check({"$ref": "#/components/schemas/Error"}, reply.json(), path)

    def test_every_documented_answer_comes_and_is_as_documented(self):
        os.mkdir(self.path("fake"))
        self.env.update(PATH=SLURM + ":" + self.env["PATH"], FAKE_SLURM=self.path("fake"))
        daemon = self.start_daemon(words=["--everyone"])
        self.read_and_submit()
        self.command_jobs()
        self.change_devices()
        self.look_at_a_cluster()
        self.sign_in_and_out()
        others = self.refuse_other_users()
        self.decide_otherwise()
        self.check("POST", "/v1/daemon/pause", 200)
        self.check("POST", "/v1/daemon/resume", 200)
        self.check("POST", "/v1/daemon/stop", 200)
        self.assertEqual(daemon.wait(), 0)
        missing = self.documented() - self.met - {("GET", "/v1/events", 200)}
        self.assertEqual(missing - (set() if others else self.only_for_others()), set())

    def read_and_submit(self):
        for path in ("/v1", "/v1/status", "/v1/policies", "/v1/devices", "/metrics"):
            self.check("GET", path, 200)
        self.check("GET", "/v1/wait", 200)
        self.check("GET", "/v1/wait", 400, "?select=state=none")
        self.check("GET", "/v1/wait", 404, "?select=99")
        self.make_gates("gate")
        job = {"directory": self.folder, "environment": ["PATH=" + os.environ["PATH"]]}
        self.first = self.check("POST", "/v1/jobs", 200, body={"token": "t", "defaults": job, "jobs": [
            {"command": "echo x; echo y >&2; exit 3", "error": "err", "retries": 1},
            {"command": "true", "output": "/dev/null"},
            {"command": "read x < gate", "mem": 1 << 20, "name": "waits", "project": "p", "sweep": "s"},
            {"command": "true", "held": True, "array": 3, "labels": {"a": "b"}, "follows": ["ok:1"]},
        ]}).json()["first"]
        self.assertEqual(self.first, 1)
        for wrong in (b"", b"[]", b"{", {"jobs": []}, {"jobs": [{}]}, {"jobs": [{"command": 1}]}):
            self.check("POST", "/v1/jobs", 400, body=wrong)
        submit = lambda **fields: {"jobs": [dict({"command": "true", "directory": "/"}, **fields)]}
        self.check("POST", "/v1/jobs", 404, body=submit(after=["ok:99"]))
        self.check("GET", "/v1/wait", 200, "?select=1-2")
        self.check("POST", "/v1/jobs", 409, body=submit(after=["ok:1"]))  # it has failed
        for path in ("/v1/jobs/{id}", "/v1/jobs/{id}/log"):
            self.check("GET", path, 404, id=99)
            self.check("GET", path, 400, id="x")
            self.check("GET", path, 400, id=0)
            self.check("GET", path, 200, id=1)
        full = self.check("GET", "/v1/jobs/{id}", 200, id=1).json()
        self.assertEqual(len(full["attempts"]), 2)
        self.assertIn("why", self.check("GET", "/v1/jobs/{id}", 200, id=4).json())
        self.check("GET", "/v1/jobs/{id}/log", 400, "?offset=x", id=1)
        self.check("GET", "/v1/jobs/{id}/log", 409, id=2)
        reply = self.check("GET", "/v1/jobs/{id}/log", 200, "?attempt=1&stream=err&wait=1", id=1)
        self.assertEqual((reply.body, reply.headers["Berth-More"]), (b"y\ny\n", "no"))
        page = self.check("GET", "/v1/jobs", 200, "?all=1&limit=2").json()
        self.assertEqual(page["next"], 2)
        self.check("GET", "/v1/jobs", 200, "?all=1&descending=1")
        self.check("GET", "/v1/jobs", 400, "?limit=x")
        self.check("GET", "/v1/jobs", 400, "?select=colour=red")
        self.check("GET", "/v1/jobs/ids", 200, "?all=1&sort=duration&search=x")
        self.check("GET", "/v1/jobs/ids", 400, "?sort=colour")
        for path in ("/v1/facets", "/v1/totals", "/v1/devices/history"):
            self.check("GET", path, 200)
        self.check("GET", "/v1/totals", 400, "?since=today")
        self.check("GET", "/v1/jobs/{id}/usage", 200, id=1)
        self.check("GET", "/v1/jobs/{id}/usage", 400, "?attempt=x", id=1)
        self.check("GET", "/v1/jobs/{id}/usage", 404, "?attempt=9", id=1)
        self.check("POST", "/v1/texts/check", 200, body={"format": "lines", "text": "true\n@x=y z\n"})
        self.check("POST", "/v1/texts/check", 200, body={
            "format": "sweep", "template": "t {a}", "parameters": ["a 1 2"], "defaults": {"name": "s"},
            "mode": "shuffled_grid", "seed": 1})
        text = {"format": "lines", "text": "true", "defaults": {"held": True, "gpus_needed": 0}}
        self.check("POST", "/v1/texts/submit", 200, body=dict(text, environment_from=2))
        self.check("POST", "/v1/jobs/kill", 200, "?select=7")
        self.check("POST", "/v1/texts/submit", 404, body=dict(text, environment_from=99))
        self.check("POST", "/v1/texts/submit", 409,
                   body=dict(text, defaults={"after": ["ok:1"]}))
        for path in ("/v1/texts/check", "/v1/texts/submit"):
            self.check("POST", path, 400, body={"format": "xml", "text": ""})
        self.check("GET", "/v1/timeline", 200)
        self.check("GET", "/v1/timeline", 400, "?limit=x")

    def command_jobs(self):
        listener = self.listen()
        if self.get("/v1/jobs/3")["state"] != "running":
            listener.until(is_job(3, "running"))
        for verb in ("pause", "resume"):
            self.check("POST", f"/v1/jobs/{verb}", 200, "?select=p/waits")
        self.check("POST", "/v1/jobs/signal", 200, "?select=3&signal=18")
        self.check("POST", "/v1/jobs/release", 200, "?select=4")
        self.check("GET", "/v1/wait", 200, "?select=4")
        self.check("POST", "/v1/jobs/edit", 200, "?select=5", {"priority": 3})
        self.check("POST", "/v1/jobs/release", 409, "?select=3")
        self.check("POST", "/v1/jobs/hold", 409, "?select=3")
        self.check("POST", "/v1/jobs/hold", 200, "?select=5&select=3")  # one of the two
        self.check("POST", "/v1/jobs/kill", 200, "?select=label=a=b")
        self.check("POST", "/v1/jobs/kill", 200, "?select=3")
        self.check("GET", "/v1/wait", 200, "?select=3")
        self.check("POST", "/v1/jobs/rerun", 200, "?select=2")
        self.check("GET", "/v1/wait", 200)
        self.submit("true", held=True)  # number 8
        self.check("POST", "/v1/jobs/edit", 400, "?select=8", {"directory": "/"})
        for verb in ("kill", "signal", "hold", "release", "pause", "resume", "rerun", "edit"):
            query = {"signal": "&signal=15"}.get(verb, "")
            path = f"/v1/jobs/{verb}"
            self.check("POST", path, 400, "?x=1" + query)
            self.check("POST", path, 400, "?select=8-5" + query)
            self.check("POST", path, 404, "?select=99" + query, {})
            self.check("POST", path, 404, "?select=name=nobody" + query, {})
            if verb not in ("hold", "release"):
                ended = "?select=8" if verb == "rerun" else "?select=1"
                self.check("POST", path, 409, ended + query, {})
        self.check("POST", "/v1/jobs/signal", 400, "?select=8&signal=99")
        self.check("POST", "/v1/jobs/forget", 400, "?select=1")
        self.check("POST", "/v1/jobs/forget", 400, "?older=soon")
        self.check("POST", "/v1/jobs/forget", 200, "?older=30d")
        self.check("POST", "/v1/jobs/forget", 200, "?select=state=failed")
        self.check("GET", "/v1/jobs/{id}", 404, id=1)

    def change_devices(self):
        for verb in ("drain", "undrain", "remove", "add"):
            path = f"/v1/devices/{verb}"
            self.check("POST", path, 200, "?names=1")
            self.check("POST", path, 400)
            if verb == "add":
                self.check("POST", path, 400, "?names=sim:x")
            else:
                self.check("POST", path, 404, "?names=none")

    def look_at_a_cluster(self):
        path = "/v1/devices/cluster"
        self.check("GET", path, 400)
        self.check("GET", path, 404, "?name=nowhere")
        devices = self.check("GET", path, 200, "?name=slurm").json()["devices"]
        self.assertEqual([device["node"] for device in devices], ["n1"] * 4 + ["n2"] * 4 + ["n3"] * 4)

    def sign_in_and_out(self):
        link = self.check("POST", "/v1/login", 200).json()
        code = link["url"].rsplit("/", 1)[1]
        for wrong in (b"", {}, {"code": 1}, {"code": code, "more": 1}):
            self.check("POST", "/v1/session", 400, body=wrong)
        token = self.check("POST", "/v1/session", 200, body={"code": code}).json()["token"]
        self.check("POST", "/v1/session", 401, body={"code": code})
        self.check("POST", "/v1/session/end", 409)  # by the Unix socket there is none
        reply = self.ask("POST", "/v1/session/end", connection=self.tcp(),
                         headers={"Authorization": "Bearer " + token})
        self.document.check_reply("POST", "/v1/session/end", reply)
        self.met.add(("POST", "/v1/session/end", reply.status))

    def decide_otherwise(self):
        self.check("POST", "/v1/daemon/policy", 200, "?policy=sjf%2Beasy&placement=spread")
        self.check("POST", "/v1/daemon/policy", 400, "?policy=srtf")
        self.check("POST", "/v1/daemon/shadow", 200, "?policy=rl")
        self.check("POST", "/v1/daemon/shadow", 400, "?policy=srtf")
        self.check("POST", "/v1/whatif", 200, body={"queue": False, "policies": ["fifo", "srtf"]})
        self.check("POST", "/v1/advice", 200)
        self.check("POST", "/v1/whatif", 400, body={"policies": ["none"]})
        self.post("/v1/jobs/kill?select=8")
        self.check("POST", "/v1/whatif", 409, body={})

    def only_for_others(self):
        return {(method, path, 409) for method, path, _ in self.document.operations()
                if path.startswith(("/v1/daemon/", "/v1/devices/")) or path == "/v1/jobs/forget"}

    def refuse_other_users(self):
        """What only the daemon's own user may do. Only root can be somebody else."""
        if os.getuid() != 0:
            return False
        connection = self.as_nobody()
        for method, path, status in self.only_for_others():
            if (method, path, status) in self.documented():
                self.check(method, path, status, "?names=0", connection=connection)
        self.check("GET", "/v1/jobs/{id}/log", 409, id=2, connection=connection)
        self.check("POST", "/v1/jobs/kill", 409, "?select=8", connection=connection)
        return True


class Bodies(OpenApiCase):
    """Every documented field is taken, and nothing else is."""

    def setUp(self):
        super().setUp()
        self.env["PATH"] = FAKES + ":" + self.env["PATH"]  # a job may ask for MPS
        self.start_daemon()
        self.connection = self.unix()

    def properties(self, name):
        schema = self.document.root["components"]["schemas"][name]
        found = {}
        for part in schema.get("allOf", []):
            found.update(self.document.resolve(part)["properties"])
        found.update(schema["properties"])
        return {key: self.document.resolve(value) for key, value in found.items()}

    def values(self, schema):
        """What must be taken, and what must not."""
        (fine,) = schema["examples"]
        wrong = [WRONG[schema["type"]]]
        if "minimum" in schema:
            wrong += [schema["minimum"] - 1, schema["maximum"] + 1, 1 << 64, -(1 << 63) - 1, 1e300]
            wrong += [(1 << 64) - 1]  # -1, to who takes it for a signed number
        if schema["type"] == "integer":
            wrong += [1.5]
        if schema["type"] == "string":
            wrong += ["a\0b"]
        if "maxLength" in schema:
            wrong += ["x" * (schema["maxLength"] + 1)]
        if schema["type"] == "array":
            wrong += [[1], [None]]
        if "maxItems" in schema:
            wrong += [["1"] * (schema["maxItems"] + 1)]
        if "maxProperties" in schema:
            wrong += [{str(i): "" for i in range(schema["maxProperties"] + 1)}]
        return fine, wrong

    def submits(self, status, job, **defaults):
        base = dict({"directory": self.folder, "held": True, "timeout_s": 100}, **defaults)
        return self.check("POST", "/v1/jobs", status, connection=self.connection,
                          body={"defaults": base, "jobs": [dict({"command": "true"}, **job)]}).json()

    def test_the_fields_of_a_submission(self):
        for key, schema in self.properties("SubmittedJob").items():
            fine, wrong = self.values(schema)
            with self.subTest(key):
                self.submits(200, {key: fine})
                for value in wrong:
                    with self.subTest(value=value):
                        reply = self.submits(400, {key: value})
                        self.assertIn(key, reply["error"]["message"])
        for key, schema in self.properties("Description").items():
            fine, wrong = self.values(schema)
            with self.subTest(default=key):
                self.submits(200, {}, **{key: fine})
                for value in wrong:
                    self.submits(400, {}, **{key: value})

    def test_a_field_that_is_not_documented_is_refused(self):
        before = self.get("/v1/status")["jobs"]
        for job, defaults in (({"prioriy": 1}, {}), ({}, {"prioriy": 1}), ({}, {"array": 2}),
                              ({}, {"follows": []}), ({"environment": []}, {}), ({"": 1}, {})):
            self.submits(400, job, **defaults)
        self.check("POST", "/v1/jobs", 400, body={"jobs": [{"command": "true"}], "default": {}})
        self.assertEqual(self.get("/v1/status")["jobs"], before)

    def test_what_a_report_repeats_is_what_was_asked(self):
        wish = {key: schema["examples"][0] for key, schema in self.properties("Description").items()}
        first = self.submits(200, {}, **wish)["first"]
        shown = self.check("GET", "/v1/jobs/{id}", 200, id=first).json()
        for key, value in wish.items():
            # A job for this machine does not say so.
            if key != "environment" and value not in ([], "local"):
                self.assertEqual(shown[key], value, key)

    def test_the_fields_of_an_edit(self):
        first = self.submits(200, {})["first"]
        editable = self.properties("Edit")
        for key, schema in editable.items():
            fine, wrong = self.values(schema)
            with self.subTest(key):
                self.check("POST", "/v1/jobs/edit", 200, f"?select={first}", {key: fine})
                for value in wrong:
                    self.check("POST", "/v1/jobs/edit", 400, f"?select={first}", {key: value})
        for key, schema in self.properties("SubmittedJob").items():
            if key not in editable:
                self.check("POST", "/v1/jobs/edit", 400, f"?select={first}",
                           {key: schema["examples"][0]})

    def test_a_submission_is_bounded(self):
        """A million jobs that each follow a million would never end."""
        most = self.properties("SubmittedJob")["array"]["maximum"]
        job = {"command": "true", "directory": "/", "held": True}
        for jobs in ([dict(job, array=most), job],
                     [dict(job, array=4000), dict(job, array=4000, follows=["ok:0"])]):
            self.check("POST", "/v1/jobs", 400, body={"jobs": jobs})


class Events(OpenApiCase):
    def test_every_documented_event_comes_and_is_as_documented(self):
        self.start_daemon()
        stream = self.document.response("GET", "/v1/events", 200)["content"]["text/event-stream"]
        seen = set()

        def note(event):
            self.document.check(stream["x-events"][event.name], event.data, event.name)
            seen.add(event.name)
            return event

        listener = self.listen()
        note(next(listener))
        self.submit("true")
        for number in map(note, listener):
            if is_job(1, "succeeded")(number):
                break
        self.post("/v1/daemon/pause")
        self.post("/v1/devices/drain?names=0")
        self.post("/v1/jobs/forget")
        note(next(Listener(self.unix(), last=1)))
        while seen != set(stream["x-events"]):
            note(next(listener))


if __name__ == "__main__":
    unittest.main()
