// What if: the present queue or the past under other policies, side by side.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { post } from "../api";
import { duration } from "../format";
import { goneSince, now, status } from "../live";
import { Empty } from "../parts/basics";
import { Field, Segments } from "../parts/fields";
import { kindOf, policies, readPolicies, wrongWatts } from "../scheduler";
import { useTitle } from "../title";
import type { WhatIfResult } from "../types";
import { WhatIfCharts } from "./whatif_charts";
import { whatIfSentence, WhatIfTable } from "./whatif_table";

type Subject = "queue" | "past";

interface Question {
  chosen: string[]; // beside the policy in use
  subject: Subject;
  gpus: string;
  watts: string; // that energy may use
}

interface Answer {
  subject: Subject;
  results: WhatIfResult[];
}

// They stay while one looks at other pages; so does a computation that runs.
const question = signal<Question>({ chosen: ["fifo", "sjf", "easy"], subject: "queue", gpus: "", watts: "" });
const answer = signal<Answer | null>(null);
const running = signal<{ abort: AbortController; since: number } | null>(null);
const problem = signal("");
const advice = signal<string | null>(null);

// The daemon computes one thing at a time: a comparison waits for the advice.
let reading: Promise<void> | null = null;

/// What would have been best in the past. It takes a moment, and is asked for once.
async function readAdvice() {
  try {
    advice.value = (await post("/v1/advice")).sentence;
  } catch (error) {
    advice.value = `No advice: ${(error as Error).message}.`;
    reading = null;
  }
}

async function compute(names: string[]) {
  const { subject, gpus } = question.value;
  const abort = new AbortController();
  running.value = { abort, since: Date.now() / 1000 };
  problem.value = "";
  try {
    await Promise.race([reading, new Promise((stop) => abort.signal.addEventListener("abort", stop))]);
    const body = { policies: names, queue: subject === "queue", gpus: gpus.trim() };
    const { results } = await post("/v1/whatif", undefined, body, abort.signal);
    answer.value = { subject, results };
  } catch (error) {
    if (!abort.signal.aborted) {
      problem.value = (error as Error).message;
    }
  } finally {
    running.value = null;
  }
}

function Choices({ present }: { present: string }) {
  const { chosen } = question.value;
  const known = policies.value?.policies;
  if (!known) {
    return null; // a list that grows under the pointer is no use
  }
  // What is in use may have been given by hand and be in no list.
  const isKnown = known.some(({ name }) => name === present);
  const about = known.find(({ name }) => name === kindOf(present))?.about ?? "";
  const list = isKnown || present === "" ? known : [{ name: present, about }, ...known];
  const choose = (name: string, on: boolean) => {
    question.value = { ...question.value, chosen: on ? [...chosen, name] : chosen.filter((other) => other !== name) };
  };
  return (
    <fieldset class="policy-choices">
      <legend class="hidden-text">Policies</legend>
      {list.map(({ name, about }) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={name === present || chosen.includes(name)}
            disabled={name === present}
            onChange={(event) => choose(name, event.currentTarget.checked)}
          />
          <span>
            <strong>{name}</strong>
            {name === present && <span class="mark">in use</span>}
            <span class="muted small">{about}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function Progress() {
  const run = running.value;
  if (!run) {
    return null;
  }
  return (
    <div class="row" role="status">
      <span class="working" aria-hidden="true" />
      <span>
        Computing, {duration(Math.max(Math.floor(now.value - run.since), 0))}
      </span>
      <button type="button" class="button compact" onClick={() => run.abort.abort()}>
        Stop
      </button>
    </div>
  );
}

export function WhatIf() {
  useTitle("What if");
  const [job, setJob] = useState<number | null>(null);
  useEffect(() => void readPolicies(), []);
  useEffect(() => void (reading ??= readAdvice()), []);
  const present = status.value?.policy ?? "";
  const { chosen, subject, gpus, watts } = question.value;
  const change = (changes: Partial<Question>) => (question.value = { ...question.value, ...changes });
  const others = (policies.value?.policies ?? []).map((policy) => policy.name).filter((name) => name !== present && chosen.includes(name));
  const withBudget = others.includes("energy");
  const wrongBudget = withBudget ? wrongWatts(watts) : "";
  const names = [present, ...others.map((name) => (name === "energy" ? `energy:${watts.trim()}` : name))];
  const told = answer.value;

  return (
    <>
      <div class="page-head">
        <h1>What if</h1>
        <p class="muted">The same jobs under other policies, in the simulator that shares the daemon’s scheduler.</p>
      </div>
      <section class="card" aria-labelledby="advice-head">
        <h2 id="advice-head">Advice</h2>
        <p class="whatif-sentence">{advice.value ?? "Computing what would have served these devices best…"}</p>
        <p class="muted small">By the jobs that this daemon has run; berth sim --advise --history has the figures.</p>
      </section>
      <section class="card add-form">
        <Choices present={present} />
        <div class="row whatif-ask">
          <Segments
            label="Which jobs"
            value={subject}
            set={(value) => change({ subject: value })}
            options={[
              { value: "queue", name: "The present queue" },
              { value: "past", name: "The past" },
            ]}
          />
          <Field label="On other devices" value={gpus} set={(value) => change({ gpus: value })} placeholder="these; or 8, 2x8" class="inline" />
          {withBudget && (
            <Field
              label="Watts for energy"
              value={watts}
              set={(value) => change({ watts: value })}
              placeholder="1500"
              error={watts === "" ? undefined : wrongBudget}
              hint="It needs a budget."
              class="inline"
            />
          )}
          <button type="button" class="button primary" disabled={running.value !== null || goneSince.value !== null || present === "" || wrongBudget !== ""} onClick={() => void compute(names)}>
            Compare
          </button>
          <Progress />
        </div>
        {problem.value && (
          <p class="notice bad" role="alert">
            {problem.value}
          </p>
        )}
      </section>
      {told === null ? (
        <Empty>Choose policies and compare them: how long jobs would wait, when all would be done, and who would run where.</Empty>
      ) : (
        <>
          <section class="card">
            <h2>{told.subject === "queue" ? "The present queue" : "The past"}</h2>
            <p class="whatif-sentence" role="status">
              {whatIfSentence(told.results, present, told.subject === "past")}
            </p>
            <WhatIfTable results={told.results} present={present} />
            <p class="muted small">
              {told.subject === "past" &&
                "On these devices each job draws the energy that it really drew; the rest is that of idle devices. The simulator shares a device only between jobs that said how much memory they need. "}
              A job with a begin time counts from that time on.
            </p>
          </section>
          <WhatIfCharts results={told.results} present={present} job={job} setJob={setJob} />
        </>
      )}
    </>
  );
}
