// The sweeps, the newest first.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api";
import { count } from "../format";
import { listen } from "../live";
import { Empty } from "../parts/basics";
import { ended, StateBar } from "../parts/state_bar";
import { toastError } from "../parts/toast";
import { link } from "../router";
import { useTitle } from "../title";
import type { SweepFacet } from "../types";

const kPause = 500; // milliseconds between readings while jobs come and go

function SweepRow({ sweep }: { sweep: SweepFacet }) {
  const bad = (sweep.states.failed ?? 0) + (sweep.states.oom ?? 0) + (sweep.states.timed_out ?? 0) + (sweep.states.lost ?? 0);
  return (
    <tr>
      <td class="sweep-name">
        <a href={link(["sweeps", sweep.name])}>
          <bdi>{sweep.name}</bdi>
        </a>
      </td>
      <td class="sweep-name muted wide-only">
        <bdi>{sweep.project}</bdi>
      </td>
      <td class="right">{count(sweep.jobs)}</td>
      <td class="sweep-bar">
        <StateBar counts={sweep.states} />
      </td>
      <td class="right nowrap">{Math.floor((100 * ended(sweep.states)) / Math.max(sweep.jobs, 1))} %</td>
      <td class="right wide-only">{bad > 0 ? <span class="state-failed">{count(bad)}</span> : ""}</td>
    </tr>
  );
}

export function Sweeps() {
  useTitle("Sweeps");
  const [sweeps, setSweeps] = useState<SweepFacet[] | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    const read = async () => {
      timer = 0;
      try {
        setSweeps((await get("/v1/facets", undefined, abort.signal)).sweeps);
      } catch (error) {
        if (!abort.signal.aborted) {
          toastError(error);
        }
      }
    };
    const later = (pause: number) => {
      timer ||= window.setTimeout(() => void read(), pause);
    };
    const stop = listen({
      job: (job) => job.sweep && later(kPause),
      submitted: () => later(kPause),
      refresh: () => later(0),
    });
    return () => {
      stop();
      abort.abort();
      clearTimeout(timer);
    };
  }, []);

  return (
    <>
      <div class="page-head">
        <h1>Sweeps</h1>
        <a class="button push" href={link(["add", "sweep"])}>
          Add a sweep
        </a>
      </div>
      <section class="card">
        {sweeps === null ? (
          <Empty>…</Empty>
        ) : sweeps.length === 0 ? (
          <Empty>
            There is no sweep yet. <a href={link(["add", "sweep"])}>Build one here</a>, or type{" "}
            <code>berth sweep 'train.py --lr {"{lr}"}' -p lr 0.1 0.01 --submit --name lr-search</code>
          </Empty>
        ) : (
          <div class="scroll-x" tabIndex={0} role="region" aria-label="Sweeps">
            <table class="plain sweeps-table">
              <thead>
                <tr>
                  <th>Name</th>
                  <th class="wide-only">Project</th>
                  <th class="right">Jobs</th>
                  <th>States</th>
                  <th class="right">Ended</th>
                  <th class="right wide-only">Failed</th>
                </tr>
              </thead>
              <tbody>
                {sweeps.map((sweep) => (
                  <SweepRow key={`${sweep.project}/${sweep.name}`} sweep={sweep} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </section>
    </>
  );
}
