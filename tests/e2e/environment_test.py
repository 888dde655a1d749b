"""The environment for agents in Python: python/berth_env.py with and without Gymnasium."""

import importlib
import json
import os
import subprocess
import sys
import types
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BERTH = os.path.abspath(os.environ["BERTH"])
sys.path.insert(0, os.path.join(TOP, "python"))


def load(**modules):
    """berth_env as it is where just these modules can be imported; None: one that cannot."""
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    sys.modules.pop("berth_env", None)
    try:
        return importlib.import_module("berth_env")
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


def first_that_fits(seen):
    return list(seen["mask"]).index(1)


def play(env, seed, choose):
    """All of an episode that can be told apart."""
    seen, info = env.reset(seed=seed)
    history = [(seen, 0.0, info)]
    while True:
        seen, reward, terminated, truncated, info = env.step(choose(seen))
        history.append((seen, reward, info))
        assert truncated is False
        if terminated:
            return history


class Plain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = load(gymnasium=None)

    def open(self, workload="mix:n=20", gpus="2", **more):
        env = self.module.BerthEnv(workload, gpus, berth=BERTH, **more)
        self.addCleanup(env.close)
        return env

    def test_shows_jobs_and_devices(self):
        env = self.open(gpus="2x24GiB")
        seen, _ = env.reset(seed=3)
        self.assertEqual(len(seen["jobs"]), 128)
        self.assertEqual({len(row) for row in seen["jobs"]}, {len(env.sights)})
        self.assertEqual(seen["mask"][:20], [1] * 20)
        self.assertEqual(seen["mask"][20:], [0] * 108 + [1])
        self.assertEqual([row[:2] for row in seen["devices"]], [[0, 0], [0, 0]])
        share = seen["jobs"][4][env.sights.index("share")]
        memory = seen["jobs"][4][env.sights.index("memory")]
        seen, *_ = env.step((4, 1))
        self.assertEqual(seen["devices"][0][:2], [0, 0])
        self.assertAlmostEqual(seen["devices"][1][0], share, places=5)
        self.assertAlmostEqual(seen["devices"][1][1], memory, places=5)
        self.assertGreater(seen["devices"][1][2], seen["devices"][0][2])

    def test_the_same_seed_gives_the_same_episode(self):
        one, other = self.open(), self.open()
        self.assertEqual(play(one, 5, first_that_fits), play(other, 5, first_that_fits))
        self.assertEqual(play(one, 5, first_that_fits), play(other, 5, first_that_fits))
        self.assertNotEqual(play(one, 5, first_that_fits), play(other, 6, first_that_fits))

    def test_rewards_add_up_to_the_cost(self):
        for reward in ("slowdown", "completion", "wait", "makespan", "seed", "wait,makespan=0.5,p99=0.1",
                       "slowdown,energy=1,fairness=0.5"):
            history = play(self.open("lublin:n=30", "32", reward=reward), 2, first_that_fits)
            total = sum(reward for _, reward, _ in history)
            self.assertAlmostEqual(-total, history[-1][2]["cost"], delta=1e-6 * abs(total), msg=reward)
            self.assertGreater(history[-1][2]["usual"], 0)

    def test_shortest_first_costs_what_sjf_costs_where_all_jobs_are_equally_large(self):
        env = self.open("poisson:n=200,load=1.5", "4", reward="completion")
        length = env.sights.index("length")

        def shortest(seen):
            waiting = [job for job, fits in enumerate(seen["mask"][:-1]) if fits]
            return min(waiting, key=lambda job: seen["jobs"][job][length])
        last = play(env, 9, shortest)[-1][2]
        self.assertAlmostEqual(last["cost"], last["usual"], delta=1e-6 * last["usual"])

    def test_an_agent_that_always_waits_ends_all_the_same(self):
        wait = self.module.WAIT
        history = play(self.open(), 1, lambda seen: wait)
        self.assertGreater(history[-1][2]["cost"], history[-1][2]["usual"])

    def test_windows_of_a_trace(self):
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"berth-env-{os.getpid()}.csv")
        self.addCleanup(os.remove, path)
        with open(path, "w", encoding="utf-8") as file:
            file.write("submit_s,duration_s,gpus\n")
            file.writelines(f"{i},{60 + i % 7},{1 + i % 2}\n" for i in range(64))
        env = self.open(path, "2", options=("--window", "16", "--every", "16"))
        lengths = [len(play(env, seed, first_that_fits)) for seed in range(4)]
        self.assertEqual(lengths, [lengths[0]] * 4)

    def test_an_episode_can_be_left(self):
        env = self.open()
        env.reset(seed=1)
        env.step(0)
        again = play(env, 7, first_that_fits)
        self.assertEqual(again, play(self.open(), 7, first_that_fits))

    def test_what_an_agent_says_wrong_is_told(self):
        env = self.open()
        env.reset(seed=1)
        with self.assertRaisesRegex(ValueError, "say a job from 0 to 19"):
            env.step((3, 99))
        env.step(3)
        done = subprocess.run([BERTH, "train", "--serve", "--workload", "mix:n=5", "--gpus", "1"],
                              input="hello\nquit\n", capture_output=True, text=True, timeout=60)
        self.assertIn("say reset and a seed", json.loads(done.stdout.splitlines()[1])["error"])
        self.assertEqual(done.returncode, 0)

    def test_the_example_learns(self):
        done = subprocess.run([sys.executable, os.path.join(TOP, "examples/agents/shortest_area.py"),
                               "--berth", BERTH, "--rounds", "4"], capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"not tried on: 0\.\d+ of sjf's wait")


class WithGymnasium(unittest.TestCase):
    """Against stand-ins, so that the test needs neither Gymnasium nor numpy; with the real ones if there."""

    def test_has_spaces_and_arrays(self):
        try:
            import gymnasium
            import numpy
        except ImportError:
            gymnasium, numpy = types.ModuleType("gymnasium"), types.ModuleType("numpy")

            class Env:
                def reset(self, *, seed=None, options=None):
                    self.np_random_seed = seed
            gymnasium.Env = Env
            gymnasium.spaces = types.SimpleNamespace(
                Box=lambda **words: ("box", words["shape"]), MultiBinary=lambda n: ("binary", n),
                Dict=dict, Discrete=lambda n: types.SimpleNamespace(n=n))
            numpy.inf, numpy.float32, numpy.int8 = float("inf"), "f4", "i1"
            numpy.array = lambda value, dtype: types.SimpleNamespace(value=value, dtype=dtype)
        module = load(gymnasium=gymnasium, numpy=numpy)
        with module.BerthEnv("mix:n=5", "2", berth=BERTH) as env:
            self.assertIsInstance(env, gymnasium.Env)
            self.assertEqual(env.action_space.n, 129)
            seen, _ = env.reset(seed=1)
            self.assertEqual(set(seen), set(env.observation_space.keys()))
            self.assertEqual(seen["jobs"].dtype, numpy.float32)
            self.assertEqual(env.step(0)[2:4], (False, False))


if __name__ == "__main__":
    unittest.main()
