// All jobs in one table. The address keeps the view.
import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { get } from "../api";
import { several } from "../format";
import { JobList } from "../job_list";
import { listen, status } from "../live";
import { ColumnChoice, takeUsers } from "../parts/job_columns";
import { JobBar } from "../parts/job_bar";
import { JobFilters, wantedNow } from "../parts/job_filters";
import { JobTable } from "../parts/job_table";
import { Menu } from "../parts/menu";
import { nothing } from "../parts/selection";
import { setQuery } from "../router";
import type { Facets } from "../types";

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
    const stop = listen({ refresh: () => void read(), submitted: soon });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
  return facets.value;
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
        onClick={() => setQuery({ state: "", project: "", user: "", label: "", sweep: "", search: "" })}
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
  const what = JSON.stringify([wanted.words, wanted.search]);
  useEffect(() => list.open(), []);
  useEffect(() => list.want(wanted), [what, wanted.sort, wanted.descending]);
  // A choice belongs to what is listed.
  const selection = useMemo(() => signal(nothing), [what]);

  const narrowed = wanted.words.length > 0 || wanted.search !== "";
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
