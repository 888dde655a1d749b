// What a job can be asked for in the forms: the inputs, and what they mean to the daemon.
import { parseDuration, parseSize, parseWhole, writeDuration, writeSize } from "../parse";
import { Choice, Field } from "../parts/fields";
import type { Description, FullJob } from "../types";
import { readWhere, Where, whereOf, type WhereTexts } from "./add_where";

interface NeedOf<Field extends keyof Description> {
  label: string;
  field: Field; // of the daemon's
  placeholder?: string;
  hint?: string;
  lines?: number;
  wide?: boolean;
  read: (text: string) => Description[Field];
  write: (job: FullJob) => string;
}

type Need = { [Field in keyof Description]-?: NeedOf<Field> }[keyof Description];

const asIs = (text: string) => text.trim();
const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);
const written = (value: number | undefined, write: (value: number) => string) => (value ? write(value) : "");

function readPair(text: string, what: string): [string, string] {
  const equals = text.indexOf("=");
  if (equals < 1) {
    throw new Error(`“${text}” is not a ${what}: write NAME=value`);
  }
  return [text.slice(0, equals), text.slice(equals + 1)];
}

function readAfter(text: string): string[] {
  const wrong = words(text).find((word) => !/^((ok|any|notok):)?[1-9]\d*$/.test(word));
  if (wrong) {
    throw new Error(`“${wrong}” is no job to wait for: write 12, ok:12, any:13 or notok:14`);
  }
  return words(text);
}

export const needs = {
  name: {
    label: "Name",
    field: "name",
    placeholder: "train",
    read: asIs,
    write: (job) => job.name,
  },
  project: {
    label: "Project",
    field: "project",
    placeholder: "vision",
    read: asIs,
    write: (job) => job.project,
  },
  directory: {
    label: "Directory",
    field: "directory",
    placeholder: "your home folder",
    wide: true,
    read: (text) => {
      if (!text.startsWith("/")) {
        throw new Error("a directory begins with /");
      }
      return text.trim();
    },
    write: (job) => job.directory,
  },
  gpus: {
    label: "GPUs",
    field: "gpus_needed",
    placeholder: "1",
    read: (text) => parseWhole(text, 0, 1_000_000),
    write: (job) => String(job.gpus_needed),
  },
  priority: {
    label: "Priority",
    field: "priority",
    placeholder: "0, lower goes first",
    read: (text) => parseWhole(text, -1_000_000, 1_000_000),
    write: (job) => written(job.priority, String),
  },
  timeout: {
    label: "Time limit",
    field: "timeout_s",
    placeholder: "none, or 2h30m",
    read: parseDuration,
    write: (job) => written(job.timeout_s, writeDuration),
  },
  expected: {
    label: "Expected time",
    field: "expected_s",
    placeholder: "as learned, or 40m",
    read: parseDuration,
    write: () => "", // a job tells what was learned about it as well, and that is not to be pinned
  },
  retries: {
    label: "Retries",
    field: "retries",
    placeholder: "0",
    read: (text) => parseWhole(text, 0, 10_000),
    write: (job) => written(job.retries, String),
  },
  weight: {
    label: "Weight",
    field: "weight",
    placeholder: "1",
    hint: "For policies that share between owners.",
    read: (text) => parseWhole(text, 1, 10_000),
    write: (job) => written(job.weight, String),
  },
  after: {
    label: "Starts after",
    field: "after",
    placeholder: "ok:12, any:13",
    hint: "Jobs that must have ended: ok, any or notok.",
    read: readAfter,
    write: (job) => (job.after ?? []).join(", "),
  },
  labels: {
    label: "Labels",
    field: "labels",
    placeholder: "team=a, paper=neurips",
    read: (text) => Object.fromEntries(words(text).map((word) => readPair(word, "label"))),
    write: (job) => Object.entries(job.labels ?? {}).map(([key, value]) => `${key}=${value}`).join(", "),
  },
  output: {
    label: "Output file",
    field: "output",
    placeholder: "a log that berth keeps, or %n-%j.txt",
    hint: "%j number, %n name, %p project",
    wide: true,
    read: asIs,
    write: (job) => job.output ?? "",
  },
  environment: {
    label: "Environment",
    field: "environment",
    placeholder: "NAME=value, one per line",
    lines: 3,
    wide: true,
    read: (text) =>
      text
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line) => readPair(line, "variable").join("=")),
    write: () => "",
  },
} satisfies Record<string, Need>;

export type NeedName = keyof typeof needs;
/// What has an input of its own kind, too.
export type InputName = NeedName | "memory" | "where";

/// What was typed. `memory` is only read when `claim` says that it is given.
export type NeedTexts = Partial<Record<NeedName, string>> & WhereTexts & { claim?: FullJob["claim"]; memory?: string };

export interface ReadNeeds {
  wish: Description;
  errors: Partial<Record<NeedName | "memory", string>>;
}

export function readNeeds(texts: NeedTexts): ReadNeeds {
  const wish: Description = readWhere(texts);
  const errors: ReadNeeds["errors"] = {};
  const attempt = (name: NeedName | "memory", put: () => void) => {
    try {
      put();
    } catch (error) {
      errors[name] = (error as Error).message;
    }
  };
  for (const [name, need] of Object.entries(needs) as [NeedName, Need][]) {
    const text = texts[name] ?? "";
    if (text.trim() !== "") {
      attempt(name, () => Object.assign(wish, { [need.field]: need.read(text) }));
    }
  }
  if (texts.claim === "off") {
    wish.claim = "off";
  } else if (texts.claim === "given") {
    attempt("memory", () => (wish.mem = parseSize(texts.memory ?? "")));
  }
  return { wish, errors };
}

/// What would have to be typed for such a job.
export function needsOf(job: FullJob): NeedTexts {
  const texts: NeedTexts = { claim: job.claim ?? "auto", ...whereOf(job) };
  for (const [name, need] of Object.entries(needs) as [NeedName, Need][]) {
    texts[name] = need.write(job);
  }
  texts.memory = job.mem ? writeSize(job.mem) : "";
  return texts;
}

// What a job may have asked for that the form has no inputs for; a clone asks for it, too.
const others = [
  "error", "share", "mps", "thread_percentage", "profile_s", "model", "only", "exclude", "prefer", "backoff_s", "retry_on",
  "warning_signal", "warning_before_s", "requeue_when_lost",
] as const satisfies (keyof Description)[];

export function otherNeedsOf(job: FullJob): Description {
  return Object.fromEntries(others.filter((name) => job[name] !== undefined).map((name) => [name, job[name]]));
}

interface NeedsProps {
  names: InputName[];
  texts: NeedTexts;
  set: (change: NeedTexts) => void;
  errors: ReadNeeds["errors"];
  required?: NeedName;
}

export function Needs({ names, texts, set, errors, required }: NeedsProps) {
  return (
    <>
      {names.map((name) => {
        if (name === "memory") {
          return <Memory key={name} texts={texts} set={set} error={errors.memory} />;
        }
        if (name === "where") {
          return <Where key={name} texts={texts} set={set} />;
        }
        const need: Need = needs[name];
        return (
          <Field
            key={name}
            label={need.label}
            value={texts[name] ?? ""}
            set={(value) => set({ [name]: value })}
            placeholder={need.placeholder}
            hint={need.hint}
            lines={need.lines}
            error={errors[name]}
            class={need.wide ? "wide" : ""}
            required={name === required}
          />
        );
      })}
    </>
  );
}

function Memory({ texts, set, error }: { texts: NeedTexts; set: NeedsProps["set"]; error: string | undefined }) {
  const claim = texts.claim ?? "auto";
  return (
    <>
      <Choice
        label="GPU memory"
        value={claim}
        set={(value) => set({ claim: value })}
        options={[
          { value: "auto", name: "auto: as learned" },
          { value: "given", name: "this much" },
          { value: "off", name: "off: GPUs alone" },
        ]}
      />
      {claim === "given" && (
        <Field
          label="Memory per GPU"
          value={texts.memory ?? ""}
          set={(memory) => set({ memory })}
          placeholder="8GiB"
          error={error}
        />
      )}
    </>
  );
}
