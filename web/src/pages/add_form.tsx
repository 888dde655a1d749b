// One job by a form; with `?clone=12` filled from that job.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../api";
import { Field } from "../parts/fields";
import { toastError } from "../parts/toast";
import { link, route, setQuery } from "../router";
import type { Description, Submission } from "../types";
import { Needs, needsOf, otherNeedsOf, readNeeds, type InputName, type NeedName, type NeedTexts } from "./add_needs";
import { Submit } from "./add_submit";

interface FormTexts {
  command: string;
  needs: NeedTexts;
  held: boolean;
  clone: number; // whose environment it takes; 0: the daemon's own
  kept: Description; // of that job, as it is
  more: boolean;
}

const empty: FormTexts = { command: "", needs: {}, held: false, clone: 0, kept: {}, more: false };
const form = signal<FormTexts>(empty);

const first: InputName[] = ["name", "project", "gpus", "memory", "priority", "timeout", "directory", "where"];
const more: NeedName[] = ["expected", "retries", "weight", "after", "labels", "output", "environment"];

function change(changes: Partial<FormTexts>) {
  form.value = { ...form.value, ...changes };
}

async function fillFrom(id: number) {
  try {
    const job = await get(`/v1/jobs/${id}`);
    const needs = needsOf(job);
    const hasMore = more.some((name) => needs[name]);
    form.value = { command: job.command, needs, held: false, clone: id, kept: otherNeedsOf(job), more: hasMore };
  } catch (error) {
    toastError(error);
  }
}

export function AddForm() {
  const clone = Number(route.value.query.get("clone") ?? 0);
  useEffect(() => {
    if (clone > 0 && form.value.clone !== clone) {
      void fillFrom(clone);
    }
  }, [clone]);

  const texts = form.value;
  const { wish, errors } = readNeeds(texts.needs);
  const setNeeds = (needs: NeedTexts) => change({ needs: { ...texts.needs, ...needs } });
  const { environment, ...asked } = wish;
  const job = { ...texts.kept, ...asked, command: texts.command, held: texts.held || undefined };
  const body: Submission = {
    environment_from: texts.clone > 0 ? texts.clone : "daemon",
    defaults: { environment },
    jobs: [job],
  };
  const wrong = Object.keys(errors).length > 0;
  const moreWrong = more.some((name) => errors[name]);

  return (
    <form class="card add-form" noValidate onSubmit={(event) => event.preventDefault()}>
      {texts.clone > 0 && (
        <p class="muted">
          Like <a href={link(["jobs", texts.clone])}>job {texts.clone}</a>, with its environment
          {Object.entries(texts.kept).map(([name, value]) => `, ${name} ${String(value)}`)}.
        </p>
      )}
      <Field
        label="Command"
        value={texts.command}
        set={(command) => change({ command })}
        placeholder="python train.py --lr 0.1"
        lines={3}
        required
      />
      <div class="fields">
        <Needs names={first} texts={texts.needs} set={setNeeds} errors={errors} />
      </div>
      <details open={texts.more || moreWrong} onToggle={(event) => change({ more: event.currentTarget.open })}>
        <summary>More</summary>
        <div class="fields">
          <Needs names={more} texts={texts.needs} set={setNeeds} errors={errors} />
        </div>
      </details>
      <label class="row">
        <input type="checkbox" checked={texts.held} onChange={(event) => change({ held: event.currentTarget.checked })} />
        Hold it: it waits until it is released
      </label>
      <div class="row">
        <Submit
          path="/v1/jobs"
          body={body}
          label="Queue the job"
          disabled={texts.command.trim() === "" || wrong}
        />
        <button
          type="button"
          class="button plain"
          onClick={() => {
            form.value = empty;
            setQuery({ clone: "" });
          }}
        >
          Clear
        </button>
      </div>
    </form>
  );
}
