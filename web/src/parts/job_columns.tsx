// The columns of the table of jobs, and which of them the user wants to see.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { get } from "../api";
import { bytes, clock, count, duration, energy, firstLine, pairs, relative, short } from "../format";
import { now, status } from "../live";
import { clusterOf, shortNodeText } from "../places";
import { link } from "../router";
import type { Facets, Job } from "../types";
import { Parameters, StateBadge } from "./basics";

export interface Column {
  key: string;
  title: string;
  width: number; // at least, in pixels
  grow?: number;
  right?: boolean;
  sort?: string; // as the daemon calls it
  descendingFirst?: boolean;
  cell: (job: Job) => ComponentChildren;
}

/// uid → name, as far as it is known.
const userNames = signal<ReadonlyMap<number, string>>(new Map());
let namesAsked = false;

export function takeUsers(facets: Facets) {
  namesAsked = true;
  userNames.value = new Map(facets.users.map((user) => [user.uid, user.name]));
}

export function userName(uid: number): string {
  const own = status.value?.uid === uid ? status.value.user : undefined;
  const known = userNames.value.get(uid) || own;
  if (!known && !namesAsked) {
    namesAsked = true;
    void get("/v1/facets").then(takeUsers, () => undefined);
  }
  return known ?? `user ${uid}`;
}

/// How long it ran, or has run so far.
export function Elapsed({ job }: { job: Job }) {
  if (job.started === null) {
    return null;
  }
  const end = job.ended ?? now.value;
  return <>{duration(job.ended === null ? Math.floor(end - job.started) : end - job.started)}</>;
}

export function StartsIn({ job }: { job: Job }) {
  return job.expected_start && job.state === "queued" ? <>{relative(job.expected_start, now.value)}</> : null;
}

export function deviceText(job: Job): string {
  const wanted = job.gpus_needed === 0 ? "no GPU" : `${count(job.gpus_needed)} × GPU`;
  const cluster = clusterOf(job);
  if (cluster !== "") {
    return `${cluster} ${job.node === undefined ? wanted : shortNodeText(job)}`;
  }
  return job.gpus.length > 0 ? `GPU ${job.gpus.join(", ")}` : wanted;
}

/// With all of it under the pointer, as a cluster's names may be long.
export function Devices({ job }: { job: Job }) {
  const text = deviceText(job);
  return clusterOf(job) === "" ? <>{text}</> : <span title={job.slurm_job ? `${text} (Slurm’s job ${job.slurm_job})` : text}>{text}</span>;
}

/// "exit 3", "signal 9"
export function exitText(end: { exit_code: number | null; signal: number | null }): string {
  return end.signal !== null ? `signal ${end.signal}` : end.exit_code !== null ? `exit ${end.exit_code}` : "";
}

export function Name({ job }: { job: Job }) {
  return (
    <a class="named job-name" href={link(["jobs", job.id])} tabIndex={-1} title={job.command}>
      <span class="cut">
        {job.project && (
          <span class="muted">
            <bdi>{job.project}</bdi>/
          </span>
        )}
        <bdi>{job.name || firstLine(job.command)}</bdi>
      </span>
      <Parameters job={job} />
    </a>
  );
}

export const columns: Column[] = [
  { key: "id", title: "ID", width: 64, right: true, sort: "id", descendingFirst: true, cell: (job) => job.id },
  { key: "name", title: "Name", width: 180, grow: 2, sort: "name", cell: (job) => <Name job={job} /> },
  {
    key: "state", title: "State", width: 138, sort: "state",
    cell: (job) => <StateBadge state={job.state} paused={job.paused} />,
  },
  { key: "command", title: "Command", width: 180, grow: 3, cell: (job) => <code>{firstLine(job.command)}</code> },
  { key: "gpus", title: "Devices", width: 112, grow: 0.4, cell: (job) => <Devices job={job} /> },
  { key: "user", title: "User", width: 90, cell: (job) => userName(job.user) },
  { key: "priority", title: "Priority", width: 76, right: true, sort: "priority", cell: (job) => job.priority ?? 0 },
  { key: "starts", title: "Starts", width: 100, cell: (job) => <StartsIn job={job} /> },
  {
    key: "submitted", title: "Submitted", width: 148, sort: "submitted", descendingFirst: true,
    cell: (job) => clock(job.submitted),
  },
  {
    key: "started", title: "Started", width: 148, sort: "started", descendingFirst: true,
    cell: (job) => job.started !== null && clock(job.started),
  },
  {
    key: "ended", title: "Ended", width: 148, sort: "ended", descendingFirst: true,
    cell: (job) => job.ended !== null && clock(job.ended),
  },
  {
    key: "duration", title: "Duration", width: 90, right: true, sort: "duration", descendingFirst: true,
    cell: (job) => <Elapsed job={job} />,
  },
  {
    key: "peak", title: "Peak", width: 84, right: true, sort: "peak", descendingFirst: true,
    cell: (job) => (job.peak_memory_bytes ? bytes(job.peak_memory_bytes) : null),
  },
  { key: "mem", title: "Claim", width: 84, right: true, cell: (job) => (job.mem ? bytes(job.mem) : null) },
  { key: "exit", title: "Exit", width: 80, cell: exitText },
  { key: "reason", title: "Reason", width: 160, grow: 2, cell: (job) => job.reason },
  { key: "attempt", title: "Attempt", width: 68, right: true, cell: (job) => job.attempt || null },
  {
    key: "gpu_hours", title: "GPU-hours", width: 90, right: true,
    cell: (job) => (job.gpu_seconds ? short(job.gpu_seconds / 3600) : null),
  },
  {
    key: "energy", title: "Energy", width: 84, right: true,
    cell: (job) => (job.energy_j ? energy(job.energy_j) : null),
  },
  { key: "sweep", title: "Sweep", width: 110, grow: 1, cell: (job) => job.sweep },
  { key: "parameters", title: "Parameters", width: 140, grow: 1, cell: (job) => pairs(job.parameters) },
  { key: "labels", title: "Labels", width: 120, grow: 1, cell: (job) => pairs(job.labels) },
];

const kColumns = "berth-columns";
const usual = ["id", "name", "state", "gpus", "submitted", "duration", "peak", "starts", "exit"];
const wide = [...usual, "command", "user"];

function stored(): string[] {
  try {
    const keys: unknown = JSON.parse(localStorage.getItem(kColumns) ?? "null");
    return Array.isArray(keys) ? keys.filter((key) => typeof key === "string") : innerWidth < 1700 ? usual : wide;
  } catch {
    return usual;
  }
}

const chosen = signal(stored());
export const shownColumns = signal(columns.filter((column) => chosen.value.includes(column.key)));

export function showColumn(key: string, shown: boolean) {
  chosen.value = shown ? [...chosen.value, key] : chosen.value.filter((other) => other !== key);
  localStorage.setItem(kColumns, JSON.stringify(chosen.value));
  shownColumns.value = columns.filter((column) => chosen.value.includes(column.key));
}

export function ColumnChoice() {
  return (
    <fieldset class="column-choice">
      <legend class="hidden-text">Columns</legend>
      {columns.map((column) => (
        <label key={column.key} class="row">
          <input
            type="checkbox"
            checked={chosen.value.includes(column.key)}
            disabled={column.key === "name"}
            onChange={(event) => showColumn(column.key, event.currentTarget.checked)}
          />
          {column.title}
        </label>
      ))}
    </fieldset>
  );
}
