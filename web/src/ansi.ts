// Terminal output as text with colours: SGR sequences are followed, all other escapes are dropped.

/// 0–15 is one of the terminal's own colours, a text is "#rrggbb".
export type Colour = number | string;

export interface Style {
  front?: Colour;
  back?: Colour;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  struck?: boolean;
  inverse?: boolean;
}

export interface Piece {
  text: string;
  style: Style;
}

export const plainStyle: Style = {};

// CSI, OSC, other strings up to their end, two-character escapes, and control characters but for tab.
const kEscape =
  /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])|[\x00-\x08\x0a-\x1f\x7f-\x9f]/g;

export function plainText(line: string): string {
  return line.replace(kEscape, "");
}

function channel(value: number): string {
  return Math.max(0, Math.min(value, 255)).toString(16).padStart(2, "0");
}

/// The palette of 256: 16 named ones, a cube of 6×6×6, and 24 greys.
function palette(index: number): Colour {
  if (index < 16) {
    return index;
  }
  if (index >= 232) {
    return `#${channel(8 + (index - 232) * 10).repeat(3)}`;
  }
  const level = (step: number) => channel(step === 0 ? 0 : 55 + step * 40);
  const cube = index - 16;
  return `#${level(Math.floor(cube / 36))}${level(Math.floor(cube / 6) % 6)}${level(cube % 6)}`;
}

/// What follows 38 or 48: `5;n` or `2;r;g;b`, also with colons. Takes its numbers from the list.
function extended(numbers: number[]): Colour | undefined {
  const kind = numbers.shift();
  if (kind === 5) {
    return palette(numbers.shift() ?? 0);
  }
  if (kind === 2) {
    const [red = 0, green = 0, blue = 0] = numbers.splice(0, 3);
    return `#${channel(red)}${channel(green)}${channel(blue)}`;
  }
  return undefined;
}

function applySgr(style: Style, parameters: string): Style {
  const next = { ...style };
  // 38:2::r:g:b names a colour space between the colons, which nobody uses.
  const words = parameters.replace(/([34]8:2):\d*:(\d+:\d+:\d+)/g, "$1:$2").split(/[;:]/);
  const numbers = words.map(Number);
  while (numbers.length > 0) {
    const code = numbers.shift()!;
    if (code === 0) {
      Object.keys(next).forEach((key) => delete next[key as keyof Style]);
    } else if (code >= 30 && code <= 37) {
      next.front = code - 30;
    } else if (code >= 40 && code <= 47) {
      next.back = code - 40;
    } else if (code >= 90 && code <= 97) {
      next.front = code - 90 + 8;
    } else if (code >= 100 && code <= 107) {
      next.back = code - 100 + 8;
    } else if (code === 38) {
      next.front = extended(numbers);
    } else if (code === 48) {
      next.back = extended(numbers);
    } else if (code === 39) {
      delete next.front;
    } else if (code === 49) {
      delete next.back;
    } else if (code === 22) {
      delete next.bold;
      delete next.dim;
    } else {
      const flags: Record<number, keyof Style> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "struck" };
      const set = flags[code];
      const unset = flags[code - 20];
      if (set) {
        Object.assign(next, { [set]: true });
      } else if (unset) {
        delete next[unset];
      }
    }
  }
  return next;
}

/// A line's pieces, and the style in which the next one begins.
export function parseLine(line: string, begin: Style = plainStyle): { pieces: Piece[]; end: Style } {
  if (!/[\x00-\x08\x0a-\x1f\x7f-\x9f]/.test(line)) {
    return { pieces: line === "" ? [] : [{ text: line, style: begin }], end: begin };
  }
  const pieces: Piece[] = [];
  let style = begin;
  let at = 0;
  for (const found of line.matchAll(kEscape)) {
    if (found.index > at) {
      pieces.push({ text: line.slice(at, found.index), style });
    }
    at = found.index + found[0].length;
    const sgr = /^\x1b\[([\d;:]*)m$/.exec(found[0]);
    if (sgr) {
      style = applySgr(style, sgr[1]!);
    }
  }
  if (at < line.length) {
    pieces.push({ text: line.slice(at), style });
  }
  return { pieces, end: style };
}
