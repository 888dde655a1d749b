"""What the end-to-end tests of `berth batch` share: scripts that stand for trainings, and files."""

import csv
import io
import json
import os
import subprocess

from run_case import RunCase, events, of_kind
from gpu_case import BERTH, DEADLINE

COLUMNS = ("Directory", "Executable", "Filename", "Epochs", "Priority")

# A profile lasts long enough to be seen by the sampler; the real run need not. Runs whose id is in
# the file `hold` say so and wait.
TRAIN = """
for word; do
  case $word in
    --epochs=*) epochs=${word#*=};;
    --id=*) id=${word#*=};;
  esac
done
echo "$0 $id $epochs" >> "$LEDGER"
if [ "$epochs" != 2 ] && grep -qx "$id" "$HOLD" 2>/dev/null; then
  echo "$id" > "$SAY"
  read x < "$GO"
fi
[ "$epochs" = 2 ] && hold=1s || hold=10ms
EXTRA
"$B" simjob --mem MEMGiB --hold $hold || exit
echo "$id $epochs" >> "$DONE"
"""


class BatchCase(RunCase):
    gpus = "sim:1x24GiB"

    def setUp(self):
        super().setUp()
        self.env.update(B=BERTH, LEDGER=self.path("ledger"), DONE=self.path("done"),
                        HOLD=self.path("hold"), SAY=self.path("say"), GO=self.path("go"))

    def script(self, name, mem=6, extra=""):
        return self.write(name, TRAIN.replace("MEM", str(mem)).replace("EXTRA", extra))

    def table(self, rows, name="t.csv", header=True):
        """A file of rows (filename, epochs, priority); the scripts are in this home."""
        text = io.StringIO()
        writer = csv.writer(text)
        if header:
            writer.writerow(COLUMNS)
        for filename, epochs, priority in rows:
            writer.writerow([self.home, "sh", filename, epochs, priority])
        return self.write(name, text.getvalue())

    def batch(self, *words, code=0, gpus=None, **options):
        """Runs a file to its end; the events."""
        done = self.run_jobs("", "t.csv", "--json", *words, code=code, gpus=gpus or self.gpus,
                             program=(BERTH, "batch"), **options)
        return events(done.stdout)

    def refused(self, *words, code=2, file="t.csv"):
        """Its message; nothing ran."""
        done = self.run_jobs("", file, *words, code=code, gpus=self.gpus, program=(BERTH, "batch"))
        self.assertFalse(os.path.exists(self.path("ledger")))
        return done.stderr

    def status(self, *words):
        done = subprocess.run([BERTH, "batch", "t.csv", "--status", "--json", *words], text=True,
                              env=self.env, cwd=self.home, capture_output=True, timeout=DEADLINE,
                              check=True)
        return json.loads(done.stdout)

    def states(self):
        return [row["state"] for row in self.status()["rows"]]

    def completed(self):
        """The ids of real runs that came to their end, in that order."""
        if not os.path.exists(self.path("done")):
            return []
        return [int(line.split()[0]) for line in self.read("done").splitlines()
                if line.split()[1] != "2"]


def started(stream, kind="task"):
    """The ids of what was started, in that order."""
    return [int(event["name"].split("-")[1]) for event in of_kind(stream, "start")
            if event["name"].startswith(kind + "-")]


def most_at_once(stream, kind="task"):
    now = most = 0
    for event in stream:
        if event["event"] in ("start", "end") and event["name"].startswith(kind + "-"):
            now += 1 if event["event"] == "start" else -1
            most = max(most, now)
    return most
