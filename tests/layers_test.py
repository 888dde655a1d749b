"""The layers of src/: who may include whom, and where the heavy headers may be."""

import os
import re
import unittest

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src")

# Whole folders, or single headers of one; a folder may always include itself.
ALLOWED = {
    "base": [],
    "core": ["base"],
    "policy": ["core", "base"],
    "gpu": ["core/device.h", "core/needs.h", "base"],
    "memory": ["gpu", "core", "base"],
    "exec": ["core/device.h", "core/job.h", "core/needs.h", "base"],
    "spec": ["core/device.h", "core/job.h", "core/needs.h", "base"],
    "store": ["core", "base"],
    "api": ["core/description.h", "core/device.h", "core/job.h", "core/needs.h", "base"],
    "web": [],
    "sim": ["policy", "core", "base"],
    "run": ["policy", "memory", "gpu", "exec", "spec", "core", "base"],
    "batch": ["run", "memory", "spec", "core", "base"],
    "texts": ["api", "batch/task.h", "spec", "core", "base"],
    "daemon": ["texts", "batch/task.h", "spec", "store", "api", "web", "policy",
               "memory", "gpu", "exec", "core", "base"],
    "cli": ["sim", "daemon", "texts", "api", "batch", "run", "policy", "gpu", "exec", "spec", "core", "base"],
}
# Headers that take seconds to compile stay where they are needed.
HEAVY = {
    "nlohmann/": lambda path: path.startswith("cli/")
    or path.startswith("api/messages_")
    or path == "api/messages.cc",
    "boost/": lambda path: path in ("api/loop_native.h", "api/request_reader.cc")
    or path.startswith("api/") and path.endswith(".cc"),
    "zlib.h": lambda path: path in ("sim/read_text.cc", "sim/png_canvas.cc"),
    "sqlite3.h": lambda path: path.startswith("store/"),
    "toml++/": lambda path: path == "spec/sweep_file.cc",
    "toml.hpp": lambda path: path == "spec/sweep_file.cc",
}
LONGEST = 500  # lines

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)


def sources():
    for folder, _, names in os.walk(SOURCE):
        for name in names:
            if name.endswith((".h", ".cc")):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    yield os.path.relpath(path, SOURCE), file.read()


def problems(path, text):
    """What is wrong with the includes of one file."""
    folder = path.split("/")[0]
    for bracket, header in INCLUDE.findall(text):
        for beginning, may in HEAVY.items():
            if header.startswith(beginning) and not may(path):
                yield f"{path} includes {header}, which does not belong there"
        if bracket == '"':
            other = header.split("/")[0]
            if other != folder and other not in ALLOWED[folder] and header not in ALLOWED[folder]:
                yield f"{path} includes {header}, which is not below {folder}"


class Layers(unittest.TestCase):
    def test_includes(self):
        found = [problem for path, text in sources() for problem in problems(path, text)]
        self.assertEqual(found, [])

    def test_every_folder_has_a_row(self):
        folders = {path.split("/")[0] for path, _ in sources()}
        self.assertEqual(folders - set(ALLOWED), set())
        self.assertGreaterEqual(len(folders), 8)

    def test_no_file_is_too_long(self):
        for path, text in sources():
            self.assertLessEqual(text.count("\n"), LONGEST, path)

    def test_the_check_can_fail(self):
        self.assertTrue(list(problems("core/x.h", '#include "run/run.h"\n')))
        self.assertTrue(list(problems("gpu/x.h", '#include "core/scheduler.h"\n')))
        self.assertTrue(list(problems("run/x.cc", "#include <nlohmann/json.hpp>\n")))
        self.assertTrue(list(problems("spec/param.cc", "#include <toml++/toml.h>\n")))
        self.assertFalse(list(problems("gpu/x.h", '#include "core/device.h"\n#include <map>\n')))


if __name__ == "__main__":
    unittest.main()
