// What the daemon tells and takes, as docs/openapi.yaml has it, and how the page groups it.
import type { FullJob, State } from "../generated/openapi";

export type * from "../generated/openapi";

export const waitingStates = ["held", "queued"] as const satisfies readonly State[];
export const runningStates = ["starting", "running"] as const satisfies readonly State[];
export const endedStates = ["succeeded", "failed", "cancelled", "timed_out", "oom", "lost"] as const satisfies readonly State[];
/// Ends that somebody may want to look into.
export const badStates: readonly State[] = ["failed", "oom", "timed_out", "lost"];
export const allStates = [...waitingStates, ...runningStates, ...endedStates] as const;

// Does not compile while a state is in none of these lists.
null as Exclude<State, (typeof allStates)[number]> | null satisfies null;

/// A job as far as it is known here: lists and events tell neither its attempts nor its environment.
export type SeenJob = Omit<FullJob, "version">;
