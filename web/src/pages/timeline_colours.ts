// By what the bars of a timeline are coloured, and what the colours mean.
import { stateWord } from "../format";
import type { Span } from "../types";

export type ColourBy = "state" | "job" | "sweep" | "user";

export const colourings: { value: ColourBy; name: string }[] = [
  { value: "state", name: "State" },
  { value: "job", name: "Job" },
  { value: "sweep", name: "Sweep" },
  { value: "user", name: "User" },
];

/// Colours that are far apart for numbers that are near each other (the golden angle).
export function jobTint(number: number, dark: boolean): string {
  return `hsl(${Math.round((number * 137.508) % 360)} ${dark ? "60% 64%" : "58% 45%"})`;
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return value;
}

const kHues = 12;

/// A colour of its own for each, mostly the same one wherever it appears: each name has its place
/// in the circle, and goes on from there when that is taken.
function apart(names: Set<string>, dark: boolean): Map<string, string> {
  const taken = new Set<number>();
  const colours = new Map<string, string>();
  for (const name of [...names].sort()) {
    let place = hash(name) % kHues;
    for (let tries = 0; taken.has(place) && tries < kHues; tries += 1) {
      place = (place + 5) % kHues;
    }
    taken.add(place);
    colours.set(name, `hsl(${place * (360 / kHues) + 10} ${dark ? "60% 64%" : "58% 45%"})`);
  }
  return colours;
}

/// A function, because bars are many and colours are few.
export function tinter(spans: Span[], by: ColourBy, dark: boolean): (span: Span) => string {
  const style = getComputedStyle(document.documentElement);
  const named = (name: string) => style.getPropertyValue(`--${name}`).trim();
  switch (by) {
    case "state": {
      const colours = new Map<string, string>([...new Set(spans.map(shownState))].map((state) => [state, named(inkOf(state))]));
      return (span) => colours.get(shownState(span))!;
    }
    case "job":
      return (span) => jobTint(span.job, dark);
    case "sweep": {
      const colours = apart(new Set(spans.map((span) => span.sweep)), dark);
      colours.set("", named("queued"));
      return (span) => colours.get(span.sweep)!;
    }
    case "user": {
      const colours = apart(new Set(spans.map((span) => String(span.user))), dark);
      return (span) => colours.get(String(span.user))!;
    }
  }
}

function shownState(span: Span): string {
  return span.state === "starting" ? "running" : span.state;
}

function inkOf(state: string): string {
  return state === "expected" ? "queued" : state;
}

export interface LegendEntry {
  name: string;
  colour: string;
}

const kMostEntries = 14;

export function legendOf(spans: Span[], by: ColourBy, dark: boolean, users: Map<number, string>): LegendEntry[] {
  if (by === "job") {
    return [];
  }
  const tint = tinter(spans, by, dark);
  const entries = new Map<string, string>();
  for (const span of spans) {
    const name =
      by === "state"
        ? stateWord(shownState(span))
        : by === "sweep"
          ? span.sweep || "no sweep"
          : (users.get(span.user) ?? `uid ${span.user}`);
    if (!entries.has(name)) {
      entries.set(name, tint(span));
    }
  }
  return [...entries].slice(0, kMostEntries).map(([name, colour]) => ({ name, colour }));
}
