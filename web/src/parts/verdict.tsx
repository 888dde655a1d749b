// What became of a job that has ended, why, and what can be done about it.
import { useEffect, useState } from "preact/hooks";
import { plainText } from "../ansi";
import { readLog } from "../api";
import { duration } from "../format";
import { actOn } from "../job_actions";
import { link } from "../router";
import { badStates, type SeenJob } from "../types";
import { Action } from "./basics";
import { exitText } from "./job_columns";

const kLines = 8;

/// "Failed with exit 3 after 12 s."
function sentence(job: SeenJob): string {
  if (job.started === null) {
    return job.state === "cancelled" ? "Cancelled before it started." : "Ended before it started.";
  }
  const exit = exitText(job);
  const after = job.ended === null ? "" : ` after ${duration(job.ended - job.started)}`;
  switch (job.state) {
    case "succeeded":
      return `Succeeded${after}.`;
    case "failed":
      return `Failed${exit ? ` with ${exit}` : ""}${after}.`;
    case "cancelled":
      return `Cancelled${after}.`;
    case "timed_out":
      return `Timed out${after}.`;
    case "oom":
      return `Ran out of GPU memory${after}.`;
    default:
      return "Lost: nobody knows how it ended.";
  }
}

/// The last lines that it wrote; of errors, where those go to a file of their own.
function useLastLines(job: SeenJob): string[] {
  const [lines, setLines] = useState<string[]>([]);
  const last = job.attempts?.[job.attempts.length - 1];
  const wanted = badStates.includes(job.state) && last !== undefined && last.attempt === job.attempt;
  useEffect(() => {
    setLines([]);
    if (!wanted) {
      return;
    }
    const abort = new AbortController();
    const query = { attempt: last.attempt, stream: last.error_log === "" ? "out" : "err", tail: kLines };
    readLog(job.id, query, abort.signal).then(
      ({ bytes }) => {
        const text = new TextDecoder().decode(bytes).replace(/\n+$/, "");
        setLines(text === "" ? [] : text.split("\n").map((line) => plainText(line.replace(/^.*\r(?!$)/, ""))));
      },
      () => undefined, // the log below tells what is wrong
    );
    return () => abort.abort();
  }, [wanted, job.id, last?.attempt]);
  return lines;
}

export function Verdict({ job }: { job: SeenJob }) {
  const lines = useLastLines(job);
  return (
    <section class={`card verdict ${job.state}`} aria-labelledby="verdict-head">
      <div class="row">
        <h2 id="verdict-head" class={`state-${job.state}`}>
          {sentence(job)}
        </h2>
        <span class="push" />
        <Action class={badStates.includes(job.state) ? "primary" : ""} run={() => actOn("rerun", job)}>
          Rerun
        </Action>
        <a class="button" href={link(["add", "form"], { clone: String(job.id) })}>
          Clone
        </a>
      </div>
      {job.reason && <p class="any">{job.reason}</p>}
      {lines.length > 0 && (
        <pre tabIndex={0} aria-label="Last lines of output">
          {lines.join("\n")}
        </pre>
      )}
    </section>
  );
}
