"""MPS for other users: their folders are theirs to fill with links and pipes, and no more."""

import os
import shutil
import stat
import unittest

from http_case import NOBODY, HttpCase
from mps_case import FAKES, MpsCase

STRANGER = 12345  # a user's number that nobody has
PID_FILE = "pipe/nvidia-cuda-mps-control.pid"


@unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
class MpsPlaces(MpsCase, HttpCase):
    devices = "sim:1"

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o711)
        self.root = self.make_folder("mps", mode=0o1777)
        self.env["BERTH_MPS_ROOT"] = self.root
        # Where every user can reach it. Other users' processes do not have the test's environment,
        # so it is the program itself that tells the stand-in where to write.
        self.use_fakes(self.make_folder("fakes", mode=0o777))
        shutil.copytree(FAKES, self.path("fakes/real"))
        self.make_folder("fakes/real")
        program = self.make_folder("fakes/bin") + "/nvidia-cuda-mps-control"
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nenv > {self.fake_folder}/env.$$\nexport "
                       f"FAKE_MPS={self.fake_folder}\n"
                       f"exec {self.fake_folder}/real/nvidia-cuda-mps-control \"$@\"\n")
        os.chmod(program, 0o755)
        self.env["PATH"] = self.path("fakes/bin") + ":" + os.environ["PATH"]

    def make_folder(self, name, user=0, mode=0o755):
        path = os.path.join(self.folder, name)
        os.makedirs(path, exist_ok=True)
        os.chmod(path, mode)
        os.chown(path, user, -1)
        return path

    def run_as_nobody(self):
        """A job through MPS; gives its place, which is gone when this returns."""
        job = {"command": "echo $CUDA_MPS_PIPE_DIRECTORY", "directory": "/", "gpus": 1, "mps": True}
        number = self.ask("POST", "/v1/jobs", {"jobs": [job]},
                          connection=self.as_nobody()).json()["first"]
        self.berth("wait", str(number), code=None)
        shown = self.get(f"/v1/jobs/{number}")
        if shown["state"] == "succeeded":
            place = os.path.dirname(self.berth("logs", str(number)).strip())
            self.places.add(place)
            self.eventually(lambda: not os.path.exists(place))
            return place
        return shown["reason"]

    def fill(self, place, user, mode=0o700):
        """The place as its user may make it: with a pipe in the way of whoever looks there."""
        for folder in (os.path.dirname(place), place, place + "/pipe", place + "/log"):
            self.make_folder(folder, user, mode)
        self.places.add(os.path.dirname(place))
        os.mkfifo(os.path.join(place, PID_FILE))
        os.chown(os.path.join(place, PID_FILE), user, -1)
        os.chmod(os.path.join(place, PID_FILE), mode)

    def test_a_link_for_the_first_words_shows_nothing(self):
        self.start_daemon(words=["--everyone"])
        place = self.run_as_nobody()
        secret = self.path("secret")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("first\nthe token of root\n")
        os.chmod(secret, 0o600)
        for folder in (place, place + "/log"):
            self.make_folder(folder, NOBODY, 0o700)
        os.symlink(secret, place + "/log/start")
        self.wish("refuse", "there is no CUDA here\n")
        self.assertEqual(self.run_as_nobody(),
                         "MPS cannot be started on GPU 0: there is no CUDA here")

    def test_no_process_of_another_user_gets_roots_environment(self):
        self.env["ROOT_API_KEY"] = "secret"
        self.start_daemon(words=["--everyone"])
        self.run_as_nobody()
        seen = [name for name in os.listdir(self.path("fakes")) if name.startswith("env.")]
        self.assertGreaterEqual(len(seen), 2)  # the control daemon, and what it was told
        for name in seen:
            environment = self.read("fakes/" + name)
            self.assertNotIn("secret", environment)
            self.assertIn("USER=nobody\n", environment)

    def test_a_pipe_in_a_users_place_does_not_hold_up_roots_daemon(self):
        self.start_daemon(words=["--everyone"])
        place = self.run_as_nobody()
        self.stop_daemon()
        self.fill(place, NOBODY)
        self.start_daemon(words=["--everyone"])
        self.get("/v1/status")
        self.stop_daemon()

    def test_what_looks_like_roots_own_place_is_not_touched(self):
        self.start_daemon(words=["--everyone"])
        place = self.run_as_nobody().replace(f"berth-mps-{NOBODY}", "berth-mps-0")
        self.stop_daemon()
        if os.path.exists(os.path.dirname(place)):
            self.skipTest("root has a place of its own there")
        self.fill(place, NOBODY)
        self.start_daemon(words=["--everyone"])
        self.stop_daemon()
        self.assertTrue(stat.S_ISFIFO(os.lstat(os.path.join(place, PID_FILE)).st_mode))

    def test_the_places_of_others_do_not_hold_up_a_users_own_daemon(self):
        self.make_folder("home", NOBODY, 0o700)
        self.make_folder("locks", NOBODY, 0o1777)
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        daemon = self.start_daemon(**who)
        place = self.run_as_nobody()
        self.end_process(daemon)
        self.fill(place.replace(f"berth-mps-{NOBODY}", f"berth-mps-{STRANGER}"), STRANGER, 0o755)
        if place.startswith(self.root):
            shutil.rmtree(os.path.dirname(place))
            self.fill(place, STRANGER, 0o777)  # where its own would be
        self.start_daemon(**who)
        self.get("/v1/status")


if __name__ == "__main__":
    unittest.main()
