// All jobs in one table. The address keeps the view.
import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { get } from "../api";
import { several } from "../format";
import { JobList } from "../job_list";
import { listen, status } from "../live";
import { ForgetDialog } from "../parts/forget_dialog";
import { ColumnChoice, takeUsers } from "../parts/job_columns";
import { JobBar } from "../parts/job_bar";
import { JobFilters, wantedNow } from "../parts/job_filters";
import { JobTable } from "../parts/job_table";
import { Menu } from "../parts/menu";
import { nothing } from "../parts/selection";
import { StateBar } from "../parts/state_bar";
import { link, route, setQuery } from "../router";
import { useTitle } from "../title";
import type { Facets, State, SweepFacet } from "../types";

function isGrouped(): boolean {
  return route.value.query.get("group") === "sweep";
}

/// What there is to filter by. It changes slowly, so it is read when jobs come, not often.
function useFacets() {
  const facets = useSignal<Facets | null>(null);
  useEffect(() => {
    let timer = 0;
    const read = async () => {
      timer = 0;
      const found = await get("/v1/facets").catch(() => null);
      if (found) {
        facets.value = found;
        takeUsers(found);
      }
    };
    const soon = () => {
      timer ||= window.setTimeout(read, 3000);
    };
    const stop = listen({ refresh: () => void read(), submitted: soon, job: (job) => job.sweep && isGrouped() && soon() });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
  return facets.value;
}

/// Each sweep as one line; its jobs are on its page. The list below has the jobs of no sweep.
function SweepGroups({ sweeps, states }: { sweeps: SweepFacet[]; states: State[] }) {
  const project = route.value.query.get("project") ?? "";
  const shown = sweeps
    .filter((sweep) => project === "" || sweep.project === project)
    .filter((sweep) => states.length === 0 || states.some((state) => sweep.states[state]));
  return shown.length === 0 ? null : (
    <ul class="sweep-groups" aria-label="Sweeps">
      {shown.map((sweep) => (
        <li key={`${sweep.project}/${sweep.name}`}>
          <a class="cut" href={link(["sweeps", sweep.name])}>
            <bdi>{sweep.project ? `${sweep.project}/${sweep.name}` : sweep.name}</bdi>
          </a>
          <span class="muted small">{several(sweep.jobs, "job")}</span>
          <StateBar counts={sweep.states} />
        </li>
      ))}
    </ul>
  );
}

function NoJobs({ narrowed, first }: { narrowed: boolean; first: boolean }) {
  if (first) {
    return <p class="empty">Reading …</p>;
  }
  return narrowed ? (
    <p class="empty">
      No job matches.{" "}
      <button
        type="button"
        class="button compact"
        onClick={() => setQuery({ state: "", project: "", user: "", label: "", sweep: "", search: "", group: "" })}
      >
        Show all
      </button>
    </p>
  ) : (
    <p class="empty">
      There are no jobs yet. <a href="#/add/form">Add one here</a>, or type <code>berth submit python train.py</code>.
    </p>
  );
}

export function Jobs() {
  const list = useMemo(() => new JobList(), []);
  const facets = useFacets();
  const wanted = wantedNow();
  const what = JSON.stringify([wanted.words, wanted.search, wanted.alone]);
  useEffect(() => list.want(wanted), [what, wanted.sort, wanted.descending]);
  useEffect(() => list.open(), []);
  // A choice belongs to what is listed.
  const selection = useMemo(() => signal(nothing), [what]);

  const forgetting = useSignal(false);
  useTitle(list.ready.value ? several(list.ids.value.length, "job") : "Jobs");
  const narrowed = wanted.words.length > 0 || wanted.search !== "" || wanted.alone;
  const found = list.ids.value.length;
  const all = Object.values(status.value?.jobs ?? {}).reduce((sum, each) => sum + each, 0);
  return (
    <div class="jobs-page fill">
      <div class="page-head">
        <h1>Jobs</h1>
        <span class="muted" role="status">
          {list.ready.value && (narrowed && all > 0 ? `${several(found, "job")} of ${all.toLocaleString("en")}` : several(found, "job"))}
        </span>
        <span class="push" />
        <button type="button" class="button" onClick={() => (forgetting.value = true)}>
          Tidy up …
        </button>
        {forgetting.value && <ForgetDialog close={() => (forgetting.value = false)} />}
        <Menu name="Columns">
          <ColumnChoice />
        </Menu>
        <a class="button primary" href="#/add/form">
          Add jobs
        </a>
      </div>
      <JobFilters facets={facets} states={wanted.states} counts={list.states.value} />
      {list.problem.value && (
        <p class="notice bad" role="alert">
          The jobs cannot be listed: {list.problem.value}
        </p>
      )}
      <div class="job-panel">
        {wanted.alone && facets && <SweepGroups sweeps={facets.sweeps} states={wanted.states} />}
        {found === 0 ? (
          <NoJobs narrowed={narrowed} first={!list.ready.value} />
        ) : (
          <JobTable
            list={list}
            selection={selection}
            sort={{ by: wanted.sort, descending: wanted.descending }}
            setSort={(sort) => setQuery({ sort: sort.by, descending: sort.descending ? "1" : "" })}
          />
        )}
        <JobBar list={list} selection={selection} wanted={wanted} />
      </div>
    </div>
  );
}
