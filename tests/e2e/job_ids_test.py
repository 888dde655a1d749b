"""GET /v1/jobs/ids: which jobs match, and in which order."""

import unittest
from urllib.parse import quote

from http_case import HttpCase

NAMES = ["Zoë <b>bold</b>", "alpha", "Alpha beta", "", "two\nlines", "🚀 launch", "50% _done_", "a'b\"c"]


def numbers(answer):
    """The numbers that the runs stand for."""
    found = [first + i * step for first, count, step in answer["runs"] for i in range(count)]
    assert len(found) == answer["count"], answer
    return found


class JobIds(HttpCase):
    def setUp(self):
        super().setUp()
        self.start_daemon()

    def ids(self, query=""):
        return numbers(self.get("/v1/jobs/ids" + query))

    def add(self, *jobs, **defaults):
        return self.post("/v1/jobs", {"defaults": dict({"directory": self.folder, "held": True}, **defaults),
                                      "jobs": [dict({"command": "true"}, **job) for job in jobs]})["first"]

    def test_none(self):
        self.assertEqual(self.get("/v1/jobs/ids?all=1&sort=name"), 
                         {"version": 1, "count": 0, "runs": [], "states": {}})

    def test_runs(self):
        self.add(*[{} for _ in range(2500)])
        self.assertEqual(self.get("/v1/jobs/ids")["runs"], [[1, 2500, 1]])
        self.assertEqual(self.get("/v1/jobs/ids?descending=1")["runs"], [[2500, 2500, -1]])
        self.post("/v1/jobs/kill?select=7&select=1000-1002")
        self.assertEqual(self.get("/v1/jobs/ids")["runs"], [[1, 6, 1], [8, 992, 1], [1003, 1498, 1]])
        self.assertEqual(self.get("/v1/jobs/ids?select=state=cancelled")["runs"], [[7, 1, 0], [1000, 3, 1]])
        self.assertEqual(self.get("/v1/jobs/ids?all=1")["count"], 2500)
        self.assertEqual(self.get("/v1/jobs/ids?all=1")["states"], {"cancelled": 4, "held": 2496})
        self.assertEqual(self.get("/v1/jobs/ids?sort=name&select=5-8")["states"], {"held": 3, "cancelled": 1})
        self.assertEqual(self.ids("?select=5-8&select=9999&descending=1"), [8, 7, 6, 5])

    def test_search(self):
        self.add(*[{"name": name} for name in NAMES])
        self.add({"command": "python Train.py", "project": "Vision"}, {"sweep": "LR-search"})
        for text, found in (("ALPHA", [2, 3]), ("<B>", [1]), ("🚀", [6]), ("\n", [5]), ("%", [7]), ("_", [7]),
                            ("'b\"", [8]), ("train.PY", [9]), ("vision", [9]), ("lr-", [10]), ("10", [10]),
                            ("zoë", [1]), ("*", []), ("nothing", []), ("true", [*range(1, 9), 10])):
            with self.subTest(text):
                self.assertEqual(self.ids("?search=" + quote(text)), found)
        self.assertEqual(self.ids("?search=alpha&select=3-9"), [3])
        self.assertEqual(self.ids("?alone=1"), [*range(1, 10)])  # all but that of the sweep

    def test_orders(self):
        self.add(*[{"name": name, "priority": priority} for name, priority in
                   (("b", 5), ("a", -1), ("", 0), ("a", 9))])
        self.assertEqual(self.ids("?sort=name"), [2, 4, 1, 3])
        self.assertEqual(self.ids("?sort=name&descending=1"), [1, 4, 2, 3])  # who has none is last
        self.assertEqual(self.ids("?sort=priority"), [2, 3, 1, 4])
        self.assertEqual(self.ids("?sort=priority&descending=1"), [4, 1, 3, 2])
        self.assertEqual(self.ids("?sort=submitted&descending=1"), [4, 3, 2, 1])
        self.post("/v1/jobs/kill?select=2")
        self.post("/v1/jobs/release?select=3")
        self.get("/v1/wait?select=3")
        self.assertEqual(self.ids("?all=1&sort=state"), [1, 4, 3, 2])
        self.assertEqual(self.ids("?all=1&sort=ended"), [2, 3, 1, 4])
        for column in ("started", "duration"):
            self.assertEqual(self.ids(f"?all=1&sort={column}"), [3, 1, 2, 4])
        self.assertEqual(self.ids("?all=1&sort=peak"), [1, 2, 3, 4])  # nobody knows any

    def test_many_are_sorted_as_one(self):
        """More than are sorted at once."""
        count = 5000
        self.add(*[{"priority": i * 7919 % 1000} for i in range(count)])
        wanted = sorted(range(1, count + 1), key=lambda i: ((i - 1) * 7919 % 1000, i))
        self.assertEqual(self.ids("?sort=priority"), wanted)
        self.assertEqual(self.ids("?sort=priority&descending=1"), wanted[::-1])

    def test_wrong(self):
        for query in ("?sort=colour", "?select=colour=red", "?select=7-5", "?sort="):
            self.assertEqual(self.ask("GET", "/v1/jobs/ids" + query).status, 400, query)


if __name__ == "__main__":
    unittest.main()
