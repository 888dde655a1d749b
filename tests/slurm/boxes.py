"""Boxes: the nearest thing to several machines on one. Each box has its own network, host name,
processes and mounts: what it writes below /etc, /run, /var and /tmp is its own. Everything ends with
the process that made it, whatever happens: see `in_private_world`.
"""

import os
import shutil
import subprocess
import sys

# What a box must not share. /etc is a copy of the machine's, the others begin empty.
EMPTY = ("/run", "/tmp", "/var/lib/slurm", "/var/lib/munge", "/var/log", "/var/spool")
SHARED = "/home"  # one file system for all boxes
# The first process of a box is the parent of its orphans, and must not keep them as zombies.
FIRST = "$SIG{CHLD} = \"IGNORE\"; sleep while 1"
INSIDE = "BERTH_INSIDE_BOXES"
UNSHARE = ["unshare", "--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child",
           "--mount-proc", "--propagation", "private"]


def in_private_world():
    """Runs this script again in namespaces of its own, of which the kernel takes down everything when
    the script ends or is killed. Returns why that cannot be had; None inside."""
    if os.environ.get(INSIDE):
        return None
    if os.geteuid() != 0:
        return "boxes need root, to make namespaces"
    for program in ("unshare", "setpriv", "nsenter", "ip", "munged", "slurmctld", "slurmd", "srun"):
        if shutil.which(program) is None:
            return f"{program} is not installed: make test-cluster installs it"
    script = "ip link add probe type bridge && mount -t tmpfs probe /mnt"
    probe = subprocess.run(UNSHARE + ["sh", "-c", script], capture_output=True, text=True)
    if probe.returncode != 0:
        return f"no namespaces can be made here: {probe.stderr.strip()}"
    done = subprocess.run(["setpriv", "--pdeathsig", "KILL", *UNSHARE, sys.executable, *sys.argv],
                          env=dict(os.environ, **{INSIDE: "1"}))
    sys.exit(done.returncode)


def run(*words, **more):
    return subprocess.run(words, check=True, **more)


class Switch:
    """The bridge between the boxes; it is in the network namespace of the test."""

    def __init__(self):
        run("mount", "-t", "tmpfs", "boxes", "/mnt")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "br0", "type", "bridge")
        run("ip", "link", "set", "br0", "up")
        self.boxes = []

    def box(self, name):
        number = len(self.boxes) + 1
        box = Box(name, f"10.77.0.{number}", f"v{number}")
        self.boxes.append(box)
        return box


class Box:
    def __init__(self, name, address, link):
        self.name = name
        self.address = address
        self.link = link
        self.folder = f"/mnt/{name}"
        self.shared = "/mnt/shared"
        os.makedirs(self.shared, mode=0o1777, exist_ok=True)
        os.chmod(self.shared, 0o1777)
        os.makedirs(self.folder)
        run("cp", "-a", "/etc", f"{self.folder}/etc")
        script = self._setup()
        read, write = os.pipe()
        self.holder = subprocess.Popen(
            UNSHARE + ["sh", "-c", f"{script}\necho ready >&{write}\nexec perl -e '{FIRST}'"],
            pass_fds=(write,), stdin=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as ready:
            if ready.readline() != "ready\n":
                raise RuntimeError(f"the box {name} could not be made")
        # unshare's child is the first process of the box.
        children = f"/proc/{self.holder.pid}/task/{self.holder.pid}/children"
        with open(children, encoding="utf-8") as file:
            self.first = file.read().split()[0]
        run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", self.first)
        run("ip", "link", "set", link, "master", "br0", "up")
        self.check("ip", "link", "set", "lo", "up")
        self.check("ip", "addr", "add", f"{address}/24", "dev", "eth0")
        self.check("ip", "link", "set", "eth0", "up")

    def _setup(self):
        lines = ["set -e", f"hostname {self.name}", f"mount --bind {self.folder}/etc /etc",
                 "rm -rf /etc/slurm /etc/munge", "mkdir -p /etc/slurm",
                 "install -d -o munge -g munge -m 700 /etc/munge",
                 f"printf '127.0.0.1 localhost\\n{self.address} {self.name}\\n' >/etc/hosts",
                 f"echo {self.name} >/etc/hostname", "rm -f /etc/resolv.conf", ": >/etc/resolv.conf"]
        lines += [f"mount -t tmpfs -o mode=755 box {path}" for path in EMPTY if os.path.isdir(path)]
        lines += [f"mount --bind {self.shared} {SHARED}", "chmod 1777 /tmp", "mkdir -p /var/log/slurm /var/log/munge /var/lib/slurm/slurmctld "
                  "/var/lib/slurm/slurmd", "chown slurm /var/log/slurm /var/lib/slurm /var/lib/slurm/*",
                  "chown munge /var/log/munge /var/lib/munge", "chmod 700 /var/log/munge /var/lib/munge"]
        return "\n".join(lines)

    def words(self, *words):
        return ["nsenter", "--target", self.first, "--mount", "--net", "--uts", "--ipc", "--pid",
                "--wd=/", *words]

    def run(self, *words, timeout=60, **more):
        environment = dict(os.environ, BERTH_HOME="/run/berth", HOME="/tmp", LC_ALL="C.UTF-8")
        environment.pop(INSIDE, None)
        return subprocess.run(self.words(*words), capture_output=True, text=True, timeout=timeout,
                              env=environment, **more)

    def check(self, *words, **more):
        done = self.run(*words, **more)
        if done.returncode != 0:
            raise AssertionError(f"{self.name}: {' '.join(words)} gave {done.returncode}\n"
                                 f"{done.stdout}{done.stderr}")
        return done.stdout

    def end(self):
        self.holder.kill()
        self.holder.wait()
