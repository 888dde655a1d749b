// What the daemon can be told about scheduling, and how that went.
import { signal } from "@preact/signals";
import { get, post } from "./api";
import { status } from "./live";
import { ask, confirm } from "./parts/dialog";
import { toast, toastError } from "./parts/toast";
import type { Policies } from "./types";

/// Read once, by the first page that shows them.
export const policies = signal<Policies | null>(null);

export async function readPolicies() {
  if (policies.value === null) {
    try {
      policies.value = await get("/v1/policies");
    } catch (error) {
      toastError(error);
    }
  }
}

/// A name may have a budget with it: energy:1500.
export function kindOf(policy: string): string {
  return policy.split(":")[0]!;
}

/// What is wrong with a power budget, in words.
export function wrongWatts(text: string): string {
  return /^\d+(\.\d+)?$/.test(text.trim()) && Number(text) > 0 ? "" : "a number of watts, such as 1500";
}

async function send(change: { policy?: string; placement?: string }) {
  status.value = await post("/v1/daemon/policy", change);
  toast(change.policy ? `Jobs now start by ${change.policy}.` : `Devices are now chosen by ${change.placement}.`);
}

/// Both ask first; whether it was done.
export async function choosePolicy(name: string): Promise<boolean> {
  const text = "Waiting jobs start in its order from now on. Running jobs go on.";
  if (name === "energy") {
    // Without a budget it would hold nothing back.
    const field = { label: "Power budget of all devices, in watts", placeholder: "1500", wrong: wrongWatts };
    const watts = await ask("Use energy?", text, "Use energy", field);
    if (watts === null) {
      return false;
    }
    await send({ policy: `energy:${watts.trim()}` });
    return true;
  }
  if (!(await confirm(`Use ${name}?`, text, `Use ${name}`))) {
    return false;
  }
  await send({ policy: name });
  return true;
}

export async function choosePlacement(name: string): Promise<boolean> {
  const text = "Jobs that start from now on are placed by it. Running jobs go on.";
  if (!(await confirm(`Use ${name}?`, text, `Use ${name}`))) {
    return false;
  }
  await send({ placement: name });
  return true;
}
