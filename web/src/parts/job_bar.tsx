// What can be done with the chosen jobs of the table.
import { useSignal, type Signal } from "@preact/signals";
import { count, several } from "../format";
import { act, deeds, fits, type Verb } from "../job_actions";
import type { JobList, Wanted } from "../job_list";
import { Action } from "./basics";
import { confirm, Dialog } from "./dialog";
import { chosenCount, everything, isChosen, nothing, ranges, type Selection } from "./selection";
import { toastError } from "./toast";

const verbs: Verb[] = ["kill", "hold", "release", "pause", "resume", "rerun"];

/// By words where that says it all; else by number.
function wordsFor(verb: Verb, selection: Selection, list: JobList, wanted: Wanted): string[] {
  if (!selection.all) {
    return ranges(selection.ids);
  }
  if (selection.ids.size > 0 || wanted.search !== "" || wanted.alone) {
    return ranges(list.ids.value.filter((id) => isChosen(selection, id)));
  }
  return wanted.words.length > 0 ? wanted.words : deeds[verb].states.map((state) => `state=${state}`);
}

/// Whether it makes sense for any of them, as far as they are known.
function mayFit(verb: Verb, selection: Selection, list: JobList): boolean {
  if (selection.all || selection.ids.size > 200) {
    return true;
  }
  return [...selection.ids].some((id) => {
    const job = list.row(id).value;
    return job === null || fits(verb, job);
  });
}

interface PriorityProps {
  close: () => void;
  set: (priority: number) => Promise<void>;
  jobs: number;
}

function PriorityDialog({ close, set, jobs }: PriorityProps) {
  return (
    <Dialog title="Priority" close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const input = new FormData(event.currentTarget).get("priority");
          close();
          set(Number(input)).catch(toastError);
        }}
      >
        <h2>Priority of {several(jobs, "job")}</h2>
        <label class="field">
          <span>Lower goes first; 0 is usual. Only waiting jobs can change.</span>
          <input type="number" name="priority" step="1" min="-1000000" max="1000000" defaultValue="0" required autofocus />
        </label>
        <div class="row">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="button primary">
            Set
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface BarProps {
  list: JobList;
  selection: Signal<Selection>;
  wanted: Wanted;
}

export function JobBar({ list, selection, wanted }: BarProps) {
  const asking = useSignal(false);
  const total = list.ids.value.length;
  const chosen = chosenCount(selection.value, total);
  if (chosen === 0) {
    return null;
  }
  const run = async (verb: Verb) => {
    const text = `${several(chosen, "job")} will be ended: those that wait are cancelled, those that run are killed.`;
    if (verb === "kill" && chosen > 1 && !(await confirm("Kill these jobs?", text, `Kill ${count(chosen)}`, true))) {
      return;
    }
    await act(verb, wordsFor(verb, selection.value, list, wanted));
  };
  const setPriority = (priority: number) =>
    act("edit", wordsFor("edit", selection.value, list, wanted), { priority });
  return (
    <div class="job-bar" role="toolbar" aria-label="Chosen jobs">
      <span class="job-bar-count" role="status">
        {count(chosen)} chosen
      </span>
      {verbs.map((verb) => (
        <Action
          key={verb}
          class={verb === "kill" ? "compact danger" : "compact"}
          disabled={!mayFit(verb, selection.value, list)}
          run={() => run(verb)}
        >
          {deeds[verb].name}
        </Action>
      ))}
      <Action class="compact" disabled={!mayFit("edit", selection.value, list)} run={() => (asking.value = true)}>
        Priority …
      </Action>
      <span class="push" />
      {chosen < total && (
        <button type="button" class="button plain compact" onClick={() => (selection.value = everything)}>
          Choose all {count(total)}
        </button>
      )}
      <button type="button" class="button plain compact" onClick={() => (selection.value = nothing)}>
        Clear
      </button>
      {asking.value && <PriorityDialog jobs={chosen} close={() => (asking.value = false)} set={setPriority} />}
    </div>
  );
}
