// One job: its state and how it came to it, its use of the devices, its log, and what can be done.
import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ApiError, get } from "../api";
import { clock, duration, firstLine, stateWord } from "../format";
import { actOn, deeds, fits, type Verb } from "../job_actions";
import { knownJob, remember } from "../known_jobs";
import { listen } from "../live";
import { Action, Parameters, StateBadge } from "../parts/basics";
import { EditDialog } from "../parts/edit_dialog";
import { Attempts, Command, Environment, Facts, History } from "../parts/job_details";
import { LogView } from "../parts/log_view";
import { UsageCharts } from "../parts/usage_chart";
import { Verdict } from "../parts/verdict";
import { link } from "../router";
import { useTitle } from "../title";
import { endedStates, type SeenJob } from "../types";

function hasEnded(job: SeenJob): boolean {
  return (endedStates as readonly string[]).includes(job.state);
}

/// As `berth why` says it.
function promiseWords({ start, length_s, window_s, passed_until }: NonNullable<SeenJob["promise"]>): string {
  if (start !== undefined) {
    return `it starts by ${clock(start)} at the latest, unless running jobs take longer than expected`;
  }
  const length = length_s === undefined ? "unknown length" : `its length (about ${duration(length_s)})`;
  return `a job of ${length} is passed only by jobs of its owner and priority that are submitted within ${duration(window_s ?? 0)} of it, that is until ${clock(passed_until ?? 0)}`;
}

/// Those that undo each other have one place.
function verbsFor(job: SeenJob): Verb[] {
  return ["kill", job.paused ? "resume" : "pause", job.state === "held" ? "release" : "hold", "rerun"];
}

function useJob(id: number) {
  const job = useSignal<SeenJob | null>(knownJob(id) ?? null);
  const problem = useSignal("");
  useEffect(() => {
    let timer = 0;
    let told = 0; // counts events, which are newer than an answer that was on its way
    const read = async () => {
      const before = told;
      try {
        const found = await get(`/v1/jobs/${id}`);
        problem.value = "";
        if (before === told) {
          job.value = found;
          remember([found]);
        }
      } catch (error) {
        const gone = error instanceof ApiError && error.status === 404;
        problem.value = gone ? "gone" : (error as Error).message;
      }
    };
    const soon = () => {
      timer ||= window.setTimeout(() => {
        timer = 0;
        void read();
      }, 30);
    };
    const stop = listen({
      refresh: () => void read(),
      job: (next) => {
        if (next.id === id) {
          told += 1;
          const { attempts, environment } = job.value ?? {};
          job.value = { attempts, environment, ...next };
          soon();
        }
      },
    });
    // Why it waits, when it will start and what it has used change without an event.
    const regularly = setInterval(() => {
      if (job.value && !hasEnded(job.value)) {
        soon();
      }
    }, 3000);
    return () => {
      stop();
      clearTimeout(timer);
      clearInterval(regularly);
    };
  }, [id]);
  return { job: job.value, problem: problem.value };
}

function Head({ job }: { job: SeenJob }) {
  const [editing, setEditing] = useState(false);
  return (
    <div class="page-head job-title">
      <div class="job-heading">
        <h1>
          {job.project && <a href={link(["jobs"], { project: job.project })}><bdi>{job.project}</bdi></a>}
          {job.project && "/"}
          <bdi>{job.name || firstLine(job.command)}</bdi>
          <span class="muted">/{job.id}</span>
        </h1>
        <Parameters job={job} />
        <StateBadge state={job.state} paused={job.paused} />
      </div>
      {!hasEnded(job) && (
        <div class="row push">
          {verbsFor(job).map((verb) => (
            <Action
              key={verb}
              class={verb === "kill" ? "danger" : ""}
              disabled={!fits(verb, job)}
              run={() => actOn(verb, job)}
            >
              {deeds[verb].name}
            </Action>
          ))}
          <Action disabled={!fits("edit", job)} run={() => setEditing(true)}>
            Edit
          </Action>
          <a class="button" href={link(["add", "form"], { clone: String(job.id) })}>
            Clone
          </a>
        </div>
      )}
      {editing && <EditDialog job={job} close={() => setEditing(false)} />}
    </div>
  );
}

function fileName(job: SeenJob): string {
  const name = [job.project, job.name, job.id].filter(Boolean).join("-");
  return `${name.replace(/[^\p{L}\p{N}._-]+/gu, "_")}.log`;
}

function Log({ job }: { job: SeenJob }) {
  const attempts = job.attempts ?? [];
  if (attempts.length > 0) {
    return <LogView job={job.id} fileName={fileName(job)} attempts={attempts} />;
  }
  return (
    <p class="card muted">
      {job.attempt > 0 ? "Reading …" : hasEnded(job) ? "The job never started, so it has no log." : "The log begins when the job starts."}
    </p>
  );
}

export function JobPage({ id }: { id: number }) {
  const { job, problem } = useJob(id);
  useTitle(job && problem !== "gone" ? `job ${id} ${job.paused ? "paused" : stateWord(job.state)}` : `job ${id}`);
  if (problem === "gone") {
    return (
      <p class="empty">
        There is no job {String(id)}; perhaps it was forgotten. <a href="#/jobs">All jobs</a>
      </p>
    );
  }
  if (!job) {
    return problem ? <p class="notice bad">{problem}</p> : <p class="empty">Reading …</p>;
  }
  const attempts = job.attempts ?? [];
  const running = job.state === "running" || job.state === "starting";
  return (
    <div class="job-page">
      <Head job={job} />
      {job.why && (job.state === "queued" || job.state === "held") && (
        <p class="notice why">
          <strong>Why it waits:</strong> {job.why}
          {job.promise && `; ${promiseWords(job.promise)}`}
        </p>
      )}
      {hasEnded(job) && <Verdict job={job} />}
      <div class="job-columns">
        <div class="job-main">
          <Log job={job} />
          <Command job={job} />
          {job.attempt > 0 && job.gpus_needed > 0 && <UsageCharts id={id} attempt={job.attempt} running={running} />}
          {attempts.length > 1 && <Attempts attempts={attempts} />}
        </div>
        <div class="job-side">
          <History job={job} />
          <Facts job={job} />
          {job.environment && <Environment list={job.environment} />}
        </div>
      </div>
    </div>
  );
}
