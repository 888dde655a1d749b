"""State that disappears under a daemon, or that the disk or the clock makes wrong."""

import glob
import http.client
import json
import os
import shutil
import subprocess
import time
import unittest

from daemon_case import BERTH, DEADLINE, DaemonCase

ENOSPC = 28


class StateCase(DaemonCase):
    devices = "sim:1"

    def database(self):
        return glob.glob(self.home + "/berth.db*")

    def remove_database(self):
        for path in self.database():
            os.remove(path)

    def stop(self, daemon):
        self.berth("daemon", "stop")
        self.assertEqual(daemon.wait(DEADLINE), 0)

    def names(self):
        return [job["name"] for job in self.jobs()]

    def submitted_or_refused(self, name):
        """Whether it was acknowledged. What was not must have been refused with a reason."""
        done = self.try_berth("submit", "--name", name, "true")
        if done.returncode != 0:
            self.assertIn("berth.db", done.stderr)
        return done.returncode == 0

    def state_of(self, job):
        return json.loads(self.berth("show", str(job), "--json"))["state"]

    def log(self):
        return self.read("home/daemon.log")


class DeletedDatabase(StateCase):
    def test_what_is_acknowledged_after_it_is_there_after_a_restart(self):
        daemon = self.start_daemon()
        self.berth("submit", "--name", "before", "--hold", "true")
        self.remove_database()
        acknowledged = self.submitted_or_refused("after")
        daemon.kill()
        daemon.wait(DEADLINE)
        self.start_daemon()
        self.assertEqual(self.names(), ["before"] + ["after"] * acknowledged)

    def test_each_file_alone(self):
        daemon = self.start_daemon()
        known = []
        for name in ("berth.db", "berth.db-wal", "berth.db-redo"):
            os.remove(f"{self.home}/{name}")
            if self.submitted_or_refused(name):
                known.append(name)
            daemon.kill()
            daemon.wait(DEADLINE)
            daemon = self.start_daemon()
            self.assertEqual(self.names(), known)

    def test_a_daemon_that_is_stopped_leaves_the_queue_behind(self):
        daemon = self.start_daemon()
        self.berth("submit", "--name", "before", "--hold", "true")
        self.remove_database()
        self.stop(daemon)
        self.start_daemon()
        self.assertEqual(self.names(), ["before"])

    def test_it_is_seen_without_a_request(self):
        self.start_daemon()
        self.berth("submit", "--name", "before", "--hold", "true")
        self.remove_database()
        self.eventually(lambda: "the queue was written anew" in self.log())
        self.assertTrue(os.path.exists(self.home + "/berth.db"))

    def test_one_that_was_put_in_its_place_is_kept(self):
        daemon = self.start_daemon()
        self.berth("submit", "--name", "own", "--hold", "true")
        stranger = self.path("stranger")
        with open(stranger, "wb") as file:
            file.write(b"not this daemon's")
        os.rename(stranger, self.home + "/berth.db")
        self.assertTrue(self.submitted_or_refused("more"))
        self.stop(daemon)
        self.start_daemon()
        self.assertEqual(self.names(), ["own", "more"])
        kept = glob.glob(self.home + "/berth.db.*.found")
        self.assertEqual(len(kept), 1, self.database())
        with open(kept[0], "rb") as file:
            self.assertEqual(file.read(), b"not this daemon's")

    def test_one_that_was_cut_off_in_place_is_never_built_upon(self):
        daemon = self.start_daemon()
        for i in range(30):
            self.berth("submit", "--name", str(i), "--hold", "true")
        os.truncate(self.home + "/berth.db", 0)
        acknowledged = self.submitted_or_refused("after")
        daemon.kill()
        daemon.wait(DEADLINE)
        if acknowledged:
            self.start_daemon()
            self.assertEqual(len(self.names()), 31)
        else:
            self.assertNotEqual(self.try_berth("daemon", "start").returncode, 0)

    def test_without_a_folder_changes_are_refused_and_jobs_go_on(self):
        self.make_gates("gate")
        self.start_daemon(words=["--listen", "127.0.0.1:0"])
        self.berth("submit", "read x < gate; echo ran >> ledger")
        self.eventually(lambda: self.state_of(1) == "running")
        address, token = self.status()["listen"], self.read("home/token").strip()
        # The socket goes with the folder, and comes back with it.
        shutil.move(self.home, self.path("moved"))
        self.eventually(lambda: "cannot be written anew" in self.read("moved/daemon.log"))
        for method, path, status in (("POST", "/v1/daemon/pause", 503), ("GET", "/v1/status", 200)):
            connection = http.client.HTTPConnection(address, timeout=DEADLINE)
            connection.request(method, path, headers={"Authorization": "Bearer " + token})
            self.assertEqual(connection.getresponse().status, status)
            connection.close()
        self.release("gate")
        self.eventually(lambda: os.path.exists(self.path("ledger")))
        shutil.move(self.path("moved"), self.home)
        self.berth("wait", "1")
        self.assertEqual(self.state_of(1), "succeeded")
        self.assertEqual(self.berth("submit", "true"), "2\n")

    def test_kill_9_while_it_is_written_anew(self):
        for step in ("store.rescue_written", "store.rescue_named"):
            with self.subTest(step):
                daemon = self.start_daemon(f"{step}=kill")
                self.berth("submit", "--name", "before", "--hold", "true")
                self.remove_database()
                self.dies(daemon)
                done = self.try_berth("daemon", "start")
                if done.returncode != 0:  # it says how to get the queue back
                    self.assertIn(f"mv {self.home}/berth.db-rescue {self.home}/berth.db",
                                  done.stderr)
                    os.rename(self.home + "/berth.db-rescue", self.home + "/berth.db")
                    self.berth("daemon", "start")
                self.assertEqual(self.names(), ["before"])
                self.kill_daemon()
                self.remove_database()


class MissingDatabase(StateCase):
    def refused(self, *words):
        before = {path: os.path.getsize(path) for path in self.database()}
        done = self.try_berth("submit", "true")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        for word in (self.home + "/berth.db", *words):
            self.assertIn(word, done.stderr)
        self.assertEqual({path: os.path.getsize(path) for path in self.database()}, before)

    def killed(self):
        daemon = self.start_daemon()
        self.berth("submit", "--hold", "true")
        daemon.kill()
        daemon.wait(DEADLINE)

    def test_of_zero_bytes(self):
        daemon = self.start_daemon()
        self.berth("submit", "--hold", "true")
        self.stop(daemon)
        os.truncate(self.home + "/berth.db", 0)
        self.refused("is empty", "backup")

    def test_a_first_start_that_was_cut_off_can_be_repeated(self):
        for step in ("store.created", "store.create_named"):
            daemon = self.start_daemon(f"{step}=kill", answers=False)
            self.dies(daemon)
        self.assertEqual(self.berth("submit", "true"), "1\n")
        self.berth("wait", "1")

    def test_gone_while_its_log_has_what_was_promised(self):
        self.killed()
        os.remove(self.home + "/berth.db")
        self.refused("is missing", f"mv {self.home}/berth.db* ")

    def test_gone_while_its_jobs_run(self):
        self.make_gates("up", "gate")
        daemon = self.start_daemon()
        self.berth("submit", "echo $PPID > up; read x < gate")
        self.hear("up")
        self.eventually(lambda: self.state_of(1) == "running")
        daemon.kill()
        daemon.wait(DEADLINE)
        self.remove_database()
        self.refused("is missing", self.home + "/jobs")
        self.release("gate")

    def test_moved_away_after_a_stop_begins_anew_and_says_so(self):
        daemon = self.start_daemon()
        self.berth("submit", "--hold", "true")
        self.stop(daemon)
        os.rename(self.home + "/berth.db", self.path("kept"))
        self.assertEqual(self.berth("submit", "--hold", "true"), "1\n")
        self.assertIn("no berth.db", self.log())


class DeletedFolders(StateCase):
    def test_logs(self):
        self.start_daemon()
        self.berth("submit", "true")
        self.berth("wait", "1")
        shutil.rmtree(self.home + "/logs")
        self.berth("submit", "echo hello")
        self.berth("wait", "2")
        self.assertEqual(self.berth("logs", "2"), "hello\n")

    def test_logs_of_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs two users")
        os.chmod(self.folder, 0o711)
        self.start_daemon(words=["--everyone"])
        shutil.rmtree(self.home + "/logs")
        self.env["BERTH_HOME"] = self.home
        done = subprocess.run([BERTH, "submit", "--", "echo hello"], env=self.env, cwd="/",
                              user=65534, text=True, capture_output=True, check=True,
                              timeout=DEADLINE)
        self.berth("wait", done.stdout.strip())
        self.assertEqual(self.berth("logs", "1"), "hello\n")

    def test_usage_and_small_files(self):
        self.start_daemon()
        for name in ("usage", "peaks", "token", "sessions", "daemon.log"):
            path = self.home + "/" + name
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.remove(path)
        self.berth("submit", "true")
        self.berth("wait", "1")

    def test_the_socket(self):
        self.start_daemon()
        pid = self.status()["pid"]
        os.remove(self.home + "/berth.sock")
        self.eventually(lambda: os.path.exists(self.home + "/berth.sock"))
        self.assertEqual(self.status()["pid"], pid)
        os.rename(self.home + "/berth.sock", self.home + "/elsewhere")
        self.eventually(lambda: os.path.exists(self.home + "/berth.sock"))
        self.assertEqual(self.status()["pid"], pid)


class FullDisk(StateCase):
    def test_a_log_that_the_disk_has_no_room_for_makes_its_job_wait(self):
        os.mkdir(self.home)
        os.mkdir(self.home + "/logs")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=3", "berth",
                                  self.home + "/logs"], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("only root can mount a small disk")
        self.addCleanup(subprocess.run, ["umount", self.home + "/logs"], check=True)
        self.addCleanup(self.end_everything)  # before that
        self.start_daemon()
        for name in ("a", "b"):
            with open(f"{self.home}/logs/{name}", "w", encoding="utf-8"):
                pass
        self.berth("submit", "echo ran >> ledger")
        self.eventually(lambda: "no room" in self.log().lower() or "No space" in self.log())
        self.assertNotEqual(self.state_of(1), "failed")
        os.remove(self.home + "/logs/a")
        self.berth("wait", "1")
        self.assertEqual(self.read("ledger"), "ran\n")


class Clock(StateCase):
    HOUR = 3600

    def restarted(self, offset):
        """A job with a limit of an hour runs over a restart at which the clock has jumped."""
        self.make_gates("up", "gate")
        daemon = self.start_daemon()
        self.berth("submit", "--gpus", "0", "--timeout", "1h", "echo > up; cat gate")
        self.hear("up")
        self.eventually(lambda: self.state_of(1) == "running")
        daemon.kill()
        daemon.wait(DEADLINE)
        self.env["BERTH_CLOCK_OFFSET"] = str(offset)
        self.start_daemon()
        self.berth("submit", "--gpus", "0", "true")
        self.berth("wait", "2")
        self.release("gate")
        self.berth("wait", "1", code=None)
        job, other = self.jobs()
        self.assertEqual(job["state"], "succeeded")
        ran = job["ended"] - job["started"]
        self.assertGreaterEqual(ran, 0)
        self.assertLess(ran, DEADLINE)
        self.assertLess(abs(other["started"] - job["started"]), DEADLINE)

    def test_set_forward(self):
        self.restarted(2 * self.HOUR)

    def test_set_back(self):
        self.restarted(-2 * self.HOUR)

    def test_set_back_by_days(self):
        self.restarted(-72 * self.HOUR)

    def test_over_several_restarts(self):
        """Its start moves along with the clock each time, and so does the end of its limit."""
        self.make_gates("gate")
        daemon = self.start_daemon()
        self.berth("submit", "--gpus", "0", "--timeout", "1h", "cat gate")
        self.eventually(lambda: self.state_of(1) == "running")
        started = self.jobs()[0]["started"]
        for hours in (-72, 5, 90, 90):
            daemon.kill()
            daemon.wait(DEADLINE)
            self.env["BERTH_CLOCK_OFFSET"] = str(hours * self.HOUR)
            daemon = self.start_daemon()
            self.assertAlmostEqual(self.jobs()[0]["started"], started + hours * self.HOUR, delta=1)
        self.release("gate")
        self.berth("wait", "1")


    def test_a_start_that_no_daemon_wrote_down(self):
        """Its limit counts from when it began, not from when the next daemon found it."""
        self.make_gates("gate")
        daemon = self.start_daemon("daemon.start_seen=kill")
        self.berth("submit", "--gpus", "0", "--timeout", "1h", "cat gate", code=None)
        self.dies(daemon)
        before = time.time()
        self.start_daemon()
        self.eventually(lambda: self.state_of(1) == "running")
        self.assertLessEqual(self.jobs()[0]["started"], before)
        self.release("gate")
        self.berth("wait", "1")


class Replay(StateCase):
    def replay(self, code=0):
        done = self.try_berth("sim", "--journal", "--json")
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return json.loads(done.stdout) if code == 0 else done.stderr

    def test_after_a_forget(self):
        daemon = self.start_daemon()
        for _ in range(3):
            self.berth("submit", "true")
        self.berth("wait")
        self.berth("forget", "--older", "0s")
        self.stop(daemon)
        replay = self.replay()
        self.assertEqual((replay["differences"], replay["forgotten"]), ([], 3))
        daemon = self.start_daemon()
        self.berth("submit", "true")
        self.berth("wait")
        self.stop(daemon)
        replay = self.replay()
        self.assertEqual((replay["differences"], replay["forgotten"]), ([], 3))
        self.assertEqual([start["job"] for start in replay["starts"]], [1, 2, 3, 4])


class EmptyValues(StateCase):
    def test_options(self):
        self.start_daemon()
        for option in ("--after", "--begin", "--signal", "--retry-on", "--array", "--only",
                       "--exclude", "--prefer", "--gpus", "--mem", "--timeout", "--expected",
                       "--priority", "--retries", "--backoff", "--share", "--weight", "--label",
                       "--model", "--output", "--error"):
            done = self.try_berth("submit", option, "", "--", "true")
            self.assertEqual(done.returncode, 2, f"{option} '': {done.stderr}{done.stdout}")
            self.assertIn(option, done.stderr)
        for value in ("ok:", ",", "ok:1,", ",ok:1", "ok:1,,ok:1", " "):
            self.berth("submit", "--hold", "true")
            done = self.try_berth("submit", "--after", value, "--", "true")
            self.assertEqual(done.returncode, 2, f"--after '{value}': {done.stdout}")
        self.assertEqual({job["name"] for job in self.jobs()}, {""})
        self.assertEqual(len(self.jobs()), 6)

    def test_lines(self):
        self.start_daemon()
        for key in ("after", "gpus", "mem", "timeout", "retries", "priority", "weight", "share",
                    "mps", "name", "project"):
            done = self.try_berth("submit", "--file", "-", input=f"@{key}= true\n")
            self.assertEqual(done.returncode, 2, f"@{key}=: {done.stdout}")
        for value in ("ok:", ",", "1,", ",1"):
            done = self.try_berth("submit", "--file", "-", input=f"true\n@after={value} true\n")
            self.assertEqual(done.returncode, 2, f"@after={value}: {done.stdout}")
        self.assertEqual(self.jobs(), [])

    def test_fields(self):
        self.start_daemon()
        wrong = [{"after": ""}, {"after": [""]}, {"after": ["ok:"]}, {"after": None},
                 {"gpus": ""}, {"gpus": None}, {"timeout_s": ""}, {"timeout_s": None},
                 {"memory_bytes": ""}, {"priority": ""}, {"begin": ""}, {"only": ""},
                 {"only": [""]}, {"exclude": [""]}, {"follows": ""}, {"follows": [""]},
                 {"array": ""}, {"retries": ""}]
        for fields in wrong:
            body = json.dumps({"version": 1, "jobs": [dict({"command": "true",
                                                            "directory": "/"}, **fields)]})
            done = subprocess.run(
                ["curl", "-s", "-o", "/dev/stderr", "-w", "%{http_code}", "--unix-socket",
                 self.home + "/berth.sock", "-H", "Content-Type: application/json",
                 "-d", body, "http://berth/v1/jobs"], text=True, capture_output=True, check=True)
            self.assertEqual(done.stdout, "400", f"{fields}: {done.stderr}")
        self.assertEqual(self.jobs(), [])


if __name__ == "__main__":
    unittest.main()
