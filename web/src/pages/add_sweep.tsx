// A sweep: a command with holes, and the values that go into them.
import { signal } from "@preact/signals";
import { Fragment } from "preact";
import { several } from "../format";
import { Choice, Field } from "../parts/fields";
import { parseWhole } from "../parse";
import { go, link } from "../router";
import type { Description, Text } from "../types";
import { canQueue, DraftTable, Problems, useDraft } from "./add_draft";
import { Needs, readNeeds, type NeedTexts } from "./add_needs";
import { Submit } from "./add_submit";

interface Parameter {
  id: number;
  name: string;
  values: string;
}

type Order = "grid" | "shuffled_grid" | "sample";

interface SweepTexts {
  template: string;
  parameters: Parameter[];
  where: string;
  order: Order;
  samples: string;
  seed: string;
  needs: NeedTexts;
}

let nextId = 1;
const parameter = (name = "", values = ""): Parameter => ({ id: nextId++, name, values });

const form = signal<SweepTexts>({
  template: "",
  parameters: [parameter()],
  where: "",
  order: "grid",
  samples: "20",
  seed: "1",
  needs: {},
});

const ranges: [string, string][] = [
  ["0.1 0.01 0.001", "these values"],
  ["1..10", "1, 2, … 10"],
  ["0..1..0.25", "in steps"],
  ["lin:0..1/11", "11 values, evenly"],
  ["log:1e-5..1e-1/5", "5 values, evenly by magnitude"],
  ["pow2:16..256", "16, 32, … 256"],
  ["uniform:0..1", "drawn at random, in a sample"],
  ["log:1e-5..1e-1", "the same, by magnitude"],
];

function change(changes: Partial<SweepTexts>) {
  form.value = { ...form.value, ...changes };
}

/// The holes of the template that no row has a value for: offered as rows.
function missing(template: string, parameters: Parameter[]): string[] {
  const holes = [...template.replace(/\{\{|\}\}/g, "").matchAll(/\{([A-Za-z_]\w*)\}/g)].map((hole) => hole[1]!);
  return [...new Set(holes)].filter((hole) => !parameters.some((one) => one.name === hole));
}

/// As the words of `-p`: a range hangs on the name by `=`, values stand apart.
function asWords({ name, values }: Parameter): string {
  const text = values.trim();
  const isRange = !/\s/.test(text) && /\.\.|,|^\w+:/.test(text);
  return isRange ? `${name}=${text}` : `${name} ${text}`;
}

interface Body {
  body: Text;
  complete: boolean;
  errors: { samples?: string; seed?: string };
}

function describe(texts: SweepTexts, wish: Description): Body {
  const errors: Body["errors"] = {};
  const body: Text = {
    format: "sweep",
    template: texts.template,
    parameters: texts.parameters.filter((one) => one.name && one.values.trim()).map(asWords),
    environment_from: "daemon",
    // The preview needs no name yet; queueing does.
    defaults: { ...wish, sweep: texts.needs.name?.trim() || "unnamed" },
  };
  const conditions = texts.where.split("\n").filter((line) => line.trim() !== "");
  if (conditions.length > 0) {
    body.where = conditions;
  }
  if (texts.order !== "grid") {
    body.mode = "shuffled_grid";
    try {
      body.seed = parseWhole(texts.seed, 0, Number.MAX_SAFE_INTEGER);
    } catch (error) {
      errors.seed = (error as Error).message;
    }
  }
  if (texts.order === "sample") {
    try {
      body.n_samples = parseWhole(texts.samples, 1, 10_000_000);
    } catch (error) {
      errors.samples = (error as Error).message;
    }
  }
  const complete =
    texts.template.trim() !== "" &&
    texts.parameters.every((one) => (one.name !== "" && one.values.trim() !== "") || (one.name === "" && one.values === "")) &&
    Object.keys(errors).length === 0;
  return { body, complete, errors };
}

function Parameters({ texts }: { texts: SweepTexts }) {
  const set = (id: number, changes: Partial<Parameter>) =>
    change({ parameters: texts.parameters.map((one) => (one.id === id ? { ...one, ...changes } : one)) });
  // The first row is there from the start: an empty one takes the first hole.
  const add = (name: string) =>
    change({ parameters: [...texts.parameters.filter((one) => one.name || one.values), parameter(name)] });
  return (
    <fieldset class="parameters">
      <legend>Parameters</legend>
      {texts.parameters.map((one, i) => (
        <div class="parameter" key={one.id}>
          <Field label={`Name ${i + 1}`} value={one.name} set={(name) => set(one.id, { name: name.trim() })} placeholder="lr" mono />
          <Field
            label={`Values ${i + 1}`}
            value={one.values}
            set={(values) => set(one.id, { values })}
            placeholder="0.1 0.01 0.001 or log:1e-5..1e-1/5"
            mono
          />
          <button
            type="button"
            class="button plain"
            aria-label={`Remove parameter ${one.name || i + 1}`}
            onClick={() => change({ parameters: texts.parameters.filter((other) => other.id !== one.id) })}
          >
            ×
          </button>
        </div>
      ))}
      <div class="row">
        <button type="button" class="button compact" onClick={() => change({ parameters: [...texts.parameters, parameter()] })}>
          Add a parameter
        </button>
        {missing(texts.template, texts.parameters).map((name) => (
          <button type="button" class="button compact" key={name} onClick={() => add(name)}>
            Values for {`{${name}}`}
          </button>
        ))}
      </div>
    </fieldset>
  );
}

function SweepHelp() {
  return (
    <aside class="card add-help" aria-label="How to write values">
      <h2>How to write values</h2>
      <dl class="facts small">
        {ranges.map(([text, meaning]) => (
          <Fragment key={text}>
            <dt>
              <code>{text}</code>
            </dt>
            <dd>{meaning}</dd>
          </Fragment>
        ))}
      </dl>
      <p class="small">
        <code>{"{name}"}</code> in the command stands for a value, <code>{"{{"}</code> and <code>{"}}"}</code> for braces.
        The last parameter varies fastest.
      </p>
    </aside>
  );
}

export function AddSweep() {
  const texts = form.value;
  const { wish, errors: needErrors } = readNeeds(texts.needs);
  const { body, complete, errors } = describe(texts, wish);
  const named = (texts.needs.name ?? "").trim() !== "";
  const checked = useDraft(complete && Object.keys(needErrors).length === 0 ? body : null);
  const total = canQueue(checked) ? checked.draft!.count : 0;

  return (
    <div class="add-text">
      <section class="card add-form">
        <Field
          label="Command"
          value={texts.template}
          set={(template) => change({ template })}
          placeholder="python train.py --lr {lr} --bs {bs}"
          lines={3}
          required
        />
        <Parameters texts={texts} />
        <div class="fields">
          <Choice
            label="Points"
            value={texts.order}
            set={(order) => change({ order })}
            options={[
              { value: "grid", name: "all, in order" },
              { value: "shuffled_grid", name: "all, shuffled" },
              { value: "sample", name: "a random sample" },
            ]}
          />
          {texts.order === "sample" && (
            <Field label="How many" value={texts.samples} set={(samples) => change({ samples })} error={errors.samples} />
          )}
          {texts.order !== "grid" && (
            <Field label="Seed" value={texts.seed} set={(seed) => change({ seed })} error={errors.seed} />
          )}
          <Field
            label="Only where"
            value={texts.where}
            set={(where) => change({ where })}
            placeholder="bs <= 128 and lr < 0.1"
            class="wide"
            mono
          />
        </div>
        <div class="fields">
          <Needs
            names={["name", "project", "gpus", "memory", "priority", "directory", "where"]}
            texts={texts.needs}
            set={(more) => change({ needs: { ...texts.needs, ...more } })}
            errors={needErrors}
            required="name"
          />
        </div>
        <Problems problems={checked.draft?.problems ?? []} />
        {!named && <p class="muted">A sweep needs a name to be found by.</p>}
        <Submit
          path="/v1/texts/submit"
          body={body}
          label={total > 0 ? `Queue ${several(total, "job")}` : "Queue the sweep"}
          disabled={total === 0 || !named}
          done={() => go(link(["sweeps", texts.needs.name!.trim()]))}
        />
      </section>
      <SweepHelp />
      <section class="card add-preview">
        <h2>What would be queued</h2>
        <DraftTable checked={checked} nothing="Nothing yet: a command with a hole, such as {lr}, and values for it." />
      </section>
    </div>
  );
}
