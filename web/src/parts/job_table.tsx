// The table of jobs: windowed, chosen from by mouse and keys; on a phone each row is a small card.
import { signal, useSignal, useSignalEffect, type Signal } from "@preact/signals";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { clock } from "../format";
import type { JobList } from "../job_list";
import { go, link } from "../router";
import type { Job } from "../types";
import { StateBadge } from "./basics";
import { deviceText, Elapsed, Name, shownColumns, type Column } from "./job_columns";
import { choose, everything, isChosen, nothing, type Selection } from "./selection";
import { ariaSort, SortButton, type Sort } from "./sort";
import { Windowed, type WindowedHandle } from "./windowed";

const kRow = 36;
const kCard = 60;
const kHead = 34;

const narrow = matchMedia("(max-width: 700px)");
const cards = signal(narrow.matches);
narrow.addEventListener("change", () => (cards.value = narrow.matches));

interface Table {
  list: JobList;
  selection: Signal<Selection>;
  cursor: Signal<number>; // the job that the keys are at; 0 is none
}

function Card({ job }: { job: Job }) {
  return (
    <div role="gridcell" class="job-card">
      <div class="card-line">
        <Name job={job} />
        <StateBadge state={job.state} paused={job.paused} />
      </div>
      <div class="card-line muted small">
        <span class="cut">
          {job.id} · {deviceText(job)}
        </span>
        <span>{job.started === null ? clock(job.submitted) : <Elapsed job={job} />}</span>
      </div>
    </div>
  );
}

function Row({ table, id, index }: { table: Table; id: number; index: number }) {
  const job = table.list.row(id).value;
  const chosen = isChosen(table.selection.value, id);
  const current = table.cursor.value === id;
  return (
    <div
      role="row"
      id={`job-${id}`}
      data-id={id}
      aria-rowindex={index + 2}
      aria-selected={chosen}
      class={current ? "job-row current" : "job-row"}
    >
      <div role="gridcell" class="tick">
        <input type="checkbox" tabIndex={-1} checked={chosen} aria-label={`Job ${id}`} />
      </div>
      {cards.value ? (
        job && <Card job={job} />
      ) : (
        shownColumns.value.map((column) => (
          <div role="gridcell" key={column.key} class={column.right ? "cut right" : "cut"}>
            {job ? column.cell(job) : column.key === "id" && id}
          </div>
        ))
      )}
    </div>
  );
}

interface HeadProps {
  sort: Sort;
  setSort: (sort: Sort) => void;
  selection: Signal<Selection>;
}

function Head({ sort, setSort, selection }: HeadProps) {
  const all = selection.value.all && selection.value.ids.size === 0;
  const some = !all && (selection.value.all || selection.value.ids.size > 0);
  return (
    <div role="rowgroup" class="job-head">
      <div role="row" aria-rowindex={1} class="job-row">
        <div role="columnheader" class="tick">
          <input
            type="checkbox"
            aria-label="All jobs that match"
            checked={all}
            indeterminate={some}
            onChange={(event) => (selection.value = event.currentTarget.checked ? everything : nothing)}
          />
        </div>
        {(cards.value ? [] : shownColumns.value).map((column) => (
          <div
            role="columnheader"
            key={column.key}
            class={column.right ? "right" : ""}
            aria-sort={column.sort ? ariaSort(sort, column.sort) : undefined}
          >
            {column.sort ? (
              <SortButton by={column.sort} sort={sort} choose={setSort} descendingFirst={column.descendingFirst}>
                {column.title}
              </SortButton>
            ) : (
              column.title
            )}
          </div>
        ))}
        {cards.value && <div role="columnheader">Job</div>}
      </div>
    </div>
  );
}

function widths(columns: Column[]): { columns: string; least: number } {
  const parts = columns.map((one) => (one.grow ? `minmax(${one.width}px, ${one.grow}fr)` : `${one.width}px`));
  const least = columns.reduce((sum, one) => sum + one.width + 12, 44 + 24);
  return { columns: `24px ${parts.join(" ")}`, least };
}

interface JobTableProps {
  list: JobList;
  selection: Signal<Selection>;
  sort: Sort;
  setSort: (sort: Sort) => void;
}

export function JobTable({ list, selection, sort, setSort }: JobTableProps) {
  const cursor = useSignal(0);
  const anchor = useRef(0); // where a range begins
  const handle = useRef<WindowedHandle>(null);
  const table = useMemo(() => ({ list, selection, cursor }), [list, selection]);
  const ids = list.ids.value;

  // New jobs above the view move the list, not what the user looks at.
  const moved = useRef(0);
  useLayoutEffect(() => {
    if (moved.current !== 0) {
      handle.current!.shift(moved.current);
      moved.current = 0;
    }
  }, [ids]);
  useEffect(() => {
    list.beforeChange = (next) => {
      const view = handle.current;
      const before = list.ids.peek();
      const top = Math.floor(view?.top() ?? 0);
      if (!view || view.element.scrollTop === 0) {
        return;
      }
      for (let i = top; i < Math.min(top + 50, before.length); ++i) {
        const at = next.indexOf(before[i]!);
        if (at >= 0) {
          moved.current = at - i;
          return;
        }
      }
    };
    return () => (list.beforeChange = () => undefined);
  }, [list]);

  const onView = useCallback((first: number, last: number) => list.show(first, last), [list]);
  useSignalEffect(() => {
    // The same window may hold other jobs now.
    const count = list.ids.value.length;
    const top = Math.floor(handle.current?.top() ?? 0);
    const fits = handle.current?.fits() ?? 30;
    list.show(Math.max(0, top - fits), Math.min(count, top + 2 * fits));
  });

  const range = (from: number, to: number) => {
    const [a, b] = [ids.indexOf(from), ids.indexOf(to)];
    return a < 0 ? [to] : ids.subarray(Math.min(a, b), Math.max(a, b) + 1);
  };
  const toggle = (id: number, extend: boolean) => {
    const chosen = !isChosen(selection.value, id);
    if (extend && anchor.current) {
      selection.value = choose(selection.value, range(anchor.current, id), true);
    } else {
      selection.value = choose(selection.value, [id], chosen);
      anchor.current = id;
    }
    cursor.value = id;
  };

  const moveTo = (index: number, extend: boolean) => {
    const next = ids[Math.max(0, Math.min(index, ids.length - 1))];
    if (next === undefined) {
      return;
    }
    if (extend) {
      anchor.current ||= cursor.value || next;
      selection.value = choose(selection.value, range(anchor.current, next), true);
    }
    cursor.value = next;
    handle.current!.reveal(ids.indexOf(next));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget && !(event.target as Element).matches("input[type=checkbox]")) {
      return;
    }
    const at = cursor.value ? ids.indexOf(cursor.value) : -1;
    const page = handle.current!.fits();
    const steps: Record<string, number> = {
      ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1,
      PageDown: at + page, PageUp: at - page, Home: 0, End: ids.length - 1,
    };
    const step = steps[event.key];
    if (step !== undefined && !event.ctrlKey && !event.metaKey) {
      moveTo(step, event.shiftKey);
    } else if (event.key === " " && cursor.value && event.target === event.currentTarget) {
      toggle(cursor.value, event.shiftKey);
    } else if (event.key === "Enter" && cursor.value) {
      go(link(["jobs", cursor.value]));
    } else if (event.key === "a" && (event.ctrlKey || event.metaKey)) {
      selection.value = everything;
    } else if (event.key === "Escape") {
      selection.value = nothing;
    } else {
      return;
    }
    event.preventDefault();
  };

  const onClick = (event: MouseEvent) => {
    const target = event.target as HTMLElement;
    const id = Number(target.closest<HTMLElement>("[data-id]")?.dataset.id ?? 0);
    if (id === 0 || target.closest("a")) {
      return;
    }
    if (target.closest(".tick")) {
      toggle(id, event.shiftKey);
    } else {
      cursor.value = id;
    }
  };

  const { columns, least } = widths(shownColumns.value);
  return (
    <Windowed
      class={cards.value ? "job-table cards" : "job-table"}
      role="grid"
      aria-label="Jobs"
      aria-multiselectable
      aria-rowcount={ids.length + 1}
      aria-activedescendant={cursor.value ? `job-${cursor.value}` : undefined}
      tabIndex={0}
      style={cards.value ? {} : { "--columns": columns, "--least": `${least}px` }}
      count={ids.length}
      rowHeight={cards.value ? kCard : kRow}
      head={<Head sort={sort} setSort={setSort} selection={selection} />}
      headHeight={kHead}
      bodyRole="rowgroup"
      handle={handle}
      onView={onView}
      onKeyDown={onKeyDown}
      onClick={onClick}
      onDblClick={() => cursor.value && go(link(["jobs", cursor.value]))}
      row={(index, slot) => <Row key={slot} table={table} id={ids[index]!} index={index} />}
    />
  );
}
