// Sending what was put together on a page: once, however often one clicks or answers get lost.
import { useRef, useState } from "preact/hooks";
import { ApiError, post } from "../api";
import { goneSince } from "../live";
import { toast } from "../parts/toast";
import { link } from "../router";
import type { Submission, Submitted, Text } from "../types";

type Content = { path: "/v1/jobs"; body: Submission } | { path: "/v1/texts/submit"; body: Text };

type SubmitProps = Content & {
  label: string;
  disabled: boolean;
  done?: (jobs: Submitted) => void; // instead of telling about it here
};

function madeUp(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function words({ first, count }: Submitted): string {
  return count === 1 ? `Job ${first} is queued.` : `Jobs ${first} to ${first + count - 1} are queued.`;
}

/// The same content keeps its token, so that sending it again gives the same jobs, until it is
/// changed or the user asks for more of the same.
export function Submit({ path, body, label, disabled, done }: SubmitProps) {
  const content = JSON.stringify(body);
  const token = useRef({ content: "", text: "" });
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const [sent, setSent] = useState<{ content: string; jobs: Submitted } | null>(null);
  const isSent = sent?.content === content;

  const submit = async () => {
    if (token.current.content !== content) {
      token.current = { content, text: madeUp() };
    }
    setBusy(true);
    setProblem("");
    try {
      const jobs = await post(path, undefined, { ...body, token: token.current.text });
      setSent({ content, jobs });
      toast(words(jobs), false, { href: link(["jobs", jobs.first]), text: jobs.count === 1 ? "Show it" : "Show the first" });
      done?.(jobs);
    } catch (error) {
      const lost = error instanceof ApiError && error.status === 0;
      setProblem(
        lost
          ? "The daemon did not answer. Try again: what it has got already is not queued twice."
          : `Nothing was queued: ${(error as Error).message}`,
      );
    } finally {
      setBusy(false);
    }
  };

  return (
    <div class="submit">
      <div class="row">
        <button type="submit" class="button primary" disabled={disabled || busy || isSent || goneSince.value !== null} onClick={() => void submit()}>
          {busy ? "Queueing …" : label}
        </button>
        {isSent && (
          <>
            <span>
              {words(sent.jobs)} <a href={link(["jobs", sent.jobs.first])}>{sent.jobs.count === 1 ? "Show it" : "Show the first"}</a>
              {sent.jobs.count > 1 && (
                <>
                  {" "}
                  or <a href={link(["jobs"])}>all jobs</a>
                </>
              )}
            </span>
            <button
              type="button"
              class="button plain compact"
              onClick={() => {
                token.current = { content: "", text: "" };
                setSent(null);
              }}
            >
              Once more
            </button>
          </>
        )}
      </div>
      {problem && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
