// The chart of the timeline: it is moved by hand and keys, tells about the job under the pointer,
// and is drawn only when something changed. Nothing here re-renders while it moves.
import { useEffect, useRef, useState } from "preact/hooks";
import { clock, duration, pairs, stateWord, title } from "../format";
import { knownJob } from "../known_jobs";
import { Parameters } from "../parts/basics";
import { arrange, boxOf, draw, hit, inksOf, noGpu, prepare, type Bar, type Scene, type Sizes, type View } from "../parts/gantt";
import { moveByHand, panned, zoomed } from "../parts/gantt_moves";
import { go, link } from "../router";
import type { Span } from "../types";
import { tinter, type ColourBy } from "./timeline_colours";

export interface SpanBar extends Bar {
  span: Span;
}

const kBelow = 132; // pixels that what follows the chart takes
const kHighest = 200; // of a row

/// Rows are as high as the window lets them be.
function leastRow(holder: HTMLElement | null, rows: number): number {
  const top = (holder?.getBoundingClientRect().top ?? 120) + window.scrollY;
  const room = window.innerHeight - top - 28 - kBelow;
  return Math.max(34, Math.min(Math.floor(room / Math.max(rows, 1)), kHighest));
}

const kUnknownLength = 60; // how long a job is drawn of which nobody knows

export function barsOf(spans: Span[], by: ColourBy, dark: boolean, now: number): SpanBar[] {
  const tint = tinter(spans, by, dark);
  return spans.map((span) => {
    const runs = span.state === "running" || span.state === "starting";
    const begin = runs ? Math.max(now, span.from) : span.from;
    return {
      job: span.job,
      label: pairs(knownJob(span.job)?.parameters) || span.name || `job ${span.job}`,
      gpus: span.gpus,
      from: span.from,
      to: Math.max(span.to ?? begin + (runs ? 0 : kUnknownLength), begin),
      open: span.to === null,
      expected: span.state === "expected",
      tint: tint(span),
      span,
    };
  });
}

export function clockTick(time: number, step: number): string {
  const date = new Date(time * 1000);
  const midnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
  if (step >= 86400 || midnight) {
    return date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  }
  return date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: step < 60 ? "2-digit" : undefined });
}

/// "succeeded, 4 m 10 s", for the screen and for those who hear it.
export function spanWords(span: Span, now: number): { what: string; when: string } {
  const length = span.to === null ? null : span.to - span.from;
  if (span.state === "expected") {
    const long = length === null ? "" : `, for about ${duration(length)}`;
    return { what: "expected", when: `from about ${clock(span.from, now)}${long}` };
  }
  if (span.state === "running" || span.state === "starting") {
    const end = span.to === null ? "" : `, probably until ${clock(span.to, now)}`;
    return { what: stateWord(span.state), when: `for ${duration(now - span.from)}${end}` };
  }
  return { what: stateWord(span.state), when: `${clock(span.from, now)}, ${duration(length ?? 0)}` };
}

interface TipProps {
  bar: SpanBar;
  x: number;
  y: number;
  now: number;
}

function Tip({ bar, x, y, now }: TipProps) {
  const { span } = bar;
  const { what, when } = spanWords(span, now);
  return (
    <div class="tip" style={{ left: `clamp(4px, ${x}px, calc(100% - 288px))`, top: `${y}px` }}>
      <strong class="cut">
        <bdi>{title({ id: span.job, name: span.name, project: span.project })}</bdi>
      </strong>
      <Parameters job={{ parameters: knownJob(span.job)?.parameters }} />
      <span>
        Job {span.job}
        {span.attempt > 1 ? `, attempt ${span.attempt}` : ""} · <span class={`state-${span.state}`}>{what}</span>
      </span>
      <span>{when}</span>
      <span class="muted">
        {span.gpus.length > 0 ? `on ${span.gpus.join(", ")}` : "without a GPU"}
        {span.sweep && ` · sweep ${span.sweep}`}
      </span>
    </div>
  );
}

interface ChartProps {
  spans: Span[];
  devices: string[];
  by: ColourBy;
  dark: boolean;
  now: number;
  view: View;
  move: (view: View) => void;
  toNow: () => void;
}

export function TimelineChart({ spans, devices, by, dark, now, view, move, toNow }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [shown, setShown] = useState<{ bar: SpanBar; x: number; y: number } | null>(null);
  const [width, setWidth] = useState(0);
  const [, setHeight] = useState(window.innerHeight);
  const state = useRef({ scene: null as Scene | null, bars: [] as SpanBar[], frame: 0, move, toNow, view });
  Object.assign(state.current, { move, toNow, view });

  // As wide as the names, within bounds: UUIDs are cut.
  const longest = Math.max(...devices.map((name) => name.length), noGpu.length);
  const sizes: Sizes = { axis: 28, gutter: Math.min(24 + longest * 7.5, width < 600 ? 70 : 140), lane: 20, least: leastRow(holder.current, devices.length + Number(spans.some((span) => span.gpus.length === 0))) };

  // Drawn once per frame, whatever happened in it.
  const paint = () => {
    state.current.frame ||= requestAnimationFrame(() => {
      state.current.frame = 0;
      const { scene } = state.current;
      if (scene && canvas.current) {
        draw(prepare(canvas.current, scene.width, scene.layout.height), scene, inksOf(holder.current!));
      }
    });
  };

  const arranged = useRef<{ key: unknown[]; layout: Scene["layout"] } | null>(null);
  const key = [spans, devices.join("\n"), by, dark, Math.floor(now), sizes.gutter, sizes.least];
  if (!arranged.current || key.some((part, i) => part !== arranged.current!.key[i])) {
    state.current.bars = barsOf(spans, by, dark, now);
    arranged.current = { key, layout: arrange(state.current.bars, devices, sizes) };
  }
  const layout = arranged.current.layout;
  // Bars are made anew all the time; the one that is told about stays the same attempt's.
  const chosen =
    shown &&
    (state.current.bars.find((bar) => bar.job === shown.bar.job && bar.span.attempt === shown.bar.span.attempt) ?? null);
  const origin = new Date(view.from * 1000).getTimezoneOffset() * 60; // ticks at the hours of the local day
  state.current.scene = { layout, view, width, sizes, now, origin, chosen, tick: clockTick };
  useEffect(paint);

  useEffect(() => {
    const size = new ResizeObserver(() => setWidth(holder.current!.clientWidth));
    size.observe(holder.current!);
    const resize = () => setHeight(window.innerHeight);
    window.addEventListener("resize", resize);
    const scene = () => state.current.scene!;
    const tell = (x: number, y: number) => {
      const bar = hit(scene(), x, y) as SpanBar | null;
      setShown((before) => (bar ? (before?.bar === bar ? before : { bar, x: x + 12, y: y + 16 }) : null));
    };
    const stop = moveByHand({
      element: holder.current!,
      view: () => state.current.view,
      gutter: () => scene().sizes.gutter,
      width: () => scene().width,
      move: (next) => state.current.move(next),
      point: tell,
      leave: () => setShown(null),
      click: (x, y) => {
        const bar = hit(scene(), x, y);
        if (bar) {
          go(link(["jobs", bar.job]));
        }
      },
    });
    return () => {
      size.disconnect();
      window.removeEventListener("resize", resize);
      stop();
      cancelAnimationFrame(state.current.frame);
    };
  }, []);

  /// The next bar in view, in the order of time.
  const step = (by: number) => {
    const scene = state.current.scene!;
    const inView = state.current.bars
      .filter((bar) => bar.to >= view.from && bar.from <= view.to)
      .sort((a, b) => a.from - b.from || a.job - b.job);
    const at = chosen ? inView.indexOf(chosen) : by > 0 ? -1 : 0;
    const bar = inView[(at + by + inView.length) % Math.max(inView.length, 1)];
    const box = bar && boxOf(scene, bar);
    setShown(bar && box ? { bar, x: box.x, y: box.y + 6 } : null);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const length = view.to - view.from;
    const middle = chosen ? Math.min(Math.max(chosen.from, view.from), view.to) : (view.from + view.to) / 2;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => move(panned(view, -length / 8)),
      ArrowRight: () => move(panned(view, length / 8)),
      "+": () => move(zoomed(view, 0.7, middle)),
      "=": () => move(zoomed(view, 0.7, middle)),
      "-": () => move(zoomed(view, 1 / 0.7, middle)),
      Home: toNow,
      ArrowDown: () => step(1),
      ArrowUp: () => step(-1),
      Enter: () => chosen && go(link(["jobs", chosen.job])),
      Escape: () => setShown(null),
    };
    const act = keys[event.key];
    if (act && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      act();
    }
  };

  const words = chosen && spanWords(chosen.span, now);
  return (
    <div
      ref={holder}
      class={chosen ? "gantt on-bar" : "gantt"}
      style={{ height: `${layout.height}px` }}
      tabIndex={0}
      role="application"
      aria-label={`Timeline from ${clock(view.from, now)} to ${clock(view.to, now)}`}
      aria-describedby="timeline-keys"
      onKeyDown={onKeyDown}
      onBlur={() => setShown(null)}
    >
      <canvas ref={canvas} aria-hidden="true" />
      {chosen && shown && <Tip bar={chosen} x={shown.x} y={shown.y} now={now} />}
      <span class="hidden-text" role="status">
        {chosen && words ? `Job ${chosen.job}, ${chosen.label}, ${words.what} ${words.when}` : ""}
      </span>
    </div>
  );
}

