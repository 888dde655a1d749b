// What can be done with jobs, when, and how it is told.
import { post } from "./api";
import { pairs, several, title } from "./format";
import { confirm } from "./parts/dialog";
import { portions } from "./parts/selection";
import { toast } from "./parts/toast";
import { endedStates, waitingStates, type Edit, type Job, type State } from "./types";

export type Verb = "kill" | "hold" | "release" | "pause" | "resume" | "rerun" | "edit";

interface Deed {
  name: string;
  done: string;
  states: readonly State[]; // in which it makes sense
}

export const deeds: Record<Verb, Deed> = {
  kill: { name: "Kill", done: "Killed", states: ["held", "queued", "starting", "running"] },
  hold: { name: "Hold", done: "Held", states: ["queued"] },
  release: { name: "Release", done: "Released", states: ["held"] },
  pause: { name: "Pause", done: "Paused", states: ["running"] },
  resume: { name: "Resume", done: "Resumed", states: ["running"] },
  rerun: { name: "Rerun", done: "Queued again:", states: endedStates },
  edit: { name: "Edit", done: "Changed", states: waitingStates },
};

export function fits(verb: Verb, job: Pick<Job, "state" | "paused">): boolean {
  if (verb === "pause" || verb === "resume") {
    return job.state === "running" && (verb === "resume") === (job.paused === true);
  }
  return deeds[verb].states.includes(job.state);
}

/// Does it for the jobs that the words choose, in portions, and tells how it went.
export async function act(verb: Verb, words: string[], edit?: Edit): Promise<void> {
  const sum = { done: 0, refused: 0, reasons: [] as string[] };
  for (const select of portions(words)) {
    const answer = await post(`/v1/jobs/${verb}`, { select }, edit);
    sum.done += answer.done;
    sum.refused += answer.refused;
    sum.reasons.push(...answer.reasons);
  }
  const refused = sum.refused === 0 ? "" : `; refused for ${several(sum.refused, "job")}: ${sum.reasons[0] ?? ""}`;
  if (sum.done === 0 && sum.refused === 0) {
    toast("No job fits.", true);
  } else if (sum.done === 0) {
    toast(`Refused for ${several(sum.refused, "job")}: ${sum.reasons.slice(0, 3).join("; ")}`, true);
  } else {
    toast(`${deeds[verb].done} ${several(sum.done, "job")}${refused}`, sum.refused > 0);
  }
}

export async function actOn(verb: Verb, job: Job): Promise<void> {
  const lives = job.state === "running" || job.state === "starting";
  if (verb === "kill" && lives) {
    const text = `${[title(job), pairs(job.parameters)].filter(Boolean).join(" ")} (${job.id}) runs. It and all its processes are asked to end, then killed.`;
    if (!(await confirm("Kill this job?", text, "Kill", true))) {
      return;
    }
  }
  await act(verb, [String(job.id)]);
}
