"""Golden texts: what people and programs read, kept word for word in golden/.

BERTH_ACCEPT=1 rewrites them; the difference is then for the review to read.
"""

import json
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "e2e"))

from run_case import RunCase  # noqa: E402

ACCEPT = os.environ.get("BERTH_ACCEPT") == "1"
KINDS = {bool: "boolean", int: "number", float: "number", str: "text", type(None): "null",
         list: "list", dict: "object"}


def shapes(stream):
    """The fields of each kind of event, in order, with all that was seen in them."""
    seen = {}
    for event in stream:
        fields = seen.setdefault(event["event"], {})
        for name, value in event.items():
            kinds, inner = fields.setdefault(name, (set(), {}))
            kinds.add(KINDS[type(value)])
            for item in value if isinstance(value, list) else []:
                for key, part in item.items() if isinstance(item, dict) else [("", item)]:
                    inner.setdefault(f"{name}[].{key}".rstrip("."), set()).add(KINDS[type(part)])
    text = ""
    for kind in sorted(seen):
        text += f"{kind}\n"
        for name, (kinds, inner) in seen[kind].items():
            for field, found in {name: kinds, **inner}.items():
                text += f"  {field}: {' or '.join(sorted(found))}\n"
    return text


class Golden(RunCase):
    def check(self, name, text):
        path = os.path.join(HERE, "golden", name)
        if ACCEPT:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(text, file.read(), f"{name}: BERTH_ACCEPT=1 accepts the change")

    def test_help(self):
        commands = ("run", "sweep", "gpus", "gpus drain", "submit", "queue", "show", "logs", "results", "why",
                    "wait", "kill", "hold", "release", "pause", "resume", "rerun", "edit", "forget",
                    "ui", "daemon", "schedule", "batch", "recipes", "record", "compare",
                    "cluster", "cluster init", "cluster invite", "cluster join", "cluster status",
                    "cluster doctor", "cluster leave",
                    "sim", "sim convert", "sim --journal", "whatif")
        for command in ("", *commands):
            words = command.split()
            name = "_".join(["help", *words]) + ".txt"
            with self.subTest(name):
                text = self.berth(*words, "--help").stdout
                self.check(name, re.sub(r"^berth \d+\.\d+\.\d+", "berth VERSION", text))
                for line in text.splitlines():
                    self.assertLessEqual(len(line), 100, line)

    def test_help_also_by_its_short_name(self):
        self.assertEqual(self.berth("run", "-h").stdout, self.berth("run", "--help").stdout)

    def test_events(self):
        self.env["B"] = os.environ["BERTH"]
        lines = ["@name=a echo hi; echo ho >&2", "@retries=1 exit 3", "kill -9 $$",
                 "@name=b @after=notok:a true", "@gpus=0 true", "@wrong=1 true",
                 "@timeout=2500ms $B simjob --mem 1GiB --hold 1h"]
        stream = self.run_events(lines, code=1)
        self.assertTrue(all(event["version"] == 1 for event in stream))
        self.assertTrue(all(list(event)[:2] == ["version", "event"] for event in stream))
        self.check("run_events.txt", shapes(stream))

    def test_events_are_one_line_each(self):
        out = self.run_jobs(["printf 'a\\nb\\n\\377\\n'"], "--json").stdout
        for line in out.splitlines():
            self.assertIsInstance(json.loads(line), dict)


if __name__ == "__main__":
    unittest.main()
