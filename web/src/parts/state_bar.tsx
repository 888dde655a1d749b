// How many jobs are in which state, as one bar.
import { count, stateWord } from "../format";
import { allStates, endedStates, type State } from "../types";

export type StateCounts = Partial<Record<State, number>>;

const order: State[] = ["succeeded", "failed", "oom", "timed_out", "lost", "cancelled", "starting", "running", "queued", "held"];

export function countStates(jobs: Iterable<{ state: State }>): StateCounts {
  const counts: StateCounts = {};
  for (const { state } of jobs) {
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

export function total(counts: StateCounts): number {
  return allStates.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

export function ended(counts: StateCounts): number {
  return endedStates.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

function words(counts: StateCounts): string {
  return order
    .filter((state) => counts[state])
    .map((state) => `${count(counts[state]!)} ${stateWord(state)}`)
    .join(", ");
}

export function StateBar({ counts }: { counts: StateCounts }) {
  return (
    <div class="state-bar" role="img" aria-label={words(counts)} title={words(counts)}>
      {order
        .filter((state) => counts[state])
        .map((state) => (
          <span key={state} class={`state-${state}`} style={{ flexGrow: counts[state] }} />
        ))}
    </div>
  );
}
