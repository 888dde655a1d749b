"""berth's simulator as a reinforcement-learning environment.

    env = BerthEnv("mix:n=50", gpus="2", reward="wait")
    observation, info = env.reset(seed=1)
    while True:
        action = ...                         # a job, (job, device), or WAIT
        observation, reward, terminated, truncated, info = env.step(action)
        if terminated:
            break

The interface is Gymnasium's. Where Gymnasium is installed, BerthEnv is a gymnasium.Env with spaces, and
observations are numpy arrays; without it, nothing but the standard library is needed, and they are lists.

An observation has
  jobs     the first 128 waiting jobs, a row each, in the default policy's order; empty rows are zeros.
           env.sights names the columns: length and gpus (logarithms), wait, no_room (0: it fits now), share,
           memory, use (the owner's recent part of the machine), priority, part (of the machine), slack and gap
           (always 0: they depend on a choice of devices)
  mask     1 for each job that can start now; the last entry is for waiting, which is always possible
  devices  a row each: use, memory and power, 0 to 1
  rest     how many jobs wait (logarithm), and which part of the devices is idle

An action is a job's row, or WAIT: nothing more starts until a job comes or ends. A job that does not fit is
waited for in the same way. (job, device) chooses the device of a job that needs one. The rewards of an
episode add up to minus what the schedule costs; what only a whole schedule shows, such as energy and
fairness, is paid at the end. The last info has `cost`, and `usual`, the cost of the same jobs under sjf.
The same seed and the same actions give the same episode.
"""

import json
import os
import subprocess

try:
    import gymnasium
    import numpy
except ImportError:
    gymnasium = None

MOST_JOBS = 128
WAIT = MOST_JOBS


class BerthEnv(gymnasium.Env if gymnasium else object):
    metadata = {"render_modes": []}

    def __init__(self, workload, gpus, reward="slowdown", options=(), berth=None):
        """`workload` and `gpus` as for berth train; `options` are further ones, such as ("--window", "256")."""
        command = [berth or os.environ.get("BERTH", "berth"), "train", "--serve", "--workload", workload,
                   "--gpus", str(gpus), "--reward", reward, *options]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        hello = self._read()
        self.sights = hello["sights"]
        self.devices = hello["devices"]
        self._waiting = 0
        self._seeds = 0
        if gymnasium:
            self._make_spaces()

    def _make_spaces(self):
        box = gymnasium.spaces.Box
        unbounded = {"low": -numpy.inf, "high": numpy.inf, "dtype": numpy.float32}
        self.observation_space = gymnasium.spaces.Dict({
            "jobs": box(shape=(MOST_JOBS, len(self.sights)), **unbounded),
            "mask": gymnasium.spaces.MultiBinary(MOST_JOBS + 1),
            "devices": box(shape=(self.devices, 3), **unbounded),
            "rest": box(shape=(2,), **unbounded)})
        self.action_space = gymnasium.spaces.Discrete(MOST_JOBS + 1)

    def reset(self, *, seed=None, options=None):
        if gymnasium:
            super().reset(seed=seed)
        if seed is None:
            self._seeds += 1
            seed = self._seeds
        answer = self._ask(f"reset {seed}")
        return self._observation(answer), {"now": answer["now"]}

    def step(self, action):
        job, device = action if isinstance(action, (tuple, list)) else (action, None)
        job = int(job)
        if job >= self._waiting:  # nobody is in that row
            words = "wait"
        else:
            words = f"{job}" if device is None else f"{job} {int(device)}"
        answer = self._ask(words)
        done = answer["done"]
        info = {"cost": answer["cost"], "usual": answer["usual"]} if done else {"now": answer["now"]}
        return self._observation(answer), answer["reward"], done, False, info

    def close(self):
        if self._process is None:
            return
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _ask(self, words):
        self._process.stdin.write(words + "\n")
        self._process.stdin.flush()
        answer = self._read()
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer

    def _read(self):
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("berth train --serve has ended: see what it says on standard error")
        return json.loads(line)

    def _observation(self, answer):
        jobs = answer.get("jobs", [])
        self._waiting = len(jobs)
        empty = MOST_JOBS - len(jobs)
        seen = {"jobs": jobs + [[0.0] * len(self.sights)] * empty,
                "mask": answer.get("fits", []) + [0] * empty + [1],
                "devices": answer.get("devices", [[0.0] * 3] * self.devices),
                "rest": answer.get("rest", [0.0, 0.0])}
        if not gymnasium:
            return seen
        return {name: numpy.array(value, dtype=numpy.int8 if name == "mask" else numpy.float32)
                for name, value in seen.items()}
