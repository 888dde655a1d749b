// All jobs of a sweep, kept fresh by events.
import { get } from "./api";
import { listen } from "./live";
import { toastError } from "./parts/toast";
import type { Job, JobPage } from "./types";

/// Milliseconds between renderings: events may come by the hundred, and a large sweep is sorted anew.
function pauseFor(jobs: number): number {
  return Math.max(40, jobs / 100);
}

export interface SweepJobs {
  jobs: Map<number, Job>;
  complete: boolean; // all pages are here
}

/// For useEffect: returns how to stop. `tell` gets a new object whenever something changed.
export function followSweep(name: string, tell: (jobs: SweepJobs) => void): () => void {
  const jobs = new Map<number, Job>();
  let complete = false;
  let timer = 0;
  let reading: AbortController | null = null;
  const told = new Set<number>(); // by events, while an answer is on its way that may be older

  const changed = () => {
    timer ||= window.setTimeout(() => {
      timer = 0;
      tell({ jobs, complete });
    }, pauseFor(jobs.size));
  };

  const read = async (after: number) => {
    reading?.abort();
    const mine = new AbortController();
    reading = mine;
    told.clear();
    try {
      for (let next: number | undefined = after; next !== undefined; ) {
        const query = { select: `sweep=${name}`, all: true, limit: 1000, after: next };
        const page: JobPage = await get("/v1/jobs", query, mine.signal);
        for (const job of page.jobs.filter((each) => !told.has(each.id))) {
          jobs.set(job.id, job);
        }
        next = page.next;
        changed();
      }
      complete = true;
      changed();
    } catch (error) {
      if (!mine.signal.aborted) {
        toastError(error);
      }
    }
  };

  const unlisten = listen({
    job: (job) => {
      if (job.sweep === name) {
        told.add(job.id);
        jobs.set(job.id, job);
        changed();
      }
    },
    submitted: ({ first }) => void read(complete ? first - 1 : 0),
    refresh: () => {
      jobs.clear();
      void read(0);
    },
  });
  return () => {
    unlisten();
    reading?.abort();
    clearTimeout(timer);
  };
}
