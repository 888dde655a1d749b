// Sizes and times as people write them, the same as on the command line.

const sizeUnits: Record<string, number> = {
  "": 2 ** 20,
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  K: 2 ** 10,
  M: 2 ** 20,
  G: 2 ** 30,
  T: 2 ** 40,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

const timeUnits: Record<string, number> = { ms: 1e-3, s: 1, m: 60, h: 3600, d: 86400, w: 604800 };

/// Bytes of `8GiB`, `500MB` or a plain number of MiB. Throws what is wrong, in words.
export function parseSize(text: string): number {
  const found = /^(\d+(?:\.\d*)?|\.\d+) ?([A-Za-z]*)$/.exec(text.trim());
  const unit = found ? sizeUnits[found[2]!] : undefined;
  if (!found || unit === undefined) {
    throw new Error(`“${text}” is not a size: write 8GiB, 500MB or a number of MiB`);
  }
  return Math.round(Number(found[1]) * unit);
}

/// Seconds of `90s`, `10m`, `2h30m`, `1d` or a plain number.
export function parseDuration(text: string): number {
  const wrong = new Error(`“${text}” is not a time: write 90s, 10m, 2h30m or 1d`);
  const plain = text.trim();
  if (/^(\d+(\.\d*)?|\.\d+)$/.test(plain)) {
    return Number(plain);
  }
  if (!/^((\d+(\.\d*)?|\.\d+)(ms|[smhdw]))+$/.test(plain)) {
    throw wrong;
  }
  let sum = 0;
  for (const [, number, unit] of plain.matchAll(/([\d.]+)(ms|[smhdw])/g)) {
    sum += Number(number) * timeUnits[unit!]!;
  }
  return sum;
}

export function parseWhole(text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^[+-]?\d+$/.test(text.trim()) || value < least || value > most) {
    throw new Error(`“${text}” is not a whole number from ${least} to ${most}`);
  }
  return value;
}

/// How one would type it: `8GiB`, where that is exact, else in MiB or bytes.
export function writeSize(bytes: number): string {
  for (const unit of ["TiB", "GiB", "MiB", "KiB"]) {
    const value = bytes / sizeUnits[unit]!;
    if (value >= 1 && Number.isInteger(value * 4)) {
      return `${value}${unit}`;
    }
  }
  return `${bytes}B`;
}

/// How one would type it: `2h30m`.
export function writeDuration(seconds: number): string {
  if (!Number.isInteger(seconds) || seconds === 0) {
    return `${seconds}s`;
  }
  let rest = seconds;
  let text = "";
  for (const unit of ["d", "h", "m", "s"]) {
    const whole = Math.floor(rest / timeUnits[unit]!);
    rest -= whole * timeUnits[unit]!;
    text += whole > 0 ? `${whole}${unit}` : "";
  }
  return text;
}
