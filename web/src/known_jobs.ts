// Jobs as last told, so that a page has them at once and they stay fresh. Bounded: the oldest go.
// An answer that was on its way while an event told of one of its jobs is older than the event: what
// it says of that job must not replace what is known, for no further event would put it right.
import { get, type Query } from "./api";
import type { Job, JobPage } from "./types";

const kMostJobs = 5000;
const known = new Map<number, Job>();
/// One for each answer on its way: what events have told since it was asked for.
const awaited = new Set<{ told: Map<number, Job>; old: boolean }>();

export function knownJob(id: number): Job | undefined {
  return known.get(id);
}

export function remember(jobs: Job[]) {
  for (const job of jobs) {
    known.delete(job.id);
    known.set(job.id, job);
  }
  for (const id of known.keys()) {
    if (known.size <= kMostJobs) {
      break;
    }
    known.delete(id);
  }
}

/// An event told of it.
export function takeTold(job: Job) {
  remember([job]);
  awaited.forEach((answer) => answer.told.set(job.id, job));
}

/// Events were missed: nothing that was known, or asked for until now, is sure to be so still.
export function forgetKnown() {
  known.clear();
  awaited.forEach((answer) => (answer.old = true));
}

/// A page of jobs as the daemon lists them, each in its newest known state, and remembered.
export async function readJobs(query: Query, abort?: AbortSignal): Promise<JobPage> {
  const answer = { told: new Map<number, Job>(), old: false };
  awaited.add(answer);
  try {
    const page = await get("/v1/jobs", query, abort);
    const jobs = page.jobs.map((job) => answer.told.get(job.id) ?? job);
    if (!answer.old) {
      remember(jobs);
    }
    return { ...page, jobs };
  } finally {
    awaited.delete(answer);
  }
}
