// What narrows the table of jobs: a search, chips for the states, and choices of what there is.
import { useEffect, useRef, useState } from "preact/hooks";
import { count, stateWord } from "../format";
import { status } from "../live";
import { route, setQuery } from "../router";
import { allStates, type Facets, type State } from "../types";
import type { Wanted } from "../job_list";
import type { StateCounts } from "./state_bar";

/// The view as the address has it.
export function wantedNow(): Wanted & { states: State[] } {
  const query = route.value.query;
  const states = (query.get("state") ?? "").split(",").filter((word) => allStates.includes(word as State)) as State[];
  const words = states.map((state) => `state=${state}`);
  for (const kind of ["project", "user", "label", "sweep"]) {
    const value = query.get(kind);
    if (value) {
      words.push(`${kind}=${value}`);
    }
  }
  // Sweeps are grouped where it is known how many jobs of each are meant.
  const alone = query.get("group") === "sweep" && !["user", "label", "sweep", "search"].some((kind) => query.get(kind));
  const sort = query.get("sort") ?? "id";
  const descending = query.get("descending") === "1" || !query.has("sort");
  return { states, alone, words, search: query.get("search") ?? "", sort, descending };
}

function StateChips({ states, counts }: { states: State[]; counts: StateCounts }) {
  const set = (state: State) => {
    const next = states.includes(state) ? states.filter((other) => other !== state) : [...states, state];
    setQuery({ state: next.join(",") });
  };
  return (
    <div class="chips" role="group" aria-label="States">
      <button type="button" class="chip" aria-pressed={states.length === 0} onClick={() => setQuery({ state: "" })}>
        all
      </button>
      {allStates
        .filter((state) => states.includes(state) || (counts[state] ?? 0) > 0)
        .map((state) => (
          <button
            key={state}
            type="button"
            class={`chip state-${state}`}
            aria-pressed={states.includes(state)}
            onClick={() => set(state)}
          >
            {stateWord(state)} <span class="chip-count">{count(counts[state] ?? 0)}</span>
          </button>
        ))}
    </div>
  );
}

interface ChoiceProps {
  kind: string;
  name: string;
  options: { value: string; text: string; jobs: number }[];
}

function Choice({ kind, name, options }: ChoiceProps) {
  const value = route.value.query.get(kind) ?? "";
  if (options.length === 0 && value === "") {
    return null;
  }
  const known = value === "" || options.some((option) => option.value === value);
  return (
    <select
      class={value ? "choice on" : "choice"}
      aria-label={name}
      value={value}
      onChange={(event) => setQuery({ [kind]: event.currentTarget.value })}
    >
      <option value="">{name}: any</option>
      {!known && <option value={value}>{value}</option>}
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text} ({count(option.jobs)})
        </option>
      ))}
    </select>
  );
}

function Search() {
  const input = useRef<HTMLInputElement>(null);
  const shown = route.value.query.get("search") ?? "";
  const [text, setText] = useState(shown);
  const timer = useRef(0);
  useEffect(() => setText(shown), [shown]);
  useEffect(() => {
    const slash = (event: KeyboardEvent) => {
      const typing = (event.target as Element).matches("input:not([type=checkbox]), textarea, select");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !document.querySelector("dialog")) {
        event.preventDefault();
        input.current!.focus();
        input.current!.select();
      }
    };
    document.addEventListener("keydown", slash);
    return () => {
      document.removeEventListener("keydown", slash);
      clearTimeout(timer.current);
    };
  }, []);
  return (
    <input
      ref={input}
      type="search"
      class="job-search"
      placeholder="Search name, project, command, sweep or number"
      aria-label="Search jobs"
      aria-keyshortcuts="/"
      value={text}
      onInput={(event) => {
        const next = event.currentTarget.value;
        setText(next);
        clearTimeout(timer.current);
        timer.current = window.setTimeout(() => setQuery({ search: next }), 120);
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape" || event.key === "Enter" || event.key === "ArrowDown") {
          event.preventDefault();
          // The table that the keys go to next is the one of this search.
          clearTimeout(timer.current);
          setQuery({ search: event.currentTarget.value });
          document.querySelector<HTMLElement>(".job-table")?.focus();
        }
      }}
    />
  );
}

interface FiltersProps {
  facets: Facets | null;
  states: State[];
  counts: StateCounts | null; // of what the rest leaves; null: of all jobs
}

function GroupToggle() {
  const on = route.value.query.get("group") === "sweep";
  return (
    <button type="button" class="button toggle" aria-pressed={on} onClick={() => setQuery({ group: on ? "" : "sweep" })}>
      Group by sweep
    </button>
  );
}

export function JobFilters({ facets, states, counts }: FiltersProps) {
  const users = facets?.users ?? [];
  return (
    <div class="job-filters">
      <Search />
      <div class="choices">
        <Choice
          kind="project"
          name="Project"
          options={(facets?.projects ?? []).map((one) => ({ value: one.name, text: one.name, jobs: one.jobs }))}
        />
        <Choice
          kind="sweep"
          name="Sweep"
          options={(facets?.sweeps ?? []).map((one) => ({ value: one.name, text: one.name, jobs: one.jobs }))}
        />
        <Choice
          kind="label"
          name="Label"
          options={(facets?.labels ?? []).map((one) => {
            const value = `${one.key}=${one.value}`;
            return { value, text: value, jobs: one.jobs };
          })}
        />
        <Choice
          kind="user"
          name="User"
          options={users.map((one) => ({ value: String(one.uid), text: one.name || String(one.uid), jobs: one.jobs }))}
        />
        {(facets?.sweeps.length ?? 0) > 0 && <GroupToggle />}
      </div>
      <StateChips states={states} counts={counts ?? status.value?.jobs ?? {}} />
    </div>
  );
}
