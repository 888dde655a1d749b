// A batch as a CSV file, chosen, dropped or pasted.
import { signal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { several } from "../format";
import { Editor, goTo } from "../parts/editor";
import { toastError } from "../parts/toast";
import { canQueue, DraftTable, Problems, useDraft, wrongLines } from "./add_draft";
import { Needs, readNeeds, type NeedTexts } from "./add_needs";
import { Submit } from "./add_submit";

const form = signal<{ text: string; file: string; needs: NeedTexts }>({ text: "", file: "", needs: {} });

const example =
  "Directory,Executable,Filename,Epochs,Priority\n/home/ann/vision,-1,train.py,20,0\n/home/ann/vision,-1,finetune.py,5,1";

export function AddCsv() {
  const area = useRef<HTMLTextAreaElement>(null);
  const [over, setOver] = useState(false);
  const { text, file, needs } = form.value;
  const change = (changes: Partial<typeof form.value>) => (form.value = { ...form.value, ...changes });
  const { wish, errors } = readNeeds(needs);
  const wrongNeeds = Object.keys(errors).length > 0;
  const body = { format: "csv", text, environment_from: "daemon", defaults: wish };
  const checked = useDraft(text.trim() === "" || wrongNeeds ? null : body);
  const problems = checked.draft?.problems ?? [];

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
    <div class="add-text">
      <section
        class={`card add-form ${over ? "drop-here" : ""}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          void take(event.dataTransfer?.files[0]);
        }}
      >
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
        <Editor
          label="CSV"
          value={text}
          set={(next) => change({ text: next })}
          wrong={wrongLines(problems)}
          area={area}
          placeholder={example}
        />
        <Problems problems={problems} go={(line, column) => goTo(area.current!, line, column)} />
        <div class="fields">
          <Needs
            names={["project", "gpus", "memory", "timeout", "retries"]}
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
          <button type="button" class="button plain" disabled={text === ""} onClick={() => change({ text: "", file: "" })}>
            Clear
          </button>
        </div>
      </section>
      <aside class="card add-help" aria-label="How to write it">
        <h2>How to write it</h2>
        <p>
          A header, then a row per task, as <code>berth batch</code> takes them:
        </p>
        <dl class="facts small">
          <dt>Directory</dt>
          <dd>where it runs</dd>
          <dt>Executable</dt>
          <dd>
            what runs it; <code>-1</code> for python3
          </dd>
          <dt>Filename</dt>
          <dd>the script</dd>
          <dt>Epochs</dt>
          <dd>
            given to it as <code>--epochs</code>
          </dd>
          <dt>Priority</dt>
          <dd>lower goes first</dd>
        </dl>
        <button type="button" class="button compact" disabled={text !== ""} onClick={() => change({ text: example })}>
          Put an example
        </button>
      </aside>
      <section class="card add-preview">
        <h2>What would be queued</h2>
        <DraftTable checked={checked} nothing="Nothing yet: choose a file, and its tasks are shown here." />
      </section>
    </div>
  );
}
