// The jobs of a view: their numbers in order, and the rows near the window, kept fresh by events.
import { batch, signal, type Signal } from "@preact/signals";
import { get, type Query } from "./api";
import { knownJob, readJobs } from "./known_jobs";
import { listen } from "./live";
import { ranges } from "./parts/selection";
import type { Job, JobNumbers, JobPage } from "./types";

/// What is asked for. `words` are the daemon's selectors.
export interface Wanted {
  words: string[];
  search: string;
  alone: boolean; // none of a sweep
  sort: string;
  descending: boolean;
}

const kMostRows = 3000;

function isState(word: string): boolean {
  return word.startsWith("state=");
}

export function numbers(list: JobNumbers): Float64Array {
  const ids = new Float64Array(list.count);
  let at = 0;
  for (const [first, count, step] of list.runs) {
    for (let i = 0; i < count; ++i) {
      ids[at++] = first + i * step;
    }
  }
  return ids;
}

export class JobList {
  readonly ids = signal<Float64Array>(new Float64Array(0));
  readonly ready = signal(false);
  readonly problem = signal("");
  /// How many jobs each state would list, with all else that narrows; null where nothing else does.
  readonly states = signal<JobNumbers["states"] | null>(null);
  /// Called before `ids` changes, with the next ones: the table keeps its place.
  beforeChange: (next: Float64Array) => void = () => undefined;

  private rows = new Map<number, Signal<Job | null>>();
  private stale = new Set<number>(); // shown as last known, to be read anew
  private wanted: Wanted = { words: [], search: "", alone: false, sort: "id", descending: true };
  private near: number[] = [];
  private told = new Map<number, Job>(); // by events, for the next frame
  private idsAbort: AbortController | null = null;
  private rowsAsked: { ids: Set<number>; abort: AbortController } | null = null;
  private begun = false; // it was said that everything is to be read
  private reading = false; // the numbers are on their way
  private idsTimer = 0;
  private rowsTimer = 0;
  private frame = 0;
  private lastRead = { end: 0, took: 0 };

  /// For useEffect: returns how to stop.
  open(): () => void {
    const stop = listen({
      job: (job) => this.takeEvent(job),
      submitted: ({ first, count }) => this.takeNew(first, count),
      refresh: () => {
        this.begun = true;
        this.stale = new Set(this.rows.keys());
        // What is on its way was asked for before.
        this.rowsAsked?.abort.abort();
        this.rowsAsked = null;
        void this.readIds();
        this.readRowsSoon();
      },
    });
    // The forecast moves without an event.
    const again = setInterval(() => {
      for (const id of this.near) {
        if (this.row(id).value?.state === "queued") {
          this.stale.add(id);
        }
      }
      this.readRowsSoon();
    }, 5000);
    return () => {
      stop();
      clearInterval(again);
      clearTimeout(this.idsTimer);
      clearTimeout(this.rowsTimer);
      cancelAnimationFrame(this.frame);
      this.idsAbort?.abort();
      this.rowsAsked?.abort.abort();
    };
  }

  want(wanted: Wanted) {
    this.wanted = wanted;
    if (this.begun) {
      void this.readIds();
    }
  }

  row(id: number): Signal<Job | null> {
    let row = this.rows.get(id);
    if (!row) {
      row = signal(knownJob(id) ?? null);
      this.rows.set(id, row);
    }
    return row;
  }

  /// The rows from first to last are (nearly) in view.
  show(first: number, last: number) {
    this.near = [...this.ids.value.subarray(first, last)];
    this.readRowsSoon();
  }

  // --- numbers

  /// Reading takes time with very many jobs: then it is done less often.
  private readSoon() {
    const pause = Math.max(150, this.lastRead.took * 8);
    this.idsTimer ||= window.setTimeout(
      () => void this.readIds(),
      Math.max(10, this.lastRead.end + pause - performance.now()),
    );
  }

  private async readIds() {
    clearTimeout(this.idsTimer);
    this.idsTimer = 0;
    this.idsAbort?.abort();
    const abort = (this.idsAbort = new AbortController());
    this.reading = true;
    const begin = performance.now();
    const { words, search, alone, sort, descending } = this.wanted;
    const query: Query = { select: words, all: true, search, alone, sort, descending };
    try {
      const rest = words.filter((word) => !isState(word));
      const narrowed = rest.length > 0 || search !== "" || alone;
      const [found, others] = await Promise.all([
        get("/v1/jobs/ids", query, abort.signal),
        narrowed && rest.length < words.length ? get("/v1/jobs/ids", { select: rest, all: true, search, alone }, abort.signal) : null,
      ]);
      batch(() => {
        this.setIds(numbers(found));
        this.states.value = narrowed ? (others ?? found).states : null;
      });
    } catch (error) {
      if (abort.signal.aborted) {
        return;
      }
      this.problem.value = (error as Error).message;
    }
    this.reading = false;
    this.lastRead = { end: performance.now(), took: performance.now() - begin };
  }

  // --- rows

  private readRowsSoon() {
    this.rowsTimer ||= window.setTimeout(() => {
      this.rowsTimer = 0;
      void this.readRows();
    }, 30);
  }

  private async readRows() {
    const missing = this.near.filter((id) => this.stale.has(id) || this.row(id).value === null);
    if (this.rowsAsked) {
      // Those that are on their way but have left the window are wanted no more.
      if (missing.some((id) => this.rowsAsked!.ids.has(id))) {
        return;
      }
      this.rowsAsked.abort.abort();
    }
    if (missing.length === 0) {
      return;
    }
    const asked = (this.rowsAsked = { ids: new Set(missing), abort: new AbortController() });
    try {
      let after: number | undefined = 0;
      while (after !== undefined) {
        const query: Query = { select: ranges(missing), all: true, limit: 1000, after };
        const page: JobPage = await readJobs(query, asked.abort.signal);
        batch(() => page.jobs.forEach((job) => this.put(job)));
        after = page.next;
      }
      missing.forEach((id) => this.stale.delete(id));
    } catch {
      return; // the window has moved, or the stream tells that the daemon is gone
    } finally {
      if (this.rowsAsked === asked) {
        this.rowsAsked = null;
      }
    }
    this.forgetFarRows();
    if (this.near.some((id) => !asked.ids.has(id) && this.row(id).value === null)) {
      this.readRowsSoon();
    }
  }

  private put(job: Job) {
    this.row(job.id).value = job;
    this.stale.delete(job.id);
  }

  private forgetFarRows() {
    if (this.rows.size <= kMostRows) {
      return;
    }
    const kept = new Set(this.near);
    for (const id of this.rows.keys()) {
      if (!kept.has(id)) {
        this.rows.delete(id);
        this.stale.delete(id);
      }
    }
  }

  // --- events

  /// Numbers grow, so where all are listed by number the place of new ones is known.
  private takeNew(first: number, count: number) {
    const { words, search, alone, sort, descending } = this.wanted;
    const before = this.ids.value;
    const newest = before[descending ? 0 : before.length - 1] ?? 0;
    // While the numbers are on their way, or when some were missed, it is for the answer to tell.
    if (words.length > 0 || search !== "" || alone || sort !== "id" || this.reading || first !== newest + 1) {
      this.readSoon();
      return;
    }
    const fresh = Float64Array.from({ length: count }, (_, i) => (descending ? first + count - 1 - i : first + i));
    const next = new Float64Array(before.length + count);
    next.set(before, descending ? count : 0);
    next.set(fresh, descending ? 0 : before.length);
    this.setIds(next);
  }

  private setIds(next: Float64Array) {
    batch(() => {
      this.beforeChange(next);
      this.ids.value = next;
      this.ready.value = true;
      this.problem.value = "";
    });
  }

  private takeEvent(job: Job) {
    if (this.rows.has(job.id)) {
      this.told.set(job.id, job);
      this.frame ||= requestAnimationFrame(() => {
        this.frame = 0;
        batch(() => this.told.forEach((each) => this.put(each)));
        this.told.clear();
      });
    }
    const { words, search, alone, sort } = this.wanted;
    const mayMove = search !== "" || alone || (sort !== "id" && sort !== "submitted");
    if (mayMove || words.length > 0) {
      this.readSoon();
    }
  }
}
