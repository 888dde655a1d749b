// A line chart over time by uPlot. It is made once and then only given new data.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { clock } from "../format";
import { dark } from "../theme";
import "uplot/dist/uPlot.min.css";

export interface Line {
  label: string;
  colour: string; // the name of a custom property: "--running"
  values: (number | null)[];
  fill?: boolean;
}

interface ChartProps {
  times: number[]; // seconds since 1970
  lines: Line[];
  height?: number;
  top?: number; // of the scale, where it is known
  steps?: number[]; // that marks on the scale may be apart
  write: (value: number) => string;
  label: string; // for those who cannot see it
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/// A day's clock has 24 hours; marks that are days apart are dates.
function timeMarks(_: uPlot, ticks: number[]): string[] {
  const step = (ticks[1] ?? 60) - (ticks[0] ?? 0);
  return ticks.map((tick) => {
    const date = new Date(tick * 1000);
    const time = date.toTimeString().slice(0, step % 60 === 0 ? 5 : 8);
    return step >= 86400 ? date.toLocaleDateString("en-CA").slice(5) : time;
  });
}

export function Chart({ times, lines, height = 180, top, steps, write, label }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shape = JSON.stringify([lines.map((line) => [line.label, line.colour]), height, top, dark.value]);
  const data = [times, ...lines.map((line) => line.values)] as uPlot.AlignedData;

  useEffect(() => {
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    const options: uPlot.Options = {
      width: holder.current!.clientWidth,
      height,
      cursor: { y: false },
      padding: [10, 28, 0, 0],
      scales: { y: { range: (_, __, most) => [0, top ?? Math.max(most * 1.1, 1e-9)] } },
      axes: [
        { ...axis, size: 28, space: 76, values: timeMarks },
        { ...axis, size: 64, incrs: steps, values: (_, ticks) => ticks.map(write) },
      ],
      series: [
        { label: "At", value: (_, time) => (time === null ? "–" : clock(time)) },
        ...lines.map((line) => ({
          label: line.label,
          stroke: colour(line.colour),
          width: 1.5,
          fill: line.fill ? `color-mix(in srgb, ${colour(line.colour)} 18%, transparent)` : undefined,
          points: { show: false },
          value: (_: uPlot, value: number | null) => (value === null ? "–" : write(value)),
        })),
      ],
    };
    plot.current = new uPlot(options, data, holder.current!);
    const size = new ResizeObserver(() => {
      plot.current?.setSize({ width: holder.current!.clientWidth, height });
    });
    size.observe(holder.current!);
    return () => {
      size.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape]);

  useEffect(() => {
    plot.current?.setData(data);
  });

  return <div class="chart" ref={holder} role="img" aria-label={label} />;
}
