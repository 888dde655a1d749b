// A device's memory as one bar: what each job uses of its claim, the rest of the claims, what
// others hold, and what is free.
import { bytes } from "../format";
import type { Device } from "../types";

interface Segment {
  kind: "used" | "claimed" | "foreign" | "free";
  job?: number;
  bytes: number;
}

const words = { used: "used", claimed: "claimed, not used", foreign: "foreign", free: "free" };

function segments(device: Device): Segment[] {
  const all: Segment[] = [];
  for (const job of device.jobs) {
    all.push({ kind: "used", job: job.id, bytes: job.used_bytes });
    all.push({ kind: "claimed", job: job.id, bytes: Math.max(job.claim_bytes - job.used_bytes, 0) });
  }
  all.push({ kind: "foreign", bytes: device.foreign_bytes });
  const taken = all.reduce((sum, segment) => sum + segment.bytes, 0);
  const rest = Math.max(device.memory_bytes - taken, 0);
  // A job of which nobody knows what it needs has the device alone.
  const [first, second] = device.jobs;
  const alone = first && !second && first.claim_bytes === 0 && first.share === 0;
  all.push(alone ? { kind: "claimed", job: first.id, bytes: rest } : { kind: "free", bytes: rest });
  return all.filter((segment) => segment.bytes > 0);
}

export function MemoryBar({ device }: { device: Device }) {
  if (device.memory_bytes === 0) {
    return <p class="muted small">How much memory it has is not known.</p>;
  }
  const parts = segments(device);
  const whole = parts.reduce((sum, part) => sum + part.bytes, 0);
  const sums = (["used", "claimed", "foreign", "free"] as const)
    .map((kind) => ({
      kind,
      bytes: parts.filter((part) => part.kind === kind).reduce((sum, part) => sum + part.bytes, 0),
    }))
    .filter((sum) => sum.bytes > 0);
  const told = sums.map((sum) => `${bytes(sum.bytes)} ${words[sum.kind]}`).join(", ");
  return (
    <div class="memory">
      <div class="memory-bar" role="img" aria-label={`Memory of ${bytes(device.memory_bytes)}: ${told}`}>
        {parts.map((part) => (
          <span
            key={`${part.kind}${part.job ?? ""}`}
            class={`memory-part ${part.kind}`}
            style={{ width: `${(part.bytes / whole) * 100}%` }}
            title={`${part.job ? `Job ${part.job}: ` : ""}${bytes(part.bytes)} ${words[part.kind]}`}
          />
        ))}
      </div>
      <div class="memory-legend small" aria-hidden="true">
        {sums.map((sum) => (
          <span key={sum.kind} title={`${bytes(sum.bytes)} ${words[sum.kind]}`}>
            <i class={`memory-part ${sum.kind}`} />
            {bytes(sum.bytes)} <span class="muted">{sum.kind}</span>
          </span>
        ))}
      </div>
    </div>
  );
}
