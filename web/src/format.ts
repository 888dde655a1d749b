// Numbers and times in words.

const kKiB = 1024;

/// "17.2 GiB"
export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= kKiB && unit < units.length - 1) {
    count /= kKiB;
    unit += 1;
  }
  return `${short(count)} ${units[unit]}`;
}

/// Three figures at most: 1.25, 17.2, 256
export function short(value: number): string {
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2;
  return value.toFixed(digits).replace(/\.0+$/, "");
}

export function count(value: number): string {
  return value.toLocaleString("en");
}

/// "3 jobs", "1 job"
export function several(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/// "2 d 3 h", "4 h 10 m", "12 m 5 s", "3.2 s": the two largest parts.
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) {
    return "unknown";
  }
  if (seconds < 10) {
    return `${short(Math.max(seconds, 0))} s`;
  }
  const whole = Math.round(seconds);
  const parts: [number, string][] = [
    [Math.floor(whole / 86400), "d"],
    [Math.floor(whole / 3600) % 24, "h"],
    [Math.floor(whole / 60) % 60, "m"],
    [whole % 60, "s"],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
}

/// "14:03:22" today, else with the date.
export function clock(time: number, now = Date.now() / 1000): string {
  const date = new Date(time * 1000);
  const text = date.toLocaleTimeString("en-GB");
  if (date.toDateString() === new Date(now * 1000).toDateString()) {
    return text;
  }
  return `${date.toLocaleDateString("en-CA")} ${text}`;
}

/// The largest part alone, which changes seldom: "8 m".
function brief(seconds: number): string {
  const whole = Math.round(seconds);
  for (const [length, unit] of [[86400, "d"], [3600, "h"], [60, "m"]] as const) {
    if (whole >= length) {
      return `${Math.floor(whole / length)} ${unit}`;
    }
  }
  return `${whole} s`;
}

/// "in 8 m", "2 h ago": for lists, where many count at once.
export function nearly(time: number, now: number): string {
  const away = time - now;
  if (Math.abs(away) < 1) {
    return "now";
  }
  return away > 0 ? `in ${brief(away)}` : `${brief(-away)} ago`;
}

/// "in 5 m", "3 s ago"
export function relative(time: number, now: number): string {
  const away = time - now;
  if (Math.abs(away) < 1) {
    return "now";
  }
  return away > 0 ? `in ${duration(away)}` : `${duration(Math.round(-away))} ago`;
}

/// "1.3 kWh", "12 Wh"
export function energy(joules: number): string {
  const wattHours = joules / 3600;
  return wattHours >= 1000 ? `${short(wattHours / 1000)} kWh` : `${short(wattHours)} Wh`;
}

/// The whole title of a job: project/name, or its command where it has no name.
export function title(job: { id?: number; name?: string; project?: string; command?: string }): string {
  const name = job.name || firstLine(job.command ?? "") || `job ${job.id ?? ""}`;
  return job.project ? `${job.project}/${name}` : name;
}

/// "lr=0.1 bs=32": what tells the jobs of a sweep apart.
export function pairs(values: Record<string, string> | undefined): string {
  return Object.entries(values ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");
}

export function firstLine(text: string): string {
  const end = text.indexOf("\n");
  return end < 0 ? text : `${text.slice(0, end)} …`;
}

const stateWords: Record<string, string> = { timed_out: "timed out", oom: "out of memory" };

export function stateWord(state: string): string {
  return stateWords[state] ?? state;
}
