"""A daemon for everyone: other users reach it, and their jobs run as themselves."""

import os
import stat
import unittest

from http_case import NOBODY, HttpCase


@unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
class Everyone(HttpCase):
    def submit_as_nobody(self, command):
        body = {"jobs": [{"command": command, "directory": "/", "gpus_needed": 0}]}
        return self.ask("POST", "/v1/jobs", body, connection=self.as_nobody()).json()["first"]

    def test_jobs_of_others_run_and_keep_their_logs_to_themselves(self):
        self.start_daemon(words=["--everyone"])
        number = self.submit_as_nobody("id -u")
        self.berth("wait", str(number))
        self.assertEqual(self.berth("logs", str(number)).strip(), str(NOBODY))
        log = self.get(f"/v1/jobs/{number}")["log"]
        for path in (log, os.path.dirname(log)):
            self.assertEqual(os.stat(path).st_uid, NOBODY, path)
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode) & 0o077, 0, path)

    def test_nobody_sees_what_is_there(self):
        self.start_daemon(words=["--everyone"])
        number = self.submit_as_nobody(f"ls {self.home} {self.home}/logs; cat {self.home}/daemon.lock {self.home}/berth.db")
        self.berth("wait", str(number), code=1)
        self.assertNotIn("sessions", self.berth("logs", str(number)))
        self.assertEqual(self.berth("logs", str(number)).count("Permission denied"), 4)


if __name__ == "__main__":
    unittest.main()
