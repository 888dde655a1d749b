"""How long the program takes to compile, from the build's own log: no more than it may.

Seconds differ from machine to machine, so the measure is one unit that does not change with berth:
src/base/fmt_archive.cc, which compiles a part of fmt.
"""

import os
import unittest

LOG = os.path.join(os.environ.get("BERTH_BUILD_DIR", "build"), ".ninja_log")
MEASURE = "CMakeFiles/base.dir/src/base/fmt_archive.cc.o"
MOST_IN_ALL = 75  # about 55 today
MOST_OF_ONE = 3.5  # about 1.5 today; a change of one file compiles one unit
CACHED_S = 1.5  # a compiler's cache answers sooner than that


def seconds_by_output(log):
    """How long each output took; None where one was made more than once, at times of different load."""
    found = {}
    for line in log.splitlines():
        if not line.startswith("#"):
            start, end, _, output, _ = line.split("\t")
            if output in found and units({output: 0}):
                return None
            found[output] = (int(end) - int(start)) / 1000
    return found


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
            seconds = seconds_by_output(file.read())
        if seconds is None:
            self.skipTest("parts of it were compiled again since")
        quick = sum(spent < CACHED_S for spent in units(seconds).values())
        if seconds[MEASURE] < CACHED_S or quick > len(units(seconds)) / 10:
            self.skipTest("most of it came from a compiler's cache")
        self.assertEqual(list(problems(seconds)), [])

    def test_the_check_can_fail(self):
        log = f"# ninja log v5\n5\t2005\t1\t{MEASURE}\tx\n"
        self.assertEqual(list(problems(seconds_by_output(log))), [])
        long = log + "0\t9000\t1\tCMakeFiles/core.dir/a.cc.o\tx\n"
        self.assertEqual(len(list(problems(seconds_by_output(long)))), 1)
        many = log + "".join(f"0\t3000\t1\tCMakeFiles/core.dir/{i}.cc.o\tx\n" for i in range(60))
        self.assertEqual(len(list(problems(seconds_by_output(many)))), 1)
        self.assertIsNone(seconds_by_output(log + f"0\t9000\t1\t{MEASURE}\tx\n"))
        tests = log + "0\t900000\t1\ttests/CMakeFiles/test_core.dir/a.cc.o\tx\n"
        self.assertEqual(list(problems(seconds_by_output(tests))), [])


if __name__ == "__main__":
    unittest.main()
