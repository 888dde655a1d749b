// The head of a column by which a table can be sorted.
import type { ComponentChildren } from "preact";

export interface Sort {
  by: string;
  descending: boolean;
}

export function ariaSort(sort: Sort, by: string): "ascending" | "descending" | undefined {
  return sort.by !== by ? undefined : sort.descending ? "descending" : "ascending";
}

interface SortButtonProps {
  by: string;
  sort: Sort;
  choose: (sort: Sort) => void;
  descendingFirst?: boolean;
  children: ComponentChildren;
}

export function SortButton({ by, sort, choose, descendingFirst = false, children }: SortButtonProps) {
  const mine = sort.by === by;
  return (
    <button
      type="button"
      class="sort"
      onClick={() => choose({ by, descending: mine ? !sort.descending : descendingFirst })}
    >
      {children}
      <span class="sort-arrow" aria-hidden="true">
        {mine ? (sort.descending ? "▾" : "▴") : ""}
      </span>
    </button>
  );
}
