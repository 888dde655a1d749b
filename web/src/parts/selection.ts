// Which jobs of a list are chosen: some of them, or all but some, so that a million need no list.

export interface Selection {
  all: boolean;
  ids: ReadonlySet<number>; // those chosen; with `all`, those that are not
}

export const nothing: Selection = { all: false, ids: new Set() };
export const everything: Selection = { all: true, ids: new Set() };

export function isChosen(selection: Selection, id: number): boolean {
  return selection.all !== selection.ids.has(id);
}

export function chosenCount(selection: Selection, total: number): number {
  return selection.all ? Math.max(total - selection.ids.size, 0) : selection.ids.size;
}

export function choose(selection: Selection, ids: Iterable<number>, chosen: boolean): Selection {
  const next = new Set(selection.ids);
  for (const id of ids) {
    if (chosen !== selection.all) {
      next.add(id);
    } else {
      next.delete(id);
    }
  }
  return { all: selection.all, ids: next };
}

/// Numbers as the daemon's selectors take them: "3-7", "12".
export function ranges(ids: Iterable<number>): string[] {
  const sorted = Float64Array.from(ids).sort();
  const words: string[] = [];
  for (let i = 0; i < sorted.length; ) {
    let end = i;
    while (end + 1 < sorted.length && sorted[end + 1] === sorted[end]! + 1) {
      end += 1;
    }
    words.push(end === i ? `${sorted[i]}` : `${sorted[i]}-${sorted[end]}`);
    i = end + 1;
  }
  return words;
}

/// Words in portions that fit into the head of a request (16 KiB).
export function portions(words: string[]): string[][] {
  const kMost = 8_000;
  const all: string[][] = [];
  let size = kMost;
  for (const word of words) {
    size += word.length + "&select=".length;
    if (size > kMost) {
      all.push([]);
      size = word.length;
    }
    all[all.length - 1]!.push(word);
  }
  return all;
}
