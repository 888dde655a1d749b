// One sweep: its jobs with their parameters as columns, and what each value made of them.
import { useEffect, useMemo, useState } from "preact/hooks";
import { bytes, count, several, stateWord } from "../format";
import { act, type Verb } from "../job_actions";
import { Action, Empty, StateBadge } from "../parts/basics";
import { DataTable, type DataColumn } from "../parts/data_table";
import { confirm } from "../parts/dialog";
import { Segments } from "../parts/fields";
import { Elapsed, exitText } from "../parts/job_columns";
import { countStates, ended, StateBar, total, type StateCounts } from "../parts/state_bar";
import { link, route, setQuery } from "../router";
import { followSweep, type SweepJobs } from "../sweep_jobs";
import { useTitle } from "../title";
import { allStates, badStates, type Job } from "../types";
import { SweepValues } from "./sweep_values";

const kShortest = 72; // pixels of a column
const kLetter = 8.2;

/// As wide as its longest value, within bounds, so that scrolling never moves a column.
function parameterColumn(name: string, jobs: Job[]): DataColumn<Job> {
  let longest = name.length + 2;
  let numbers = true;
  for (const job of jobs) {
    const value = job.parameters?.[name];
    longest = Math.max(longest, value?.length ?? 0);
    numbers &&= value === undefined || Number.isFinite(Number(value));
  }
  return {
    key: `p:${name}`,
    title: name,
    width: Math.min(Math.max(longest * kLetter, kShortest), 240),
    right: numbers,
    value: (job) => job.parameters?.[name] ?? null,
  };
}

function columnsOf(parameters: string[], jobs: Job[]): DataColumn<Job>[] {
  return [
    {
      key: "id", title: "ID", width: 64, right: true, value: (job) => job.id,
      cell: (job) => <a href={link(["jobs", job.id])}>{job.id}</a>,
    },
    ...parameters.map((name) => parameterColumn(name, jobs)),
    {
      key: "state", title: "State", width: 138, value: (job) => job.state,
      cell: (job) => <StateBadge state={job.state} paused={job.paused} />,
    },
    {
      key: "duration", title: "Duration", width: 96, right: true,
      value: (job) => (job.started === null ? null : (job.ended ?? Date.now() / 1000) - job.started),
      cell: (job) => <Elapsed job={job} />,
    },
    {
      key: "peak", title: "Peak memory", width: 110, right: true, value: (job) => job.peak_memory_bytes ?? null,
      cell: (job) => (job.peak_memory_bytes ? bytes(job.peak_memory_bytes) : null),
    },
    { key: "exit", title: "Exit", width: 80, value: (job) => exitText(job) || null },
    {
      key: "command", title: "Command", width: 200, grow: 1, value: (job) => job.command,
      cell: (job) => <code title={job.command}>{job.command}</code>,
    },
  ];
}

interface ActionsProps {
  name: string;
  counts: StateCounts;
}

function SweepActions({ name, counts }: ActionsProps) {
  const sweep = `sweep=${name}`;
  const bad = badStates.filter((state) => counts[state]);
  const failed = bad.reduce((sum, state) => sum + counts[state]!, 0);
  const live = total(counts) - ended(counts);
  const rerun = () => act("rerun", [sweep, ...bad.map((state) => `state=${state}`)]);
  const all = (verb: Verb) => act(verb, [sweep]);
  const kill = async () => {
    const text = `${several(live, "job")} of ${name} will be ended: those that wait are cancelled, those that run are killed.`;
    if (await confirm("Kill this sweep?", text, `Kill ${count(live)}`, true)) {
      await all("kill");
    }
  };
  return (
    <div class="row push">
      <Action class="compact" disabled={failed === 0} run={rerun}>
        Rerun {failed > 0 ? count(failed) : "the"} failed
      </Action>
      <Action class="compact" disabled={!counts.queued} run={() => all("hold")}>
        Hold
      </Action>
      <Action class="compact" disabled={!counts.held} run={() => all("release")}>
        Release
      </Action>
      <Action class="compact danger" disabled={live === 0} run={kill}>
        Kill
      </Action>
    </div>
  );
}

function StateChips({ counts, state }: { counts: StateCounts; state: string }) {
  const shown = allStates.filter((one) => counts[one] || one === state);
  return (
    <div class="chips" role="group" aria-label="States">
      <button type="button" class="chip" aria-pressed={state === ""} onClick={() => setQuery({ state: "" })}>
        All <span class="chip-count">{count(total(counts))}</span>
      </button>
      {shown.map((one) => (
        <button
          key={one}
          type="button"
          class={`chip state-${one}`}
          aria-pressed={state === one}
          onClick={() => setQuery({ state: state === one ? "" : one })}
        >
          {stateWord(one)} <span class="chip-count">{count(counts[one] ?? 0)}</span>
        </button>
      ))}
    </div>
  );
}

export function SweepPage({ name }: { name: string }) {
  const [told, setTold] = useState<SweepJobs | null>(null);
  useEffect(() => followSweep(name, setTold), [name]);
  useTitle(`sweep ${name}`);
  const query = route.value.query;
  const state = query.get("state") ?? "";
  const byValue = query.get("show") === "values";
  const sort = { by: query.get("sort") ?? "id", descending: query.get("descending") === "1" };

  const jobs = useMemo(() => (told ? [...told.jobs.values()] : []), [told]);
  const counts = useMemo(() => countStates(jobs), [jobs]);
  const rows = useMemo(() => (state === "" ? jobs : jobs.filter((job) => job.state === state)), [jobs, state]);
  // Parameters and the widths of columns change when jobs come, not when they run.
  const columns = useMemo(() => {
    const parameters = [...new Set(jobs.flatMap((job) => Object.keys(job.parameters ?? {})))];
    return columnsOf(parameters, jobs);
  }, [jobs.length, name]);
  const sum = jobs.length;

  return (
    <div class="fill">
      <div class="page-head">
        <a href={link(["sweeps"])}>Sweeps</a>
        <h1 class="cut">
          <bdi>{name}</bdi>
        </h1>
        {sum > 0 && <SweepActions name={name} counts={counts} />}
      </div>
      {sum > 0 && (
        <>
          <div class="sweep-progress">
            <StateBar counts={counts} />
            <span class="muted small">
              {count(ended(counts))} of {count(sum)} ended{told?.complete ? "" : " · reading the rest …"}
            </span>
          </div>
          <div class="sweep-choices">
            <StateChips counts={counts} state={state} />
            <Segments
              label="Show"
              value={byValue ? "values" : "jobs"}
              set={(value) => setQuery({ show: value === "jobs" ? "" : value })}
              options={[
                { value: "jobs", name: "Jobs" },
                { value: "values", name: "By value" },
              ]}
            />
          </div>
        </>
      )}
      <section class="job-panel">
        {sum === 0 ? (
          <Empty>
            {told?.complete ? (
              <>
                There is no job of a sweep with this name. <a href={link(["add", "sweep"])}>Add a sweep</a>
              </>
            ) : (
              "…"
            )}
          </Empty>
        ) : byValue ? (
          <SweepValues jobs={rows} />
        ) : (
          <DataTable
            label={`Jobs of ${name}`}
            rows={rows}
            columns={columns}
            id={(job) => job.id}
            sort={sort}
            setSort={(next) =>
              setQuery({ sort: next.by === "id" ? "" : next.by, descending: next.descending ? "1" : "" })
            }
          />
        )}
      </section>
    </div>
  );
}
