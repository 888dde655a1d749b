"""How long the program takes to compile, from the build's own log: no more than it may.

Seconds differ from machine to machine, so the measure is one unit that does not change with berth:
src/base/fmt_archive.cc, which compiles a part of fmt.
"""

import os
import unittest

LOG = os.path.join(os.environ.get("BERTH_BUILD_DIR", "build"), ".ninja_log")
MEASURE = "CMakeFiles/base.dir/src/base/fmt_archive.cc.o"
MOST_IN_ALL = 160  # about 105 today on a quiet machine; the measure itself varies
MOST_OF_ONE = 4  # about 2.3 today; a change of one file compiles one unit
CACHED_S = 1.5  # a compiler's cache answers sooner than that


def times_by_output(log):
    """When each output was begun and done, in seconds after its build began."""
    found = {}
    for line in log.splitlines():
        if not line.startswith("#"):
            start, end, _, output, _ = line.split("\t")
            found[output] = (int(start) / 1000, int(end) / 1000)
    return found


def most_at_once(times):
    """More than a build runs at once: the log is of several builds, at times of different load."""
    changes = sorted([(end, -1) for _, end in times] + [(start, 1) for start, _ in times])
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def seconds_by_output(log):
    return {output: end - start for output, (start, end) in times_by_output(log).items()}


def units(seconds):
    """What the program is compiled from, without its tests."""
    return {output: spent for output, spent in seconds.items()
            if output.startswith("CMakeFiles/") and output.endswith((".o", ".gch"))}


def problems(seconds):
    measure = seconds[MEASURE]
    costs = {output: spent / measure for output, spent in units(seconds).items()}
    if sum(costs.values()) > MOST_IN_ALL:
        yield f"all units take {sum(costs.values()):.0f} times {MEASURE}, at most {MOST_IN_ALL} are allowed"
    for output, cost in costs.items():
        if cost > MOST_OF_ONE:
            yield f"{output} takes {cost:.1f} times {MEASURE}, at most {MOST_OF_ONE} are allowed"


class BuildBudget(unittest.TestCase):
    def test_the_build_keeps_within_its_budget(self):
        if os.environ.get("BERTH_SANITIZED") == "1":
            self.skipTest("with sanitizers everything takes longer")
        with open(LOG, encoding="utf-8") as file:
            log = file.read()
        if most_at_once(units(times_by_output(log)).values()) > (os.cpu_count() or 1) + 2:
            self.skipTest("parts of it were compiled again since")
        seconds = seconds_by_output(log)
        quick = sum(spent < CACHED_S for spent in units(seconds).values())
        if seconds[MEASURE] < CACHED_S or quick > len(units(seconds)) / 10:
            self.skipTest("most of it came from a compiler's cache")
        self.assertEqual(list(problems(seconds)), [])

    def test_the_check_can_fail(self):
        log = f"# ninja log v5\n5\t2005\t1\t{MEASURE}\tx\n"
        self.assertEqual(list(problems(seconds_by_output(log))), [])
        long = log + "0\t19000\t1\tCMakeFiles/core.dir/a.cc.o\tx\n"
        self.assertEqual(len(list(problems(seconds_by_output(long)))), 1)
        many = log + "".join(f"0\t3000\t1\tCMakeFiles/core.dir/{i}.cc.o\tx\n" for i in range(160))
        self.assertEqual(len(list(problems(seconds_by_output(many)))), 1)
        self.assertEqual(most_at_once([(0, 2), (2, 4), (1, 3)]), 2)
        tests = log + "0\t900000\t1\ttests/CMakeFiles/test_core.dir/a.cc.o\tx\n"
        self.assertEqual(list(problems(seconds_by_output(tests))), [])


if __name__ == "__main__":
    unittest.main()
