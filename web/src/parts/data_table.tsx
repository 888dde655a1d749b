// A windowed table of anything, with columns by which it can be sorted; numbers as numbers.
import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { ariaSort, SortButton, type Sort } from "./sort";
import { Windowed, type WindowedHandle } from "./windowed";

const kRow = 36;
const kHead = 34;

export interface DataColumn<T> {
  key: string;
  title: string;
  width: number;
  grow?: number;
  right?: boolean;
  value: (row: T) => Value; // to sort by
  cell?: (row: T) => ComponentChildren; // where it shows something else
}

const collator = new Intl.Collator("en", { numeric: true });

type Value = string | number | null;

/// Texts that are numbers are sorted as such.
function asNumber(value: Value): Value {
  return typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
}

/// What is missing comes last, whichever way the rest goes.
function order(a: Value, b: Value, way: number): number {
  if (a === null || b === null) {
    return Number(a === null) - Number(b === null);
  }
  return way * (typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b)));
}

export function sortBy<T>(rows: T[], value: (row: T) => Value, descending = false): T[] {
  const keyed = rows.map((row) => ({ row, value: asNumber(value(row)) }));
  return keyed.sort((a, b) => order(a.value, b.value, descending ? -1 : 1)).map(({ row }) => row);
}

interface DataTableProps<T> {
  label: string;
  rows: T[];
  columns: DataColumn<T>[];
  id: (row: T) => number;
  sort: Sort;
  setSort: (sort: Sort) => void;
}

export function DataTable<T>({ label, rows, columns, id, sort, setSort }: DataTableProps<T>) {
  const handle = useRef<WindowedHandle>(null);
  const sorted = useMemo(() => {
    const column = columns.find((one) => one.key === sort.by);
    return column ? sortBy(rows, column.value, sort.descending) : rows;
  }, [rows, columns, sort.by, sort.descending]);
  const widths = columns.map((one) => (one.grow ? `minmax(${one.width}px, ${one.grow}fr)` : `${one.width}px`));
  const least = columns.reduce((sum, one) => sum + one.width + 12, 30);
  const head = (
    <div role="rowgroup" class="job-head">
      <div role="row" aria-rowindex={1} class="job-row">
        {columns.map((column) => (
          <div role="columnheader" key={column.key} class={column.right ? "cut right" : "cut"} aria-sort={ariaSort(sort, column.key)}>
            <SortButton by={column.key} sort={sort} choose={setSort}>
              <bdi>{column.title}</bdi>
            </SortButton>
          </div>
        ))}
      </div>
    </div>
  );
  return (
    <Windowed
      class="job-table"
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      tabIndex={0}
      style={{ "--columns": widths.join(" "), "--least": `${least}px` }}
      count={sorted.length}
      rowHeight={kRow}
      head={head}
      headHeight={kHead}
      bodyRole="rowgroup"
      handle={handle}
      row={(index) => {
        const row = sorted[index]!;
        return (
          <div role="row" key={id(row)} class="job-row" aria-rowindex={index + 2}>
            {columns.map((column) => (
              <div role="cell" key={column.key} class={column.right ? "cut right" : "cut"}>
                {column.cell ? column.cell(row) : <bdi title={String(column.value(row) ?? "")}>{column.value(row)}</bdi>}
              </div>
            ))}
          </div>
        );
      }}
    />
  );
}
