// A dry parse by the daemon while one types: what would be queued, and what is wrong where.
import { useEffect, useState } from "preact/hooks";
import { post } from "../api";
import { bytes, count, several } from "../format";
import { Empty } from "../parts/basics";
import type { CheckedJob, CheckedText, Problem, Text } from "../types";

const kTypingPause = 200; // milliseconds

export interface Checked {
  draft: CheckedText | null;
  fresh: boolean; // whether it belongs to what is typed now
  failure: string;
}

/// `body` null: there is nothing to check yet. The last answer stays
/// until the next one is there, so that nothing flickers.
export function useDraft(body: Text | null): Checked {
  const content = body ? JSON.stringify(body) : "";
  const [answer, setAnswer] = useState<{ content: string; draft: CheckedText | null; failure: string } | null>(null);
  useEffect(() => {
    if (content === "") {
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const draft = await post("/v1/texts/check", undefined, JSON.parse(content), abort.signal);
        setAnswer({ content, draft, failure: "" });
      } catch (error) {
        if (!abort.signal.aborted) {
          setAnswer({ content, draft: null, failure: (error as Error).message });
        }
      }
    }, kTypingPause);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [content]);
  if (content === "" || !answer) {
    return { draft: null, fresh: false, failure: "" };
  }
  return { draft: answer.draft, fresh: answer.content === content, failure: answer.failure };
}

export function canQueue({ draft, fresh }: Checked): boolean {
  return fresh && draft !== null && draft.problems.length === 0 && draft.count > 0;
}

/// What is wrong, by line.
export function wrongLines(problems: Problem[]): Map<number, string> {
  return new Map(problems.flatMap(({ line, message }) => (line ? [[line, message] as const] : [])));
}

interface ProblemsProps {
  problems: Problem[];
  go?: (line: number, column: number) => void; // none where there are no lines to go to
}

export function Problems({ problems, go }: ProblemsProps) {
  if (problems.length === 0) {
    return null;
  }
  return (
    <div class="notice bad problems" role="status">
      <strong>{several(problems.length, "problem")}: nothing can be queued yet.</strong>
      <ul>
        {problems.slice(0, 50).map(({ line, column = 1, message }, i) => (
          <li key={i}>
            {go && line && (
              <button type="button" onClick={() => go(line, column)}>
                Line {line}, column {column}
              </button>
            )}{" "}
            {message}
          </li>
        ))}
      </ul>
      {problems.length > 50 && <p>… and {several(problems.length - 50, "more", "more")}</p>}
    </div>
  );
}

type Column = { name: string; cell: (job: CheckedJob) => string; right?: boolean; wide?: boolean };

const columns: Column[] = [
  { name: "Name", cell: (job) => job.name },
  { name: "Project", cell: (job) => job.project },
  { name: "Priority", cell: (job) => (job.priority ? String(job.priority) : ""), right: true },
  { name: "GPUs", cell: (job) => String(job.gpus_needed), right: true },
  { name: "Memory", cell: (job) => (job.mem ? bytes(job.mem) : job.claim === "off" ? "off" : ""), right: true },
  { name: "Command", cell: (job) => job.command, wide: true },
  { name: "Directory", cell: (job) => job.directory },
  { name: "Output", cell: (job) => job.output },
];

export function DraftTable({ checked, nothing }: { checked: Checked; nothing: string }) {
  const { draft, failure } = checked;
  if (failure) {
    return (
      <p class="notice bad" role="alert">
        This could not be checked: {failure}
      </p>
    );
  }
  if (!draft || draft.jobs.length === 0) {
    return <Empty>{nothing}</Empty>;
  }
  const parameters = [...new Set(draft.jobs.flatMap((job) => Object.keys(job.parameters)))];
  const all: Column[] = [
    ...parameters.map((name) => ({ name, cell: (job: CheckedJob) => job.parameters[name] ?? "" })),
    ...columns,
  ];
  const shown = all.filter((column) => draft.jobs.some((job) => column.cell(job) !== ""));
  return (
    <div class={checked.fresh ? "draft" : "draft stale"}>
      <p class="muted" role="status">
        {several(draft.count, "job")} {draft.problems.length > 0 ? "without a problem" : "would be queued"}
        {draft.count > draft.jobs.length && `; the first ${count(draft.jobs.length)} of them`}
      </p>
      <div class="scroll-x draft-scroll" tabIndex={0} role="region" aria-label="What would be queued">
        <table class="plain">
          <thead>
            <tr>
              <th class="right">#</th>
              {shown.map((column) => (
                <th key={column.name} class={column.right ? "right" : ""}>
                  {column.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {draft.jobs.map((job, i) => (
              <tr key={i}>
                <td class="right muted">{i + 1}</td>
                {shown.map((column) => (
                  <td key={column.name} class={column.wide ? "mono draft-wide" : column.right ? "right" : ""}>
                    <bdi>{column.cell(job)}</bdi>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
