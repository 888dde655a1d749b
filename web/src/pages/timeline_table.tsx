// The same as the chart, for those who would rather read it.
import { clock, duration } from "../format";
import { knownJob } from "../known_jobs";
import { Empty, JobLink, StateBadge } from "../parts/basics";
import type { Span } from "../types";

const kMostRows = 500;

export function TimelineTable({ spans, now, ready }: { spans: Span[]; now: number; ready: boolean }) {
  if (spans.length === 0) {
    return <Empty>{ready ? "Nothing ran in this time." : "…"}</Empty>;
  }
  const sorted = [...spans].sort((a, b) => b.from - a.from).slice(0, kMostRows);
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label="Jobs in this time">
      <table class="plain">
        <thead>
          <tr>
            <th>Job</th>
            <th>State</th>
            <th>Devices</th>
            <th>From</th>
            <th>To</th>
            <th class="right">Time</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((span) => (
            <tr key={`${span.job}.${span.attempt}.${span.state}`}>
              <td class="gantt-name">
                <JobLink job={{ id: span.job, name: span.name, project: span.project, parameters: knownJob(span.job)?.parameters }} />
              </td>
              <td>
                <StateBadge state={span.state} />
              </td>
              <td>{span.gpus.join(", ") || "none"}</td>
              <td class="nowrap">{clock(span.from, now)}</td>
              <td class="nowrap">{span.to === null ? "" : clock(span.to, now)}</td>
              <td class="right nowrap">{duration((span.to ?? now) - span.from)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {spans.length > kMostRows && <p class="muted small">The newest {kMostRows} of {spans.length}.</p>}
    </div>
  );
}
