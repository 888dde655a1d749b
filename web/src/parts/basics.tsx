// Small pieces that all pages use.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { pairs, stateWord, title } from "../format";
import { goneSince } from "../live";
import { link } from "../router";
import { toastError } from "./toast";

export function StateBadge({ state, paused }: { state: string; paused?: boolean }) {
  return <span class={`badge state-${state}`}>{paused ? "paused" : stateWord(state)}</span>;
}

export interface JobName {
  id: number;
  name?: string;
  project?: string;
  command?: string;
  parameters?: Record<string, string>;
}

/// What tells the jobs of a sweep apart, beside the name that they share.
export function Parameters({ job }: { job: Pick<JobName, "parameters"> }) {
  const text = pairs(job.parameters);
  return text === "" ? null : (
    <span class="cut parameters">
      <bdi title={text}>{text}</bdi>
    </span>
  );
}

/// With its number where several may have the same name.
export function JobLink({ job, numbered }: { job: JobName; numbered?: boolean }) {
  return (
    <a class="named" href={link(["jobs", job.id])} title={job.command}>
      <span class="cut">
        <bdi>{title(job)}</bdi>
        {numbered && <span class="muted">/{job.id}</span>}
      </span>
      <Parameters job={job} />
    </a>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

interface ActionProps {
  children: ComponentChildren;
  run: () => unknown | Promise<unknown>;
  class?: string;
  disabled?: boolean;
  label?: string;
  type?: "button" | "submit"; // of a form: Enter in its fields does it, too
}

/// A button that does something at the daemon's: not twice at once, not while that is gone, and
/// failures are told.
export function Action({ children, run, class: look = "", disabled, label, type = "button" }: ActionProps) {
  const [busy, setBusy] = useState(false);
  const click = async () => {
    setBusy(true);
    try {
      await run();
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type={type} class={`button ${look}`} disabled={disabled || busy || goneSince.value !== null} aria-label={label} onClick={click}>
      {children}
    </button>
  );
}
