"""Requests that the daemon should understand, and what can be done to them.

The grammar is docs/openapi.yaml: each route, parameter and field there is used here without a word
more, and tests/e2e/openapi_test.py holds the document against the program. Only what a schema cannot
say (what a selector or a sweep looks like) is in WORDS and TEXTS below.
"""

import dataclasses
import json
import os
import random
import sys
from urllib.parse import quote

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from openapi import Document  # noqa: E402

# What a stranger may have run here: it must be harmless, for it is run.
COMMANDS = ["true", "false", "exit 3", "echo hi", "sleep 0.01", "exec sleep 0.2", "kill -9 $$",
            "trap '' TERM; sleep 0.3", "head -c 100000 /dev/zero", "true\ntrue", "echo {a} {b}"]
SELECTORS = ["{id}", "{id}-{id}", "1-100", "t*", "train", "vision/train", "name=t?", "project=vision",
             "sweep=s1", "state=live", "state=ended", "state=queued", "state=held", "state=failed",
             "user=root", "user=nobody", "user=0", "label=team=a", "label=team=*", "0", "-1", "5-3",
             "name=", "state=", "label=", "label==", "/", "*/*", "ok:1", "18446744073709551615"]

# For strings of which the schema says nothing, by the name of the field or parameter.
WORDS = {
    "command": COMMANDS,
    "template": ["echo {a} {b}", "echo {a}", "true", "echo {{a}} {b:3}", "echo {", "echo {a}{a}"],
    "select": SELECTORS,
    "search": ["t", "TRUE", "{id}", "é", "a b"],
    "older": ["0s", "1s", "30d", "1h30m", "1.5h", "-1s", "1e9d", "9999999999999d", "s", "1"],
    "policy": ["fifo", "priority", "sjf", "sjf+easy", "easy", "conservative", "fair", "wfq", "drf", "lottery",
               "stride", "energy:1500", "energy:-1", "priority+easy", "srtf", "sjf+sjf", "+", "a:b:c"],
    "policies": ["fifo", "sjf", "oracle:sjf", "easy", "conservative", "rr", "las", "oracle:", "oracle:oracle:sjf"],
    "placement": ["pack", "spread", "topology", "x"],
    "gpus": ["8", "2x8", "2x8x80GiB:a100+4:t4@0.4", "0", "1x0", "100000", "1x1x1x1", "8@0", "8@nan", "8@-1"],
    "names": ["0", "1", "0,1", "sim:1", "sim:2x1GiB", "trust:0,1", "nvidia", "auto", ",", "0,,1", "sim:0",
              "sim:1x0GiB", "sim:-1", "GPU-0"],
    "output": ["/dev/null", "%j.txt", "%n/%p/%a", "%%", "%", "%q", "../%j"],
    "directory": ["/", "/tmp", "/nonexistent", ".", ""],
    "environment": ["PATH=/usr/bin:/bin", "A=", "=", "=A", "A", "A=B=C", "BERTH_JOB_ID=1", "LD_PRELOAD=x"],
    "model": ["simulated", "SIM", "a100"],
    "only": ["0", "1", "GPU-1"], "exclude": ["0", "1"], "prefer": ["0", "7"],
    "after": ["ok:{id}", "any:{id}", "notok:{id}", "{id}", "ok:0", ""],
    "follows": ["ok:0", "any:0", "notok:1", "0", "1", "18446744073709551615"],
    "where": ["a < b", "a in (1, 2)", "not (a == b) or a % 2 == 0", "a / 0 > 1", "{a} == 'x'", "((((a < b))))",
              "a < ", "a == 'x", "-a + +b * 3 <= 1e308", "1", "a not in ()"],
    "parameters": ["a 1 2 3", "b=1..100", "a=1..10..2", "a=10..1", "a=pow2:16..256", "b=lin:0..1/11", "b=0..1..0.25",
                   "b=log:1e-5..1e-1/5", "b=uniform:0..1", "b=a,b,c", "a=1..1000000000000", "a=log:0..1/3", "a=lin:0..1/0",
                   "a=1..2..0", "a=-9223372036854775808..9223372036854775807", "a=pow2:1..2e300", "a", "'a b' 1"],
    "zip": ["a b", "a", "a a", ""],
    "mode": ["grid", "shuffled_grid"],
    "code": ["abc", "0" * 64],
    "token": ["t1", "t2", "t3"],
    "Last-Event-ID": ["0", "1", "18446744073709551615", "-1", "x"],
}
# What mostly fits the daemon that is fuzzed, so that most of what is tried gets past the door.
USUAL = {"gpus_needed": [0, 1, 1, 2], "share": [0, 100, 500], "mem": [1 << 20, 1 << 30], "mps": [False], "thread_percentage": [0],
         "retries": [0, 1, 2], "timeout_s": [0.05, 1, 3600], "begin": [0, 1.5], "environment_from": ["daemon"],
         "model": ["simulated"], "array": [1, 2, 3, 10, 100], "n_samples": [1, 5], "claim": ["auto", "off"],
         "directory": ["/", "/tmp"], "output": ["/dev/null"], "error": ["/dev/null"], "after": ["any:{id}"],
         "follows": ["any:0"], "environment": ["PATH=/usr/bin:/bin"], "attempt": [0, 1], "warning_signal": [10]}
TEXTS = {
    "lines": ["true\nfalse\n", "@gpus=2 @mem=1GiB @name=x @priority=3 true\n@after=ok:x true\n", "<<END\na\nEND\n",
              "# no\n\n  @gpus=x true\n", "@timeout=1h @retries=2 @label=a=b true", "@array=3 true\n", "@"],
    "peasy": ["a;;o.txt;;true;;;\n", "a;;;;true;;;b;;;;false;;;", ";;;;;;;", "a;;b;;c", ";" * 50],
    "sweep": ["command = \"echo {a} {b}\"\n[parameters]\na = [1, 2, 3]\nb = \"log:1e-5..1e-1/3\"\n",
              "command = \"echo {a}\"\nmode = \"shuffled_grid\"\nn_samples = 5\nseed = 7\nwhere = [\"a < 3\"]\n"
              "[parameters]\na = \"1..100\"\n", "zip = [[\"a\", \"b\"]]\n[parameters]\na = [1,2]\nb = [3,4]\n", "a.b.c = 1\n",
              "[parameters]\na = [[1]]\nb = 1979-05-27\n", "where = \"1\"\nallow_unused = true\n"],
    "csv": ["script,args\na.py,1\n", "priority,script,gpus,args\n1,a.py,2,\"x,\"\"y\"\"\"\n", "\"", "a\n\n\n,,,\n"],
}

INTEGERS = [0, 1, -1, 2, 63, 64, 65, 255, 256, 1000, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1,
            2**63 - 1, 2**63, -2**31 - 1, -2**63, -2**63 - 1, 2**64 - 1, 2**64, 10**30]
NUMBERS = [b"1e308", b"1e309", b"-1e309", b"1e-320", b"-0", b"-0.0", b"0.1", b"1.5", b"9000000000.0000001", b"NaN",
           b"Infinity", b"1" * 400, b"0x10", b"1e", b"01", b"+1", b".5", b"1e18", b"1e19", b"-1e18", b"9223372036.854775807"]
STRINGS = ["", " ", "\0", "a\0b", "\n", "\r\n", "\x7f", "\x1b[2J", "é", "\U0001f600", "\ud800", "%s%n%j%a", "%", "..",
           "../../../..", "/", "//", "~", "=", "a=b", ",", ";;", "{", "}", "{a}", "*", "?", "*a*a*a*a*b", "[", "\\", "'",
           '"', "null", "true", "0", "-1", "1e309", "nan", "18446744073709551616", "-", "--", "\u202e", "\ufeff"]
BROKEN_STRINGS = [b'"\xff\xfe"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"a', b'"\\u"', b'"\\ud800\\u0041"',
                  b'"\t"']
SIZES = [16, 255, 256, 4095, 4096, 65535, 65536, 300_000]
HUGE_SIZES = [1 << 20, 5 << 20, 70 << 20]
ENDLESS = {"/v1/events", "/v1/wait", "/v1/whatif"}  # answered at some time, or never
TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")


class Raw:
    """Bytes that stand in a body as they are."""

    def __init__(self, data):
        self.data = data


def to_bytes(value):
    if isinstance(value, Raw):
        return value.data
    if isinstance(value, dict):
        return b"{" + b",".join(to_bytes(k) + b":" + to_bytes(v) for k, v in value.items()) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(to_bytes, value)) + b"]"
    return json.dumps(value).encode()


@dataclasses.dataclass
class Request:
    method: str
    route: str    # as the document has it
    target: str
    headers: dict
    body: bytes = b""
    broken: bytes = None  # what is sent instead when even the framing is wrong

    def waits(self):
        return self.route in ENDLESS or "wait=1" in self.target

    def queues(self):
        return self.route in ("/v1/jobs", "/v1/texts/submit") and self.method == "POST"

    def bytes(self):
        if self.broken is not None:
            return self.broken
        lines = [f"{self.method} {self.target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        if self.method == "POST" or self.body:
            lines.append(f"Content-Length: {len(self.body)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + self.body


class World:
    """What is known of the daemon: the driver keeps it up to date, so that requests hit something."""

    def __init__(self):
        self.jobs = 0

    def job(self, draw):
        return draw.randint(1, max(1, self.jobs + 1))


class Grammar:
    def __init__(self, world):
        self.document = Document()
        self.world = world
        self.operations = list(self.document.operations())
        # What changes much, or ends everything, comes less often than what is worth a look.
        rare = {"/v1/daemon/stop": 0.05, "/v1/daemon/pause": 0.3, "/v1/whatif": 0.2, "/v1/login": 0.2,
                "/v1/devices/add": 0.3, "/v1/devices/remove": 0.3, "/v1": 0.2}
        often = {"/v1/jobs": 5, "/v1/texts/submit": 3, "/v1/texts/check": 3, "/v1/jobs/edit": 3}
        self.weights = [rare.get(path) or often.get(path) or 1 for _, path, _ in self.operations]

    # --- sequences

    def sequence(self, draw):
        return [self.request(draw) for _ in range(draw.randint(1, 20))]

    def request(self, draw):
        method, path, operation = draw.choices(self.operations, self.weights)[0]
        mutations = draw.choice([0, 0, 1, 1, 1, 2, 3])
        in_query = self.query(draw, operation, draw.random() < 0.5 and mutations)
        headers = {"Host": "localhost"}
        for parameter in self.parameters(operation):
            if parameter["in"] == "header" and draw.random() < 0.7:
                headers[parameter["name"]] = draw.choice(WORDS[parameter["name"]])
        job = self.world.job(draw) if draw.random() < 0.9 else draw.choice(INTEGERS)
        target = path.replace("{id}", str(job))
        if in_query:
            target += "?" + "&".join(in_query)
        request = Request(method, path, target, headers)
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            request.body = self.body(draw, schema, mutations)
        elif draw.random() < 0.02:
            request.body = to_bytes(self.extreme(draw, {}))
        if draw.random() < 0.03:
            request.broken = self.break_bytes(draw, request.bytes())
        elif draw.random() < 0.03:
            request.method = draw.choice(["HEAD", "PUT", "DELETE", "GET", "POST", "OPTIONS"])
        return request

    def parameters(self, operation):
        return [self.document.resolve(parameter) for parameter in operation.get("parameters", [])]

    def query(self, draw, operation, mutate):
        said = []
        for parameter in self.parameters(operation):
            if parameter["in"] != "query":
                continue
            if draw.random() > (0.95 if parameter.get("required") else 0.4):
                continue
            schema = self.document.resolve(parameter["schema"])
            for _ in range(draw.randint(1, 4) if schema.get("type") == "array" else 1):
                item = self.document.resolve(schema.get("items", schema))
                value = self.value(draw, item, parameter["name"])
                if mutate and draw.random() < 0.5:
                    value = draw.choice([draw.choice(STRINGS), str(draw.choice(INTEGERS)),
                                         draw.choice(NUMBERS).decode(), "a" * draw.choice(SIZES[:4])])
                text = str(value).encode("utf-8", "surrogatepass")
                said.append(f"{parameter['name']}={quote(text, safe='')}")
        if mutate and said and draw.random() < 0.2:
            said.insert(draw.randrange(len(said)), draw.choice(["", "=", "a", "%", "%zz", "select=%00", "limit", "&&&"]))
        return said

    # --- bodies

    def body(self, draw, schema, mutations):
        value = self.value(draw, schema, "")
        for _ in range(mutations):
            value = self.mutate(draw, value, schema)
        data = to_bytes(value)
        if mutations and draw.random() < 0.05:
            data = self.break_bytes(draw, data)
        return data

    def properties(self, schema):
        """All of an object's, with the required ones' names."""
        schema = self.document.resolve(schema)
        found, required = {}, set(schema.get("required", []))
        for part in schema.get("allOf", []):
            more, needed = self.properties(part)
            found.update(more)
            required |= needed
        found.update(schema.get("properties", {}))
        return found, required

    def value(self, draw, schema, name):
        """One that the schema allows."""
        schema = self.document.resolve(schema)
        if name in USUAL and schema.get("type") != "array" and draw.random() < 0.85:
            usual = draw.choice(USUAL[name])
            return usual.replace("{id}", str(self.world.job(draw))) if isinstance(usual, str) else usual
        if "enum" in schema:
            return draw.choice(schema["enum"])
        kinds = schema.get("type", "object" if "properties" in schema or "allOf" in schema else "string")
        kind = draw.choice(kinds) if isinstance(kinds, list) else kinds
        return getattr(self, "make_" + kind)(draw, schema, name)

    def make_object(self, draw, schema, name):
        known, required = self.properties(schema)
        if not known:
            return {draw.choice(["team", "lr", "a", "b"]): draw.choice(["a", "0.1", "é"]) for _ in range(draw.randint(0, 3))}
        chosen = [key for key in known if key in required or draw.random() < (0.15 if len(known) > 10 else 0.5)]
        made = {key: self.value(draw, known[key], key) for key in chosen}
        if "format" in made:  # of a text
            made["text"] = draw.choice(TEXTS[made["format"]]) * draw.choice([1, 1, 1, 3, 50])
            others = {"header"} if made["format"] == "csv" else set()
            if made["format"] == "sweep":
                others = set(known) - {"header", "text"}
                if draw.random() < 0.7:
                    made.update(template="echo {a} {b}", parameters=["a 1 2 3", draw.choice(WORDS["parameters"])])
                    del made["text"]
            common = {"format", "text", "token", "defaults", "environment_from"}
            made = {key: value for key, value in made.items() if key in common | others or draw.random() < 0.1}
        if name == "jobs":
            made.setdefault("command", draw.choice(COMMANDS))
            if draw.random() < 0.5:
                made["held"] = True
        return made

    def make_array(self, draw, schema, name):
        count = draw.choice([0, 1, 1, 1, 2, 3, 30]) if schema.get("minItems", 0) == 0 else draw.choice([1, 1, 2, 5, 40])
        return [self.value(draw, schema.get("items", {}), name) for _ in range(count)]

    def make_string(self, draw, schema, name):
        words = WORDS.get(name) or schema.get("examples") or ["train", "vision", "s1", "a", "x y"]
        return str(draw.choice(words)).replace("{id}", str(self.world.job(draw)))

    def make_integer(self, draw, schema, name):
        if name == "array" and draw.random() < 0.95:  # a million jobs are worth it now and then
            return draw.randint(1, 1000)
        low, high = schema.get("minimum", -5), schema.get("maximum", 2000)
        return draw.choice([low, high, min(high, low + draw.randint(0, 5)), draw.randint(low, min(high, low + 1000)),
                            *schema.get("examples", [])])

    def make_number(self, draw, schema, name):
        low, high = schema.get("minimum", 0), schema.get("maximum", 1e6)
        return draw.choice([low, high, 0.001, 0.5, 1, 1.7e9, draw.uniform(low, high), *schema.get("examples", [])])

    def make_boolean(self, draw, *_):
        return draw.random() < 0.5

    def make_null(self, *_):
        return None

    # --- mutations

    def mutate(self, draw, value, schema):
        """One place in the tree becomes something else."""
        places = []

        def walk(node, at, holder, key):
            places.append((at, holder, key))
            if isinstance(node, dict):
                known, _ = self.properties(at) if at else ({}, None)
                for name in node:
                    walk(node[name], self.document.resolve(known.get(name, {})), node, name)
            elif isinstance(node, list):
                for i, item in enumerate(node[:20]):
                    walk(item, self.document.resolve((at or {}).get("items", {})), node, i)

        walk(value, self.document.resolve(schema), None, None)
        # Leaves are many, and what has most to say; the root is one place among them.
        at, holder, key = draw.choice(places)
        if holder is None:
            return self.extreme(draw, at) if draw.random() < 0.3 else self.grow(draw, value)
        kind = draw.random()
        if kind < 0.7:
            holder[key] = self.extreme(draw, at)
        elif kind < 0.8:
            del holder[key]
        elif isinstance(holder, list):
            holder.extend([holder[key]] * draw.choice([1, 10, 1000]))
        else:
            self.grow(draw, holder)
        return value

    @staticmethod
    def grow(draw, value):
        """A field that nobody knows, or one that is known elsewhere."""
        if isinstance(value, dict):
            value[draw.choice(["", "x", "command", "jobs", "array", "\0", "environment", "labels"])] = draw.choice(
                [1, "x", None, [], {}, ["x"], True])
        return value

    def extreme(self, draw, schema):
        """A value at or beyond what the schema allows; of another type now and then."""
        kinds = schema.get("type", TYPES)
        kind = draw.choice(kinds) if isinstance(kinds, (list, tuple)) else kinds
        if draw.random() < 0.15:
            kind = draw.choice(TYPES)
        if draw.random() < 0.03:
            return self.nested(draw)
        if kind in ("integer", "number"):
            edges = [schema[edge] + step for edge in ("minimum", "maximum") if edge in schema for step in (-1, 0, 1)]
            near = draw.random()
            if edges and near < 0.4:
                return draw.choice(edges)
            return draw.choice(INTEGERS) if near < 0.7 else Raw(draw.choice(NUMBERS))
        if kind == "string":
            near = draw.random()
            if near < 0.2:
                return self.long(draw)
            return Raw(draw.choice(BROKEN_STRINGS)) if near < 0.3 else draw.choice(STRINGS)
        if kind == "array":
            return draw.choice([[], [[]], [None], [{}], [""], Raw(self.wide(draw))])
        if kind == "object":
            return draw.choice([{}, {"": ""}, {"\0": "\0"}, {"a": None}, {str(i): str(i) for i in range(1000)}])
        return draw.choice([True, False, None])

    @staticmethod
    def long(draw):
        size = draw.choice(SIZES) if draw.random() < 0.97 else draw.choice(HUGE_SIZES)
        unit = draw.choice(["a", "/", "*", "(", "a.", "@", "\\", "\n", "é", "%", "a,", "x\n", ";", "[", "-", "{a}", "not "])
        return (unit * (size // len(unit) + 1))[:size]

    @staticmethod
    def wide(draw):
        count = draw.choice([10, 1000, 30_000]) if draw.random() < 0.98 else 1_000_000
        item = draw.choice([b"{}", b"[]", b'""', b"0", b"null", b'{"command":"true","held":true}'])
        return b"[" + b",".join([item] * count) + b"]"

    @staticmethod
    def nested(draw):
        depth = draw.choice([10, 300, 10_000, 200_000])
        opens, closes = draw.choice([(b"[", b"]"), (b'{"a":', b"}"), (b'[{"jobs":', b"}]")])
        return Raw(opens * depth + b"0" + (closes * depth if draw.random() < 0.7 else b""))

    @staticmethod
    def break_bytes(draw, data):
        """Bytes lost, doubled, changed or in another order."""
        data = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            if not data:
                break
            at = draw.randrange(len(data))
            how = draw.randrange(5)
            if how == 0:
                del data[at:]
            elif how == 1:
                data[at] = draw.randrange(256)
            elif how == 2:
                del data[at:at + draw.randint(1, 8)]
            elif how == 3:
                data[at:at] = data[at:at + draw.randint(1, 100)]
            else:
                data[at:at] = draw.choice([b"\0", b"\r\n", b"\r\n\r\n", b",", b'"', b"}", b"{", b"\xff", b"-", b"99999999999"])
        return bytes(data)


def draw_for(seed, number):
    """The same random numbers for the same sequence, whatever came before."""
    return random.Random(f"{seed}:{number}")
