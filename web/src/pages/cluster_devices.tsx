// The nodes of a cluster, their devices and who holds them, as Slurm tells.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../api";
import { count, several } from "../format";
import { readJobs } from "../known_jobs";
import { Empty } from "../parts/basics";
import { isOn } from "../places";
import { link } from "../router";
import type { ClusterDevice } from "../types";

const kPause = 5000; // milliseconds from an answer to the next question

interface Node {
  name: string;
  state: string;
  reason: string;
  devices: ClusterDevice[];
}

function nodesOf(devices: ClusterDevice[]): Node[] {
  const nodes = new Map<string, Node>();
  for (const device of devices) {
    const { node: name, node_state: state, reason = "" } = device;
    const node = nodes.get(name) ?? { name, state, reason, devices: [] };
    node.devices.push(device);
    nodes.set(name, node);
  }
  return [...nodes.values()];
}

/// Slurm's number of each running job of berth's → its own.
async function ownJobs(cluster: string, devices: ClusterDevice[]): Promise<Map<string, number>> {
  if (!devices.some((device) => device.name?.startsWith("berth-"))) {
    return new Map();
  }
  const { jobs } = await readJobs({ select: ["state=running"], limit: 1000 });
  return new Map(jobs.flatMap((job) => (isOn(job, cluster) && job.slurm_job ? [[job.slurm_job, job.id] as const] : [])));
}

interface Found {
  devices: ClusterDevice[];
  own: Map<string, number>;
}

function useCluster(cluster: string) {
  const found = useSignal<Found | null>(null);
  const problem = useSignal("");
  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    const read = async () => {
      try {
        if (!document.hidden) {
          const { devices } = await get("/v1/devices/cluster", { name: cluster }, abort.signal);
          found.value = { devices, own: await ownJobs(cluster, devices) };
          problem.value = "";
        }
      } catch (error) {
        problem.value = abort.signal.aborted ? "" : (error as Error).message;
      }
      if (!abort.signal.aborted) {
        timer = window.setTimeout(() => void read(), kPause);
      }
    };
    void read();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [cluster]);
  return { found: found.value, problem: problem.value };
}

/// "a100", or "2 kinds" of a mixed node.
function typeOf({ devices }: Node): string {
  const types = [...new Set(devices.map((device) => device.type))];
  return types.length === 1 ? types[0]! : several(types.length, "kind");
}

function isGone(state: string): boolean {
  return /down|drain|fail|not_responding|maint/.test(state);
}

function Holders({ node, own }: { node: Node; own: Map<string, number> }) {
  const jobs = new Map(node.devices.flatMap((device) => (device.slurm_job ? [[device.slurm_job, device] as const] : [])));
  return jobs.size === 0 ? (
    <span class="muted">none</span>
  ) : (
    <ul class="cluster-holders">
      {[...jobs.values()].map((device) => {
        const gpus = node.devices.filter((other) => other.slurm_job === device.slurm_job).map((other) => other.gpu);
        const id = own.get(device.slurm_job!);
        return (
          <li key={device.slurm_job}>
            {id === undefined ? <bdi title={device.name}>{device.slurm_job}</bdi> : <a href={link(["jobs", id])}>job {id}</a>}
            <span class="muted">
              {" "}
              {device.user}, GPU {gpus.join(", ")}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function NodeRow({ node, own }: { node: Node; own: Map<string, number> }) {
  const held = node.devices.filter((device) => device.slurm_job).length;
  return (
    <tr>
      <th scope="row" class="device-name">
        {node.name}
      </th>
      <td>
        <span class={`badge health-${isGone(node.state) ? "drained" : "ok"}`}>{node.state}</span>
        {node.reason && <div class="muted small any">{node.reason}</div>}
      </td>
      <td class="wide-only">{typeOf(node)}</td>
      <td class="nowrap">
        <span aria-hidden="true" class="cluster-gpus">
          {node.devices.map((device) => (
            <i key={device.gpu} class={device.slurm_job ? "held" : ""} />
          ))}
        </span>{" "}
        {held} of {node.devices.length}
      </td>
      <td>
        <Holders node={node} own={own} />
      </td>
    </tr>
  );
}

export function ClusterDevices({ cluster }: { cluster: string }) {
  const { found, problem } = useCluster(cluster);
  const nodes = nodesOf(found?.devices ?? []);
  const all = found?.devices.length ?? 0;
  const held = found?.devices.filter((device) => device.slurm_job).length ?? 0;
  const head = `cluster-${cluster}`;
  return (
    <section class="card" aria-labelledby={head}>
      <h2 id={head}>
        Cluster {cluster}{" "}
        {all > 0 && (
          <span class="muted small">
            {count(held)} of {several(all, "GPU")} on {several(nodes.length, "node")} held
          </span>
        )}
      </h2>
      {problem && <p class="notice bad">{problem}</p>}
      {!found && !problem && <Empty>Asking Slurm …</Empty>}
      {found && all === 0 && <Empty>Slurm tells of no GPU there.</Empty>}
      {all > 0 && (
        <div class="scroll-x" tabIndex={0} role="region" aria-label={`Devices of ${cluster}`}>
          <table class="plain devices-table">
            <thead>
              <tr>
                <th>Node</th>
                <th>State</th>
                <th class="wide-only">Type</th>
                <th>GPUs held</th>
                <th>Jobs</th>
              </tr>
            </thead>
            <tbody>
              {nodes.map((node) => (
                <NodeRow key={node.name} node={node} own={found!.own} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
