// The devices and the scheduler: what there is, and what may be used how.
import { useState } from "preact/hooks";
import { post } from "../api";
import { bytes, several } from "../format";
import { devices, sources, status } from "../live";
import { Action, Empty } from "../parts/basics";
import { confirm } from "../parts/dialog";
import { Field } from "../parts/fields";
import { toast } from "../parts/toast";
import { link } from "../router";
import { useTitle } from "../title";
import type { Device } from "../types";
import { ClusterDevices } from "./cluster_devices";
import { Scheduler } from "./scheduler";

type Verb = "add" | "remove" | "drain" | "undrain";

/// The list that comes back is newer than the one of the last second.
async function change(verb: Verb, names: string) {
  devices.value = (await post(`/v1/devices/${verb}`, { names })).devices;
}

function goOn(device: Device): string {
  return device.jobs.length === 1 ? "The job on it runs to its end" : `${several(device.jobs.length, "job")} on it run to their end`;
}

async function drain(device: Device) {
  const text = `${goOn(device)}; nothing new starts there until it is undrained.`;
  if (device.jobs.length === 0 || (await confirm(`Drain device ${device.name}?`, text, "Drain"))) {
    await change("drain", device.name);
    toast(`Nothing more starts on ${device.name}.`);
  }
}

async function remove(device: Device) {
  const running = device.jobs.length > 0 ? ` ${goOn(device)}.` : "";
  if (await confirm(`Remove device ${device.name}?`, `berth does not use it any more, until it is added again.${running}`, "Remove", true)) {
    await change("remove", device.name);
    toast(`Device ${device.name} is removed. It can be added again by its name.`);
  }
}

const healthWords: Record<Device["health"], string> = {
  ok: "ok",
  drained: "drained",
  lost: "lost",
  removed: "removed",
};

function DeviceActions({ device }: { device: Device }) {
  const { name, health } = device;
  return (
    <div class="row device-actions">
      {health === "ok" && (
        <Action class="compact" label={`Drain ${name}`} run={() => drain(device)}>
          Drain
        </Action>
      )}
      {health === "drained" && (
        <Action class="compact" label={`Undrain ${name}`} run={() => change("undrain", name)}>
          Undrain
        </Action>
      )}
      {health === "removed" ? (
        <Action class="compact" label={`Add ${name} again`} run={() => change("add", name)}>
          Add again
        </Action>
      ) : (
        <Action class="compact danger" label={`Remove ${name}`} run={() => remove(device)}>
          Remove
        </Action>
      )}
    </div>
  );
}

function measured(value: number | undefined, write: (value: number) => string): string {
  return value === undefined ? "–" : write(value);
}

function DeviceRow({ device }: { device: Device }) {
  return (
    <tr>
      <th scope="row" class="device-name" title={device.uuid}>
        {device.name}
      </th>
      <td class="device-model wide-only">{device.model}</td>
      <td>
        <span class={`badge health-${device.health}`}>{healthWords[device.health]}</span>
      </td>
      <td class="device-jobs">
        {device.jobs.length === 0 ? <span class="muted">none</span> : <span>{device.jobs.length}</span>}
        <span class="wide-only">
          {device.jobs.slice(0, 5).map((job) => (
            <a key={job.id} href={link(["jobs", job.id])}>
              {job.id}
            </a>
          ))}
          {device.jobs.length > 5 && <span class="muted">…</span>}
        </span>
      </td>
      <td class="right nowrap wide-only">{measured(device.utilization_percent, (part) => `${Math.round(part)} %`)}</td>
      <td class="right nowrap wide-only">
        {measured(device.used_bytes, bytes)}
        {device.memory_bytes > 0 && <span class="muted"> of {bytes(device.memory_bytes)}</span>}
      </td>
      <td class="right nowrap wide-only">{measured(device.power_w, (watts) => `${Math.round(watts)} W`)}</td>
      <td class="right nowrap wide-only">{measured(device.temperature_c, (degrees) => `${Math.round(degrees)} °C`)}</td>
      <td>
        <DeviceActions device={device} />
      </td>
    </tr>
  );
}

const examples: [string, string][] = [
  ["0,1", "by number"],
  ["GPU-5f3c…", "by UUID"],
  ["auto", "all that the drivers show"],
  ["sim:4x24GiB", "simulated ones"],
];

function AddDevices() {
  const [names, setNames] = useState("");
  const add = async () => {
    await change("add", names.trim());
    toast(`${names.trim()} may be used now.`);
    setNames("");
  };
  return (
    <form class="add-devices" onSubmit={(event) => event.preventDefault()}>
      <Field label="Add devices" value={names} set={setNames} placeholder="2,3" mono />
      <Action type="submit" class="primary" disabled={names.trim() === ""} run={add}>
        Add
      </Action>
      <p class="muted small">
        {examples.map(([text, meaning], i) => (
          <span key={text}>
            {i > 0 && " · "}
            <code>{text}</code> {meaning}
          </span>
        ))}
      </p>
    </form>
  );
}

export function Devices() {
  useTitle("Devices");
  const list = devices.value;
  return (
    <>
      <div class="page-head">
        <h1>Devices and scheduler</h1>
      </div>
      <section class="card">
        <h2>Devices</h2>
        {list.length === 0 ? (
          <Empty>
            There is no device: jobs that need a GPU wait. Add some below, or try simulated ones with <code>sim:4x24GiB</code>.
          </Empty>
        ) : (
          <div class="scroll-x" tabIndex={0} role="region" aria-label="Devices">
            <table class="plain devices-table">
              <thead>
                <tr>
                  <th>Device</th>
                  <th class="wide-only">Model</th>
                  <th>Health</th>
                  <th>Jobs</th>
                  <th class="right wide-only">Use</th>
                  <th class="right wide-only">Memory</th>
                  <th class="right wide-only">Power</th>
                  <th class="right wide-only">Heat</th>
                  <th>
                    <span class="hidden-text">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {list.map((device) => (
                  <DeviceRow key={device.name} device={device} />
                ))}
              </tbody>
            </table>
          </div>
        )}
        <AddDevices />
        {sources.value.length > 0 && (
          <p class="muted small">
            They come from{" "}
            {sources.value.map((source, i) => (
              <span key={source}>
                {i > 0 && ", "}
                <code>{source}</code>
              </span>
            ))}
            .
          </p>
        )}
      </section>
      {status.value?.clusters.map((cluster) => <ClusterDevices key={cluster} cluster={cluster} />)}
      <Scheduler />
    </>
  );
}
