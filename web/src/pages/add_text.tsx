// Many jobs as a text, one per line or in the format of GPUPeasy.
import { signal } from "@preact/signals";
import { Fragment } from "preact";
import { Segments } from "../parts/fields";
import { TextForm } from "./add_editor";
import type { NeedTexts } from "./add_needs";

type Format = "lines" | "peasy";

const form = signal<{ format: Format; text: string; needs: NeedTexts; overwrite: boolean }>({ format: "lines", text: "", needs: {}, overwrite: false });

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
  ["@weight=2", "of its owner’s share, where the policy has shares"],
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
        opened when the job starts. A file that exists already is refused, unless you ask for it to be overwritten.
      </p>
    </>
  );
}

export function AddText() {
  const { format, text, needs, overwrite } = form.value;
  const change = (changes: Partial<typeof form.value>) => (form.value = { ...form.value, ...changes });
  return (
    <TextForm
      format={format}
      label="Jobs"
      text={text}
      setText={(next) => change({ text: next })}
      needs={needs}
      setNeeds={(next) => change({ needs: next })}
      names={["project", "gpus", "memory", "priority", "directory", "where"]}
      example={examples[format]}
      nothing="Nothing yet: type jobs above, and they are shown here as berth understands them."
      above={
        <>
          <Segments
            label="Format"
            value={format}
            set={(next) => change({ format: next })}
            options={[
              { value: "lines", name: "One job per line" },
              { value: "peasy", name: "NAME;;OUTFILE;;COMMAND;;;" },
            ]}
          />
          {format === "peasy" && (
            <label class="row">
              <input type="checkbox" checked={overwrite} onChange={(event) => change({ overwrite: event.currentTarget.checked })} />
              Overwrite output files that exist
            </label>
          )}
        </>
      }
      overwrite={format === "peasy" && overwrite}
      help={format === "lines" ? <LinesHelp /> : <PeasyHelp />}
    />
  );
}
