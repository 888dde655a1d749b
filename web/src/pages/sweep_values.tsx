// What became of the jobs of a sweep by each value of its parameters.
import { bytes, count, duration } from "../format";
import { sortBy } from "../parts/data_table";
import { countStates, StateBar } from "../parts/state_bar";
import type { Job } from "../types";

const kMostValues = 50;

interface Group {
  value: string;
  jobs: Job[];
}

function groupsOf(jobs: Job[], name: string): Group[] {
  const groups = new Map<string, Job[]>();
  for (const job of jobs) {
    const value = job.parameters?.[name];
    if (value !== undefined) {
      const group = groups.get(value);
      if (group) {
        group.push(job);
      } else {
        groups.set(value, [job]);
      }
    }
  }
  const all = [...groups].map(([value, list]) => ({ value, jobs: list }));
  return sortBy(all, (group) => group.value);
}

function mean(values: number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function GroupRow({ group }: { group: Group }) {
  const counts = countStates(group.jobs);
  const lengths = group.jobs.filter((job) => job.started !== null && job.ended !== null).map((job) => job.ended! - job.started!);
  const average = mean(lengths);
  const peak = Math.max(...group.jobs.map((job) => job.peak_memory_bytes ?? 0));
  return (
    <tr>
      <th scope="row" class="sweep-name">
        <bdi>{group.value}</bdi>
      </th>
      <td class="right">{count(group.jobs.length)}</td>
      <td class="right">{count(counts.succeeded ?? 0)}</td>
      <td class="right">{counts.failed || counts.oom ? count((counts.failed ?? 0) + (counts.oom ?? 0)) : ""}</td>
      <td class="sweep-bar">
        <StateBar counts={counts} />
      </td>
      <td class="right nowrap">{average === null ? "" : duration(average)}</td>
      <td class="right nowrap">{peak > 0 ? bytes(peak) : ""}</td>
    </tr>
  );
}

export function SweepValues({ jobs }: { jobs: Job[] }) {
  const names = [...new Set(jobs.flatMap((job) => Object.keys(job.parameters ?? {})))];
  return (
    <div class="sweep-values" tabIndex={0} role="region" aria-label="By value">
      {names.map((name) => {
        const groups = groupsOf(jobs, name);
        return (
          <section key={name}>
            <table class="plain">
              <thead>
                <tr>
                  <th>
                    <code>{name}</code>
                  </th>
                  <th class="right">Jobs</th>
                  <th class="right">Succeeded</th>
                  <th class="right">Failed</th>
                  <th>States</th>
                  <th class="right">Mean duration</th>
                  <th class="right">Highest peak</th>
                </tr>
              </thead>
              <tbody>
                {groups.slice(0, kMostValues).map((group) => (
                  <GroupRow key={group.value} group={group} />
                ))}
              </tbody>
            </table>
            {groups.length > kMostValues && (
              <p class="muted small">
                The first {kMostValues} of {count(groups.length)} values.
              </p>
            )}
          </section>
        );
      })}
    </div>
  );
}
