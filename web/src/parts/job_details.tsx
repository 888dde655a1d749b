// What is known of one job: its history, what it asked for, its attempts and its environment.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { bytes, clock, count, duration, energy, relative, several, short } from "../format";
import { now } from "../live";
import { clusterOf, nodeText } from "../places";
import { link } from "../router";
import { runningStates, type Attempt, type SeenJob } from "../types";
import { StateBadge } from "./basics";
import { exitText, userName } from "./job_columns";
import { toast, toastError } from "./toast";

export function CopyButton({ text, label }: { text: string; label: string }) {
  return (
    <button
      type="button"
      class="button compact"
      aria-label={label}
      onClick={() => navigator.clipboard.writeText(text).then(() => toast("Copied"), toastError)}
    >
      Copy
    </button>
  );
}

// --- history

function Step({ time, children }: { time: number | null; children: ComponentChildren }) {
  return (
    <li>
      <time class="muted small" dateTime={time === null ? undefined : new Date(time * 1000).toISOString()}>
        {time === null ? "" : clock(time)}
      </time>
      <div>{children}</div>
    </li>
  );
}

function on(attempt: Attempt, job: SeenJob): string {
  if (clusterOf(job) !== "" && attempt.attempt === job.attempt && job.node !== undefined) {
    return ` on ${clusterOf(job)}, ${nodeText(job)}`;
  }
  return attempt.gpus.length > 0 ? ` on GPU ${attempt.gpus.join(", ")}` : "";
}

function AttemptSteps({ attempt, job, many }: { attempt: Attempt; job: SeenJob; many: boolean }) {
  const exit = exitText(attempt);
  return (
    <>
      <Step time={attempt.started}>
        {many ? `Attempt ${attempt.attempt} started` : "Started"}
        {on(attempt, job)}
      </Step>
      {attempt.outcome && (
        <Step time={attempt.ended}>
          <StateBadge state={attempt.outcome} />
          {exit && <span class="muted"> {exit}</span>}
          {attempt.started !== null && attempt.ended !== null && (
            <span class="muted"> after {duration(attempt.ended - attempt.started)}</span>
          )}
          {attempt.reason && <div class="small muted any">{attempt.reason}</div>}
        </Step>
      )}
    </>
  );
}

/// Between which times it starts, where that is known.
function StartRange({ job }: { job: SeenJob }) {
  const { expected_start_from: from, expected_start_to: to, expected_start_coverage: share } = job;
  if (from === undefined || to === undefined || share === undefined) {
    return null;
  }
  return (
    <span class="muted">
      {" "}
      ({Math.round(share * 100)} % of such jobs: {clock(from, now.value)}–{clock(to, now.value)})
    </span>
  );
}

/// What it does at present, where that is not its end.
function Now({ job }: { job: SeenJob }) {
  if (job.state === "held") {
    return <Step time={null}>Held: it waits until it is released.</Step>;
  }
  if (job.state === "queued") {
    const starts = job.expected_start;
    return (
      <Step time={null}>
        Waits{starts !== undefined && <>, expected to start {relative(starts, now.value)}</>}
        <StartRange job={job} />
      </Step>
    );
  }
  if (job.started === null || !(runningStates as readonly string[]).includes(job.state)) {
    return null;
  }
  const elapsed = Math.max(0, Math.floor(now.value - job.started));
  const end = job.expected_end ?? (job.expected_s ? job.started + job.expected_s : undefined);
  return (
    <Step time={null}>
      {job.paused ? "Paused; started" : "Running for"} {duration(elapsed)}
      {job.paused && " ago"}
      {end !== undefined && <span class="muted">, expected end {relative(end, now.value)}</span>}
    </Step>
  );
}

const kSteps = 4; // attempts whose steps are shown; the table has all

export function History({ job }: { job: SeenJob }) {
  const attempts = job.attempts ?? [];
  const hidden = Math.max(0, attempts.length - kSteps);
  return (
    <section class="card" aria-labelledby="history-head">
      <h2 id="history-head">History</h2>
      <ol class="history">
        <Step time={job.submitted}>Submitted by {userName(job.user)}</Step>
        {hidden > 0 && <Step time={null}>{several(hidden, "earlier attempt")}</Step>}
        {attempts.slice(-kSteps).map((attempt) => (
          <AttemptSteps key={attempt.attempt} attempt={attempt} job={job} many={attempts.length > 1} />
        ))}
        <Now job={job} />
      </ol>
    </section>
  );
}

// --- facts

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  const empty = children === null || children === undefined || children === false || children === "";
  return empty ? null : (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

const afterWords: Record<string, string> = { ok: "has succeeded", any: "has ended", notok: "has not succeeded" };

function Dependency({ text }: { text: string }) {
  const [kind, id] = text.includes(":") ? text.split(":") : ["ok", text];
  return (
    <div>
      <a href={link(["jobs", id!])}>job {id}</a> {afterWords[kind!]}
    </div>
  );
}

function claimText(job: SeenJob): string {
  if (job.claim === "off") {
    return "its devices alone";
  }
  return job.mem ? `${bytes(job.mem)} on each GPU` : "as learned, or its devices alone";
}

function needs(job: SeenJob): string[] {
  const parts = [job.gpus_needed === 0 ? "no GPU" : several(job.gpus_needed, "GPU")];
  const add = (value: unknown, text: string) => value && parts.push(text);
  add(job.model, `model “${job.model}”`);
  add(job.only?.length, `only on ${job.only?.join(", ")}`);
  add(job.exclude?.length, `not on ${job.exclude?.join(", ")}`);
  add(job.prefer?.length, `rather on ${job.prefer?.join(", ")}`);
  add(job.share, `${(job.share ?? 0) / 10} % of the compute`);
  add(job.mps, `through MPS${job.thread_percentage ? `, ${job.thread_percentage} % of the threads` : ""}`);
  return parts;
}

/// Only of a job that is not for this machine alone.
function place(job: SeenJob): string {
  if (job.on === "auto") {
    return "here if it starts soon, else on a cluster";
  }
  const cluster = clusterOf(job);
  return cluster && [`cluster ${cluster}`, nodeText(job), job.slurm_job && `Slurm’s job ${job.slurm_job}`].filter(Boolean).join(", ");
}

function Pairs({ values, words }: { values: Record<string, string>; words: (key: string, value: string) => string | null }) {
  return (
    <ul class="pairs">
      {Object.entries(values).map(([key, value]) => {
        const href = words(key, value);
        const text = `${key}=${value}`;
        return (
          <li key={key} class="any">
            {href ? <a href={href}>{text}</a> : text}
          </li>
        );
      })}
    </ul>
  );
}

export function Facts({ job }: { job: SeenJob }) {
  const retries = job.retries
    ? `${count(job.retries)}${job.retry_on ? ` when ${job.retry_on.join(" or ").replace("timed_out", "timed out")}` : ""}`
    : "";
  return (
    <section class="card" aria-labelledby="facts-head">
      <h2 id="facts-head">Details</h2>
      <dl class="facts">
        <Fact name="Where">{place(job)}</Fact>
        <Fact name="Options for Slurm">{job.cluster_options && <code>{job.cluster_options.join(" ")}</code>}</Fact>
        <Fact name="PID">{job.pid}</Fact>
        <Fact name="Exit">{job.ended !== null && exitText(job)}</Fact>
        <Fact name="Reason">{job.reason}</Fact>
        <Fact name="Peak memory">{job.peak_memory_bytes ? bytes(job.peak_memory_bytes) : null}</Fact>
        <Fact name="GPU time">{job.gpu_seconds ? `${short(job.gpu_seconds / 3600)} GPU-hours` : null}</Fact>
        <Fact name="Energy">{job.energy_j ? energy(job.energy_j) : null}</Fact>
        <Fact name="Needs">{needs(job).join(", ")}</Fact>
        <Fact name="Claim">{job.gpus_needed > 0 && claimText(job)}</Fact>
        <Fact name="Priority">{String(job.priority ?? 0)}</Fact>
        <Fact name="Weight">{job.weight !== undefined && short(job.weight)}</Fact>
        <Fact name="Time limit">{job.timeout_s ? duration(job.timeout_s) : null}</Fact>
        <Fact name="Expected">{job.expected_s ? duration(job.expected_s) : null}</Fact>
        <Fact name="Not before">{job.begin ? clock(job.begin) : null}</Fact>
        <Fact name="Retries">{retries}</Fact>
        <Fact name="Array index">{job.array_index !== undefined && String(job.array_index)}</Fact>
        <Fact name="After">{job.after && job.after.map((text) => <Dependency key={text} text={text} />)}</Fact>
        <Fact name="Sweep">{job.sweep && <a href={link(["sweeps", job.sweep])}>{job.sweep}</a>}</Fact>
        <Fact name="Parameters">{job.parameters && <Pairs values={job.parameters} words={() => null} />}</Fact>
        <Fact name="Labels">
          {job.labels && (
            <Pairs values={job.labels} words={(key, value) => link(["jobs"], { label: `${key}=${value}` })} />
          )}
        </Fact>
        <Fact name="Directory">
          <code>{job.directory}</code>
        </Fact>
        <Fact name="Log file">{job.log && <code>{job.log}</code>}</Fact>
      </dl>
    </section>
  );
}

export function Command({ job }: { job: SeenJob }) {
  return (
    <section class="card command" aria-labelledby="command-head">
      <div class="row">
        <h2 id="command-head">Command</h2>
        <span class="push" />
        <CopyButton text={job.command} label="Copy the command" />
      </div>
      <pre tabIndex={0} aria-label="Command">{job.command}</pre>
    </section>
  );
}

export function Attempts({ attempts }: { attempts: Attempt[] }) {
  return (
    <section class="card" aria-labelledby="attempts-head">
      <h2 id="attempts-head">Attempts</h2>
      <div class="scroll-x" tabIndex={0} role="group" aria-label="Attempts">
        <table class="plain attempts">
          <thead>
            <tr>
              {["", "Outcome", "Devices", "PID", "Started", "Ran", "Exit", "Peak", "Reason"].map((head) => (
                <th key={head} scope="col">
                  {head || <span class="hidden-text">Number</span>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {attempts
              .slice()
              .reverse()
              .map((one) => (
                <tr key={one.attempt}>
                  <td>{one.attempt}</td>
                  <td>
                    <StateBadge state={one.outcome ?? "running"} />
                  </td>
                  <td>{one.gpus.join(", ") || "–"}</td>
                  <td>{one.pid ?? "–"}</td>
                  <td>{one.started === null ? "–" : clock(one.started)}</td>
                  <td>{one.started === null ? "–" : duration(Math.floor(((one.ended ?? now.value) - one.started) * 10) / 10)}</td>
                  <td>{exitText(one) || "–"}</td>
                  <td>{one.peak_memory_bytes ? bytes(one.peak_memory_bytes) : "–"}</td>
                  <td class="any reason">{one.reason}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function Environment({ list }: { list: string[] }) {
  const [filter, setFilter] = useState("");
  const shown = list.filter((pair) => pair.toLowerCase().includes(filter.toLowerCase())).sort();
  return (
    <details class="card environment">
      <summary>
        <h2>Environment</h2> <span class="muted small">{several(list.length, "variable")}, secrets masked</span>
      </summary>
      <input
        type="search"
        placeholder="Filter"
        aria-label="Filter the environment"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      <dl>
        {shown.map((pair) => {
          const at = pair.indexOf("=");
          return (
            <div key={pair}>
              <dt>
                <code>{pair.slice(0, at)}</code>
              </dt>
              <dd>
                <code>{pair.slice(at + 1)}</code>
              </dd>
            </div>
          );
        })}
      </dl>
      {shown.length === 0 && <p class="muted">Nothing matches.</p>}
    </details>
  );
}
