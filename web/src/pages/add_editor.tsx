// What the forms have in common that queue a text: it is typed, checked while one types, and what
// would come of it is shown.
import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";
import { several } from "../format";
import { Editor, goTo } from "../parts/editor";
import type { Text } from "../types";
import { canQueue, DraftTable, Problems, useDraft, wrongLines } from "./add_draft";
import { Needs, readNeeds, type InputName, type NeedTexts } from "./add_needs";
import { Submit } from "./add_submit";

interface TextFormProps {
  format: "lines" | "peasy" | "csv";
  label: string;
  text: string;
  setText: (text: string) => void;
  needs: NeedTexts; // what the jobs have in common
  setNeeds: (needs: NeedTexts) => void;
  names: InputName[]; // of those that can be given here
  example: string;
  nothing: string; // told while there is no text
  above: ComponentChildren;
  help: ComponentChildren;
  overwrite?: boolean; // output files that exist
  section?: JSX.HTMLAttributes<HTMLElement>;
}

export function TextForm({ format, label, text, setText, needs, setNeeds, names, example, nothing, above, help, overwrite, section }: TextFormProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const { wish, errors } = readNeeds(needs);
  const body: Text = { format, text, environment_from: "daemon", defaults: wish, ...(overwrite ? { overwrite } : {}) };
  const checked = useDraft(text.trim() === "" || Object.keys(errors).length > 0 ? null : body);
  const problems = checked.draft?.problems ?? [];
  const ready = canQueue(checked);

  return (
    <div class="add-text">
      <section {...section} class={`card add-form ${section?.class ?? ""}`}>
        {above}
        <Editor label={label} value={text} set={setText} wrong={wrongLines(problems)} area={area} placeholder={example} />
        <Problems problems={problems} go={(line, column) => goTo(area.current!, line, column)} />
        <div class="fields">
          <Needs names={names} texts={needs} set={(more) => setNeeds({ ...needs, ...more })} errors={errors} />
        </div>
        <div class="row">
          <Submit
            path="/v1/texts/submit"
            body={body}
            label={checked.draft && ready ? `Queue ${several(checked.draft.count, "job")}` : "Queue the jobs"}
            disabled={!ready}
          />
          <button type="button" class="button plain" disabled={text === ""} onClick={() => setText("")}>
            Clear
          </button>
        </div>
      </section>
      <aside class="card add-help" aria-label="How to write it">
        <h2>How to write it</h2>
        {help}
        <button type="button" class="button compact" disabled={text !== ""} onClick={() => setText(example)}>
          Put an example
        </button>
      </aside>
      <section class="card add-preview">
        <h2>What would be queued</h2>
        <DraftTable checked={checked} nothing={nothing} />
      </section>
    </div>
  );
}
