// A Gantt chart on a canvas: a row per device, jobs that share one in lanes of it. Layout and
// drawing only; who moves it about is elsewhere.

export interface Bar {
  job: number;
  label: string;
  gpus: string[];
  from: number;
  to: number; // where it is drawn to
  open: boolean; // nobody knows when it will end
  expected: boolean;
  tint: string;
}

export interface Place {
  bar: Bar;
  lane: number;
}

export interface Row {
  name: string;
  top: number;
  height: number;
  lanes: number;
  places: Place[]; // by beginning
}

export interface Layout {
  rows: Row[];
  height: number;
}

export interface View {
  from: number;
  to: number;
}

export interface Sizes {
  axis: number; // height of the scale at the top
  gutter: number; // width of the names at the left
  lane: number;
  least: number; // height of a row
}

export interface Scene {
  layout: Layout;
  view: View;
  width: number;
  sizes: Sizes;
  now: number | null;
  origin: number; // a moment with a tick
  chosen: Bar | null;
  tick: (time: number, step: number) => string;
}

export const noGpu = "no GPU";

/// `names`: the devices, in their order. Others that bars name come after them.
export function arrange(bars: Bar[], names: string[], sizes: Sizes): Layout {
  const byDevice = new Map<string, Bar[]>(names.map((name) => [name, []]));
  for (const bar of bars) {
    for (const name of bar.gpus.length > 0 ? bar.gpus : [noGpu]) {
      const list = byDevice.get(name);
      if (list) {
        list.push(bar);
      } else {
        byDevice.set(name, [bar]);
      }
    }
  }
  // Many lanes get thinner, so that the devices fill about a screen; up to ten can still be read.
  const share = Math.min(720 / byDevice.size, 400);
  const rows: Row[] = [];
  let top = sizes.axis;
  for (const [name, list] of byDevice) {
    const { places, lanes } = stack(list);
    const most = Math.max(share, Math.min(lanes, 10) * 14, lanes * 4);
    const height = Math.max(Math.min(lanes * sizes.lane, most) + 6, sizes.least);
    rows.push({ name, top, height, lanes, places });
    top += height;
  }
  return { rows, height: top };
}

/// Each bar into the first lane that is free.
function stack(bars: Bar[]): { places: Place[]; lanes: number } {
  const sorted = [...bars].sort((a, b) => a.from - b.from || a.job - b.job);
  const ends: number[] = [];
  const places = sorted.map((bar) => {
    // Ends and beginnings are measured apart: a hair of overlap is none.
    let lane = ends.findIndex((end) => end <= bar.from + 0.05);
    if (lane < 0) {
      lane = ends.length;
      ends.push(0);
    }
    ends[lane] = bar.to;
    return { bar, lane };
  });
  return { places, lanes: Math.max(ends.length, 1) };
}

export function xOf(time: number, { view, width, sizes }: Scene): number {
  return sizes.gutter + ((time - view.from) / (view.to - view.from)) * (width - sizes.gutter);
}

export function timeAt(x: number, { view, width, sizes }: Scene): number {
  return view.from + ((x - sizes.gutter) / (width - sizes.gutter)) * (view.to - view.from);
}

function laneBox(row: Row, lane: number): { y: number; height: number } {
  const each = (row.height - 6) / row.lanes;
  return { y: row.top + 3 + lane * each, height: Math.max(each - (each > 8 ? 2 : 0.5), 1) };
}

/// The bar there; a thin one is found a few pixels around it.
export function hit(scene: Scene, x: number, y: number): Bar | null {
  const row = scene.layout.rows.find((one) => y >= one.top && y < one.top + one.height);
  if (!row || x < scene.sizes.gutter) {
    return null;
  }
  const lane = Math.floor(((y - row.top - 3) / (row.height - 6)) * row.lanes);
  let best: Bar | null = null;
  let bestAway = 4;
  for (const place of row.places) {
    if (place.lane !== Math.max(Math.min(lane, row.lanes - 1), 0)) {
      continue;
    }
    const [left, right] = [xOf(place.bar.from, scene), xOf(place.bar.to, scene)];
    const away = x < left ? left - x : x > right ? x - right : 0;
    if (away < bestAway || away === 0) {
      best = place.bar;
      bestAway = away;
    }
  }
  return best;
}

/// Where a bar is, for what is shown beside it.
export function boxOf(scene: Scene, bar: Bar): { x: number; y: number } | null {
  for (const row of scene.layout.rows) {
    const place = row.places.find((one) => one.bar === bar);
    if (place) {
      const middle = Math.max(scene.sizes.gutter, Math.min(xOf(bar.from, scene), scene.width - 20));
      const box = laneBox(row, place.lane);
      return { x: middle, y: box.y + box.height };
    }
  }
  return null;
}

// --- drawing

export interface Inks {
  text: string;
  muted: string;
  line: string;
  surface: string;
  stripe: string;
  now: string;
  font: string;
}

export function inksOf(element: Element): Inks {
  const style = getComputedStyle(element);
  const of = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: of("--text"),
    muted: of("--muted"),
    line: of("--line"),
    surface: of("--surface"),
    stripe: of("--ground"),
    now: of("--danger"),
    font: style.fontFamily,
  };
}

const kSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000];

function stepFor(scene: Scene): number {
  const perPixel = (scene.view.to - scene.view.from) / Math.max(scene.width - scene.sizes.gutter, 1);
  return kSteps.find((step) => step / perPixel >= 84) ?? kSteps[kSteps.length - 1]!;
}

function drawAxis(context: CanvasRenderingContext2D, scene: Scene, inks: Inks) {
  const step = stepFor(scene);
  const first = Math.ceil((scene.view.from - scene.origin) / step) * step + scene.origin;
  context.textAlign = "left";
  context.lineWidth = 1;
  for (let time = first; time <= scene.view.to; time += step) {
    const x = Math.round(xOf(time, scene)) + 0.5;
    context.strokeStyle = inks.line;
    context.beginPath();
    context.moveTo(x, scene.sizes.axis - 4);
    context.lineTo(x, scene.layout.height);
    context.stroke();
    context.fillStyle = inks.muted;
    if (x + 56 < scene.width) {
      context.fillText(scene.tick(time, step), x + 4, scene.sizes.axis / 2);
    }
  }
}

function cutTo(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) {
    return text;
  }
  let length = Math.floor(text.length * (width / context.measureText(text).width));
  while (length > 0 && context.measureText(`${text.slice(0, length)}…`).width > width) {
    length -= 1;
  }
  // Never half of a character that takes two places.
  return length > 0 ? `${text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "")}…` : "";
}

/// Thin lines over what has not happened yet.
function hatchOf(context: CanvasRenderingContext2D, ink: string): CanvasPattern {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 8;
  const small = canvas.getContext("2d")!;
  small.strokeStyle = ink;
  small.lineWidth = 2;
  small.beginPath();
  for (const at of [-4, 4, 12]) {
    small.moveTo(at - 4, 8);
    small.lineTo(at + 4, 0);
  }
  small.stroke();
  return context.createPattern(canvas, "repeat")!;
}

interface Pen {
  context: CanvasRenderingContext2D;
  scene: Scene;
  inks: Inks;
  hatch: CanvasPattern;
}

function drawBar({ context, scene, inks, hatch }: Pen, place: Place, row: Row) {
  const { bar } = place;
  const left = Math.max(xOf(bar.from, scene), scene.sizes.gutter - 4);
  const right = Math.min(xOf(bar.to, scene), scene.width + 4);
  const { y, height } = laneBox(row, place.lane);
  const width = Math.max(right - left - (right - left > 6 ? 1 : 0), 1);
  context.fillStyle = bar.tint;
  context.globalAlpha = bar.expected ? 0.16 : width < 4 ? 0.75 : 0.32;
  context.fillRect(left, y, width, height);
  if (bar.expected && width > 3) {
    context.globalAlpha = 0.85;
    context.fillStyle = hatch;
    context.fillRect(left, y, width, height);
    context.fillStyle = bar.tint;
  }
  context.globalAlpha = bar.expected ? 0.5 : 1;
  if (width >= 4) {
    context.fillRect(left, y, 2, height);
  }
  context.globalAlpha = 1;
  if (bar === scene.chosen) {
    context.strokeStyle = inks.text;
    context.lineWidth = 1.5;
    context.strokeRect(left, y, Math.max(width, 2), height);
  }
  if (width > 34 && height > 11) {
    context.fillStyle = bar.expected ? inks.muted : inks.text;
    const text = cutTo(context, bar.open ? `${bar.label} …` : bar.label, width - 12);
    context.fillText(text, left + 7, y + height / 2 + 0.5);
  }
}

export function draw(context: CanvasRenderingContext2D, scene: Scene, inks: Inks) {
  const { layout, width, sizes, view } = scene;
  context.clearRect(0, 0, width, layout.height);
  context.font = `12px ${inks.font}`;
  context.textBaseline = "middle";
  layout.rows.forEach((row, i) => {
    context.fillStyle = i % 2 === 0 ? inks.surface : inks.stripe;
    context.fillRect(0, row.top, width, row.height);
  });
  drawAxis(context, scene, inks);

  context.save();
  context.beginPath();
  context.rect(sizes.gutter, sizes.axis, width - sizes.gutter, layout.height - sizes.axis);
  context.clip();
  context.font = `11.5px ${inks.font}`;
  const pen = { context, scene, inks, hatch: hatchOf(context, inks.surface) };
  for (const row of layout.rows) {
    for (const place of row.places) {
      if (place.bar.to >= view.from && place.bar.from <= view.to) {
        drawBar(pen, place, row);
      }
    }
  }
  context.restore();

  context.font = `600 12px ${inks.font}`;
  for (const row of layout.rows) {
    context.fillStyle = inks.text;
    context.fillText(cutTo(context, row.name, sizes.gutter - 16), 10, row.top + row.height / 2 + 0.5);
  }
  if (scene.now !== null && scene.now >= view.from && scene.now <= view.to) {
    const x = Math.round(xOf(scene.now, scene)) + 0.5;
    context.strokeStyle = inks.now;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, sizes.axis - 6);
    context.lineTo(x, layout.height);
    context.stroke();
  }
}

/// Gives the canvas the size and the sharpness of the screen.
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
