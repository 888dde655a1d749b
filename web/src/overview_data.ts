// What the overview shows beyond the devices, kept fresh: running jobs by events, the rest read
// anew when something changed.
import { batch, signal } from "@preact/signals";
import { get } from "./api";
import { knownJob, readJobs } from "./known_jobs";
import { listen } from "./live";
import { ranges } from "./parts/selection";
import { badStates, endedStates, runningStates, waitingStates, type Job, type Span, type State, type Totals } from "./types";

export interface Ended {
  id: number;
  name: string;
  project: string;
  command?: string;
  sweep?: string;
  parameters?: Record<string, string>;
  state: State;
  started: number | null;
  ended: number;
}

export interface Waiting {
  id: number;
  name: string;
  project: string;
  command?: string;
  sweep?: string;
  parameters?: Record<string, string>;
  gpus: number;
  starts: number | null;
}

export const kHead = 8; // how many of a list are shown

export const kPast = 3600; // seconds of the past that the small timeline shows
const kDay = 86400;
const kMostNamed = 200; // jobs of sweeps that are asked for at once

const live: readonly string[] = runningStates;
const waits: readonly string[] = waitingStates;
const ends: readonly string[] = endedStates;

export class OverviewData {
  readonly running = signal<ReadonlyMap<number, Job>>(new Map());
  readonly ended = signal<Ended[]>([]);
  readonly queue = signal<Waiting[]>([]);
  /// That failed in the last day and were not started again, the newest first.
  readonly failed = signal<Ended[]>([]);
  readonly spans = signal<Span[]>([]);
  readonly totals = signal<Totals | null>(null);
  readonly ready = signal(false);

  private told = new Map<number, Job>();
  private soon = 0;
  private taken = 0;
  private timer = 0;
  private meanwhile: Map<number, Job> | null = null; // told while answers are on their way
  private again = false;

  /// Followed only until the first are known: devices tell of their jobs every second anyway.
  readonly named = (id: number): Job | Waiting | undefined => {
    const running = this.ready.value ? this.running.peek() : this.running.value;
    return running.get(id) ?? this.queue.value.find((job) => job.id === id);
  };

  /// For useEffect: returns how to stop.
  open(): () => void {
    const stop = listen({
      refresh: () => void this.read(),
      submitted: () => this.readSoon(300),
      job: (job) => {
        this.told.set(job.id, job);
        this.meanwhile?.set(job.id, job);
        // At once when little happens, and not more often than the eye can follow.
        const pause = Math.max(0, this.taken + 60 - performance.now());
        this.soon ||= window.setTimeout(() => this.takeTold(), pause);
        this.readSoon(1000);
      },
    });
    const regularly = setInterval(() => this.readSoon(0), 10_000);
    return () => {
      stop();
      clearInterval(regularly);
      clearTimeout(this.timer);
      clearTimeout(this.soon);
    };
  }

  private takeTold() {
    clearTimeout(this.soon);
    this.soon = 0;
    this.taken = performance.now();
    const running = new Map(this.running.value);
    let queue = this.queue.value;
    const ended: Ended[] = [];
    const failed = new Map(this.failed.value.map((job) => [job.id, job]));
    for (const job of this.told.values()) {
      running.delete(job.id);
      failed.delete(job.id);
      if (job.ended !== null && badStates.includes(job.state)) {
        failed.set(job.id, { ...job, ended: job.ended });
      }
      if (live.includes(job.state)) {
        running.set(job.id, job);
      } else if (job.ended !== null && !waits.includes(job.state)) {
        ended.push({ ...job, ended: job.ended });
      }
      queue = job.state === "queued" ? queue : queue.filter((one) => one.id !== job.id);
    }
    this.told.clear();
    this.running.value = running;
    this.queue.value = queue;
    this.takeFailed([...failed.values()]);
    this.takeEnds(ended);
  }

  private takeFailed(jobs: Ended[]) {
    const since = Date.now() / 1000 - kDay;
    this.failed.value = jobs.filter((job) => job.ended > since).sort((a, b) => b.ended - a.ended);
  }

  private takeEnds(ended: Ended[]) {
    // Of several attempts the newest counts.
    const inOrder = [...this.ended.value, ...ended].sort((a, b) => a.ended - b.ended);
    const all = new Map(inOrder.map((end) => [end.id, end]));
    // An attempt that ended is not the job's end when it is tried again.
    [...this.running.value.keys(), ...this.queue.value.map((one) => one.id)].forEach((id) => all.delete(id));
    this.ended.value = [...all.values()].sort((a, b) => b.ended - a.ended).slice(0, kHead);
  }

  private readSoon(wait: number) {
    this.timer ||= window.setTimeout(() => {
      this.timer = 0;
      void this.read();
    }, wait);
  }

  private async read() {
    if (this.meanwhile) {
      this.again = true;
      return;
    }
    const meanwhile = (this.meanwhile = new Map<number, Job>());
    try {
      // What a part has read is shown when all parts have answered: one drawing instead of five. What
      // fails is read again; should the daemon be gone, the stream tells.
      const parts = [this.readRunning(), this.readEnded(), this.readFailed(), this.readTimeline(), this.readTotals()];
      const answers = await Promise.allSettled(parts);
      batch(() => answers.forEach((answer) => answer.status === "fulfilled" && answer.value()));
      await this.readParameters();
    } catch {
      // The stream tells when the daemon is gone, and all is read anew after that.
    }
    this.meanwhile = null;
    this.ready.value = true;
    // Events are newer than the answers.
    meanwhile.forEach((job, id) => this.told.has(id) || this.told.set(id, job));
    this.takeTold();
    if (this.again) {
      this.again = false;
      this.readSoon(500);
    }
  }

  private async readRunning() {
    const select = runningStates.map((state) => `state=${state}`);
    const { jobs } = await readJobs({ select, limit: 1000 });
    return () => {
      this.running.value = new Map(jobs.filter((job) => live.includes(job.state)).map((job) => [job.id, job]));
    };
  }

  /// The newest numbers; older ones that ended lately come with the timeline and by events.
  private async readEnded() {
    const query = { select: ["state=ended"], descending: true, limit: 4 * kHead };
    const { jobs } = await get("/v1/jobs", query);
    return () => this.takeEnds(jobs.map((job) => ({ ...job, ended: job.ended ?? job.submitted })));
  }

  private async readFailed() {
    const query = { select: badStates.map((state) => `state=${state}`), descending: true, limit: 8 * kHead };
    const { jobs } = await get("/v1/jobs", query);
    return () => this.takeFailed(jobs.map((job) => ({ ...job, ended: job.ended ?? job.submitted })));
  }

  /// Spans tell the name that the jobs of a sweep share, not what tells them apart.
  private async readParameters() {
    const bare = (job: Ended | Waiting) => Boolean(job.sweep) && !job.parameters;
    const unknown = [...this.queue.value, ...this.ended.value].filter(bare).map((job) => job.id);
    const drawn = this.spans.value.filter((span) => span.sweep !== "").map((span) => span.job);
    const missing = [...new Set([...unknown, ...drawn])].filter((id) => !knownJob(id)).slice(0, kMostNamed);
    if (missing.length > 0) {
      await readJobs({ select: ranges(missing), all: true, limit: 1000 });
    }
    if (unknown.length > 0) {
      const named = <T extends Ended | Waiting>(job: T): T => (bare(job) ? { ...job, parameters: knownJob(job.id)?.parameters } : job);
      this.queue.value = this.queue.value.map(named);
      this.ended.value = this.ended.value.map(named);
    }
  }

  private async readTimeline() {
    const now = Date.now() / 1000;
    const found = await get("/v1/timeline", { from: now - kPast, to: now + 7 * kDay, limit: 2000 });
    const expected = found.spans.filter((span) => span.state === "expected");
    const head = expected
      .sort((a, b) => a.from - b.from || a.job - b.job)
      .slice(0, kHead)
      .map((span) => ({ ...span, id: span.job, gpus: span.gpus.length, starts: span.from }));
    const queue = head.length < kHead ? [...head, ...(await this.readRest(head))].slice(0, kHead) : head;
    const past = found.spans.filter((span) => ends.includes(span.state) && span.to !== null);
    return () => {
      this.spans.value = found.spans;
      this.queue.value = queue;
      this.takeEnds(
        past.map((span) => ({ ...span, id: span.job, state: span.state as State, started: span.from, ended: span.to! })),
      );
    };
  }

  /// Those of which nobody knows when they start follow the others.
  private async readRest(head: Waiting[]): Promise<Waiting[]> {
    const { jobs } = await get("/v1/jobs", { select: ["state=queued"], limit: 2 * kHead });
    const known = new Set(head.map((one) => one.id));
    return jobs
      .filter((job) => !known.has(job.id))
      .map((job) => ({ ...job, gpus: job.gpus_needed, starts: job.expected_start ?? null }));
  }

  private async readTotals() {
    const midnight = new Date().setHours(0, 0, 0, 0) / 1000;
    const totals = await get("/v1/totals", { since: midnight });
    return () => {
      this.totals.value = totals;
    };
  }
}
