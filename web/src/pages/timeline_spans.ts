// What the timeline shows: read for the time in view and some around it, and kept fresh by events.
import { get } from "../api";
import { knownJob, readJobs } from "../known_jobs";
import { listen } from "../live";
import type { View } from "../parts/gantt";
import { ranges } from "../parts/selection";
import { toastError } from "../parts/toast";
import { endedStates, type Job, type Span } from "../types";

const kMostSpans = 5000;
const kMostNamed = 500; // jobs of sweeps that are asked for at once
const kAll: View = { from: 0, to: 9e9 };
const kLeastPause = 1000; // milliseconds between readings while jobs come and go

export interface SpanStore {
  spans: Span[];
  truncated: boolean;
  ready: boolean;
  /// The user looks at this time now; null is all there is.
  show: (view: View | null) => void;
  stop: () => void;
}

function isEnded(state: string): boolean {
  return (endedStates as readonly string[]).includes(state);
}

/// What a job's event says about its newest attempt, before the daemon is asked about all.
function patched(spans: Span[], job: Job): Span[] {
  const others = spans.filter((span) => span.job !== job.id || (span.attempt !== job.attempt && span.state !== "expected"));
  const { id, attempt, name, project, sweep = "", user, gpus, started, state } = job;
  if (started === null || state === "held" || state === "queued") {
    return state === "queued" ? spans : others;
  }
  const to = isEnded(state) ? job.ended : (job.expected_end ?? null);
  return [...others, { job: id, attempt, name, project, sweep, user, gpus, from: started, to, state }];
}

/// Calls `changed` whenever there is something new to draw.
export function followSpans(changed: () => void): SpanStore {
  let wanted: View | null = null;
  let loaded: View | null = null; // what is drawn was read for this time
  let loading = false;
  let stale = false;
  let timer = 0;
  const abort = new AbortController();

  const covers = () => {
    if (!wanted || !loaded) {
      return wanted === null;
    }
    const inside = loaded.from <= wanted.from && loaded.to >= wanted.to;
    // Of a longer time only a part was told: a closer look shows more.
    const closer = store.truncated && wanted !== kAll && (wanted.to - wanted.from) * 4 < loaded.to - loaded.from;
    return inside && !closer;
  };

  const load = async () => {
    if (loading || !wanted || abort.signal.aborted) {
      return;
    }
    loading = true;
    stale = false;
    const length = wanted === kAll ? 0 : wanted.to - wanted.from;
    const range = { from: wanted.from - length, to: wanted.to + length };
    try {
      const query = { from: range.from.toFixed(3), to: range.to.toFixed(3), limit: kMostSpans };
      const answer = await get("/v1/timeline", query, abort.signal);
      store.spans = answer.spans;
      store.truncated = answer.truncated;
      store.ready = true;
      loaded = range;
      changed();
      await readParameters(answer.spans);
    } catch (error) {
      if (abort.signal.aborted) {
        return;
      }
      loaded = range; // not again before the user moves or something happens
      toastError(error);
    } finally {
      loading = false;
    }
    if (!covers() || stale) {
      later(covers() ? kLeastPause : 0);
    }
  };

  /// Spans tell the name that the jobs of a sweep share, not what tells them apart.
  const readParameters = async (spans: Span[]) => {
    const unknown = new Set(spans.filter((span) => span.sweep !== "" && !knownJob(span.job)).map((span) => span.job));
    const some = [...unknown].slice(0, kMostNamed);
    if (some.length > 0) {
      await readJobs({ select: ranges(some), all: true, limit: 1000 }, abort.signal);
      changed();
    }
  };

  const later = (pause: number) => {
    timer ||= window.setTimeout(() => {
      timer = 0;
      void load();
    }, pause);
  };

  const store: SpanStore = {
    spans: [],
    truncated: false,
    ready: false,
    show: (view) => {
      wanted = view ?? kAll;
      if (!covers() && !loading) {
        later(80);
      }
    },
    stop: () => {
      abort.abort();
      clearTimeout(timer);
      unlisten();
    },
  };

  const happened = () => {
    stale = true;
    later(kLeastPause);
  };
  const unlisten = listen({
    job: (job) => {
      store.spans = patched(store.spans, job);
      changed();
      happened();
    },
    submitted: happened,
    refresh: () => later(0),
  });
  return store;
}
