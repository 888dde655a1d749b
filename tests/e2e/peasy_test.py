"""GPUPeasy: its batch files and its grids, as its own scripts write them."""

import csv
import io
import os
import select
import unittest

from daemon_case import DEADLINE, DaemonCase
from gpu_case import GpuCase


class Batches(DaemonCase):
    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_a_file_that_gridgen_has_written(self):
        os.mkdir(self.path("ExA1_job_0"))
        self.write("ExA1.esy", "ExA1_job_0;;\nExA1_job_0/gpupeasy_logs.out;;\n"
                               "echo --out-dir x\n  --lr 0.1\n | tr a-z A-Z;;;\n\n")
        self.start_daemon()
        self.assertEqual(self.berth("submit", "--file", "ExA1.esy"), "1\n")
        self.berth("wait")
        self.assertEqual(self.read("ExA1_job_0/gpupeasy_logs.out"), "--OUT-DIR X --LR 0.1\n")
        self.assertEqual([job["name"] for job in self.jobs()], ["ExA1_job_0"])

    def test_an_output_that_exists_is_refused_unless_asked(self):
        self.write("out", "precious\n")
        self.write("batch.txt", "a;;out;;echo a;;;\nb;;new;;echo b;;;\nc;;new;;echo c;;;\n")
        self.start_daemon()
        done = self.try_berth("submit", "--file", "batch.txt", "--format", "peasy")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--overwrite", done.stderr)
        self.assertIn(f"line 1: {self.path('out')} exists already", done.stderr)
        self.assertIn(f"line 3: {self.path('new')} is the output of another job", done.stderr)
        self.assertNotIn("line 2", done.stderr)
        self.assertEqual(self.jobs(), [])
        self.assertEqual(self.read("out"), "precious\n")
        self.write("batch.txt", "a;;out;;echo a;;;\nn;;/dev/null;;echo b;;;\n")
        self.berth("submit", "--file", "batch.txt", "--format", "peasy", "--overwrite")
        self.berth("wait")
        self.assertIn("a\n", self.read("out"))
        self.assertIn("--overwrite", self.try_berth("submit", "--overwrite", "true").stderr)


class CpuSlots(DaemonCase):
    devices = "cpu,cpu"  # GPUPeasy's ['', '']

    def test_two_jobs_at_once_and_no_gpu(self):
        self.start_daemon()
        for name in ("ready", "gate"):
            os.mkfifo(self.path(name))
        ready, gate = (os.open(self.path(name), os.O_RDWR) for name in ("ready", "gate"))
        self.addCleanup(os.close, ready)
        self.addCleanup(os.close, gate)
        self.berth("submit", "--file", "-", "--format", "peasy", input=(
            'a;; ;;echo "[$CUDA_VISIBLE_DEVICES]" > ready; read x < gate;;;' * 3))
        self.assertEqual(self.lines(ready, 2), b"[]\n[]\n")
        self.assertEqual([job["state"] for job in self.jobs()], ["running", "running", "queued"])
        os.write(gate, b"\n" * 3)
        self.assertEqual(self.lines(ready, 1), b"[]\n")
        self.berth("wait")

    def lines(self, fd, count):
        text = b""
        while text.count(b"\n") < count:
            self.assertTrue(select.select([fd], [], [], DEADLINE)[0], text)
            text += os.read(fd, 100)
        return text


class Grids(GpuCase):
    """A project as gridgen's `build` leaves it: OUT_BASE_DIR/PROJECT/PROJECT.csv, and a folder with
    gpupeasy_logs.out for each job."""

    def setUp(self):
        super().setUp()
        self.top = os.path.join(self.home, "exps", "ExA1")
        os.makedirs(self.top)
        rows = [("--lr", "--opt", "JOB_DIR")]
        for number, log in enumerate(("epoch 1 val_acc: 0.1 loss=3\nepoch 2 val_acc: 0.7 loss=2.5\n",
                                      'garbage\n{"val_acc": 0.4, "loss": 9}\n', None)):
            folder = os.path.join(self.top, f"ExA1_job_{number}")
            os.mkdir(folder)
            rows.append((f"0.{number}", "sgd, plain", folder))
            if log is not None:
                with open(folder + "/gpupeasy_logs.out", "w", encoding="utf-8") as file:
                    file.write(log)
        with open(self.top + "/ExA1.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
        self.rows = rows

    def test_the_last_values_stand_beside_the_parameters(self):
        for grid in (self.top, self.top + "/", self.top + "/ExA1.csv"):
            done = self.berth("sweep", "--summarize", grid, "--key", "val_acc", "loss", "--csv")
            values = [("val_acc", "loss"), ("0.7", "2.5"), ("0.4", "9"), ("", "")]
            self.assertEqual([tuple(row) for row in csv.reader(io.StringIO(done.stdout))],
                             [row + value for row, value in zip(self.rows, values)])
            self.assertIn("1 of 3 jobs have no gpupeasy_logs.out yet", done.stderr)
        table = self.berth("sweep", "--summarize=" + self.top, "--key", "val_acc").stdout
        lines = table.splitlines()
        self.assertEqual(lines[0].split(), ["--lr", "--opt", "JOB_DIR", "val_acc"])
        self.assertEqual([line.split()[-1] for line in lines[1:]], ["0.7", "0.4", "-"])

    def test_mistakes_say_what_to_do(self):
        self.assertIn("--key", self.berth("sweep", "--summarize", self.top, code=2).stderr)
        self.assertIn("No such file", self.berth("sweep", "--summarize", self.top + "x.csv", "--key",
                                                 "a", code=None).stderr)
        with open(self.top + "/ExA1.csv", "w", encoding="utf-8") as file:
            file.write("--lr\n0.1\n")
        self.assertIn("JOB_DIR", self.berth("sweep", "--summarize", self.top, "--key", "a",
                                            code=2).stderr)


if __name__ == "__main__":
    unittest.main()
