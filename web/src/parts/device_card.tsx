// One device: how busy it is, who has its memory, and which jobs are on it.
import { bytes, short } from "../format";
import { histories } from "../live";
import type { Device } from "../types";
import { JobLink, type JobName } from "./basics";
import { MemoryBar } from "./memory_bar";
import { Sparkline } from "./sparkline";

const kJobs = 4;
const healthWords: Record<string, string> = {
  drained: "drained: nothing more starts here",
  lost: "lost: it does not answer",
  removed: "removed",
};

interface DeviceCardProps {
  device: Device;
  named: (id: number) => JobName | undefined;
}

function Figures({ device }: { device: Device }) {
  const power = device.power_w === undefined ? null : short(Math.round(device.power_w));
  return (
    <span class="device-figures small muted">
      {power !== null && (
        <span>
          {power}
          {device.power_limit_w ? ` / ${short(Math.round(device.power_limit_w))}` : ""} W
        </span>
      )}
      {device.temperature_c !== undefined && <span>{Math.round(device.temperature_c)} °C</span>}
    </span>
  );
}

export function DeviceCard({ device, named }: DeviceCardProps) {
  const series = histories.value.get(device.name);
  const busy = device.utilization_percent;
  const shown = device.jobs.slice(0, kJobs);
  return (
    <li class={`card device-card ${device.health}`}>
      <div class="device-top">
        <div class="device-title">
          <h3>GPU {device.name}</h3>
          <span class="cut small muted" title={`${device.model} ${device.uuid}`}>
            {device.model}
          </span>
        </div>
        <Figures device={device} />
        <span class="device-busy">{busy === undefined ? "–" : `${Math.round(busy)} %`}</span>
      </div>
      <Sparkline
        times={series?.times ?? []}
        values={series?.utilization ?? []}
        top={100}
        label={`Utilisation of the last ten minutes, now ${busy === undefined ? "unknown" : `${Math.round(busy)} %`}`}
      />
      <MemoryBar device={device} />
      {device.health !== "ok" && <p class={`device-health small ${device.health}`}>{healthWords[device.health]}</p>}
      <ul class="device-jobs small">
        {device.jobs.length === 0 && !device.reserved_for && (
          <li class="muted no-jobs">{device.health === "ok" ? "free" : "no jobs"}</li>
        )}
        {device.reserved_for && (
          <li class="muted">
            <span>
              reserved for <JobLink job={named(device.reserved_for) ?? { id: device.reserved_for }} numbered />
            </span>
          </li>
        )}
        {shown.map((each) => (
          <li key={each.id}>
            <JobLink job={named(each.id) ?? { id: each.id }} />
            <span class="muted">{bytes(each.used_bytes)}</span>
          </li>
        ))}
        {device.jobs.length > kJobs && <li class="muted">and {device.jobs.length - kJobs} more</li>}
      </ul>
    </li>
  );
}
