// What the daemon tells, as docs/openapi.yaml describes it: only the fields that the page uses.

export const waitingStates = ["held", "queued"] as const;
export const runningStates = ["starting", "running"] as const;
export const endedStates = ["succeeded", "failed", "cancelled", "timed_out", "oom", "lost"] as const;
export const allStates = [...waitingStates, ...runningStates, ...endedStates] as const;
export type State = (typeof allStates)[number];

export interface Status {
  pid: number;
  policy: string;
  placement?: string;
  paused: boolean;
  gpus: number;
  listen: string;
  home: string;
  hostname?: string;
  uid?: number;
  user?: string;
  version_text?: string;
  started?: number;
  jobs: Record<State, number>;
  load?: Load; // not of older daemons
}

/// How the daemon itself does.
export interface Load {
  longest_turn_s: number;
  longest_turn: string;
  longest_turn_lately_s: number;
  slow_turns: number;
  memory_bytes: number;
  users: { user: string; connections: number; most_connections: number }[];
}

/// Fields that were not asked for are left out.
export interface Job {
  id: number;
  name: string;
  project: string;
  user: number;
  state: State;
  attempt: number;
  gpus_needed: number;
  gpus: string[];
  pid: number | null;
  exit_code: number | null;
  signal: number | null;
  reason: string | null;
  submitted: number;
  started: number | null;
  ended: number | null;
  log: string | null;
  command: string;
  directory: string;
  output?: string;
  error?: string;
  sweep?: string;
  mem?: number;
  claim?: string;
  share?: number;
  mps?: boolean;
  thread_percentage?: number;
  profile_s?: number;
  model?: string;
  only?: string[];
  exclude?: string[];
  prefer?: string[];
  priority?: number;
  weight?: number;
  timeout_s?: number;
  expected_s?: number;
  begin?: number;
  retries?: number;
  backoff_s?: number;
  retry_on?: string[];
  after?: string[];
  labels?: Record<string, string>;
  parameters?: Record<string, string>;
  array_index?: number;
  warning_signal?: number;
  warning_before_s?: number;
  requeue_when_lost?: boolean;
  paused?: boolean;
  expected_start?: number;
  expected_end?: number;
  peak_memory_bytes?: number;
  gpu_seconds?: number;
  energy_j?: number;
}

export interface Attempt {
  attempt: number;
  gpus: string[];
  pid: number | null;
  started: number | null;
  ended: number | null;
  outcome: State | null;
  exit_code: number | null;
  signal: number | null;
  reason: string | null;
  peak_memory_bytes: number;
  peak_memory_bytes_by_gpu: number[];
  log: string;
  error_log: string;
}

/// GET /v1/jobs/{id}
export interface FullJob extends Job {
  why?: string;
  attempts?: Attempt[];
  environment?: string[];
}

export interface DeviceJob {
  id: number;
  claim_bytes: number;
  share: number;
  used_bytes: number;
}

export interface Device {
  name: string;
  uuid: string;
  model: string;
  health: "ok" | "drained" | "lost" | "removed";
  memory_bytes: number;
  foreign_bytes: number;
  claimed_bytes: number;
  used_bytes?: number;
  utilization_percent?: number;
  power_w?: number;
  power_limit_w?: number;
  energy_j?: number;
  temperature_c?: number;
  jobs: DeviceJob[];
}

export interface DeviceList {
  devices: Device[];
  sources: string[];
}

type Series = (number | null)[];

export interface DeviceHistory {
  from: number;
  interval_s: number;
  devices: {
    name: string;
    utilization_percent: Series;
    used_bytes: Series;
    power_w: Series;
    temperature_c: Series;
  }[];
}

export interface Usage {
  attempt: number;
  times: number[];
  devices: { name: string; memory_bytes: Series; utilization_percent: Series }[];
}

export interface Facets {
  projects: { name: string; jobs: number }[];
  users: { uid: number; name: string; jobs: number }[];
  labels: { key: string; value: string; jobs: number }[];
  sweeps: {
    name: string;
    project: string;
    jobs: number;
    first: number;
    last: number;
    states: Partial<Record<State, number>>;
  }[];
}

export interface Span {
  job: number;
  attempt: number;
  name: string;
  project: string;
  sweep: string;
  user: number;
  gpus: string[];
  from: number;
  to: number | null;
  state: State | "expected";
}

export interface Timeline {
  now: number;
  truncated: boolean;
  spans: Span[];
}

export interface Totals {
  gpu_seconds: number;
  energy_j: number;
  started: number;
  ended: Partial<Record<State, number>>;
}

/// Without a line: with the whole.
export interface Problem {
  line?: number; // from 1, as the column
  column?: number;
  message: string;
}

/// POST /v1/texts/check
export interface Draft {
  count: number;
  jobs: Partial<Job>[];
  problems: Problem[];
}

export interface PolicyList {
  policies: { name: string; about: string; live: boolean }[];
  placements: string[];
}

export interface WhatIfResult {
  policy: string;
  jobs: number;
  mean_completion_s: number;
  mean_wait_s: number;
  p99_wait_s: number;
  mean_bounded_slowdown: number;
  makespan_s: number;
  utilization: number;
  energy_j: number; // 0 where it is not known
  spans?: { job: number; gpus: string[]; from: number; to: number }[];
}

export interface Done {
  done: number;
  refused: number;
  reasons: string[];
}
