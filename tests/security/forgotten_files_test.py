"""What `forget` removes: the logs that berth itself has named, whatever a user wrote or linked."""

import os
import unittest

from http_case import NOBODY, HttpCase


@unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
class ForgottenFiles(HttpCase):
    def setUp(self):
        super().setUp()
        self.start_daemon(words=["--everyone"])
        self.logs = self.home + "/logs"
        self.victim = self.path("victim")
        os.mkdir(self.victim)
        self.precious = self.victim + "/file"
        with open(self.precious, "w", encoding="utf-8") as file:
            file.write("precious")

    def run_as_nobody(self, command="true", **fields):
        job = dict({"command": command, "directory": "/", "gpus": 0}, **fields)
        number = self.ask("POST", "/v1/jobs", {"jobs": [job]},
                          connection=self.as_nobody()).json()["first"]
        self.berth("wait", str(number), code=None)
        return number

    def forget_all(self):
        self.assertGreater(self.post("/v1/jobs/forget")["forgotten"], 0)

    def test_a_path_that_leads_out_of_the_logs_stays(self):
        for name in ("output", "error"):
            self.run_as_nobody(**{name: f"{self.logs}/../../victim/file"})
        self.forget_all()
        self.assertTrue(os.path.exists(self.precious))

    def test_a_link_below_the_users_own_folder_is_not_followed(self):
        self.run_as_nobody()
        own = f"{self.logs}/{NOBODY}"
        os.symlink(self.victim, own + "/link")
        self.run_as_nobody(output=own + "/link/file")
        self.forget_all()
        self.assertTrue(os.path.exists(self.precious))

    def test_a_file_of_another_user_that_has_the_name_of_a_log_stays(self):
        """Who may guess the number of a job may not choose whose folder it is removed from."""
        os.mkdir(self.logs + "/12345", 0o755)
        theirs = self.logs + "/12345/1.1.log"
        with open(theirs, "w", encoding="utf-8"):
            pass
        self.assertEqual(self.run_as_nobody(output=theirs), 1)
        self.forget_all()
        self.assertTrue(os.path.exists(theirs))

    def test_berths_own_logs_go(self):
        self.run_as_nobody("echo hello")
        self.berth("submit", "--gpus", "0", "echo hello")
        self.berth("wait")
        logs = [f"{self.logs}/{NOBODY}/1.1.log", f"{self.logs}/2.1.log"]
        self.assertEqual([os.path.exists(log) for log in logs], [True, True])
        self.forget_all()
        self.assertEqual([os.path.exists(log) for log in logs], [False, False])

    def test_a_log_folder_that_a_death_left_half_made_is_taken_up(self):
        """Made, but not yet given to its user."""
        os.mkdir(f"{self.logs}/{NOBODY}", 0o700)
        number = self.run_as_nobody("echo hello")
        self.assertEqual(self.get(f"/v1/jobs/{number}")["state"], "succeeded")
        self.assertEqual(os.stat(f"{self.logs}/{NOBODY}").st_uid, NOBODY)


if __name__ == "__main__":
    unittest.main()
