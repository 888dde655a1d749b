// The last hour and what comes next, small: a row per device. The whole timeline is a page of its own.
import { useEffect, useRef, useState } from "preact/hooks";
import { several } from "../format";
import { devices, now } from "../live";
import { kPast, type OverviewData } from "../overview_data";
import { arrange, draw, hit, inksOf, noGpu, prepare, type Scene, type Sizes } from "../parts/gantt";
import { go, link } from "../router";
import { dark } from "../theme";
import { barsOf, clockTick } from "./timeline_chart";

const kMostDevices = 16; // more would be no small chart
const kLeast = 120; // seconds in view
const kAhead = 0.25; // of the past that is shown

export function SmallTimeline({ data }: { data: OverviewData }) {
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const scene = useRef<Scene | null>(null);
  const [width, setWidth] = useState(0);
  const names = devices.value.filter((device) => device.health !== "removed").map((device) => device.name);
  const spans = data.spans.value;
  const shown = spans.length > 0 && names.length <= kMostDevices;
  const time = now.value;
  const longest = Math.max(...names.map((name) => name.length), noGpu.length);
  const sizes: Sizes = { axis: 22, gutter: Math.min(20 + longest * 7, 90), lane: 14, least: 20 };
  const first = Math.min(...spans.map((span) => span.from));
  const past = Math.min(Math.max(time - first, kLeast), kPast);
  const view = { from: time - past, to: time + kAhead * past };
  const inView = spans.filter((span) => span.from <= view.to && (span.to ?? time) >= view.from);
  const layout = arrange(barsOf(inView, "state", dark.value, time), names, sizes);

  useEffect(() => {
    if (!shown) {
      return;
    }
    const size = new ResizeObserver(() => setWidth(holder.current!.clientWidth));
    size.observe(holder.current!);
    return () => size.disconnect();
  }, [shown]);
  useEffect(() => {
    if (shown && width > 0) {
      const origin = new Date(view.from * 1000).getTimezoneOffset() * 60;
      scene.current = { layout, view, width, sizes, now: time, origin, chosen: null, tick: clockTick };
      draw(prepare(canvas.current!, width, layout.height), scene.current, inksOf(holder.current!));
    }
  });
  if (!shown) {
    return null;
  }
  return (
    <section class="card small-timeline" aria-labelledby="timeline-head">
      <h2 id="timeline-head">
        <a href={link(["timeline"])}>Timeline</a>
      </h2>
      <div
        ref={holder}
        style={{ height: `${layout.height}px` }}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const bar = scene.current && hit(scene.current, event.clientX - box.left, event.clientY - box.top);
          if (bar) {
            go(link(["jobs", bar.job]));
          }
        }}
      >
        <canvas ref={canvas} role="img" aria-label={`${several(inView.length, "run")} of jobs lately and soon, by device`} />
      </div>
    </section>
  );
}
