// The first view: every device, what runs, what comes next and what ended.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { count, duration, energy, nearly, several, short } from "../format";
import { devices, now, status } from "../live";
import { kHead, OverviewData, type Ended, type Waiting } from "../overview_data";
import { JobLink, StateBadge } from "../parts/basics";
import { DeviceCard } from "../parts/device_card";
import { deviceText } from "../parts/job_columns";
import { link } from "../router";
import { useTitle } from "../title";
import { badStates, endedStates, runningStates, waitingStates, type Job, type Totals } from "../types";
import { SmallTimeline } from "./overview_timeline";

const kRunning = 12;
const kFailed = 5;
const endedLink = link(["jobs"], { state: endedStates.join(","), sort: "ended", descending: "1" });

interface FigureProps {
  name: string;
  href: string; // where one sees more of it
  children: ComponentChildren;
  note?: ComponentChildren;
}

function Figure({ name, href, children, note }: FigureProps) {
  const id = name.toLowerCase().replaceAll(" ", "-");
  return (
    <div class="figure">
      <dt id={id}>{name}</dt>
      <dd>
        <a id={`${id}-value`} href={href} aria-labelledby={`${id} ${id}-value`}>
          {children}
        </a>
        {note && <span class="muted small"> {note}</span>}
      </dd>
    </div>
  );
}

function Figures({ data }: { data: OverviewData }) {
  const jobs = status.value?.jobs;
  const totals = data.totals.value;
  const all = devices.value;
  const busy = all.filter((device) => device.jobs.length > 0).length;
  const known = all.filter((device) => device.utilization_percent !== undefined);
  const mean = known.reduce((sum, device) => sum + device.utilization_percent!, 0) / Math.max(known.length, 1);
  const power = all.reduce((sum, device) => sum + (device.power_w ?? 0), 0);
  const ended = endedStates.reduce((sum, state) => sum + (totals?.ended[state] ?? 0), 0);
  const bad = badStates.reduce((sum, state) => sum + (totals?.ended[state as keyof Totals["ended"]] ?? 0), 0);
  return (
    <dl class="figures">
      <Figure name="Running" href={link(["jobs"], { state: runningStates.join(",") })}>{jobs ? count(jobs.running + jobs.starting) : "–"}</Figure>
      <Figure name="Waiting" href={link(["jobs"], { state: waitingStates.join(",") })} note={jobs && jobs.held > 0 ? `+ ${count(jobs.held)} held` : null}>
        {jobs ? count(jobs.queued) : "–"}
      </Figure>
      <Figure name="GPUs in use" href={link(["devices"])} note={`of ${all.length}`}>
        {busy}
      </Figure>
      <Figure name="Utilisation" href={link(["devices"])}>{known.length > 0 ? `${Math.round(mean)} %` : "–"}</Figure>
      <Figure name="Power now" href={link(["devices"])}>{power >= 1000 ? `${short(power / 1000)} kW` : `${Math.round(power)} W`}</Figure>
      <Figure name="GPU-hours today" href={link(["timeline"], { span: "86400" })}>{totals ? short(totals.gpu_seconds / 3600) : "–"}</Figure>
      <Figure name="Energy today" href={link(["timeline"], { span: "86400" })}>{totals ? energy(totals.energy_j) : "–"}</Figure>
      <Figure name="Ended today" href={endedLink} note={bad > 0 ? `${count(bad)} failed` : null}>
        {totals ? count(ended) : "–"}
      </Figure>
    </dl>
  );
}

/// How far it is, when somebody knows how long it takes.
function Progress({ job }: { job: Job }) {
  const begun = job.started ?? now.value;
  const elapsed = Math.max(0, now.value - begun);
  const end = job.expected_end ?? (job.expected_s ? begun + job.expected_s : undefined);
  const whole = end === undefined ? 0 : end - begun;
  const part = whole > 0 ? Math.min(elapsed / whole, 1) : 0;
  const words =
    whole <= 0
      ? duration(Math.floor(elapsed))
      : elapsed <= whole
        ? `${duration(Math.floor(elapsed))} of ${duration(Math.round(whole))}`
        : `${duration(Math.floor(elapsed))}, expected ${duration(Math.round(whole))}`;
  return (
    <>
      <span class="muted small run-time">{words}</span>
      {whole > 0 ? (
        <div
          class={elapsed > whole ? "progress over" : "progress"}
          role="progressbar"
          aria-label={`Job ${job.id}`}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(part * 100)}
        >
          <span style={{ transform: `scaleX(${part})` }} />
        </div>
      ) : (
        <div class="progress unknown" />
      )}
    </>
  );
}

function Running({ data }: { data: OverviewData }) {
  const jobs = [...data.running.value.values()].sort((a, b) => a.id - b.id);
  return (
    <section class="card" aria-labelledby="running-head">
      <h2 id="running-head">Running</h2>
      {jobs.length === 0 && <p class="muted">Nothing runs.</p>}
      <ul class="lines">
        {jobs.slice(0, kRunning).map((job) => (
          <li key={job.id} class="run">
            <span class="run-name">
              <JobLink job={job} numbered />
              {job.paused && <StateBadge state="held" paused />}
            </span>
            <span class="muted small run-gpus">{deviceText(job)}</span>
            <Progress job={job} />
          </li>
        ))}
      </ul>
      {jobs.length > kRunning && (
        <a class="more" href={link(["jobs"], { state: "starting,running" })}>
          All {count(status.value?.jobs.running ?? jobs.length)} running jobs
        </a>
      )}
    </section>
  );
}

function QueueLine({ job }: { job: Waiting }) {
  return (
    <li>
      <JobLink job={job} numbered />
      <span class="muted small">{job.gpus > 1 && several(job.gpus, "GPU")}</span>
      <span class="muted small">
        {job.starts === null ? "not known" : job.starts <= now.value ? "soon" : nearly(job.starts, now.value)}
      </span>
    </li>
  );
}

function Queue({ data }: { data: OverviewData }) {
  const queued = status.value?.jobs.queued ?? 0;
  return (
    <section class="card" aria-labelledby="queue-head">
      <h2 id="queue-head">
        Next <span class="muted small">expected to start</span>
      </h2>
      {queued === 0 && <p class="muted">Nothing waits.</p>}
      <ul class="lines three">
        {data.queue.value.map((job) => (
          <QueueLine key={job.id} job={job} />
        ))}
      </ul>
      {queued > kHead && (
        <a class="more" href={link(["jobs"], { state: "queued" })}>
          All {count(queued)} waiting jobs
        </a>
      )}
    </section>
  );
}

function EndedLine({ job }: { job: Ended }) {
  return (
    <li>
      <JobLink job={job} numbered />
      <StateBadge state={job.state} />
      <span class="muted small">{nearly(job.ended, now.value)}</span>
    </li>
  );
}

/// What somebody should look at; nothing where all is well.
function Attention({ data }: { data: OverviewData }) {
  const failed = data.failed.value;
  if (failed.length === 0) {
    return null;
  }
  const list = link(["jobs"], { state: badStates.join(","), sort: "ended", descending: "1" });
  return (
    <section class="card attention" aria-labelledby="attention-head">
      <h2 id="attention-head">
        Needs attention <span class="muted small">failed in the last day</span>
      </h2>
      <ul class="lines three">
        {failed.slice(0, kFailed).map((job) => (
          <EndedLine key={job.id} job={job} />
        ))}
      </ul>
      <a class="more" href={list}>
        All failed jobs
      </a>
    </section>
  );
}

function Lately({ data }: { data: OverviewData }) {
  return (
    <section class="card" aria-labelledby="ended-head">
      <h2 id="ended-head">Ended lately</h2>
      {data.ended.value.length === 0 && <p class="muted">Nothing has ended yet.</p>}
      <ul class="lines three">
        {data.ended.value.map((job) => (
          <EndedLine key={job.id} job={job} />
        ))}
      </ul>
      {data.ended.value.length >= kHead && (
        <a class="more" href={endedLink}>
          All that ended
        </a>
      )}
    </section>
  );
}

function FirstSteps() {
  return (
    <section class="card first-steps" aria-labelledby="first-head">
      <h2 id="first-head">First steps</h2>
      <p>No job has been queued yet. In the folder of a project, type for example</p>
      <pre class="sample">
        berth submit python train.py{"\n"}
        berth submit --gpus 2 --mem 20GiB python train.py --large{"\n"}
        berth sweep 'python train.py --lr {"{lr}"}' -p lr 0.1 0.01 --submit
      </pre>
      <p>
        or <a href="#/add/form">add jobs here</a>: one, <a href="#/add/text">many lines</a>,{" "}
        <a href="#/add/sweep">a sweep</a>, or <a href="#/add/csv">a CSV file</a>.
      </p>
    </section>
  );
}

function DeviceCards({ data }: { data: OverviewData }) {
  void data.ready.value; // then the names are known
  if (devices.value.length === 0 && status.value?.gpus === 0) {
    return (
      <p class="card">
        berth has no devices. <a href="#/devices">Add some</a>, or type <code>berth gpus add</code>.
      </p>
    );
  }
  return (
    <section aria-labelledby="devices-head">
      <h2 id="devices-head" class="hidden-text">
        Devices
      </h2>
      <ul class="device-cards">
        {devices.value.map((device) => (
          <DeviceCard key={device.name} device={device} named={data.named} />
        ))}
      </ul>
    </section>
  );
}

export function Overview() {
  const data = useMemo(() => new OverviewData(), []);
  useLayoutEffect(() => data.open(), []); // asks before the empty page is painted
  const jobs = status.value?.jobs;
  const running = (jobs?.running ?? 0) + (jobs?.starting ?? 0);
  useTitle(running > 0 ? `${count(running)} running` : jobs?.queued ? `${count(jobs.queued)} waiting` : "Overview");
  const none = jobs !== undefined && Object.values(jobs).every((each) => each === 0);
  return (
    <div class={none ? "overview none" : devices.value.length > 12 ? "overview many" : "overview"}>
      <h1 class="hidden-text">Overview</h1>
      <Figures data={data} />
      <div class="overview-columns">
        <div class="overview-devices">
          <DeviceCards data={data} />
          <SmallTimeline data={data} />
        </div>
        <div class="overview-lists">
          {none ? (
            <FirstSteps />
          ) : (
            <>
              <Attention data={data} />
              <Running data={data} />
              <Queue data={data} />
              <Lately data={data} />
            </>
          )}
        </div>
      </div>
    </div>
  );
}
