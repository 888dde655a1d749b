"""The layers of src/: who may include whom, and where the heavy headers may be."""

import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SOURCE = os.path.join(ROOT, "src")


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def table(document):
    """What each folder may include, whole folders or single headers, as the document's table says."""
    rows = re.findall(r"^\| `src/(\w+)` \|[^|\n]*\| ([^|\n]*?) \|$", document, re.MULTILINE)
    return {folder: [] if allowed == "–" else allowed.split(", ") for folder, allowed in rows}


# A folder may always include itself.
ALLOWED = table(read("docs/architecture.md"))
# Headers that take seconds to compile stay where they are needed.
HEAVY = {
    "nlohmann/": lambda path: path in ("api/messages/json.h", "api/messages/fields.h"),
    "boost/": lambda path: path in ("api/loop_native.h", "api/request_reader.cc")
    or path.startswith("api/") and path.endswith(".cc"),
    "zlib.h": lambda path: path in ("api/gzip.cc", "sim/read_text.cc", "sim/png_canvas.cc"),
    "sqlite3.h": lambda path: path.startswith("store/"),
    "toml++/": lambda path: path == "spec/sweep_file.cc",
    "toml.hpp": lambda path: path == "spec/sweep_file.cc",
}
LONGEST = 500  # lines

# Calls that reach a file by its path. A berth with privileges must not make them on paths below a
# folder of another user: base/foreign_file.h is for those, and UserFiles for paths that a user chose.
# `open`, `stat` and the like are also names of methods, so those count with `::` alone.
PATH_CALL = re.compile(
    r"(?<![\w.:>])(?:"
    r"(?:::|std::)(?:open|stat|link|access|remove|rename|truncate)\("
    r"|(?:::|std::)?(?:openat|fopen|freopen|creat|opendir|lstat|statx|fstatat|unlink|unlinkat|rmdir"
    r"|mkdir|mkdirat|mkfifo|renameat|renameat2|linkat|symlink|symlinkat|readlink|readlinkat|chmod"
    r"|fchmodat|chown|lchown|fchownat|faccessat|utimensat|inotify_add_watch"
    r"|read_file|read_small_file)\("
    r"|std::(?:i|o)?fstream\b|(?:std::filesystem|fs)::\w+\()"
    r"|\bSYS_(?:open|stat|unlink|rename|mkdir|chmod|chown|link)\w*|\braw_openat\(")
PATH_FOLDERS = ("daemon", "gpu", "exec")
STATE = "the state folder, which is the daemon's alone"
KERNEL = "/proc, /sys or /dev: the kernel's files"
OWN = "a path from this process's own environment or command line"
# How many such calls a file has, and whose files they reach. A new one belongs here only if no other
# user can change a folder on its path, or if it does not follow what they put there.
PATH_CALLS = {
    "daemon/daemon_log.cc": (2, STATE),
    "daemon/log_folder.cc": (2, STATE + "; what is below another user's folder in it goes by base/foreign_file"),
    "daemon/handlers/load.cc": (1, KERNEL),
    "daemon/output_file.cc": (4, "any path, in a process of the user who chose it: UserFiles sees to that"),
    "daemon/reading_books.cc": (1, STATE),
    "daemon/start.cc": (6, STATE),
    "daemon/state_files.cc": (3, STATE),
    "daemon/state_folder.cc": (3, STATE),
    "daemon/usage_book.cc": (6, STATE),
    "daemon/web_access.cc": (1, STATE),
    "exec/attempt_folder.cc": (8, STATE),
    "exec/cgroup.cc": (14, KERNEL),
    "exec/direct_runner.cc": (1, KERNEL),
    "exec/job_processes.cc": (4, KERNEL),
    "exec/orphan_guard.cc": (1, KERNEL),
    "exec/inheritance.cc": (2, KERNEL),
    "exec/launcher.cc": (2, STATE),
    "exec/process_identity.cc": (1, KERNEL),
    "exec/shim.cc": (12, STATE),
    "exec/shim_child.cc": (2, "a job's output and the folders on the way, as the job's user"),
    "gpu/amd/amd_devices.cc": (4, KERNEL),
    "gpu/locks/device_locks.cc": (2, "the lock folder, which everybody may write to: it follows no link"),
    "gpu/locks/lock_attempt.cc": (5, "likewise"),
    "gpu/locks/lock_folder.cc": (18, "likewise"),
    "gpu/locks/lock_wishes.cc": (1, KERNEL + ": the lock folder, by its descriptor"),
    "gpu/mps/mps_place.cc": (3, "/tmp itself, and /proc; what is below goes by base/foreign_file"),
    "gpu/mps/mps_process.cc": (4, OWN + ", and " + KERNEL),
    "gpu/pci.cc": (1, KERNEL),
    "gpu/telemetry/process_tree.cc": (2, KERNEL),
    "gpu/simulated/sim_devices.cc": (2, OWN),
    "gpu/simulated/sim_state.cc": (4, OWN),
}

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)


def sources():
    for folder, _, names in os.walk(SOURCE):
        for name in names:
            if name.endswith((".h", ".cc")):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    yield os.path.relpath(path, SOURCE), file.read()


def permission(folder, header):
    """What of the table lets `folder` include `header`; None where nothing does."""
    return next((one for one in (header, header.split("/")[0]) if one in ALLOWED[folder]), None)


def foreign_headers(path, text):
    """The headers of other folders that a file includes."""
    return [header for bracket, header in INCLUDE.findall(text)
            if bracket == '"' and header.split("/")[0] != path.split("/")[0]]


def problems(path, text):
    """What is wrong with the includes of one file."""
    folder = path.split("/")[0]
    for _, header in INCLUDE.findall(text):
        for beginning, may in HEAVY.items():
            if header.startswith(beginning) and not may(path):
                yield f"{path} includes {header}, which does not belong there"
    for header in foreign_headers(path, text):
        if permission(folder, header) is None:
            yield f"{path} includes {header}, which is not below {folder}"


def unused_permissions(files):
    """What the table allows and no file needs."""
    used = {(path.split("/")[0], permission(path.split("/")[0], header))
            for path, text in files for header in foreign_headers(path, text)}
    return [(folder, one) for folder, allowed in ALLOWED.items() for one in allowed
            if (folder, one) not in used]


def linked(cmake):
    """The folders whose libraries a folder's library links directly."""
    return {name: [word for word in words.split() if word in ALLOWED]
            for name, words in re.findall(r"^berth_library\((\w+)([^)]*)\)", cmake, re.MULTILINE)}


def link_problems(links):
    def reached(folder):
        return {folder}.union(*(reached(other) for other in links.get(folder, [])))

    for folder, allowed in ALLOWED.items():
        folders = {one.split("/")[0] for one in allowed}
        for other in set(links.get(folder, [])) - folders:
            yield f"{folder} links {other}, which it may not include"
        for other in folders - reached(folder):
            yield f"{folder} may include {other}, which it does not link"


def path_calls(text):
    """How many calls reach a file by its path; comments and declarations are left out."""
    code = re.sub(r"//[^\n]*", "", text)
    declared = re.compile(r"^(?:[\w:<>&,* ]+ )?[\w:<>*&]+ (?:read_file|read_small_file)\(", re.MULTILINE)
    return len(PATH_CALL.findall(declared.sub("", code)))


class Layers(unittest.TestCase):
    def test_includes(self):
        found = [problem for path, text in sources() for problem in problems(path, text)]
        self.assertEqual(found, [])

    def test_no_permission_is_unused(self):
        self.assertEqual(unused_permissions(list(sources())), [])

    def test_links(self):
        links = linked(read("CMakeLists.txt"))
        self.assertEqual(set(ALLOWED) - set(links), {"web"})  # made by cmake/web.cmake
        self.assertEqual(list(link_problems(links)), [])

    def test_every_folder_has_a_row(self):
        folders = {path.split("/")[0] for path, _ in sources()}
        self.assertEqual(folders - set(ALLOWED), set())
        self.assertGreaterEqual(len(folders), 8)

    def test_no_file_is_too_long(self):
        for path, text in sources():
            self.assertLessEqual(text.count("\n"), LONGEST, path)

    def test_files_of_others_are_reached_by_one_module(self):
        found = {path: path_calls(text) for path, text in sources()
                 if path.split("/")[0] in PATH_FOLDERS}
        listed = {path: count for path, (count, _) in PATH_CALLS.items()}
        self.assertEqual({path: count for path, count in found.items() if count}, listed,
                         "calls that reach files by their paths: may another user be behind one?")

    def test_the_check_can_fail(self):
        for call in ("::open(path", "std::ifstream file(", "::unlinkat(fd", "std::rename(a",
                     "std::filesystem::remove_all(p)", "fopen(p", "raw_syscall(SYS_openat,",
                     "const auto text = read_small_file(path)"):
            self.assertEqual(path_calls("  " + call + ");\n"), 1, call)
        for call in ("log_.open(path)", "Store::open(path)", "runner->open()", "// ::open(path",
                     "struct stat info {}", "std::optional<std::string> read_small_file(int x)"):
            self.assertEqual(path_calls(call + ";\n"), 0, call)
        self.assertIn(("exec", "base"), unused_permissions([("exec/x.h", '#include "exec/y.h"\n')]))
        self.assertTrue(list(link_problems({**linked(read("CMakeLists.txt")), "exec": ["gpu", "base"]})))
        self.assertTrue(list(link_problems({**linked(read("CMakeLists.txt")), "core": []})))
        self.assertTrue(list(problems("core/x.h", '#include "run/run.h"\n')))
        self.assertTrue(list(problems("gpu/x.h", '#include "core/scheduler.h"\n')))
        self.assertTrue(list(problems("run/x.cc", "#include <nlohmann/json.hpp>\n")))
        self.assertTrue(list(problems("spec/param.cc", "#include <toml++/toml.h>\n")))
        self.assertFalse(list(problems("gpu/x.h", '#include "core/device.h"\n#include <map>\n')))


if __name__ == "__main__":
    unittest.main()
