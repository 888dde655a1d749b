// Who would run where, a small chart per policy, all on one scale. The job under the pointer is
// marked in all of them.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { duration, several } from "../format";
import { arrange, draw, hit, inksOf, prepare, type Bar, type Scene, type Sizes, type View } from "../parts/gantt";
import { dark } from "../theme";
import type { WhatIfResult } from "../types";
import { jobTint } from "./timeline_colours";

const collator = new Intl.Collator("en", { numeric: true });

interface ChartProps {
  result: WhatIfResult;
  view: View;
  devices: string[];
  job: number | null;
  setJob: (job: number | null) => void;
}

function SmallChart({ result, view, devices, job, setJob }: ChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scene = useRef<Scene | null>(null);
  const [width, setWidth] = useState(0);
  const isDark = dark.value;
  const longest = Math.max(...devices.map((name) => name.length), 2);
  const sizes: Sizes = { axis: 24, gutter: Math.min(18 + longest * 7.5, 90), lane: 14, least: 20 };
  const layout = useMemo(() => {
    const bars: Bar[] = result.spans.map((span) => ({
      ...span,
      label: String(span.job),
      open: false,
      expected: false,
      tint: jobTint(span.job, isDark),
    }));
    return arrange(bars, devices, sizes);
  }, [result, devices, isDark]);

  useEffect(() => {
    const size = new ResizeObserver(() => setWidth(canvas.current!.parentElement!.clientWidth));
    size.observe(canvas.current!.parentElement!);
    return () => size.disconnect();
  }, []);
  useEffect(() => {
    if (width === 0) {
      return;
    }
    const chosen = layout.rows.flatMap((row) => row.places).find((place) => place.bar.job === job)?.bar ?? null;
    const tick = (time: number) => (time === view.from ? "0" : duration(time - view.from));
    scene.current = { layout, view, width, sizes, now: null, origin: view.from, chosen, tick };
    draw(prepare(canvas.current!, width, layout.height), scene.current, inksOf(canvas.current!));
  }, [layout, width, job, view]);

  return (
    <div
      class="small-gantt"
      style={{ height: `${layout.height}px` }}
      onPointerMove={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        setJob(scene.current ? (hit(scene.current, event.clientX - box.left, event.clientY - box.top)?.job ?? null) : null);
      }}
      onPointerLeave={() => setJob(null)}
    >
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${several(result.jobs, "job")} under ${result.policy} on ${several(devices.length, "device")}, all done after ${duration(result.makespan_s)}`}
      />
    </div>
  );
}

interface ChartsProps {
  results: WhatIfResult[];
  present: string;
  job: number | null;
  setJob: (job: number | null) => void;
}

export function WhatIfCharts({ results, present, job, setJob }: ChartsProps) {
  const { view, devices, drawn } = useMemo(() => {
    const drawn = results.filter((result) => result.spans.length > 0);
    const names = new Set<string>();
    const view = { from: Infinity, to: -Infinity };
    for (const span of drawn.flatMap((result) => result.spans)) {
      view.from = Math.min(view.from, span.from);
      view.to = Math.max(view.to, span.to);
      span.gpus.forEach((name) => names.add(name));
    }
    view.to = Math.max(view.to, view.from + 1);
    return { view, devices: [...names].sort(collator.compare), drawn };
  }, [results]);
  return (
    <div class="whatif-charts">
      {drawn.map((result) => {
        const span = job === null ? undefined : result.spans.find((one) => one.job === job);
        return (
          <section class="card" key={result.policy}>
            <h2>
              {result.policy === "recorded" ? "as it was" : result.policy}
              {result.policy === present && <span class="mark">in use</span>}
              <span class="muted small whatif-job">
                {span && `job ${span.job}: starts after ${duration(span.from - view.from)}, runs ${duration(span.to - span.from)}`}
              </span>
            </h2>
            <SmallChart result={result} view={view} devices={devices} job={job} setJob={setJob} />
          </section>
        );
      })}
    </div>
  );
}
