// The lines of a log that have been read, the rows they make on the screen, and a search in them.
import { parseLine, plainStyle, plainText, type Piece, type Style } from "./ansi";

const kMostCharacters = 160_000_000; // then the oldest quarter goes
const kControl = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/;

/// A line that was written over by carriage returns is what was written last.
function collapse(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === "\r") {
    end -= 1;
  }
  const at = end === 0 ? -1 : line.lastIndexOf("\r", end - 1);
  if (at < 0) {
    return line;
  }
  // Colours that were on stay on.
  const gone = line.slice(0, at);
  const on = gone.slice(Math.max(gone.lastIndexOf("\x1b[0m") + 4, gone.lastIndexOf("\x1b[m") + 3, 0));
  const colours = gone.includes("\x1b[") ? (on.match(/\x1b\[[\d;:]*m/g) ?? []).join("") : "";
  return colours + line.slice(at + 1);
}

export class LogBuffer {
  lines: string[] = [];
  /// How many lines went before the first one here. Lines are numbered from the first ever read.
  gone = 0;
  private open = false; // whether the last line may grow
  private characters = 0;
  private style = plainStyle; // at the beginning of the last line
  private styles = new Map<number, Style>(); // by number, where a line does not begin plain
  private parsed = new Map<number, { line: string; pieces: Piece[] }>();

  append(text: string) {
    this.characters += text.length;
    const parts = text.split("\n");
    const closed = parts.length - 1;
    parts.forEach((part, i) => {
      if (this.open) {
        const last = this.lines.length - 1;
        this.lines[last] = collapse(this.lines[last]! + part);
      } else if (i < closed || part !== "") {
        this.lines.push(collapse(part));
      } else {
        return;
      }
      this.open = i === closed;
      if (!this.open) {
        this.close();
      }
    });
    if (this.characters > kMostCharacters) {
      this.drop(Math.ceil(this.lines.length / 4));
    }
  }

  private close() {
    const last = this.lines[this.lines.length - 1]!;
    const escape = last.lastIndexOf("\x1b[");
    if (escape >= 0) {
      // Nearly all coloured lines end with a reset, and then need not be taken apart before they are seen.
      const reset = last.startsWith("0m", escape + 2) || last.startsWith("m", escape + 2);
      this.style = reset ? plainStyle : parseLine(last, this.style).end;
    }
    if (Object.keys(this.style).length > 0) {
      this.styles.set(this.gone + this.lines.length, this.style);
    }
  }

  /// Forgets so many of the oldest lines.
  drop(count: number) {
    for (const line of this.lines.splice(0, count)) {
      this.characters -= line.length + 1;
    }
    this.gone += count;
    for (const number of this.styles.keys()) {
      if (number >= this.gone) {
        break;
      }
      this.styles.delete(number);
    }
  }

  /// Of a line by its place here; `most` characters of it at most.
  pieces(index: number, most: number): Piece[] {
    const whole = this.lines[index]!;
    // Escapes make a line longer than it looks.
    const line = whole.length > most * 4 ? whole.slice(0, most * 4) : whole;
    const number = this.gone + index;
    const known = this.parsed.get(number);
    if (known?.line === line) {
      return known.pieces;
    }
    const { pieces } = parseLine(line, this.styles.get(number));
    if (this.parsed.size > 300) {
      this.parsed.clear();
    }
    this.parsed.set(number, { line, pieces });
    return pieces;
  }

  plain(index: number): string {
    const line = this.lines[index]!;
    return kControl.test(line) ? plainText(line) : line;
  }
}

/// Rows of the screen: one for each line, or as many as it takes at a width.
export class LogRows {
  private ends: number[] = []; // the rows up to the end of each line
  private gone = 0;

  constructor(
    private buffer: LogBuffer,
    readonly width: number, // in characters; 0 does not wrap
  ) {}

  /// To be called after the buffer has changed.
  update() {
    if (this.width === 0) {
      return;
    }
    if (this.gone !== this.buffer.gone) {
      this.gone = this.buffer.gone;
      this.ends = [];
    }
    this.ends.pop(); // the last line may have grown
    for (let i = this.ends.length; i < this.buffer.lines.length; ++i) {
      const rows = Math.max(1, Math.ceil(this.buffer.plain(i).length / this.width));
      this.ends.push((this.ends[i - 1] ?? 0) + rows);
    }
  }

  get count(): number {
    return this.width === 0 ? this.buffer.lines.length : (this.ends[this.ends.length - 1] ?? 0);
  }

  /// The line of a row, and from which character on.
  locate(row: number): { line: number; from: number } {
    if (this.width === 0) {
      return { line: row, from: 0 };
    }
    let low = 0;
    let high = this.ends.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ends[middle]! > row) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return { line: low, from: (row - (this.ends[low - 1] ?? 0)) * this.width };
  }

  rowOf(line: number, column: number): number {
    return this.width === 0 ? line : (this.ends[line - 1] ?? 0) + Math.floor(column / this.width);
  }
}

export interface Hit {
  line: number; // as numbered from the first ever read
  column: number;
}

export function searchPattern(text: string): RegExp | null {
  return text === "" ? null : new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
}

/// Finds a text in all lines, a little at a time, also in those that come later.
export class LogSearch {
  static readonly kMost = 100_000;
  hits: Hit[] = [];
  private next = 0; // the first line that has not been looked at

  constructor(
    private buffer: LogBuffer,
    readonly pattern: RegExp,
  ) {}

  /// Whether there is more to look at.
  work(milliseconds: number): boolean {
    const { buffer, pattern } = this;
    if (this.hits.length > 0 && this.hits[0]!.line < buffer.gone) {
      this.hits = this.hits.filter((hit) => hit.line >= buffer.gone);
    }
    const { hits } = this;
    const end = performance.now() + milliseconds;
    this.next = Math.max(this.next, buffer.gone);
    // The last line may grow: it is looked at again.
    while (hits.length > 0 && hits[hits.length - 1]!.line >= this.next) {
      hits.pop();
    }
    const lines = buffer.gone + buffer.lines.length;
    for (let line = this.next; line < lines; ++line) {
      if (hits.length >= LogSearch.kMost) {
        return false;
      }
      for (const found of buffer.plain(line - buffer.gone).matchAll(pattern)) {
        hits.push({ line, column: found.index });
      }
      this.next = Math.min(line + 1, lines - 1);
      if ((line & 255) === 0 && performance.now() > end) {
        return line + 1 < lines;
      }
    }
    return false;
  }

  /// The first hit at or after a line; the last one when there is none.
  near(line: number): number {
    const found = this.hits.findIndex((hit) => hit.line >= line);
    return found < 0 ? this.hits.length - 1 : found;
  }
}
