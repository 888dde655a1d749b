// The scheduler: whether it starts jobs, who goes first and on which device; and facts about the daemon.
import { Fragment } from "preact";
import { useEffect } from "preact/hooks";
import { post } from "../api";
import { bytes, clock, duration, several } from "../format";
import { now, status } from "../live";
import { Action } from "../parts/basics";
import { confirm } from "../parts/dialog";
import { Choice } from "../parts/fields";
import { toast, toastError } from "../parts/toast";
import { choosePlacement, choosePolicy, kindOf, policies, readPolicies } from "../scheduler";
import type { Load, Status } from "../types";

const placementWords: Record<string, string> = {
  pack: "Fills one device up before the next, so that wide jobs find free ones.",
  bestfit: "The device with the least memory left over.",
  leastloaded: "The device with the fewest jobs.",
  spread: "The emptiest device.",
  fgd: "Where the least is added to what other jobs cannot use.",
};

async function setPaused(paused: boolean) {
  const text = "Nothing starts until it is resumed, also after a restart. Running jobs go on.";
  if (paused && !(await confirm("Pause the scheduler?", text, "Pause"))) {
    return;
  }
  status.value = await post(`/v1/daemon/${paused ? "pause" : "resume"}`);
  toast(paused ? "The scheduler is paused." : "The scheduler starts jobs again.");
}

async function change(choose: (name: string) => Promise<boolean>, name: string) {
  try {
    if (!(await choose(name))) {
      status.value = { ...status.value! }; // the choice shows what is in use again
    }
  } catch (error) {
    toastError(error);
    status.value = { ...status.value! };
  }
}

function Policies({ told }: { told: Status }) {
  const list = policies.value;
  if (!list) {
    return null;
  }
  const live = list.policies.filter((policy) => policy.live);
  const about = list.policies.find((policy) => policy.name === kindOf(told.policy))?.about ?? "";
  // What is in use may have been given by hand and be in no list.
  const withPresent = (names: string[], present: string) => (names.includes(present) ? names : [present, ...names]);
  const options = (names: string[]) => names.map((name) => ({ value: name, name }));
  return (
    <>
      <div class="scheduler-choice">
        <Choice
          label="Policy: who goes first"
          value={told.policy}
          set={(name) => void change(choosePolicy, name)}
          options={options(withPresent(live.map((policy) => policy.name), told.policy))}
        />
        <p class="muted small">{about}</p>
      </div>
      <div class="scheduler-choice">
        <Choice
          label="Placement: on which device"
          value={told.placement}
          set={(name) => void change(choosePlacement, name)}
          options={options(withPresent(list.placements, told.placement))}
        />
        <p class="muted small">{placementWords[told.placement] ?? ""}</p>
      </div>
      {told.policy_trouble && <p class="small notice bad">{told.policy_trouble}</p>}
      {told.shadow && (
        <p class="small">
          On paper: {told.shadow}
          {told.shadow_report ? `; ${told.shadow_report}` : ", for a day; then it tells what it would have saved"}.
        </p>
      )}
      <p class="small">
        <a href="#/whatif">Compare policies</a> on the present queue or the past before you choose.
      </p>
    </>
  );
}

function milliseconds(seconds: number): string {
  return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
}

/// While a turn lasts nobody is served: where that was a second, it is worth a look.
function turns(load: Load): string {
  const slow = load.slow_turns > 0 ? `; ${several(load.slow_turns, "turn")} over a second (berth daemon log)` : "";
  return `${milliseconds(load.longest_turn_lately_s)} in the last minute, ${milliseconds(load.longest_turn_s)} ever${slow}`;
}

function Facts({ told }: { told: Status }) {
  const { load } = told;
  const facts: [string, string][] = [
    ["Version", told.version_text],
    ["Process", String(told.pid)],
    ["Machine", told.hostname],
    ["You are", told.user],
    ["State folder", told.home],
    ["Listens on", told.listen || "its Unix socket alone"],
    ["Started", `${clock(told.started, now.value)}, ${duration(Math.floor(now.value - told.started))} ago`],
    ["Memory", bytes(load.memory_bytes)],
    ["Longest turn", turns(load)],
    ["Connections", load.users.map((user) => `${user.user} ${user.connections} of ${user.most_connections}`).join(", ")],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

export function Scheduler() {
  useEffect(() => void readPolicies(), []);
  const told = status.value;
  if (!told) {
    return null;
  }
  return (
    <div class="scheduler-cards">
      <section class="card scheduler">
        <h2>Scheduler</h2>
        <div class="row">
          <span class={`badge ${told.paused ? "health-drained" : "health-ok"}`}>{told.paused ? "paused" : "starts jobs"}</span>
          <Action class="compact" run={() => setPaused(!told.paused)}>
            {told.paused ? "Resume" : "Pause"}
          </Action>
        </div>
        <Policies told={told} />
      </section>
      <section class="card">
        <h2>Daemon</h2>
        <Facts told={told} />
      </section>
    </div>
  );
}
