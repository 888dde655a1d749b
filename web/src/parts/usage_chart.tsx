// A job's memory and its devices' utilisation over time; while it runs, each beat adds a point.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get } from "../api";
import { bytes } from "../format";
import { devices } from "../live";
import type { Device } from "../types";
import { Chart, type Line } from "./chart";

const kMostPoints = 1500; // then the daemon is asked again: it thins out
const kColours = 8;
const kMemorySteps = Array.from({ length: 24 }, (_, i) => 2 ** (20 + i));

/// What the daemon told, and the beats since then: a device of which one told nothing has gaps.
interface Readings {
  times: number[];
  devices: { name: string; memory_bytes: (number | null)[]; utilization_percent: (number | null)[] }[];
}

function withBeat(usage: Readings, id: number, list: Device[], time: number): Readings {
  const mine = list.filter((device) => device.jobs.some((job) => job.id === id));
  if (mine.length === 0) {
    return usage;
  }
  const names = new Set([...usage.devices.map((device) => device.name), ...mine.map((device) => device.name)]);
  return {
    times: [...usage.times, time],
    devices: [...names].map((name) => {
      const before = usage.devices.find((device) => device.name === name);
      const unknown = () => usage.times.map(() => null);
      const device = mine.find((one) => one.name === name);
      const used = device?.jobs.find((job) => job.id === id)?.used_bytes ?? null;
      return {
        name,
        memory_bytes: [...(before?.memory_bytes ?? unknown()), used],
        utilization_percent: [...(before?.utilization_percent ?? unknown()), device?.utilization_percent ?? null],
      };
    }),
  };
}

export function UsageCharts({ id, attempt, running }: { id: number; attempt: number; running: boolean }) {
  const usage = useSignal<Readings | null>(null);
  const read = useRef(() => Promise.resolve());
  useEffect(() => {
    const abort = new AbortController();
    read.current = async () => {
      const found = await get(`/v1/jobs/${id}/usage`, { attempt }, abort.signal).catch(() => null);
      // Of a short job the daemon may have kept less than the beats have told here.
      if (found && found.times.length >= Math.min(usage.value?.times.length ?? 0, 2)) {
        usage.value = found;
      }
    };
    void read.current();
    return () => abort.abort();
  }, [id, attempt, running]);
  const list = devices.value;
  useEffect(() => {
    const before = usage.peek();
    if (running && before) {
      usage.value = withBeat(before, id, list, Date.now() / 1000);
      if (before.times.length > kMostPoints) {
        void read.current();
      }
    }
  }, [list]);

  const told = usage.value;
  if (!told || told.times.length < 2) {
    return null;
  }
  const lines = (pick: (device: Readings["devices"][number]) => (number | null)[]): Line[] =>
    told.devices.map((device, i) => ({
      label: `GPU ${device.name}`,
      colour: `--series-${(i % kColours) + 1}`,
      values: pick(device),
      fill: told.devices.length === 1,
    }));
  return (
    <section class="usage" aria-label="Use over time">
      <div class="card">
        <h2>GPU memory</h2>
        <Chart
          times={told.times}
          lines={lines((device) => device.memory_bytes)}
          height={150}
          steps={kMemorySteps}
          write={bytes}
          label="GPU memory of the job over time"
        />
      </div>
      <div class="card">
        <h2>Utilisation of its devices</h2>
        <Chart
          times={told.times}
          lines={lines((device) => device.utilization_percent)}
          height={150}
          top={100}
          write={(value) => `${Math.round(value)} %`}
          label="Utilisation of the job's devices over time"
        />
      </div>
    </section>
  );
}
