// A batch as a CSV file, chosen, dropped or pasted.
import { signal } from "@preact/signals";
import { Fragment, type ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { toastError } from "../parts/toast";
import { TextForm } from "./add_editor";
import type { NeedTexts } from "./add_needs";

const form = signal<{ text: string; file: string; needs: NeedTexts }>({ text: "", file: "", needs: {} });

const example =
  "Directory,Executable,Filename,Epochs,Priority\n/home/ann/vision,-1,train.py,20,0\n/home/ann/vision,-1,finetune.py,5,1";

const columns: [string, ComponentChildren][] = [
  ["Directory", "where it runs"],
  ["Executable", <>what runs it; <code>-1</code> for python3</>],
  ["Filename", "the script"],
  ["Epochs", <>given to it as <code>--epochs</code></>],
  ["Priority", "lower goes first"],
];

function CsvHelp() {
  return (
    <>
      <p>
        A header, then a row per task, as <code>berth batch</code> takes them:
      </p>
      <dl class="facts small">
        {columns.map(([name, meaning]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{meaning}</dd>
          </Fragment>
        ))}
      </dl>
    </>
  );
}

export function AddCsv() {
  const [over, setOver] = useState(false);
  const { text, file, needs } = form.value;
  const change = (changes: Partial<typeof form.value>) => (form.value = { ...form.value, ...changes });

  const take = async (chosen: File | undefined) => {
    setOver(false);
    if (chosen) {
      try {
        change({ text: await chosen.text(), file: chosen.name });
      } catch (error) {
        toastError(error);
      }
    }
  };

  return (
    <TextForm
      format="csv"
      label="CSV"
      text={text}
      setText={(next) => change({ text: next, file: next === "" ? "" : file })}
      needs={needs}
      setNeeds={(next) => change({ needs: next })}
      names={["project", "gpus", "memory", "timeout", "retries", "where"]}
      example={example}
      nothing="Nothing yet: choose a file, and its tasks are shown here."
      above={
        <div class="row">
          <label class="button file-button">
            Choose a file
            <input
              class="hidden-text"
              type="file"
              accept=".csv,text/csv,text/plain"
              onChange={(event) => {
                void take(event.currentTarget.files?.[0]);
                event.currentTarget.value = ""; // so that the same file may be chosen again
              }}
            />
          </label>
          <span class="muted cut">{file || "or drop one here, or paste it below"}</span>
        </div>
      }
      help={<CsvHelp />}
      section={{
        class: over ? "drop-here" : "",
        onDragOver: (event) => {
          event.preventDefault();
          setOver(true);
        },
        onDragLeave: () => setOver(false),
        onDrop: (event) => {
          event.preventDefault();
          void take(event.dataTransfer?.files[0]);
        },
      }}
    />
  );
}
