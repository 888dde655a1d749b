// Changes what a waiting job asks for. Only what was changed is sent.
import { useState } from "preact/hooks";
import { post } from "../api";
import { parseDuration, parseSize, parseWhole, writeDuration, writeSize } from "../parse";
import { kHere, placesToRun } from "../places";
import type { Edit, Job } from "../types";
import { Dialog } from "./dialog";
import { toast } from "./toast";

interface EditField {
  key: string;
  label: string;
  hint?: string;
  wide?: boolean;
  lines?: number;
  /// One of these; with none, the field is not shown.
  options?: (job: Job) => { value: string; name: string }[];
  value: (job: Job) => string;
  /// What is to be sent. Throws when the text makes no sense.
  change: (text: string) => Edit;
}

function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

function time(text: string): number {
  return text.trim() === "" ? 0 : parseDuration(text);
}

const fields: EditField[] = [
  { key: "name", label: "Name", wide: true, value: (job) => job.name, change: (name) => ({ name }) },
  { key: "command", label: "Command", wide: true, lines: 3, value: (job) => job.command, change: (command) => ({ command }) },
  {
    key: "priority", label: "Priority", hint: "lower goes first",
    value: (job) => String(job.priority ?? 0),
    change: (text) => ({ priority: parseWhole(text, -1_000_000, 1_000_000) }),
  },
  {
    key: "gpus", label: "GPUs",
    value: (job) => String(job.gpus_needed),
    change: (text) => ({ gpus_needed: parseWhole(text, 0, 1_000_000) }),
  },
  {
    key: "mem", label: "GPU memory", hint: "8GiB, auto or off",
    value: (job) => (job.claim === "off" ? "off" : job.claim === "given" || !job.claim ? (job.mem ? writeSize(job.mem) : "auto") : "auto"),
    change: (text) => {
      const word = text.trim().toLowerCase();
      return word === "" || word === "auto" || word === "off"
        ? { claim: word || "auto" }
        : { mem: parseSize(text), claim: "given" };
    },
  },
  {
    key: "share", label: "Compute share", hint: "percent",
    value: (job) => String((job.share ?? 0) / 10),
    change: (text) => ({ share: Math.round(Number(text) * 10) }),
  },
  {
    key: "timeout_s", label: "Time limit", hint: "2h30m; empty: none",
    value: (job) => (job.timeout_s ? writeDuration(job.timeout_s) : ""),
    change: (text) => ({ timeout_s: time(text) }),
  },
  {
    key: "expected_s", label: "Expected duration", hint: "empty: as learned",
    value: (job) => (job.expected_s ? writeDuration(Math.ceil(job.expected_s)) : ""),
    change: (text) => ({ expected_s: time(text) }),
  },
  {
    key: "retries", label: "Retries",
    value: (job) => String(job.retries ?? 0),
    change: (text) => ({ retries: parseWhole(text, 0, 10_000) }),
  },
  {
    key: "on", label: "Where it runs",
    options: (job) => placesToRun(job.on),
    value: (job) => job.on ?? kHere,
    change: (on) => ({ on }),
  },
  { key: "model", label: "GPU model", hint: "a part of its name", value: (job) => job.model ?? "", change: (model) => ({ model }) },
  {
    key: "only", label: "Only on GPUs", hint: "0, 1",
    value: (job) => (job.only ?? []).join(", "),
    change: (text) => ({ only: listOf(text) }),
  },
  {
    key: "exclude", label: "Not on GPUs",
    value: (job) => (job.exclude ?? []).join(", "),
    change: (text) => ({ exclude: listOf(text) }),
  },
];

export function EditDialog({ job, close }: { job: Job; close: () => void }) {
  const [texts, setTexts] = useState(() => Object.fromEntries(fields.map((field) => [field.key, field.value(job)])));
  const [problem, setProblem] = useState("");
  const save = async () => {
    const edit: Edit = {};
    for (const field of fields) {
      const text = texts[field.key]!;
      if (text !== field.value(job)) {
        Object.assign(edit, field.change(text));
      }
    }
    if (Object.keys(edit).length > 0) {
      await post("/v1/jobs/edit", { select: [String(job.id)] }, edit);
      toast(`Changed job ${job.id}`);
    }
    close();
  };
  return (
    <Dialog title={`Edit job ${job.id}`} close={close}>
      <form
        class="edit-form"
        onSubmit={(event) => {
          event.preventDefault();
          save().catch((error) => setProblem(error.message));
        }}
      >
        <h2>Edit job {job.id}</h2>
        <div class="edit-fields">
          {fields.map((field) => {
            const options = field.options?.(job);
            if (options?.length === 0) {
              return null;
            }
            const shared = {
              value: texts[field.key],
              dir: "auto" as const,
              spellcheck: false,
              onInput: (event: { currentTarget: { value: string } }) =>
                setTexts({ ...texts, [field.key]: event.currentTarget.value }),
            };
            return (
              <label key={field.key} class={field.wide ? "field wide" : "field"}>
                <span>
                  {field.label} {field.hint && <span class="small">({field.hint})</span>}
                </span>
                {options ? (
                  <select {...shared}>
                    {options.map((option) => (
                      <option key={option.value} value={option.value}>
                        {option.name}
                      </option>
                    ))}
                  </select>
                ) : field.lines ? (
                  <textarea rows={field.lines} {...shared} />
                ) : (
                  <input {...shared} />
                )}
              </label>
            );
          })}
        </div>
        {problem && (
          <p class="notice bad" role="alert">
            {problem}
          </p>
        )}
        <div class="row">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="button primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
