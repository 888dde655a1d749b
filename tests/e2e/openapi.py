"""Holds answers against docs/openapi.yaml: the part of OpenAPI 3.1 that the document uses, strictly.

Whatever the document says that is not understood here is an error, so nothing is passed over."""

import os
import re

import yaml

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "openapi.yaml")
UNCHECKED = {"description", "examples", "default"}
TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


class Mismatch(Exception):
    pass


class Document:
    def __init__(self, path=PATH):
        with open(path, encoding="utf-8") as file:
            self.root = yaml.safe_load(file)

    def resolve(self, node):
        while "$ref" in node:
            found = self.root
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part.replace("~1", "/").replace("~0", "~")]
            node = found
        return node

    def operations(self):
        """(method, path, operation) of each."""
        for path, item in self.root["paths"].items():
            for method, operation in item.items():
                yield method.upper(), path, operation

    def operation(self, method, path):
        return self.root["paths"][path][method.lower()]

    def response(self, method, path, status):
        """What is said of exactly this status; an answer that only `default` covers is not expected."""
        responses = self.operation(method, path)["responses"]
        if str(status) not in responses:
            raise Mismatch(f"{method} {path} has no answer {status}")
        return self.resolve(responses[str(status)])

    def check_reply(self, method, path, reply):
        said = self.response(method, path, reply.status)
        types = list(said["content"])
        if types != [reply.type]:
            raise Mismatch(f"{method} {path}: {reply.type} is not {types}")
        for name, header in said.get("headers", {}).items():
            value = reply.headers.get(name)
            if value is None:
                raise Mismatch(f"{method} {path}: no header {name}")
            schema = self.resolve(header["schema"])
            self.check(schema, int(value) if schema["type"] == "integer" else value, name)
        if reply.type == "application/json":
            self.check(said["content"][reply.type]["schema"], reply.json(), f"{method} {path}")

    def check(self, schema, value, where):
        """Raises when the value does not match; gives the properties that it has looked at."""
        schema = self.resolve(schema)
        known = set()
        for keyword, rule in schema.items():
            if keyword not in UNCHECKED:
                known |= getattr(self, "check_" + keyword)(rule, schema, value, where) or set()
        if schema.get("unevaluatedProperties") is False:
            self.refuse(set(value) - known, where)
        return known

    @staticmethod
    def refuse(names, where):
        if names:
            raise Mismatch(f"{where}: {sorted(names)} is not documented")

    @staticmethod
    def expect(fine, value, where, what):
        if not fine:
            raise Mismatch(f"{where}: {value!r} is not {what}")

    def check_type(self, rule, _, value, where):
        kinds = rule if isinstance(rule, list) else [rule]
        self.expect(any(TYPES[kind](value) for kind in kinds), value, where, kinds)

    def check_enum(self, rule, _, value, where):
        self.expect(value in rule, value, where, f"one of {rule}")

    def check_const(self, rule, _, value, where):
        self.expect(value == rule, value, where, rule)

    def check_minimum(self, rule, _, value, where):
        self.expect(value is None or value >= rule, value, where, f"at least {rule}")

    def check_maximum(self, rule, _, value, where):
        self.expect(value is None or value <= rule, value, where, f"at most {rule}")

    def check_minLength(self, rule, _, value, where):
        self.expect(len(value) >= rule, value, where, f"at least {rule} long")

    check_minItems = check_minLength

    def check_maxItems(self, rule, _, value, where):
        self.expect(len(value) <= rule, value, where, f"at most {rule} long")

    check_maxLength = check_maxItems
    check_maxProperties = check_maxItems

    def check_pattern(self, rule, _, value, where):
        self.expect(re.search(rule, value), value, where, rule)

    def check_items(self, rule, _, value, where):
        for i, item in enumerate(value):
            self.check(rule, item, f"{where}[{i}]")

    def check_required(self, rule, _, value, where):
        self.expect(set(rule) <= set(value), sorted(value), where, f"all of {rule}")

    def check_properties(self, rule, _, value, where):
        for name, schema in rule.items():
            if name in value:
                self.check(schema, value[name], f"{where}.{name}")
        return set(rule)

    def check_additionalProperties(self, rule, schema, value, where):
        others = set(value) - set(schema.get("properties", {}))
        if rule is False:
            self.refuse(others, where)
        else:
            for name in others:
                self.check(rule, value[name], f"{where}.{name}")
        return others

    def check_propertyNames(self, rule, _, value, where):
        for name in value:
            self.check(rule, name, f"{where}: the name {name}")

    def check_allOf(self, rule, _, value, where):
        return set().union(*(self.check(part, value, where) for part in rule))

    def check_unevaluatedProperties(self, rule, *_):
        assert rule is False  # done when everything else has been looked at
