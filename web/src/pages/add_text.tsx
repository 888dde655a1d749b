// Many jobs as a text, one per line or in the format of GPUPeasy.
import { signal } from "@preact/signals";
import { Fragment } from "preact";
import { useRef } from "preact/hooks";
import { several } from "../format";
import { Editor, goTo } from "../parts/editor";
import { Segments } from "../parts/fields";
import { canQueue, DraftTable, Problems, useDraft, wrongLines } from "./add_draft";
import { Needs, readNeeds, type NeedTexts } from "./add_needs";
import { Submit } from "./add_submit";

type Format = "lines" | "peasy";

const form = signal<{ format: Format; text: string; needs: NeedTexts }>({ format: "lines", text: "", needs: {} });

const examples: Record<Format, string> = {
  lines: "python train.py --lr 0.1\n@name=big @gpus=2 @mem=8GiB python train.py --lr 0.01\n@after=ok:big python evaluate.py",
  peasy: "first;;first.txt;;python train.py --lr 0.1;;;\nsecond;;second.txt;;python train.py --lr 0.01;;;",
};

const options: [string, string][] = [
  ["@name=train", "a name"],
  ["@project=vision", "a project"],
  ["@gpus=2", "how many GPUs; 0 for none"],
  ["@mem=8GiB", "memory on each; auto; off: alone"],
  ["@share=50", "percent of a GPU’s compute"],
  ["@mps=on", "through NVIDIA’s MPS; or a percentage"],
  ["@priority=-1", "lower goes first"],
  ["@timeout=2h30m", "the longest it may run"],
  ["@retries=3", "tried again when it fails"],
  ["@after=ok:train", "after others, by name or line"],
];

function LinesHelp() {
  return (
    <>
      <p>One job per line. Before the command, if need be:</p>
      <dl class="facts small">
        {options.map(([word, meaning]) => (
          <Fragment key={word}>
            <dt>
              <code>{word}</code>
            </dt>
            <dd>{meaning}</dd>
          </Fragment>
        ))}
      </dl>
      <p class="small">
        Empty lines and those that begin with <code>#</code> are skipped. <code>{"<<END"}</code> instead of a command takes
        the lines up to <code>END</code>.
      </p>
    </>
  );
}

function PeasyHelp() {
  return (
    <>
      <p>
        Each job is <code>NAME;;OUTFILE;;COMMAND;;;</code>
      </p>
      <p class="small">
        A command may go over several lines; the three semicolons end it. The output file is relative to the directory, and
        opened when the job starts: its folder must be there by then.
      </p>
    </>
  );
}

export function AddText() {
  const area = useRef<HTMLTextAreaElement>(null);
  const { format, text, needs } = form.value;
  const change = (changes: Partial<typeof form.value>) => (form.value = { ...form.value, ...changes });
  const { wish, errors } = readNeeds(needs);
  const wrongNeeds = Object.keys(errors).length > 0;
  const body = { format, text, environment_from: "daemon", defaults: wish };
  const checked = useDraft(text.trim() === "" || wrongNeeds ? null : body);
  const problems = checked.draft?.problems ?? [];

  return (
    <div class="add-text">
      <section class="card add-form">
        <Segments
          label="Format"
          value={format}
          set={(next) => change({ format: next })}
          options={[
            { value: "lines", name: "One job per line" },
            { value: "peasy", name: "NAME;;OUTFILE;;COMMAND;;;" },
          ]}
        />
        <Editor
          label="Jobs"
          value={text}
          set={(next) => change({ text: next })}
          wrong={wrongLines(problems)}
          area={area}
          placeholder={examples[format]}
        />
        <Problems problems={problems} go={(line, column) => goTo(area.current!, line, column)} />
        <div class="fields">
          <Needs
            names={["project", "gpus", "memory", "priority", "directory"]}
            texts={needs}
            set={(more) => change({ needs: { ...needs, ...more } })}
            errors={errors}
          />
        </div>
        <div class="row">
          <Submit
            path="/v1/texts/submit"
            body={body}
            label={checked.draft && canQueue(checked) ? `Queue ${several(checked.draft.count, "job")}` : "Queue the jobs"}
            disabled={!canQueue(checked)}
          />
          <button type="button" class="button plain" disabled={text === ""} onClick={() => change({ text: "" })}>
            Clear
          </button>
        </div>
      </section>
      <aside class="card add-help" aria-label="How to write it">
        <h2>How to write it</h2>
        {format === "lines" ? <LinesHelp /> : <PeasyHelp />}
        <button type="button" class="button compact" disabled={text !== ""} onClick={() => change({ text: examples[format] })}>
          Put an example
        </button>
      </aside>
      <section class="card add-preview">
        <h2>What would be queued</h2>
        <DraftTable checked={checked} nothing="Nothing yet: type jobs above, and they are shown here as berth understands them." />
      </section>
    </div>
  );
}
