// A daemon of one's own with simulated devices, and a browser: for the tests and the measurements of
// the page. Nothing is left running after end().
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

export const BERTH = process.env.BERTH;
export const DEADLINE = 60_000; // milliseconds that anything may take before it has failed
const require = createRequire(process.env.BERTH_NODE_MODULES + "/");
export const axePath = require.resolve("axe-core/axe.min.js");
const run = promisify(execFile);

/// Debian's Chromium.
export function launchBrowser() {
  return require("playwright-core").chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"],
  });
}

/// Every program of PATH but Slurm's: a cluster that this machine may have is none of the tests' business.
let programs = "";
function withoutSlurm() {
  if (programs === "") {
    programs = fs.mkdtempSync(path.join(os.tmpdir(), "berth-path-"));
    process.on("exit", () => fs.rmSync(programs, { recursive: true, force: true }));
    const seen = new Set(["sbatch"]);
    for (const folder of process.env.PATH.split(":").filter((each) => fs.existsSync(each))) {
      for (const name of fs.readdirSync(folder).filter((each) => !seen.has(each))) {
        seen.add(name);
        fs.symlinkSync(path.join(folder, name), path.join(programs, name));
      }
    }
  }
  return programs;
}

/// A home with a daemon of its own. It starts by itself, with the first command.
export class Home {
  constructor(devices = "sim:4x24GiB") {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "berth-web-"));
    this.env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("BERTH")));
    Object.assign(this.env, {
      BERTH_HOME: `${this.folder}/home`,
      BERTH_GPUS: devices,
      BERTH_LOCKS: `${this.folder}/locks`,
      BERTH_TEST_MARK: this.folder,
      PATH: withoutSlurm(),
      NO_COLOR: "1",
    });
  }

  /// What `berth WORDS…` prints.
  async berth(...words) {
    const options = { env: this.env, cwd: this.folder, timeout: DEADLINE, maxBuffer: 1 << 28 };
    return (await run(BERTH, words, options)).stdout;
  }

  /// Queues a job; its number.
  async submit(...words) {
    return Number(/\d+/.exec(await this.berth("submit", ...words))[0]);
  }

  /// Queues what stands in `lines`, one job each.
  async submitLines(lines) {
    const file = `${this.folder}/lines-${lines.length}`;
    fs.writeFileSync(file, lines.join("\n") + "\n");
    await this.berth("submit", "--file", file);
  }

  async job(id) {
    return JSON.parse(await this.berth("show", String(id), "--json"));
  }

  /// Waits until the daemon says so of a job.
  async until(id, holds) {
    return eventually(async () => {
      const job = await this.job(id);
      return holds(job) ? job : null;
    }, `job ${id} is not so`);
  }

  /// A job that stops in `read x < NAME` goes on.
  makeGate(name) {
    const gate = `${this.folder}/${name}`;
    execFileSync("mkfifo", [gate]);
    return { path: gate, open: () => run("/bin/sh", ["-c", `echo > "$1"`, "sh", gate], { timeout: DEADLINE }) };
  }

  async link() {
    return JSON.parse(await this.berth("ui", "--print", "--json")).url;
  }

  /// kill -9; it is gone when this returns.
  async killDaemon() {
    const { pid } = JSON.parse(await this.berth("daemon", "status", "--json"));
    process.kill(pid, "SIGKILL");
    await eventually(() => !alive(pid), "the daemon lives on");
  }

  startDaemon() {
    return this.berth("daemon", "start");
  }

  /// Ends all that carries this test's mark: the daemon, its shims and their jobs.
  end() {
    for (let left = this.#marked(); left.length > 0; left = this.#marked()) {
      for (const pid of left) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // gone already
        }
      }
    }
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  #marked() {
    const mark = `BERTH_TEST_MARK=${this.folder}`;
    return fs
      .readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .filter((pid) => read(`/proc/${pid}/environ`).split("\0").includes(mark))
      .map(Number);
  }
}

function read(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/// A zombie is gone, too: its parent has not looked yet.
function alive(pid) {
  return !["", "Z"].includes(/^\d+ \(.*\) (\S)/s.exec(read(`/proc/${pid}/stat`))?.[1] ?? "");
}

/// Waits for what sends no event of its own.
export async function eventually(isSo, message) {
  const end = Date.now() + DEADLINE;
  for (;;) {
    const value = await isSo();
    if (value) {
      return value;
    }
    assert.ok(Date.now() < end, message);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
