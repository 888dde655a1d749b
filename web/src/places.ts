// Where jobs run: on this machine, or on a cluster; as a choice, and in words.
import { status } from "./live";
import type { Job } from "./types";

export const kHere = "local";

/// The choices. One alone is none: there is no cluster. `present` is offered, too, though its cluster
/// may not be there any more.
export function placesToRun(present = kHere): { value: string; name: string }[] {
  const clusters = status.value?.clusters ?? [];
  if (clusters.length === 0 && present === kHere) {
    return [];
  }
  const places = [
    { value: kHere, name: "here" },
    { value: "auto", name: "auto: here if it starts soon" },
    ...clusters.map((name) => ({ value: name, name: `cluster ${name}` })),
  ];
  return places.some((place) => place.value === present) ? places : [...places, { value: present, name: `cluster ${present}` }];
}

/// The cluster that a job belongs to; "": none.
export function clusterOf(job: Pick<Job, "on">): string {
  return job.on === undefined || job.on === kHere || job.on === "auto" ? "" : job.on;
}

/// Whether a job's target is this cluster of the list: the first is called `slurm`, too.
export function isOn(job: Pick<Job, "on">, cluster: string): boolean {
  return job.on === cluster || (job.on === "slurm" && status.value?.clusters[0] === cluster);
}

/// "n2:0" is GPU 0 of the node n2.
function numbersThere(job: Pick<Job, "gpus">): string {
  return job.gpus.filter((name) => name.includes(":")).map((name) => name.slice(name.lastIndexOf(":") + 1)).join(", ");
}

/// "node n2, GPU 0, 1"; "" where it does not run yet.
export function nodeText(job: Pick<Job, "node" | "gpus">): string {
  const numbers = numbersThere(job);
  return job.node === undefined ? "" : `node ${job.node}${numbers === "" ? "" : `, GPU ${numbers}`}`;
}

/// The same for a narrow column: "n2: 0, 1".
export function shortNodeText(job: Pick<Job, "node" | "gpus">): string {
  const numbers = numbersThere(job);
  return `${job.node ?? ""}${numbers === "" ? "" : `: ${numbers}`}`;
}
